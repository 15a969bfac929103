/* SPDX-License-Identifier: GPL-2.0-or-later */
/* itrace.h - one instruction trace: from the engine's branches to a trace with names. */
#ifndef COLLECT_ITRACE_H
#define COLLECT_ITRACE_H

#include "collect/itrace/brackets.h"
#include "itrace/engine.h"
#include "trace/writer.h"

struct itrace_run_opts {
	const struct itrace_engine *engine;
	struct itrace_opts steps;
	uint64_t duration_ns;		/* 0: until the program ends, or a signal */
	uint64_t max_bytes;		/* of the file; 0: no limit */
	bool java;			/* names of compiled Java code, of JVMs that the program starts */
	/* Calls of Java methods that are brackets, with CALLFLOW_BRACKETS; flags 0: none. */
	struct callflow_layout methods;
	bool lines;			/* file:line into the trace */
	bool cache;			/* as in collect.h */
	bool compress;
	const char *output, *version, *command_line;
};

enum itrace_why {
	ITRACE_WHY_GONE,		/* all that was traced has ended */
	ITRACE_WHY_LIMIT,		/* as many instructions as asked */
	ITRACE_WHY_CALLS,		/* as many calls of methods as asked */
	ITRACE_WHY_SIZE,		/* as many bytes as asked */
	ITRACE_WHY_TIME,
	ITRACE_WHY_SIGNAL,
	ITRACE_WHY_DISK,		/* the trace can no longer be written */
};

struct itrace_result {
	struct itrace_totals totals;
	enum itrace_why why;
	uint64_t duration_ns, nr_bytes;
	uint64_t nr_turned_away;	/* connections to the agent's socket that were closed */
	struct brackets_result methods;
	int status;			/* of the program; 0 without one */
	int write_error;		/* errno when the file is not whole */
};

/* 0, or -errno: *e says what kept it from tracing. */
int itrace_run(const struct itrace_run_opts *o, struct itrace_result *res, struct err *e);

#endif
