/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plot.h - the calls of one function as a picture: how long each took, and what that time went to.
 *
 *	plot.c		what each call's time went to
 *	plot_svg.c	the picture
 */
#ifndef REPORT_PLOT_H
#define REPORT_PLOT_H

#include "base/buf.h"
#include "base/spread.h"

/* Of a moment that is several of these, the first counts; CPU is what is none of the others. */
enum plot_part { PLOT_GC, PLOT_LOCK, PLOT_IO, PLOT_OFF, PLOT_CPU, PLOT_NR_PARTS };

struct plot_call {
	uint64_t start_ns, end_ns;
	uint32_t thread, proc;		/* numbers of the trace; thread 0: of no kernel's thread */
	uint64_t ns[PLOT_NR_PARTS];	/* together end_ns - start_ns */
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

#endif
