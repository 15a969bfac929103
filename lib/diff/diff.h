/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff.h - two sides, each of one or more runs, as one tree in which each run has values of its own.
 *
 *	diff_init(&d, metric);
 *	diff_add(&d, DIFF_A, &model, &about, &e);	of each run; the model may be released now
 *	diff_finish(&d, &e);
 *	rows_init(&rows, &d, ...);			rows.h
 *	diff_release(&d);
 *
 * One metric is compared, or the calls. Models should be read by kind of code (inlined code is recognised
 * by it) and with the times of samples (which tell how much they are clustered); without either the rest
 * works.
 */
#ifndef DIFF_DIFF_H
#define DIFF_DIFF_H

#include "flow/union.h"
#include "model/same.h"

enum { DIFF_A, DIFF_B, DIFF_NR_SIDES };

enum diff_normalize {
	DIFF_SIZE,		/* over the size of the run (size.c): parts of the total of side A, 0 to 1 */
	DIFF_TOTAL,		/* shares of the run's total, 0 to 1 */
	DIFF_SECOND,		/* per second of the recording */
	DIFF_CALL,		/* per call of the row */
	DIFF_NONE,
	DIFF_WORK,		/* per unit of the work that the run did */
};

/* what the caller knows about a run */
struct diff_about {
	const char *path;	/* borrowed until diff_release() */
	uint64_t duration_ns;	/* 0: not known */
	uint64_t recorded_ns;	/* how long of it the metric was on */
	double work;		/* how many units of it the run did; 0: not known */
	uint64_t lost;
	uint64_t nr_left_out;	/* samples, by a filter */
	/* an imported profile does not say how many samples it had, or lost */
	bool counts_unknown, lost_unknown;
	bool has_jit;		/* a JIT compiler made some of the code */
};

struct diff_sample {
	uint32_t node;
	uint32_t block;		/* of DIFF_NR_BLOCKS, by time */
	double weight;
};

/* A run is cut into blocks of time, whose samples are compared. */
#define DIFF_NR_BLOCKS 64

struct diff_run {
	struct diff_about about;
	unsigned int side;
	uint64_t total, total_n;
	double size;	/* see size.h; after diff_finish() */
	/* [node], of what is compared and of n of its source (calls: the same); cums after diff_finish() */
	uint64_t *base, *cum, *n, *cum_n;
	/* [node]: of base and n, what the last compiler would have saved of what ran before it */
	double *saved, *saved_n;
	/* Samples by node; none: times are not known, or it was not sampled. */
	struct diff_sample *samples;
	size_t nr_samples;
	size_t *first_sample;	/* [node]: the first one of it or a later node; [nr_nodes]: nr_samples */
	double *block_total;	/* [DIFF_NR_BLOCKS] of all samples */
	/* while runs are added: [node of the input] */
	struct diff_input {
		uint32_t *where;
		uint64_t *base, *n;
		double *saved;
		size_t nr;
		struct flow_times times;
	} input;
};

struct diff {
	const char *filter;	/* borrowed: of all runs; NULL: none */
	/* Borrowed, as model_metric() takes it; NULL: the first one of the first input; "calls": these. */
	const char *metric;
	const char *work;	/* borrowed: what a unit of the work is called; NULL: it is not known */
	char *name, *unit;	/* of what is compared; known after the first diff_add() */
	bool of_calls;
	enum flow_n kind;	/* what n of its source counts */
	bool exact;		/* counted, not sampled */
	bool counts_unknown;	/* of one of the runs */
	bool has_jit;		/* one of them has */
	struct same_opts same;
	struct diff_run *runs;
	size_t nr_runs, alloc_runs;
	unsigned int nr_of_side[DIFF_NR_SIDES];
	double size_variance;	/* of ln of B's sizes over A's; 0: these are known */
	struct model_union u;
	struct model m;		/* the tree of all, in preorder; its metrics: of side A, of side B */
	uint32_t *last;		/* [node]: the last one of its subtree */
	/* [side][consumer]: n of it, and of that what was inlined; kinds must be read */
	uint64_t *code_n[DIFF_NR_SIDES], *inlined_n[DIFF_NR_SIDES];
	size_t nr_code;
	uint32_t *was;		/* [consumer]: strtab id of its name on side A; 0: the same as on B */
};

/* same: what makes two consumers the same; NULL: their names alone. */
void diff_init(struct diff *d, const char *metric, const struct same_opts *same);
void diff_release(struct diff *d);

/*
 * Add a run. -EINVAL: it does not have the metric, or the metric is exact in one run and sampled in another.
 */
int diff_add(struct diff *d, unsigned int side, const struct model *m, const struct diff_about *about,
	     struct err *e);

/* Match what was renamed or moved, after the last run. Both sides must have one. */
void diff_finish(struct diff *d);

/* Return the total of all runs of a side. */
uint64_t diff_side_total(const struct diff *d, unsigned int side);

#endif
