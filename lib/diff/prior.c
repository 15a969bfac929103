// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * prior.c - how much runs vary, by class of code and share of the total: what is stated, and the values with
 * the highest posterior density once rows have shown theirs.
 *
 * The relative variance of a row within its sides is F distributed with df and prior.df degrees of freedom
 * about what sampling and the prior make (Smyth 2004). All rows with enough samples are listed, not only
 * those that both sides have: the latter are the steady ones.
 */
#include <math.h>

#include "base/mem.h"
#include "diff/noise.h"

#define LEAST .01	/* no row is steadier from run to run than that */
#define MOST 1.		/* nor is one expected to vary more */

/* How sure what is stated is: standard deviations of ln(at_percent), of falls, and of ln(df). */
static const struct noise_prior sure = { .6, .15, .7 };

/* Measured on programs in C and Java: Documentation/technical/difference.adoc. */
static const struct noise_prior stated[NOISE_NR_CLASSES] = {
	[NOISE_NATIVE] = { .06, .40, 5 },
	[NOISE_JAVA] = { .10, .40, 4 },
	[NOISE_JVM] = { .08, .30, 6 },
	[NOISE_KERNEL] = { .25, .20, 4 },
	[NOISE_ANY] = { .10, .40, 5 },
};

/* More degrees of freedom than the last would trust the line more than the few rows that made it. */
static const double tried_df[] = { 2, 3, 4, 6, 10 };
enum { STEPS_OF_LOG = 7, STEPS_OF_FALLS = 2 };	/* to each side of what is stated */
#define STEP_OF_LOG .3
#define STEP_OF_FALLS .15

double noise_prior_variance(const struct noise_prior *p, double share)
{
	double deviation = p->at_percent * pow(share / .01, -p->falls);

	deviation = MIN(MAX(deviation, LEAST), MOST);
	return deviation * deviation;
}

/* ln of the density of F at f, without the constant that df alone makes. */
static double log_density(double f, double df, double prior_df)
{
	f = MAX(f, 1e-4);
	return lgamma((prior_df + df) / 2) - lgamma(prior_df / 2) + df / 2 * log(df / prior_df) +
	       (df / 2 - 1) * log(f) - (prior_df + df) / 2 * log1p(df * f / prior_df);
}

static double posterior(const struct noise_prior *p, const struct noise_prior *from,
			const struct noise_spread *list, size_t nr, double df)
{
	double a = log(p->at_percent / from->at_percent) / sure.at_percent;
	double b = (p->falls - from->falls) / sure.falls, c = log(p->df / from->df) / sure.df;
	double sum = -(a * a + b * b + c * c) / 2;
	size_t i;

	for (i = 0; i < nr; i++) {
		double variance = noise_prior_variance(p, list[i].share) + list[i].sampling;

		sum += log_density(list[i].variance / variance, df, p->df) - log(variance);
	}
	return sum;
}

struct noise_prior noise_learn(enum noise_class class, const struct noise_spread *list, size_t nr, double df)
{
	const struct noise_prior *from = &stated[class];
	struct noise_prior best = *from, p;
	double most = -INFINITY, is;
	int i, k;
	size_t n;

	if (!nr || df <= 0)
		return best;
	for (i = -STEPS_OF_LOG; i <= STEPS_OF_LOG; i++)
		for (k = -STEPS_OF_FALLS; k <= STEPS_OF_FALLS; k++)
			for (n = 0; n < ARRAY_SIZE(tried_df); n++) {
				p.at_percent = from->at_percent * exp(i * STEP_OF_LOG);
				p.falls = from->falls + k * STEP_OF_FALLS;
				p.df = tried_df[n];
				is = posterior(&p, from, list, nr, df);
				if (is <= most)
					continue;
				most = is;
				best = p;
			}
	return best;
}
