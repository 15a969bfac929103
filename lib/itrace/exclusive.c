// SPDX-License-Identifier: GPL-2.0-or-later
/* exclusive.c - finds stretches between a load-exclusive and its store-exclusive (exclusive.h). */
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>

#include "arch/insn.h"
#include "itrace/trail.h"

enum { INSN_BYTES = 4 };

#define BRK 0xd4200000u

static bool add_stop(struct exclusive *x, uint64_t addr, uint32_t nr_insns, bool branch)
{
	uint32_t i;

	for (i = 0; i < x->nr_stops; i++)
		if (x->stops[i].addr == addr)
			return false;	/* it is not known which way it was reached */
	if (x->nr_stops == EXCLUSIVE_STOPS)
		return false;
	x->stops[x->nr_stops++] = (struct exclusive_stop){ .addr = addr, .nr_insns = nr_insns,
		.branch = branch };
	return true;
}

/* Add a branch; one that stays inside would make the count of instructions unknown. */
static bool add_branch(struct exclusive *x, uint64_t addr, const struct insn *in, uint32_t nr_insns)
{
	uint64_t to = addr + in->rel;

	if (in->kind == INSN_PLAIN)
		return true;
	return in->kind == INSN_COND && !(to - x->start < EXCLUSIVE_MAX * INSN_BYTES && to <= addr) &&
	       add_stop(x, to, nr_insns, true);
}

static bool inside(const struct exclusive *x, uint64_t end)
{
	uint32_t i;

	for (i = 0; i < x->nr_stops; i++)
		if (x->stops[i].branch && x->stops[i].addr - x->start < end - x->start)
			return true;
	return false;
}

bool exclusive_plan(struct exclusive *x, uint64_t start, const uint8_t *code, size_t len)
{
	uint32_t i;

	*x = (struct exclusive){ .start = start };
	for (i = 0; i < EXCLUSIVE_MAX && (i + 1) * INSN_BYTES <= len; i++) {
		uint64_t addr = start + i * INSN_BYTES;
		struct insn in;

		if (!insn_decode_arm64(code + i * INSN_BYTES, INSN_BYTES, &in) ||
		    (i && in.flags & INSN_EXCLUSIVE_LOAD) || !add_branch(x, addr, &in, i + 1))
			return false;
		if (in.flags & INSN_EXCLUSIVE_STORE)
			return add_stop(x, addr + INSN_BYTES, i + 1, false) && !inside(x, addr + INSN_BYTES);
	}
	return false;
}

/* Write an instruction; ptrace writes eight bytes. */
static bool exclusive_put_insn(int tid, uint64_t addr, uint32_t insn, uint32_t *was)
{
	uint64_t at = addr & ~7ull;
	uint32_t half[2];
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKDATA, tid, at, NULL);
	if (errno)
		return false;
	memcpy(half, &word, sizeof(half));
	if (was)
		*was = half[addr >> 2 & 1];
	half[addr >> 2 & 1] = insn;
	memcpy(&word, half, sizeof(half));
	return !ptrace(PTRACE_POKEDATA, tid, at, word);
}

bool exclusive_arm(struct exclusive *x, int tid)
{
	uint32_t i;

	for (i = 0; i < x->nr_stops; i++) {
		if (!exclusive_put_insn(tid, x->stops[i].addr, BRK, &x->stops[i].was)) {
			x->nr_stops = i;
			exclusive_disarm(x, tid);
			return false;
		}
	}
	return true;
}

void exclusive_disarm(const struct exclusive *x, int tid)
{
	uint32_t i;

	for (i = 0; i < x->nr_stops; i++)
		exclusive_put_insn(tid, x->stops[i].addr, x->stops[i].was, NULL);
}
