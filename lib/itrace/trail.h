/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trail.h - how far a thread can run at one go, to breakpoints, so that where it stops tells each
 * instruction that it executed.
 *
 * A trail is what comes next when no conditional branch is taken: straight lines, and direct jumps and
 * calls, whose targets are known.  It ends before what only a step can tell: indirect branches, system
 * calls, what plays with flags.  The breakpoints are the targets of its conditional branches and
 * where it ends.
 */
#ifndef ITRACE_TRAIL_H
#define ITRACE_TRAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/insn.h"

enum { TRAIL_INSNS = 48, TRAIL_STOPS = 4 };

struct trail_insn {
	uint64_t pc;
	struct insn insn;
	uint8_t code[INSN_MAX];
};

struct trail_stop {
	uint64_t addr;
	uint32_t nr;		/* instructions executed when it is reached, but see trail_passed() */
};

struct trail {
	struct trail_insn at[TRAIL_INSNS];
	uint32_t nr;
	struct trail_stop stops[TRAIL_STOPS];
	uint32_t nr_stops;	/* 0: there is no trail */
};

/* Read up to len bytes at addr, of code that cannot change while the thread runs; return how many. */
typedef size_t (*trail_read_fn)(void *ctx, uint64_t addr, uint8_t *out, size_t len);

/* ret: where a return at pc itself leads to, 0 not known.  At most max instructions. */
void trail_plan(struct trail *t, uint64_t pc, uint64_t ret, uint32_t max, trail_read_fn read, void *ctx);

/*
 * Return how many of its instructions were executed when the thread is at pc, or -1 if that is not on the
 * trail; hit: a breakpoint stopped it. When the trail began at a breakpoint, that one was passed over.
 */
int trail_passed(const struct trail *t, uint64_t pc, bool hit);

/* Whether a breakpoint is where it begins, so that it has to be passed over. */
bool trail_begins_at_stop(const struct trail *t);

#endif
