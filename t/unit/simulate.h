/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * simulate.h - differences of simulated recordings: how often noise is called a change, and how often a
 * change is found. For unit tests and t/perf/diff-rates.c.
 */
#ifndef UNIT_SIMULATE_H
#define UNIT_SIMULATE_H

#include "diff/rows.h"

enum { SIMULATE_SAMPLES = 10000 };

/* How a recording differs from an ideal one. */
struct simulate_sampling {
	unsigned int nr_samples;
	double burst;		/* samples in a row that hit one context, on average */
	double jitter;		/* what a context consumes varies from run to run by that, relatively */
	bool java;		/* a third is Java, compiled better in one of three runs */
};

/* What follows is the same for the same seed. */
void simulate_seed(uint64_t value);

/* Draw from the normal distribution. */
double simulate_normal(void);

/* A program of 250 functions in 700 contexts; the caller frees it. */
struct simulate_program *simulate_program(void);
/* A recording of it. */
void simulate_add(struct diff *d, unsigned int side, struct simulate_program *p,
		  const struct simulate_sampling *s);

/*
 * A flat program whose rows have the shares of Zipf's law: what each consumes varies from run to run by a
 * known standard deviation of its logarithm, at_percent * (share / 1 %)^-.4 and by row about that.
 */
enum { SIMULATE_ROWS = 250 };
struct simulate_rows {
	double share[SIMULATE_ROWS], deviation[SIMULATE_ROWS];
	double factor[SIMULATE_ROWS];	/* 1: what it consumes did not change */
	unsigned int nr_samples;	/* of a run, about */
};
void simulate_rows(struct simulate_rows *p, double at_percent);
/* A run of it, of Java code; the machine is faster or slower by 7 %. */
void simulate_add_rows(struct diff *d, unsigned int side, const struct simulate_rows *p);

/* Of nr comparisons of a program with itself, nr_runs a side, those in which something is called a change. */
unsigned int simulate_false_alarms(unsigned int nr, unsigned int nr_runs, const struct simulate_sampling *s,
				   enum diff_by by);
/*
 * Of nr programs with a function that consumes more, by that part of the total, those in which it is found;
 * and *covered those in which its interval has the true difference.
 */
unsigned int simulate_times_found(unsigned int nr, unsigned int nr_runs, const struct simulate_sampling *s,
				  double by, unsigned int *covered);

#endif
