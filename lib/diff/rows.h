/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rows.h - what is compared. A row is a set of contexts; its value in a run is the sum of their base, or of
 * their cum.
 *
 *	by function	a row a consumer: all its contexts, of cum the outermost ones (as xprof)
 *	by context	a row per context, in preorder (as xtree)
 *	by arc		stanzas: self, parents and children of each consumer, and the same under recursion
 *			(as xarc)
 */
#ifndef DIFF_ROWS_H
#define DIFF_ROWS_H

#include "diff/diff.h"

enum diff_by { DIFF_BY_FUNCTION, DIFF_BY_CONTEXT, DIFF_BY_ARC };
enum diff_of { DIFF_BASE, DIFF_CUM };

/* The rows of a stanza, in its order. */
enum diff_kind { DIFF_PARENT, DIFF_SELF, DIFF_CHILD, DIFF_RPARENT, DIFF_RSELF, DIFF_RCHILD };

/* reasons why a difference is not a change of the program, whatever its probability */
enum diff_doubt {
	DIFF_SURE,
	DIFF_ONE_RUN,		/* few runs make it, of three or more a side */
	DIFF_TIERS,		/* the code of the last compiler does not say what all of the method says */
};

struct diff_row {
	uint32_t consumer;	/* of a stanza whose it is */
	uint32_t other;		/* by arc: parent (0: it was a root) or child */
	uint32_t node;		/* by context */
	enum diff_kind kind;
	uint32_t *nodes;	/* the set: points into diff_rows.nodes */
	size_t nr_nodes;
	/* average of each side's runs, normalised; b - a; and the sums of all runs */
	double value[DIFF_NR_SIDES], delta;
	bool defined[DIFF_NR_SIDES];	/* false: there is nothing to divide by, such as no calls */
	uint64_t sum[DIFF_NR_SIDES], n[DIFF_NR_SIDES];
	double share;		/* the larger of its shares of the totals, 0 to 1 */
	/*
	 * Filled by noise.h. known: low, high and error are; tested: p is as well. The change is between
	 * low and high in 19 of 20 cases, as a part of A's value; chance alone makes such a change with
	 * probability p, and q is the rate of false discoveries among the rows that are like it or clearer.
	 */
	bool known, tested;
	double low, high, p, q;
	double error;		/* standard error of ln(B / A) */
	double weight, alone_p;	/* of the correction by share; p that marks the row if no other is */
	enum diff_doubt doubt;
	bool of_last_tier;	/* low and high are without what the last compiler would have saved */
	bool small;		/* one side has too little for logarithms */
	bool changed;		/* q is at most 5 %, without a doubt; exact ones: they differ */
	bool inlined_differently;
};

struct diff_rows {
	const struct diff *d;
	enum diff_by by;
	enum diff_of of;
	enum diff_normalize normalize;
	bool as_recorded;	/* rows are judged with what the last compiler would have saved */
	struct diff_row *list;
	size_t nr;
	uint32_t *nodes;
};

/* Make the rows of a finished diff; those without a value on either side are left out, except contexts. */
void rows_init(struct diff_rows *x, const struct diff *d, enum diff_by by, enum diff_of of,
	       enum diff_normalize normalize);
void rows_release(struct diff_rows *x);

/* Recompute values, sums and share of a row whose set has changed. */
void rows_sum_up(const struct diff_rows *x, struct diff_row *row);

/* Return the row's value in a run, n of its samples or calls, and both divided by what normalises. */
uint64_t row_sum(const struct diff_rows *x, const struct diff_row *row, const struct diff_run *r);
uint64_t row_n(const struct diff_rows *x, const struct diff_row *row, const struct diff_run *r);
/* Return the sum of what the nodes of the row have in a table of one run. */
double row_saved_of(const struct diff_row *row, const double *of);
/* Return what values of a run are divided by; 0: there is nothing to divide by. */
double row_divisor(const struct diff_rows *x, const struct diff_row *row, const struct diff_run *r);

#endif
