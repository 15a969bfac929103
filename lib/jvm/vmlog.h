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
#include "jvm/arrivals.h"
#include "jvm/compiles.h"
#include "jvm/loads.h"
#include "jvm/record.h"

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
 * The same for one line of many: hands over the events that are complete with it. A compilation is when its
 * code is installed, when it is given up, or when its thread begins the next one.
 */
void vmlog_take(struct vmlog *v, const char *line, size_t len, void (*event)(void *ctx, struct jvm_event *e),
		void *ctx);

#endif
