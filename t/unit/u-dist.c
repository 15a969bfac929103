// SPDX-License-Identifier: GPL-2.0-or-later
/* u-dist.c - distributions against printed tables, and against sums of what they are the limits of. */
#include <math.h>

#include "base/dist.h"
#include "base/mem.h"
#include "unit.h"

static bool near(double got, double want, double relative)
{
	return fabs(got - want) <= relative * fabs(want);
}

/* Term by term. */
static double binomial_tails(unsigned int x, unsigned int n, double q)
{
	double above = 0, below = 0, term;
	unsigned int k;

	for (k = 0; k <= n; k++) {
		term = exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(q) +
			   (n - k) * log(1 - q));
		above += k >= x ? term : 0;
		below += k <= x ? term : 0;
	}
	return MIN(1., 2 * MIN(above, below));
}

TEST(dist_binomial_is_the_sum_of_its_terms)
{
	unsigned int round, n, x;
	double q;

	for (round = 0; round < 500; round++) {
		n = 1 + unit_random() % 300;
		x = unit_random() % (n + 1);
		q = (1 + unit_random() % 98) / 100.;
		CHECK(near(dist_binomial_p(x, n, q), binomial_tails(x, n, q), 1e-6) ||
		      binomial_tails(x, n, q) < 1e-12);
	}
}

/* With shapes of 1 each count from 0 to n is as likely; with large ones it is the binomial. */
TEST(dist_beta_binomial_lies_between_equal_chances_and_the_binomial)
{
	CHECK(near(dist_beta_binomial_p(0, 9, 1, 1), .2, 1e-9));
	CHECK(near(dist_beta_binomial_p(9, 9, 1, 1), .2, 1e-9));
	CHECK(dist_beta_binomial_p(5, 10, 3, 3) == 1);
	CHECK(near(dist_beta_binomial_p(2, 40, 3e6, 7e6), dist_binomial_p(2, 40, .3), 1e-3));
	CHECK(near(dist_beta_binomial_p(38, 40, 7e6, 3e6), dist_binomial_p(2, 40, .3), 1e-3));
	/* what varies makes the same count likelier */
	CHECK(dist_beta_binomial_p(2, 40, 3, 7) > 10 * dist_binomial_p(2, 40, .3));
}

/* The example of the paper: 15 hypotheses, of which the first four are rejected at 5 %. */
TEST(dist_fdr_rejects_what_benjamini_and_hochberg_did)
{
	static const double p[] = { .4262, .0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344, .0459,
		.3240, .5719, .6528, .7590, 1 };
	double q[ARRAY_SIZE(p)];
	size_t i;

	dist_fdr(p, q, ARRAY_SIZE(p));
	for (i = 0; i < ARRAY_SIZE(p); i++)
		CHECK((q[i] <= .05) == (i >= 1 && i <= 4));
	CHECK(near(q[1], .0001 * 15, 1e-9));
	CHECK(q[14] == 1);
}
