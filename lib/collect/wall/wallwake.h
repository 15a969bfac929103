/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wallwake.h - in which code threads were when they ended waits: samples of the source "wakers".
 *
 * The wait's end is known from its slot, the native code of the waker from BPF's copy of its stack. What Java
 * code was beneath that the agent of the waker's JVM tells, before or after. So such a sample is held until
 * it does, but not for long.
 */
#ifndef COLLECT_WALLWAKE_H
#define COLLECT_WALLWAKE_H

#include "trace/frame.h"
#include "trace/record.h"

struct collect;
struct wall;
struct wallwakes;

/* Return the source's number in the recording. */
struct wallwakes *wallwakes_new(size_t source);
void wallwakes_free(struct wallwakes *x);

/* The place of a wait's waker. */
struct wallwake_code {
	uint32_t slot, block_nr;	/* of which an agent will tell more; block_nr 0: none will */
	size_t nr, alloc;		/* nr 0: not known */
	struct frame *frames;		/* outermost first */
};
/* Find the place of the thread that ended a block. */
void wallwakes_find(struct collect *c, struct wallwakes *x, const struct wall *w, uint32_t slot,
		    uint32_t block_nr, struct wallwake_code *code);
/*
 * Write the thread.wake of a wait, if a thread ended it, or hold it until the agent has sent the rest of
 * code, once: code->block_nr is 0 afterwards.
 */
void wallwakes_write(struct collect *c, struct wallwakes *x, const struct rec_wake *wake,
		     struct wallwake_code *code);
/* Note where the thread was that ended that block, as the agent reports it. */
void wallwakes_java(struct collect *c, struct wallwakes *x, const uint32_t slot_and_block[2],
		    const struct frame *frames, size_t nr);
/* Write what no agent sent in time; UINT64_MAX: all of it. */
void wallwakes_turn(struct collect *c, struct wallwakes *x, uint64_t now_ns);

#endif
