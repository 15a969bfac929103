/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmlog.h - a JVM's own log, which the agent makes it write to a file of ours (agent/sources/vmlog.c):
 * collections, safepoints, compilations, unloaded classes and how long others took to load, as struct
 * jvm_event.
 *
 * Its lines are those of -Xlog with the decorators timenanos, tid and tags. They are hostile input, as all
 * that comes from a JVM; a line that is not understood is none of these events.
 */
#ifndef JVM_VMLOG_H
#define JVM_VMLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "jvm/compiles.h"
#include "jvm/loads.h"
#include "jvm/record.h"

/*
 * arrivals.c: which thread was the last to reach a safepoint, from what the VM's log says with
 * safepoint=trace: the VM looks at its threads again and again until none runs, and logs those that do
 * (safepoint.cpp); a thread that stops at a poll of compiled code logs that (sharedRuntime.cpp).
 *
 * The last is the one that still ran when the VM looked last; of several, the one whose own line came last,
 * if each of them has one.
 */
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
/* Note that the VM looked, and the thread ran. */
void arrivals_runs(struct arrivals *a, uint32_t tid);
/* Note that the thread stops at a poll. */
void arrivals_polls(struct arrivals *a, uint32_t tid, uint64_t time_ns);
/* Return the tid of the last thread that stopped, or 0; *together: how many may have been the last. */
uint32_t arrivals_last(const struct arrivals *a, size_t *together);

/* ---- the log ---- */

struct vmlog {
	int fd;			/* -1: not open */
	uint64_t read, punched;	/* bytes: read up to here, and given back */
	struct compiles compiles;
	struct loads loads;
	struct arrivals arrivals;
	struct buf together;	/* scratch */
};

/* Makes the file; false: that failed. */
bool vmlog_open(struct vmlog *v);
void vmlog_close(struct vmlog *v);
/*
 * Hands over the events of lines that are whole; texts are good for the call. all: to the end, and
 * compilations that go on without a duration; else a share that is more than an honest JVM writes
 * meanwhile. Returns how many stretches were skipped, because the JVM wrote too much or lines without an
 * end. scratch is overwritten.
 */
uint64_t vmlog_drain(struct vmlog *v, bool all, struct buf *scratch,
		     void (*event)(void *ctx, struct jvm_event *e), void *ctx);

/*
 * Parse a line without its newline; return false for no such event. The texts of *e are in line, or
 * fixed, and not terminated.
 */
bool vmlog_line(const char *line, size_t len, struct jvm_event *e);
/*
 * Take one line of many, passing on events that are complete with it. A compilation is complete when its code
 * is installed, when it is given up, or when its thread begins the next one.
 */
void vmlog_take(struct vmlog *v, const char *line, size_t len, void (*event)(void *ctx, struct jvm_event *e),
		void *ctx);

#endif
