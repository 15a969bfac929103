/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sched.h - dispatches and interrupts, from the kernel's tracepoints where this user may have them.
 *
 * PERF_RECORD_SWITCH says who runs when; it cannot be missed.  Tracepoints, where this user may have
 * them, say in which state a thread lost its CPU, when it was woken, and what interrupted it; the
 * kernel drops one now and then without a word (its guard against recursion), and then that state is
 * not known.  Both are taken on all CPUs also when one program is recorded, because who wakes a
 * thread is often somebody else; what is about other threads is dropped here.  Without
 * tracepoints the records are taken on the program's own threads.
 */
#ifndef COLLECT_SCHED_H
#define COLLECT_SCHED_H

#include "collect/engine/evset.h"
#include "trace/record.h"

struct collect;

/* PERF_RECORD_SWITCH, of a thread or of a CPU. */
struct switch_record {
	const struct perf_event_header *h;
	uint32_t pid, tid, cpu;		/* of the thread whose record it is */
	uint32_t other;			/* of a CPU's: who gets it, or lost it */
	bool out;
	enum sched_state state;		/* as far as the record knows */
};

bool sched_read_switch(const struct perf_event_header *h, struct switch_record *r);
/* Return the bytes of a ring for such records, per CPU; asked_bytes 0: our default. */
size_t sched_ring_bytes(size_t asked_bytes, size_t nr_cpus);

#endif
