/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.h - a request to "arcprof report", which other commands can make, too. */
#ifndef CMD_REPORT_H
#define CMD_REPORT_H

#include "base/opt.h"
#include "base/rules.h"
#include "collect/calls/callrules.h"
#include "report/report.h"

struct report_request {
	const char *input, *blend, *import, *symfs, *events, *stacks, *tree;
	int report;			/* 1 + index in reports[]; 0: the default */
	const char *output;		/* NULL: standard output */
	/* set by options; report_show() adds what follows from the report and the format */
	struct report_opts show;
	struct profile_opts profile;
	const char *sort;		/* a word of enum report_sort, or a column */
	bool blame;
	bool check, strict;
	struct opt_list filters;
	const char *config;
	struct rules rules;		/* of both: of report_parse_filters() */
	struct callrules methods;	/* of the file, also */
};

/*
 * Adds the options that say what of a trace is read, selected and folded; they fill the struct
 * report_request at that offset of the block.
 */
void report_join_selection(struct opt_join *j, size_t at);

/* Adds --filter and --config, in the same way. */
void report_join_filters(struct opt_join *j, size_t at);
/*
 * Parse the filters for that report. -EINVAL: it cannot be filtered by one of them. q must be released also
 * on failure.
 */
int report_parse_filters(struct report_request *q, const struct report *r, struct err *e);
void report_release_filters(struct report_request *q);

/*
 * r says which report, q->report is not looked at; own is the struct that the report's own options fill.
 * report_check() returns 0, or EXIT_USAGE when it has said what cannot be; only what passes may be shown.
 * report_show() returns the exit status.
 */
int report_check(const struct report_request *q, const struct report *r, const void *own);
int report_show(const struct report_request *q, const struct report *r, const void *own);

/*
 * A view of what a request selects, for callers that look at it for longer than a report takes; q and r stay
 * until it is freed, NULL is none. What is missing, report_reading_gaps() says; it returns the exit status of
 * that.
 */
struct report_reading;
int report_read(struct report_reading **out, const struct report_request *q, const struct report *r,
		struct err *e);
const struct view *report_reading_view(const struct report_reading *x);
int report_reading_gaps(const struct report_request *q, const struct report_reading *x);
void report_reading_free(struct report_reading *x);

#endif
