/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dist.h - distributions of statistics: how likely chance alone makes a difference, and within which bounds
 * the truth behind a count is.
 *
 * Sources: NIST Digital Library of Mathematical Functions, 8.17 (incomplete beta function, its continued
 * fraction 8.17.22, and the binomial as a special case).
 * Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal Statistical
 * Society B 57, 1995.
 */
#ifndef BASE_DIST_H
#define BASE_DIST_H

#include <stddef.h>
#include <stdint.h>

/*
 * Return twice the smaller tail, at most 1, for x out of n where each has the chance q. x and n need not
 * be whole, since effective counts are not.
 */
double dist_binomial_p(double x, double n, double q);
/*
 * Return the same of whole counts whose chance itself varies by the beta distribution with shapes a, and
 * b of the rest (beta-binomial): x of n.
 */
double dist_beta_binomial_p(double x, double n, double a, double b);
/*
 * Set the false discovery rate at which each would still be found (Benjamini and Hochberg): q[i] of p[i], nr
 * of them.
 */
void dist_fdr(const double *p, double *q, size_t nr);

/*
 * An interval that contains the true value behind a few counts in 19 of 20 cases.
 *
 * Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
 * Journal of the American Statistical Association 22, 1927.  R. G. Newcombe, "Two-sided confidence
 * intervals for the single proportion", Statistics in Medicine 17, 1998, compares it with others: it
 * holds for few counts, and for none.
 */
struct interval {
	double low, high;		/* high may be INFINITY */
};

/*
 * Return the interval of a probability of which x of n were seen: 0 <= low <= x / n <= high <= 1. With n
 * 0 it is 0 to 1.
 */
struct interval interval_of_share(uint64_t x, uint64_t n);

/*
 * Return the interval of the ratio of two rates, when x events of one kind and y of another were counted
 * in the same stretch, independently of each other. Both are Poisson; then x of x + y is binomial. With x
 * and y 0 it is 0 to INFINITY.
 */
struct interval interval_of_ratio(uint64_t x, uint64_t y);

/*
 * Return the interval of the rate itself, as a multiple of what was counted, or of one event when none
 * was.
 */
struct interval interval_of_count(uint64_t x);

#endif
