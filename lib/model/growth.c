// SPDX-License-Identifier: GPL-2.0-or-later
/* growth.c - tests whether the number of live objects grows (growth.h). */
#include <math.h>

#include "base/dist.h"
#include "model/growth.h"

static const double QUANTILE = 1.959964;	/* of the normal distribution, 95 % */

/* Return, in intervals, the x whose weight x / (1 - exp(-x)) is y. Below 1 there is none. */
static double growth_size(double y)
{
	double x = y;
	int i;

	if (y <= 1)
		return 0;
	/* Newton's method from above, on a convex function */
	for (i = 0; i < 50; i++) {
		double p = -expm1(-x), step = (x - y * p) / (1 - y * exp(-x));

		if (!(fabs(step) > 1e-12 * x))
			break;
		x -= step;
	}
	return x;
}

double growth_variance(double weight, double interval)
{
	double p;

	if (interval <= 0)
		return 0;
	p = -expm1(-growth_size(weight / interval));
	return weight * weight * (1 - p);
}

/* Return a limit of the mean of a Poisson count. */
static double limit(double n, double z)
{
	double root = 1 - 1 / (9 * n) + z / (3 * sqrt(n));

	return n > 0 && root > 0 ? n * root * root * root : 0;
}

struct growth_range growth_range(double sum, double variance)
{
	double n = variance > 0 ? sum * sum / variance : 0;	/* how many equal samples know it as well */

	if (sum <= 0 || variance <= 0)
		return (struct growth_range){ sum, sum };
	return (struct growth_range){ limit(n, -QUANTILE) / n * sum, limit(n + 1, QUANTILE) / n * sum };
}

double growth_chance(uint64_t came, uint64_t went)
{
	return came > went ? dist_binomial_p(came, (double)came + (double)went, .5) / 2 : 1;
}

void growth_ages_init(struct growth_age ages[GROWTH_AGES])
{
	uint64_t upto_ns = 1000000000;
	int i;

	for (i = 0; i < GROWTH_AGES; i++, upto_ns *= 2)
		ages[i] = (struct growth_age){ .upto_ns = i + 1 < GROWTH_AGES ? upto_ns : UINT64_MAX };
}

void growth_ages_add(struct growth_age ages[GROWTH_AGES], uint64_t age_ns, uint64_t bytes)
{
	int i;

	for (i = 0; i < GROWTH_AGES - 1 && age_ns > ages[i].upto_ns; i++)
		;
	ages[i].n++;
	ages[i].bytes += (double)bytes;
}
