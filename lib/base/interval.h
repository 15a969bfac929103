/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * interval.h - what a few counts say about the truth behind them: intervals that contain it in 19 of 20
 * cases.
 *
 * Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
 * Journal of the American Statistical Association 22, 1927.  R. G. Newcombe, "Two-sided confidence
 * intervals for the single proportion", Statistics in Medicine 17, 1998, compares it with others: it
 * holds for few counts, and for none.
 */
#ifndef BASE_INTERVAL_H
#define BASE_INTERVAL_H

#include <stdint.h>

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
