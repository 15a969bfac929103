/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stackrest.h - what of a thread's stack is above the copy that came with a sample: it is read from the
 * process, later than the copy was made.
 *
 * The thread has gone on since, so what is there may be of other calls. It is taken only while
 * the last bytes of the copy are the same in memory, and not later than some milliseconds after the sample.
 * That leaves calls that came back to the same depth, through frames of the same sizes and contents, from
 * other callers: frames that were found this way are marked (MARK_READ_LATER).
 */
#ifndef COLLECT_STACKREST_H
#define COLLECT_STACKREST_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/unwind.h"

enum { STACKREST_WINDOW = 64 << 10 };

/* state of a recording; all zero at first */
struct stackrest {
	int pid;
	uint64_t time_ns;		/* of the sample */
	struct unwind_stack copy;
	uint64_t begun_ns;		/* when the first word of this stack was asked for; 0: none was */
	uint32_t nr_loads;		/* of this stack */
	bool refused;			/* no more of this stack is read */
	uint64_t wanted_ns;		/* when one was asked for last, of any stack; 0: never */
	uint64_t first_ns, spent_ns;	/* of all stacks: when the first was read, and how long it took */
	uint64_t at;			/* address of window[0] */
	size_t len;			/* bytes of the window; 0: none */
	uint8_t window[STACKREST_WINDOW];
};

/*
 * Return the copy st of a stack of process pid as it was at time_ns (CLOCK_MONOTONIC), with what is above it.
 * The result is valid, as r, until stackrest_end().
 */
struct unwind_stack stackrest_begin(struct stackrest *r, int pid, const struct unwind_stack *st,
				    uint64_t time_ns);
void stackrest_end(struct stackrest *r);
/*
 * Return when the next samples are to be taken in (CLOCK_MONOTONIC), as stacks were lately larger than their
 * copies; 0: they were not.
 */
uint64_t stackrest_due_ns(const struct stackrest *r, uint64_t now_ns);

#endif
