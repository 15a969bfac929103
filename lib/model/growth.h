/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * growth.h - whether what samples stand for grows, and how much there is: statistics of objects that come and
 * go, each of which was sampled with a chance that its size determines.
 *
 * Sources: J. Przyborowski and H. Wilenski, "Homogeneity of results in testing samples from Poisson series",
 * Biometrika 31, 1940 (whether one of two counts has the higher rate: given their sum it is binomial);
 * F. Garwood, "Fiducial limits for the Poisson distribution", Biometrika 28, 1936, with the approximation of
 * E. Wilson and M. Hilferty, "The distribution of chi-square", PNAS 17, 1931; D. Horvitz and
 * D. Thompson, "A generalization of sampling without replacement from a finite universe", JASA 47, 1952 (an
 * estimate is the sum of size / p, its variance that of size^2 (1 - p) / p^2 over the samples).
 */
#ifndef MODEL_GROWTH_H
#define MODEL_GROWTH_H

#include <stdint.h>

/*
 * Return the square of the standard error of what a sample of that weight adds to a sum; interval 0: it
 * is exact.
 */
double growth_variance(double weight, double interval);

/* The 95 % interval of a sum of weights with that variance; for few samples it is wider above than below. */
struct growth_range {
	double low, high;
};

struct growth_range growth_range(double sum, double variance);

/*
 * Return the chance that this many more samples of objects come and stay than go, if not more objects do:
 * came and went are counted in the same time.
 */
double growth_chance(uint64_t came, uint64_t went);

enum { GROWTH_AGES = 12 };

struct growth_age {		/* up to so old, the last of any age */
	uint64_t upto_ns;
	uint64_t n;
	double bytes;
};

void growth_ages_init(struct growth_age ages[GROWTH_AGES]);
void growth_ages_add(struct growth_age ages[GROWTH_AGES], uint64_t age_ns, uint64_t bytes);

#endif
