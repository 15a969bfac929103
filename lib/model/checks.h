/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * checks.h - what report --check compares of a trace: sums that different sides have counted. A trace without
 * the data of a check passes.
 */
#ifndef MODEL_CHECKS_H
#define MODEL_CHECKS_H

#include "model/profile.h"
#include "trace/reader.h"

/* ---- callcheck.c: the CPU time charged to the calls of each thread against the kernel's ---- */

/* how far they may be apart: the sum of both */
enum { CALLS_CHECK_PERCENT = 5, CALLS_CHECK_NS = 10000000 };

struct calls_check {
	uint64_t nr_checked, nr_bad;	/* threads, or processes with virtual threads */
	char first[160];		/* of the bad ones */
};

int calls_check(struct trace_reader *t, struct calls_check *out, struct err *e);

/*
 * ---- sourcecheck.c: a model with its trace: n of each source must be the number of its records, and the sum
 * of base their weight ----
 */

struct source_check {
	uint64_t nr_checked, nr_bad;	/* sums; models of branches or events are not checked */
	char first[160];		/* of the bad ones */
};

/*
 * Check m, made by profile_read() from the trace with these options and before any view of it; x are its
 * names. Fills out[m->nr_sources] by reading the trace itself.
 */
int sources_check(const struct model *m, const struct names *x, struct trace_reader *t,
		  const struct profile_opts *o, struct source_check *out, struct err *e);

/* ---- wallcheck.c: samples of the source "wall" against what the kernel counted of each thread ---- */

struct wall_check {
	/* sums of processes, as what a thread did on behalf of a virtual one is the latter's */
	uint64_t nr_checked, nr_bad;
	char first[160];		/* of the bad ones */
};

/*
 * Check the accounts; in a truncated trace only these, as a thread may have samples there and no account yet.
 */
int wall_check(struct trace_reader *t, struct wall_check *out, struct err *e);

#endif
