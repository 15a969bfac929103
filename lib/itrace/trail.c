// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trail.c - plans a trail (trail.h).
 *
 * Invariants, cited below as [n]:
 *  [1] no address is twice on the trail, and no two breakpoints are the same;
 *  [2] a breakpoint on the trail is reached by it first: at the place where it is, or, at its beginning,
 *	by the branch that leads back there.
 */
#include <string.h>

#include "base/mem.h"
#include "itrace/trail.h"

enum { WINDOW = 64 };

struct code {			/* bytes read ahead */
	trail_read_fn read;
	void *ctx;
	uint64_t addr;
	size_t len;
	uint8_t bytes[WINDOW];
};

static bool next_insn(struct code *c, uint64_t pc, struct trail_insn *out)
{
	uint64_t off = pc - c->addr;

	if (off >= c->len || c->len - off < INSN_MAX) {
		c->addr = pc;
		c->len = c->read(c->ctx, pc, c->bytes, WINDOW);
		off = 0;
	}
	out->pc = pc;
	if (!insn_decode(c->bytes + off, c->len - off, &out->insn))
		return false;
	memcpy(out->code, c->bytes + off, MIN(c->len - off, (size_t)INSN_MAX));
	return out->insn.len;
}

static int find_stop(const struct trail *t, uint64_t addr)
{
	uint32_t i;

	for (i = 0; i < t->nr_stops; i++)
		if (t->stops[i].addr == addr)
			return i;
	return -1;
}

static bool trail_is_on(const struct trail *t, uint64_t pc)
{
	uint32_t i;

	for (i = 0; i < t->nr; i++)
		if (t->at[i].pc == pc)
			return true;
	return false;
}

static void add_stop(struct trail *t, uint64_t addr)
{
	if (find_stop(t, addr) < 0)
		t->stops[t->nr_stops++] = (struct trail_stop){ addr, t->nr };
}

/* Takes in, the next one; false: the trail ends before it.  *pc: where it leads to. */
static bool trail_take(struct trail *t, const struct trail_insn *in, uint64_t ret, uint64_t *pc)
{
	uint64_t next = in->pc + in->insn.len, to = in->pc + in->insn.rel;

	if (in->insn.flags & ~INSN_REPEATS)
		return false;
	switch (in->insn.kind) {
	case INSN_PLAIN:
		*pc = next;
		break;
	case INSN_JUMP:
	case INSN_CALL:
		if (!in->insn.direct)
			return false;
		*pc = to;
		break;
	case INSN_COND:
		/* one is left for the end */
		if (!in->insn.direct || t->nr_stops + 1 == TRAIL_STOPS || find_stop(t, to) >= 0)
			return false;
		*pc = next;
		break;
	case INSN_RETURN:
		if (t->nr || !ret)
			return false;
		*pc = ret;
		break;
	default:
		return false;
	}
	t->at[t->nr++] = *in;
	if (in->insn.kind == INSN_COND)
		add_stop(t, to);
	return true;
}

/* End the trail behind a branch that was not taken, as reaching its target would be ambiguous. */
static uint64_t cut_back(struct trail *t, uint32_t stop)
{
	const struct trail_insn *branch = &t->at[t->stops[stop].nr - 1];

	t->nr = t->stops[stop].nr;
	t->nr_stops = stop + 1;
	return branch->pc + branch->insn.len;
}

void trail_plan(struct trail *t, uint64_t pc, uint64_t ret, uint32_t max, trail_read_fn read, void *ctx)
{
	struct code c = { .read = read, .ctx = ctx };
	struct trail_insn in;
	int stop;

	t->nr = t->nr_stops = 0;
	max = MIN(max, (uint32_t)TRAIL_INSNS);
	while (1) {
		stop = find_stop(t, pc);
		if (stop >= 0) {
			pc = cut_back(t, stop);
			break;
		}
		if (t->nr >= max || trail_is_on(t, pc) || !next_insn(&c, pc, &in) ||
		    !trail_take(t, &in, ret, &pc))
			break;
	}
	if (t->nr)
		add_stop(t, pc);
}

int trail_passed(const struct trail *t, uint64_t pc, bool hit)
{
	uint32_t i;
	int stop;

	for (i = hit; i < t->nr; i++)	/* [2] */
		if (t->at[i].pc == pc)
			return i;
	stop = find_stop(t, pc);
	return stop < 0 ? -1 : (int)t->stops[stop].nr;
}

bool trail_begins_at_stop(const struct trail *t)
{
	return find_stop(t, t->at[0].pc) >= 0;
}
