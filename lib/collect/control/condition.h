/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * condition.h - the conditions of "record --when", as they are written:
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
#ifndef COLLECT_CONDITION_H
#define COLLECT_CONDITION_H

#include <stdint.h>

#include "base/err.h"
#include "collect/calls/callrules.h"

enum condition_kind {
	CONDITION_SIGNAL,
	CONDITION_CPU,
	CONDITION_GC,
	CONDITION_RSS,
	CONDITION_OOM,
	CONDITION_CRASH,
	CONDITION_FAILURE,
	CONDITION_METHOD,
	CONDITION_NR
};

enum {
	CONDITION_MAX_SPAN_S = 3600,
	CONDITION_MAX_TEXT = 300,		/* bytes of a condition */
};

struct condition {
	enum condition_kind kind;
	/* the signal's number; CPU: ns of CPU time a second; a length in ns; bytes; else 0 */
	uint64_t limit;
	uint64_t span_ns;		/* of CPU: whole seconds */
	const char *text;		/* as given, the caller's */
	char *method;			/* of METHOD: the pattern, */
	struct callrules methods;	/* and compiled */
};

/* -EINVAL: it is none, and *e says what is wrong. In any case *w is to be released. */
int condition_parse(const char *text, struct condition *w, struct err *e);
void condition_release(struct condition *w);
/*
 * Parse what follows "cpu>" alone, "80%" or "80%:10s"; span_ns: for the former. Nothing needs to be released.
 */
int condition_parse_cpu(const char *text, uint64_t span_ns, struct condition *w, struct err *e);
/* Return "gc" and the like. */
const char *condition_kind_name(enum condition_kind kind);
/* Return the name of the signal of a condition: "USR1"; NULL: it is none that a condition can have. */
const char *condition_signal_name(int sig);

#endif
