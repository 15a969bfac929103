/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deadlocks.h - deadlocks of a JVM during a recording: its agent reports threads that are stuck, and those
 * that wait for each other are reported and noted in the trace, as label deadlock.N, once.
 */
#ifndef COLLECT_DEADLOCKS_H
#define COLLECT_DEADLOCKS_H

#include "base/buf.h"
#include "jvm/threads.h"

struct deadlocks {		/* of a JVM */
	struct threads stuck;	/* the latest picture */
	uint64_t *known;	/* which were reported: a sum of the ids of their threads */
	size_t nr_known, alloc_known;
};

#define DEADLOCKS_INIT { .stuck = THREADS_INIT }
void deadlocks_release(struct deadlocks *d);

/* Takes in a record; appends each deadlock that is new to *text, one after the other with a 0 behind it. */
void deadlocks_add(struct deadlocks *d, enum jvm_rec_type type, const union jvm_record *r, struct buf *text);

#endif
