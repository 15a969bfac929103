/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * checks.h - what report --check compares of a trace: sums that different sides have counted. A trace without
 * the data of a check passes.
 */
#ifndef MODEL_CHECKS_H
#define MODEL_CHECKS_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct model;
struct names;
struct profile_opts;
struct trace_reader;

struct sums_check {
	uint64_t nr_checked, nr_bad;
	char first[160];		/* of the bad ones */
};

/* Count a sum that was compared; describe the first that is not as it should be. */
void sums_check_that(struct sums_check *c, bool good, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- callcheck.c: the CPU time charged to the calls of each thread against the kernel's ---- */

/* how far they may be apart: the sum of both */
enum { CALLS_CHECK_PERCENT = 5, CALLS_CHECK_NS = 10000000 };

/* Check threads, or processes with virtual threads. */
int calls_check(struct trace_reader *t, struct sums_check *out, struct err *e);

/*
 * ---- sourcecheck.c: a model with its trace: n of each source must be the number of its records, and the sum
 * of base their weight ----
 */

/*
 * Check m, made by profile_read() from the trace with these options and before any view of it; x are its
 * names. Fills out[m->nr_sources] by reading the trace itself; models of branches or events are not checked.
 */
int sources_check(const struct model *m, const struct names *x, struct trace_reader *t,
		  const struct profile_opts *o, struct sums_check *out, struct err *e);

/* ---- wallcheck.c: samples of the source "wall" against what the kernel counted of each thread ---- */

/*
 * Check the sums of processes, as what a thread did on behalf of a virtual one is the latter's; in a
 * truncated trace only the accounts, as a thread may have samples there and no account yet.
 */
int wall_check(struct trace_reader *t, struct sums_check *out, struct err *e);

#endif
