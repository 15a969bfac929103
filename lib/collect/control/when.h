/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * when.h - the conditions of "record --when", as they are written:
 *
 *	signal:USR1, signal:USR2	the recorder gets the signal
 *	cpu>80%:10s			CPU time, of one CPU, over the last 10 s; without a time, 10 s
 *	gc>200ms			a pause of a JVM's collector is longer
 *	rss>2G				a process has more memory resident
 *	oom				a JVM's memory is exhausted, or the kernel kills for want of memory
 *	crash				the program dies of a signal such as SIGSEGV or SIGABRT
 *	failure				its exit status is not 0
 *	method com.x.App.serve>500ms	a call of a Java method takes longer; '*' and '?' as in --callflow
 *
 * Spaces around the parts are allowed.
 */
#ifndef COLLECT_WHEN_H
#define COLLECT_WHEN_H

#include <stdint.h>

#include "base/err.h"
#include "collect/calls/callrules.h"

enum when_kind {
	WHEN_SIGNAL,
	WHEN_CPU,
	WHEN_GC,
	WHEN_RSS,
	WHEN_OOM,
	WHEN_CRASH,
	WHEN_FAILURE,
	WHEN_METHOD,
	WHEN_NR
};

enum {
	WHEN_MAX_SPAN_S = 3600,
	WHEN_MAX_TEXT = 300,		/* bytes of a condition */
};

struct when {
	enum when_kind kind;
	/* the signal's number; CPU: ns of CPU time a second; a length in ns; bytes; else 0 */
	uint64_t limit;
	uint64_t span_ns;		/* of CPU: whole seconds */
	const char *text;		/* as given, the caller's */
	char *method;			/* of METHOD: the pattern, */
	struct callrules methods;	/* and compiled */
};

/* -EINVAL: it is none, and *e says what is wrong. In any case *w is to be released. */
int when_parse(const char *text, struct when *w, struct err *e);
void when_release(struct when *w);
/*
 * Parse what follows "cpu>" alone, "80%" or "80%:10s"; span_ns: for the former. Nothing needs to be released.
 */
int when_parse_cpu(const char *text, uint64_t span_ns, struct when *w, struct err *e);
/* "gc" and the like. */
const char *when_kind_name(enum when_kind kind);
/* Return the name of the signal of a condition: "USR1"; NULL: it is none that a condition can have. */
const char *when_signal_name(int sig);

#endif
