// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stddef.h>

#include "base/dist.h"
#include "base/mem.h"
#include "unit.h"

/* The cases and figures of Newcombe 1998, table I, method 3. */
TEST(interval_of_a_share_is_that_of_the_literature)
{
	static const struct {
		uint64_t x, n;
		double low, high;
	} cases[] = {
		{ 81, 263, .2553, .3662 }, { 15, 148, .0624, .1605 },
		{ 0, 20, 0, .1611 }, { 1, 29, .0061, .1718 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct interval v = interval_of_share(cases[i].x, cases[i].n);

		CHECK(fabs(v.low - cases[i].low) < .00005);
		CHECK(fabs(v.high - cases[i].high) < .00005);
	}
}

static double random_unit(void)
{
	return (double)(unit_random() >> 11) / (1ull << 53);
}

/* Poisson, by the product of uniform numbers. */
static uint64_t random_count(double mean)
{
	double left = exp(-mean), product = random_unit();
	uint64_t n;

	for (n = 0; product > left; n++)
		product *= random_unit();
	return n;
}

TEST(interval_contains_the_truth_in_19_of_20_cases)
{
	static const double means[][2] = { { 3, 1 }, { 10, 10 }, { 60, 5 }, { 200, 100 } };
	enum { NR = 4000 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(means); i++) {
		double truth = means[i][0] / means[i][1];
		int k, in_ratio = 0, in_count = 0;

		for (k = 0; k < NR; k++) {
			uint64_t x = random_count(means[i][0]), y = random_count(means[i][1]);
			struct interval r = interval_of_ratio(x, y), c = interval_of_count(x);

			in_ratio += truth >= r.low && truth <= r.high;
			in_count += means[i][0] >= c.low * (x ? x : 1) && means[i][0] <= c.high * (x ? x : 1);
		}
		CHECK(in_ratio > NR * .93 && (means[i][1] < 10 || in_ratio < NR * .975));
		CHECK(in_count > NR * .92 && in_count < NR * .99);
	}
}

TEST(interval_of_nothing_is_everything)
{
	CHECK(interval_of_share(0, 0).low == 0 && interval_of_share(0, 0).high == 1);
	CHECK(interval_of_ratio(0, 0).low == 0 && isinf(interval_of_ratio(0, 0).high));
	CHECK(interval_of_ratio(5, 0).low > 0 && isinf(interval_of_ratio(5, 0).high));
	CHECK(interval_of_ratio(0, 5).low == 0 && interval_of_ratio(0, 5).high < 1);
	CHECK(interval_of_share(7, 7).low > .6 && interval_of_share(7, 7).high == 1);
}
