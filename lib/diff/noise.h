/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * noise.h - which differences are more than noise, and how far they are known. What is judged is the
 * logarithm of the ratio of both sides. Its variance has two parts: that of sampling, which is known, and
 * that by which runs of the same program vary.
 *
 *	sampling	one run a side: how runs vary is stated by kind of code and share, and corrected by
 *			what all rows show together, most of which did not change
 *	repeats		several runs: how they vary is learnt from the spread of each row, steadied by that of
 *			rows like it
 *	exact		one run a side, counted: these runs differ, or they do not; nothing is known of others
 *	unknown		one run a side, exact times: there is nothing to tell noise by
 *
 * Documentation/technical/difference.adoc has the formulas, and how often they are right.
 */
#ifndef DIFF_NOISE_H
#define DIFF_NOISE_H

#include "diff/rows.h"

enum noise_kind { NOISE_SAMPLING, NOISE_REPEATS, NOISE_EXACT, NOISE_UNKNOWN };

/* classes of code that varies alike from run to run */
enum noise_class {
	NOISE_NATIVE,
	NOISE_JAVA,		/* also native code with what it calls, where that may be Java */
	NOISE_JVM,		/* native code beside Java: collector, compiler, libraries */
	NOISE_KERNEL,
	NOISE_ANY,		/* of a profile that does not say what it is */
	NOISE_NR_CLASSES
};

#define NOISE_FDR .05		/* of the rows that are called changed, so many are not */
#define NOISE_LEAST_N 12	/* fewer samples than that on both sides together say nothing */

/* The standard deviation of ln(value) from run to run is at_percent * (share / 1 %)^-falls. */
struct noise_prior {
	double at_percent, falls;
	double df;		/* degrees of freedom that this is worth */
};

/* how the runs of a row vary; prior.c learns from these */
struct noise_spread {
	double variance;	/* of one run, as a part of its square */
	double sampling;	/* what sampling alone makes of that */
	double share;		/* of the total, 0 to 1 */
};

struct noise {
	const struct diff_rows *x;
	enum noise_kind kind;
	struct noise_prior priors[NOISE_NR_CLASSES];
	double quantile[NOISE_NR_CLASSES];	/* of t, that one in twenty exceeds */
};

/* Fills known, low, high, p, q, changed and doubt of all rows, and marks what is only inlined differently. */
void noise_fill(struct noise *s, struct diff_rows *x);
/* Fills those of one row, without q and changed, as noise_fill() has learned. */
void noise_of_row(const struct noise *s, struct diff_row *row);
/*
 * The smallest growth, as a part of the value, that would have been marked in 8 of 10 comparisons like this
 * one; INFINITY: none that is worth a number, or it is not known.
 */
double noise_detectable(const struct noise *s, const struct diff_row *row);

/* prior.c: what nr spreads of df degrees of freedom make of what is stated of a class; nr 0: that. */
struct noise_prior noise_learn(enum noise_class class, const struct noise_spread *list, size_t nr, double df);
/* Variance of ln(value) from run to run of a row with that share. */
double noise_prior_variance(const struct noise_prior *p, double share);

/* inlined.c: what is only inlined differently is not changed. */
void noise_mark_inlined(const struct noise *s, struct diff_rows *x);

#endif
