/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plot.h - the calls of functions for a picture: how long each took, and what that time went to.
 *
 *	plot.c		what each call's time went to
 *	plot_svg.c	the picture of one function
 */
#ifndef REPORT_PLOT_H
#define REPORT_PLOT_H

#include "base/buf.h"
#include "base/spread.h"
#include "report/report.h"

/* Parts of a call's time. Where several apply at a moment, the first counts; CPU is the rest. */
enum plot_part { PLOT_GC, PLOT_LOCK, PLOT_IO, PLOT_OFF, PLOT_CPU, PLOT_NR_PARTS };

struct plot_call {
	uint64_t start_ns, end_ns;
	uint32_t thread, proc;		/* numbers of the trace; thread 0: of no kernel's thread */
	uint64_t ns[PLOT_NR_PARTS];	/* together end_ns - start_ns */
};

/* Calls that have something in common, together. */
struct plot_sum {
	uint64_t n, sum_ns, max_ns;
	uint64_t ns[PLOT_NR_PARTS];	/* together sum_ns */
};

struct plot {
	const char *function;		/* as it was asked for */
	const char *of;			/* the command that was recorded; NULL: not known */
	uint64_t start_ns;		/* of the recording; CLOCK_MONOTONIC */
	uint64_t from_ns, to_ns;	/* of the picture */
	struct plot_call *calls;	/* by start_ns */
	size_t nr_calls, alloc_calls;
	uint64_t nr_open;		/* further calls, of which the beginning or end is not known */
	struct spread elapsed;
	bool known[PLOT_NR_PARTS];	/* what was recorded */
};

/* Append the picture; there is at least one call. */
void plot_put_svg(struct plot *p, struct buf *b);
const char *plot_part_name(enum plot_part part);
void plot_sum_add(struct plot_sum *s, const struct plot_call *c);
/* Return the bin of a duration, as in struct spread. */
unsigned int plot_bin_of(uint64_t ns);

/* for a page: the same for the functions with most time in calls that began and ended in the recording */
enum { PLOT_CELLS = 240, PLOT_MOST_ROWS = 50 };

struct plot_row {
	char *name;
	uint64_t start_ns, span_ns;		/* from the first beginning to the last, CLOCK_MONOTONIC */
	struct plot_sum cells[PLOT_CELLS];	/* by when they began: equal parts of that time */
	struct plot_sum bins[SPREAD_BINS];	/* by how long they took */
};

struct plot_rows {
	struct plot_row *rows;		/* in the order of --calls */
	size_t nr;
	bool known[PLOT_NR_PARTS];	/* what was recorded */
};

/*
 * Read the rows; there are none if t is not a call trace or cannot be read. p must be released in any case.
 */
void plot_rows_read(struct plot_rows *p, struct trace_reader *t, const struct report_opts *o);
void plot_rows_release(struct plot_rows *p);

#endif
