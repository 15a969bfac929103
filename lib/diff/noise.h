/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * noise.h - which differences are more than noise, and how far they are known.
 *
 *	sampling	one run a side: what the same program, sampled again, would give. Samples need not be
 *			independent: neighbouring stretches of the run say how much they are clustered.
 *			Where runs are known to differ much, of programs with a JIT compiler and in the
 *			kernel, that is added
 *	repeats		several runs: their spread, steadied by that of the other rows, and never less than
 *			what sampling alone makes
 *	exact		one run a side, counted: these runs differ, or they do not; nothing is known of others
 *	unknown		one run a side, exact times: there is nothing to tell noise by
 *
 * Documentation/technical/difference.adoc has the formulas, and how often they are right.
 */
#ifndef DIFF_NOISE_H
#define DIFF_NOISE_H

#include "diff/rows.h"

enum noise_kind { NOISE_SAMPLING, NOISE_REPEATS, NOISE_EXACT, NOISE_UNKNOWN };

#define NOISE_FDR .05		/* of the rows that are called changed, so many are not */
#define NOISE_OF_RUNS .4	/* what such code varies by from run to run, as a part of itself */
#define NOISE_LEAST_N 12	/* fewer samples than that on both sides together say nothing */

struct noise {
	const struct diff_rows *x;
	enum noise_kind kind;
	/*
	 * Of repeats: the variance that rows like it have, ln(it) = offset + slope * ln(expected), and how
	 * much that counts; df 0: nothing. [1]: of what varies from run to run, code of a JIT compiler and
	 * the kernel's; [0]: of all other.
	 */
	struct noise_prior {
		double offset, slope, df;
	} priors[2];
};

/* Fills known, low, high, p, q and changed of all rows, and marks what is only inlined differently. */
void noise_fill(struct noise *s, struct diff_rows *x);
/* Fills those of one row, without q and changed, as noise_fill() has learned. */
void noise_of_row(const struct noise *s, struct diff_row *row);

/* inlined.c: what is only inlined differently is not changed. */
void noise_mark_inlined(const struct noise *s, struct diff_rows *x);

#endif
