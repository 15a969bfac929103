/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * browser.h - a trace in a terminal: reports as text, functions as a list that is sorted and searched, and
 * the stanza of each, from which others are reached.
 *
 * It computes nothing itself: lists are those of flow/flat.h, stanzas those of flow/arcs.h, as reports print
 * them, and texts are what reports print.
 */
#ifndef TERMINAL_BROWSER_H
#define TERMINAL_BROWSER_H

#include "report/report.h"

/* A part of the recording: ns after its start. */
struct browser_range {
	uint64_t from_ns, to_ns;	/* to_ns 0: the end */
};

/* A report to print. */
struct browser_ask {
	const struct report *report;
	const char *argument;		/* of its option; NULL: none */
	const char *metric;		/* the only one; NULL: those of the report */
	const char *sort;		/* a column; NULL: as the report has it */
	int width;			/* of lines */
	struct browser_range range;
};

/* what the browser has others do; both return -errno, and *e says why */
struct browser_source {
	void *ctx;
	const char *name;		/* of the trace */
	/*
	 * Reads the trace, or a part of it: all metrics, with their times. The view, and what it points to,
	 * is the source's, until the next call.
	 */
	int (*read)(void *ctx, const struct browser_range *range, const struct view **v, struct err *e);
	/* Appends what the report prints as text. */
	int (*print)(void *ctx, const struct browser_ask *ask, struct buf *out, struct err *e);
};

/*
 * Check whether standard input and output are a terminal that can show it; if not, return -errno with the
 * reason in *e.
 */
int browser_possible(struct err *e);
/* Runs until the user leaves it. -errno: it could not begin, or go on. */
int browser_run(const struct browser_source *s, struct err *e);

#endif
