/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * brackets.h - calls of Java methods to trace: passes to each JVM which and how many, in an area of
 * call trees (callflow/area.h), and sums up the results.
 */
#ifndef COLLECT_BRACKETS_H
#define COLLECT_BRACKETS_H

#include <stdbool.h>

#include "callflow/layout.h"
#include "jvm/server.h"

struct brackets_result {
	uint64_t nr_jvms;		/* that took the agent */
	uint64_t nr_methods;		/* with probes */
	uint64_t nr_calls;		/* outermost ones, while there was a tracer */
	uint64_t nr_begun, nr_refused;	/* to be traced; of them, those that had no tracer */
	/* a method that matches and has no probes, with the reason; "" none */
	char why_not[160];
};

struct brackets {
	const struct callflow_layout *layout;	/* with CALLFLOW_BRACKETS */
	struct brackets_result *res;
	struct bracket_area *areas;
	bool open;
};

/* Make the area of a JVM; return its descriptor, for the caller to close, or -1. */
int brackets_new(struct brackets *b, struct jvm *jvm, uint64_t *bytes);
void brackets_gone(struct brackets *b, struct jvm *jvm);
void brackets_refused(struct brackets *b, const struct jvm_refused *r);
/* Note that the tracer is present, or gone: calls without a tracer are not counted, and run as usual. */
void brackets_open(struct brackets *b);
void brackets_close(struct brackets *b);

#endif
