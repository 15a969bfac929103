/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arrivals.h - which thread was the last to reach a safepoint, from what the VM's log says with
 * safepoint=trace: the VM looks at its threads again and again until none runs, and logs those that do
 * (safepoint.cpp); a thread that stops at a poll of compiled code logs that (sharedRuntime.cpp).
 *
 * The last is the one that still ran when the VM looked last; of several, the one whose own line came last,
 * if each of them has one.
 */
#ifndef JVM_ARRIVALS_H
#define JVM_ARRIVALS_H

#include <stddef.h>
#include <stdint.h>

enum { ARRIVALS_MAX = 256 };	/* threads that run; of more, the last is not known */

struct arrival {
	uint32_t tid;
	uint32_t look;		/* the last one in which it ran */
	uint64_t polled_ns;	/* its own line; 0: none yet */
};

struct arrivals {		/* zero: nothing is going on */
	struct arrival threads[ARRIVALS_MAX];	/* that ran in any look */
	size_t nr;		/* may be more than there is room for */
	uint32_t look;
};

/* The VM begins to stop the threads. */
void arrivals_begin(struct arrivals *a);
/* It looked, and the thread ran. */
void arrivals_runs(struct arrivals *a, uint32_t tid);
/* The thread stops at a poll. */
void arrivals_polls(struct arrivals *a, uint32_t tid, uint64_t time_ns);
/* All have stopped. Its tid, or 0; *together: how many may have been the last. */
uint32_t arrivals_last(const struct arrivals *a, size_t *together);

#endif
