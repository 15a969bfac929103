// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * epilogue.c - how far the return address is, by running to it.
 *
 * musl and busybox, the base of many containers, have neither rules nor frame pointers.  But a
 * function must bring the stack pointer back to its return address before it returns, and pop
 * the registers it saved on the way.  So the code is followed from where it stands, through
 * jumps, past calls, only counting what it does to the stack pointer, until a return; what was
 * counted is a rule like any other: CFA = rsp + n (or rbp + n, after leave), registers at the
 * places they are popped from. So are on arm64 the places that registers are loaded from, the return
 * address among them, unless its register has it.
 *
 * A path that ends in nothing (a call that does not return and then another function, a jump
 * through a table) is given up for the next branch that was passed by.
 */
#include "base/mem.h"
#include "unwind/epilogue.h"
#include "unwind/follow.h"

enum {
	STEPS_MAX = 4000,
	BRANCHES_MAX = 32,
	RETURNS_MAX = 4,
	SEEN = 8192,			/* more than twice the steps, a power of two */
	CODE_WINDOW = 2048,
	KEPT_MAX = 1 << 16,	/* then start over */
};

struct run {
	struct unwind_module *m;
	const struct follow_cpu *cpu;
	struct path now, branches[BRANCHES_MAX];
	size_t nr_branches;
	int steps;
	bool at_call;			/* the start is behind a call */
	bool after_call;		/* so is the next instruction */
	uint64_t seen[SEEN];		/* where any path was: pc + 1, 0 free */
	uint8_t code[CODE_WINDOW];
	uint64_t code_off;
	size_t code_len;
};

/* Return the CPU of the module; NULL: its code cannot be followed. */
static const struct follow_cpu *cpu_of(const struct unwind_module *m)
{
	return m->cpu == &cpu_x86 ? &follow_x86 : m->cpu == &cpu_arm64 ? &follow_arm64 : NULL;
}

/* Return whether the code at r->now.pc is in r->code, after reading it if need be. */
static bool epilogue_fetch(struct run *r)
{
	uint64_t pc = r->now.pc;
	size_t len = CODE_WINDOW;

	/* a branch may lead to the last bytes there are, after which addresses wrap around */
	if (pc - r->code_off > r->code_len || r->code_len - (pc - r->code_off) < FOLLOW_INSN_MAX) {
		while (len >= FOLLOW_INSN_MAX && !module_code(r->m, pc, r->code, len))
			len /= 2;
		if (len < FOLLOW_INSN_MAX)
			return false;
		r->code_off = pc;
		r->code_len = len;
	}
	return true;
}

static void branch(struct run *r, uint64_t to)
{
	if (r->nr_branches == BRANCHES_MAX)
		return;
	r->branches[r->nr_branches] = r->now;
	r->branches[r->nr_branches++].pc = to;
}

/*
 * Return whether a path was here: paths that meet have the same depth of stack, so the second one adds
 * nothing.
 */
static bool was_here(struct run *r)
{
	uint64_t key = r->now.pc + 1;
	size_t i = mix64(key) & (SEEN - 1);

	while (r->seen[i] && r->seen[i] != key)
		i = (i + 1) & (SEEN - 1);
	if (r->seen[i])
		return true;
	r->seen[i] = key;
	return false;
}

static enum follow_outcome epilogue_run_one(struct run *r)
{
	struct follow f = { .outcome = FOLLOW_DEAD };
	uint64_t at;

	if (!was_here(r) && epilogue_fetch(r)) {
		at = r->now.pc - r->code_off;
		f = r->cpu->one(&r->now, r->code + at, r->code_len - at, r->after_call);
	}
	r->after_call = f.is_call;
	if (f.branch)
		branch(r, f.branch);
	return f.outcome;
}

/* Follow the code to the next return on any path; return false if there is none within the steps. */
static bool next_return(struct run *r)
{
	while (r->steps++ < STEPS_MAX) {
		switch (epilogue_run_one(r)) {
		case FOLLOW_RETURNED:
			if (r->cpu->is_sound(&r->now, r->at_call))
				return true;
			__attribute__((fallthrough));
		case FOLLOW_DEAD:
			if (!r->nr_branches)
				return false;
			r->now = r->branches[--r->nr_branches];
			break;
		case FOLLOW_ON:
			break;
		}
	}
	return false;
}

/*
 * Choose a return. A path that ran past a call that does not return comes to another function's return, at
 * another depth: so the first depth on which two returns agree counts, else the first of all.
 */
static bool choose_return(struct run *r, struct path *chosen)
{
	struct path seen[RETURNS_MAX];
	size_t nr = 0, i;

	while (nr < RETURNS_MAX && next_return(r)) {
		seen[nr] = r->now;
		for (i = 0; i < nr; i++) {
			if (seen[i].base == r->now.base && seen[i].sp == r->now.sp) {
				*chosen = seen[i];
				return true;
			}
		}
		nr++;
		if (!r->nr_branches)
			break;
		r->now = r->branches[--r->nr_branches];
	}
	*chosen = seen[0];
	return nr;
}

static uint32_t epilogue_find_row(struct unwind_module *m, uint64_t off, bool at_call)
{
	const struct follow_cpu *cpu = cpu_of(m);
	struct run *r = xcalloc(1, sizeof(*r));
	struct rule_state s;
	struct path p;
	bool found;

	r->m = m;
	r->cpu = cpu_of(m);
	r->now = (struct path){ .pc = off, .base = r->cpu->sp, .fp_known = true };
	r->at_call = r->after_call = at_call;
	found = choose_return(r, &p);
	free(r);
	if (!found)
		return 0;
	cpu->to_state(&p, &s);
	return module_add_row(m, &s);
}

const struct row *epilogue_row(struct unwind_module *m, uint64_t off, bool at_call)
{
	uint32_t *id;

	if (!cpu_of(m))
		return NULL;
	if (m->derived.nr > KEPT_MAX)
		map_reset(&m->derived);
	id = map_put(&m->derived, off);
	if (*id == MAP_NONE) {
		uint32_t row = epilogue_find_row(m, off, at_call);

		*map_put(&m->derived, off) = row;
		return m->rows[row];
	}
	return m->rows[*id];
}

/* Return the depth by any path from the start: those that meet have the same. 0: none leads there. */
static uint32_t find_depth(struct unwind_module *m, uint64_t start, uint64_t off)
{
	struct run *r = xcalloc(1, sizeof(*r));
	int64_t depth = 0;

	r->m = m;
	r->cpu = cpu_of(m);
	r->now = (struct path){ .pc = start, .base = r->cpu->sp };
	while (r->now.pc != off && r->steps++ < STEPS_MAX) {
		if (epilogue_run_one(r) == FOLLOW_ON)
			continue;
		if (!r->nr_branches)
			break;
		r->now = r->branches[--r->nr_branches];
	}
	if (r->now.pc == off && r->now.base == r->cpu->sp)
		depth = 8 - r->now.sp;
	free(r);
	return depth >= 8 && depth < 1 << 24 ? depth : 0;
}

bool epilogue_cfa(struct unwind_module *m, uint64_t off, uint64_t ra_off, uint64_t *depth)
{
	uint64_t start;
	uint32_t *id, found;

	if (m->cpu != &cpu_x86)
		return false;
	if (m->depths.nr > KEPT_MAX)
		map_reset(&m->depths);
	id = map_put(&m->depths, ra_off);
	found = *id;
	if (found == MAP_NONE) {
		found = module_function_start(m, off, &start) ? find_depth(m, start, ra_off) : 0;
		*map_put(&m->depths, ra_off) = found;
	}
	*depth = found;
	return found;
}

bool epilogue_near(const uint8_t *code, size_t len, bool at_call, struct rule_state *s)
{
	const struct follow_cpu *cpu = &follow_x86;
	struct path p = { .base = cpu->sp, .fp_known = true };
	struct follow f = { .outcome = FOLLOW_ON, .is_call = at_call };
	uint64_t at;

	for (at = 0; at < len; at = p.pc) {
		f = cpu->one(&p, code + at, len - at, f.is_call);
		if (f.outcome == FOLLOW_RETURNED && cpu->is_sound(&p, at_call)) {
			cpu->to_state(&p, s);
			return true;
		}
		if (f.outcome != FOLLOW_ON || p.pc <= at)
			break;
	}
	return false;
}
