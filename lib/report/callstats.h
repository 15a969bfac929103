/* SPDX-License-Identifier: GPL-2.0-or-later */
/* callstats.h - what calls.c and slowest.c, the two views of --calls, share. */
#ifndef REPORT_CALLSTATS_H
#define REPORT_CALLSTATS_H

#include "base/spread.h"
#include "report/completed.h"
#include "report/sheet.h"

struct call_stats {		/* calls of a function */
	uint64_t n;
	uint64_t nr_open;	/* of them, those whose beginning or end is not in the trace */
	uint64_t self;		/* of all */
	uint64_t others;	/* what other threads consumed meanwhile: of those that elapsed has */
	struct spread elapsed;	/* of the others */
};

void call_stats_add(struct call_stats *s, const struct completed_call *x);

/*
 * Write members into the open object of JSON: n, total, self, mean, percentiles, max, others, open, and
 * the histogram.
 */
void call_stats_members(const struct completed *c, struct call_stats *x, struct sheet *sheet);
/*
 * Convert columns for text: those of ns to us, unless the measure is not a time. "others" is left out for
 * time.
 */
void call_stats_columns(const struct completed *c, const struct sheet_column *from, size_t nr,
			struct sheet_column *to);
/* Append where a bin of the histogram begins. */
void call_stats_put_bound(const struct completed *c, unsigned int bin, struct buf *b);

/* Return whether a trace has single calls. */
bool calls_have_events(struct trace_reader *t);

/* --calls=FUNCTION. */
int slowest_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e);
/* plot.c: with --format=svg, print a picture of all calls. */
int plot_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e);

#endif
