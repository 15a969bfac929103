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

/* Plan a trail of at most max instructions; ret: where a return at pc itself leads to, 0: not known. */
void trail_plan(struct trail *t, uint64_t pc, uint64_t ret, uint32_t max, trail_read_fn read, void *ctx);

/*
 * Return how many of its instructions were executed when the thread is at pc, or -1 if that is not on the
 * trail; hit: a breakpoint stopped it. When the trail began at a breakpoint, that one was passed over.
 */
int trail_passed(const struct trail *t, uint64_t pc, bool hit);

/* Return whether a breakpoint is at its beginning, so that it has to be passed over. */
bool trail_begins_at_stop(const struct trail *t);

/* ranges of processes' code that cannot change while they run: mapped from a file, and not writable */
struct steady {
	struct steady_range {
		int pid;		/* 0: free */
		uint64_t start, end;
	} *ranges;
	size_t nr_ranges, alloc_ranges;
	size_t last;			/* the one that was asked for last */
};

/* Replace what is known of the process by text, its /proc/PID/maps. */
void steady_maps(struct steady *s, int pid, const char *text);
void steady_forget(struct steady *s, int pid);
/* Return how many bytes from addr on are in one range, 0 if addr is in none. */
uint64_t steady_bytes(struct steady *s, int pid, uint64_t addr);

/*
 * Stretches from a load-exclusive to its store-exclusive (arm64). A trap between the two clears the monitor:
 * the store fails, and the program tries again for ever. So a stretch is run without a stop, to breakpoints
 * behind the store and where branches leave it.
 */

enum { EXCLUSIVE_MAX = 16, EXCLUSIVE_STOPS = 4 };	/* instructions of a stretch; its exits */

struct exclusive_stop {
	uint64_t addr;
	uint32_t nr_insns;	/* executed when it is reached */
	bool branch;		/* the last of them was taken to it */
	uint32_t was;		/* the instruction that the breakpoint replaces */
};

struct exclusive {
	uint64_t start;
	uint32_t nr_stops;
	struct exclusive_stop stops[EXCLUSIVE_STOPS];
};

/*
 * Find the exits of the stretch whose load is at start; code has its bytes. Returns false if no store
 * follows, or it has an unknown branch; then it is stepped like other code.
 */
bool exclusive_plan(struct exclusive *x, uint64_t start, const uint8_t *code, size_t len);

/* Sets and removes the breakpoints in the memory of a stopped thread. */
bool exclusive_arm(struct exclusive *x, int tid);
void exclusive_disarm(const struct exclusive *x, int tid);

#endif
