/* SPDX-License-Identifier: GPL-2.0-or-later */
/* columns.h - which metrics of a trace are metrics of the model, and where there. */
#ifndef MODEL_COLUMNS_H
#define MODEL_COLUMNS_H

#include "model/names.h"
#include "trace/calls.h"

/* The events of samples. Without names of events all samples are one metric. */
struct event_columns {
	int column_of[64];		/* event -> metric; -1: not wanted */
	uint32_t nr_events;		/* that the trace names */
};

enum { CALLS_NR_EXTRA = 2 };	/* dispatches, interrupts */

/* the metrics of calls */
struct call_columns {
	unsigned int nr_metrics;	/* of the trace; 0: calls alone */
	/* of replay: behind those, what dispatches and interrupts say about each event */
	unsigned int nr_extra;
	int column_of[CALL_MAX_METRICS];	/* -1: not wanted */
	bool calls_are_consumed;	/* the only metric */
	bool with_samples;		/* the model has columns for them, too */
};

struct columns_opts {
	const struct opt_list *metrics;	/* NULL or empty: what calls consumed, and the first event */
	bool extra;			/* offer what replay adds */
	bool no_samples;		/* offer no events of samples */
	bool all_events;		/* without metrics: of samples as many as there is room for */
	bool n_of_first;		/* then n is of the first event alone, and there is room for more */
	/* the same of these names alone, which can have modifiers ("cycles:u"); ends with NULL */
	const char *const *events;
};

/*
 * Give the model its metrics. -EINVAL: a metric is wanted that the trace has not, or more than a model
 * can have.
 */
int columns_of_samples(struct event_columns *k, struct names *x, const struct columns_opts *o, struct err *e);
int columns_of_calls(struct call_columns *k, struct event_columns *events, struct names *x,
		     const struct columns_opts *o, struct err *e);

/*
 * Adds to a node what a context has: calls, and values as the trace has them, [nr_metrics + nr_extra].
 */
void call_columns_add(const struct call_columns *k, struct flow *f, uint32_t node, uint64_t nr_calls,
		      const uint64_t *values);

#endif
