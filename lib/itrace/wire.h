/* SPDX-License-Identifier: GPL-2.0-or-later */
/* wire.h - what the stepper tells arcprof, through a pipe: heads, each followed by len bytes. */
#ifndef ITRACE_WIRE_H
#define ITRACE_WIRE_H

#include <stdint.h>

enum wire_type {
	WIRE_THREAD = 1,	/* a = parent process */
	WIRE_EXEC,		/* a = tid it had; bytes: name */
	WIRE_MAPS,		/* bytes: /proc/PID/maps */
	WIRE_GONE,
	WIRE_CODE,		/* a = address; bytes: instructions */
	WIRE_RUN,		/* a = start, b = branches; bytes: as branch.h has them */
	WIRE_STOPPED,		/* bytes: struct itrace_totals */
	WIRE_ENDED,		/* the same, and the program has ended or is none of our business */
	WIRE_FAILED,		/* a = errno, b = enum err_kind; bytes: message */
};

struct wire {
	uint32_t type;
	uint32_t len;
	uint64_t time_ns;
	int32_t pid, tid;
	uint64_t a, b;
};

enum { WIRE_MAX = 16 << 20 };

#endif
