// SPDX-License-Identifier: GPL-2.0-or-later
/* u-dist.c - distributions against printed tables, and against sums of what they are the limits of. */
#include <math.h>
#include <stdlib.h>

#include "base/dist.h"
#include "base/mem.h"
#include "unit.h"

static bool near(double got, double want, double relative)
{
	return fabs(got - want) <= relative * fabs(want);
}

/* Critical values of t as tables of it have them: two-sided 5 %, 1 % and 0.1 %. */
TEST(dist_t_is_that_of_the_tables)
{
	static const struct {
		double df, t05, t01, t001;
	} rows[] = {
		{ 1, 12.706, 63.657, 636.619 }, { 4, 2.776, 4.604, 8.610 }, { 10, 2.228, 3.169, 4.587 },
		{ 30, 2.042, 2.750, 3.646 }, { INFINITY, 1.960, 2.576, 3.291 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK(near(dist_t_quantile(.05, rows[i].df), rows[i].t05, .0005));
		CHECK(near(dist_t_quantile(.01, rows[i].df), rows[i].t01, .0005));
		CHECK(near(dist_t_quantile(.001, rows[i].df), rows[i].t001, .0005));
		CHECK(near(dist_t_p(rows[i].t01, rows[i].df), .01, .002));
	}
	CHECK(dist_t_p(0, 3) == 1);
	CHECK(dist_t_p(INFINITY, 3) == 0);
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

/* Tables of chi-squared: 5 % (z = 1.6449), 50 % and 95 % of 4 and 10 degrees of freedom. */
TEST(dist_chi2_is_that_of_the_tables)
{
	CHECK(near(dist_chi2_at(1.6449, 4), 9.488, .01) && near(dist_chi2_at(1.6449, 10), 18.307, .005));
	CHECK(near(dist_chi2_at(0, 4), 3.357, .02) && near(dist_chi2_at(0, 10), 9.342, .005));
	CHECK(near(dist_chi2_at(-1.6449, 4), .711, .05) && near(dist_chi2_at(-1.6449, 10), 3.940, .01));
	CHECK(dist_chi2_at(-9, 1) == .05);
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
