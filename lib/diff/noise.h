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
	NOISE_EARLY,		/* the same, if the last compiler would have saved most of it */
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

/* The likelihood of each deviation from run to run, noise_deviation() of the same index. */
enum { NOISE_NR_DEVIATIONS = 27, NOISE_NR_SHARES = 8 };
struct noise_belief {
	double part[NOISE_NR_DEVIATIONS];	/* of 1 */
};

struct noise {
	const struct diff_rows *x;
	enum noise_kind kind;
	struct noise_belief beliefs[NOISE_NR_CLASSES][NOISE_NR_SHARES];
};

/* Fills known, low, high, p, q, changed and doubt of all rows, and marks what is only inlined differently. */
void noise_fill(struct noise *s, struct diff_rows *x);
/* Fills those of one row, without q and changed, as noise_fill() has learned. */
void noise_of_row(const struct noise *s, struct diff_row *row);
/*
 * Return the smallest growth, as a part of the value, that would have been marked in 8 of 10 comparisons like
 * this one; INFINITY: none that is worth a number, or it is not known.
 */
double noise_detectable(const struct noise *s, const struct diff_row *row);

/* prior.c. Return the standard deviation of ln(value) with that index. */
double noise_deviation(size_t i);
/*
 * Fill what is believed of rows of a class: what nr spreads of df degrees of freedom make of what is stated;
 * nr 0: that.
 */
void noise_learn(enum noise_class class, const struct noise_spread *list, size_t nr, double df,
		 struct noise_belief *by_share);
/* Return what is believed of a row of that share. */
struct noise_belief noise_believe(const struct noise_belief *by_share, double share);
/* Add what the row itself shows, of df degrees of freedom. */
void noise_update(struct noise_belief *b, const struct noise_spread *seen, double df);

/* inlined.c: what is only inlined differently is not changed. */
void noise_mark_inlined(const struct noise *s, struct diff_rows *x);

#endif
