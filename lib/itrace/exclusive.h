/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exclusive.h - stretches from a load-exclusive to its store-exclusive (arm64).  A trap between
 * the two clears the monitor, the store fails, and the program tries again for ever: they are
 * run at one go, to a breakpoint behind the store or where a branch leaves them.
 */
#ifndef ITRACE_EXCLUSIVE_H
#define ITRACE_EXCLUSIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
