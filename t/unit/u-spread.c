// SPDX-License-Identifier: GPL-2.0-or-later
/* u-spread.c - quantiles against sorted values. */
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/spread.h"
#include "unit.h"

static int ascending(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Of any size: as many of each octave. */
static uint64_t value(uint64_t i)
{
	uint64_t h = mix64(i + 1);

	return h >> (h & 63);
}

static void check_quantiles(uint64_t nr)
{
	static const unsigned int percents[] = { 1, 50, 90, 99, 100 };
	uint64_t *all = xcalloc(nr, sizeof(*all)), total = 0, in_bins = 0, i;
	struct spread s = { 0 };

	for (i = 0; i < nr; i++) {
		all[i] = value(i);
		total += all[i];
		spread_add(&s, all[i]);
	}
	qsort(all, nr, sizeof(*all), ascending);
	CHECK_U64(s.nr, nr);
	CHECK_U64(s.total, total);
	CHECK_U64(s.min, all[0]);
	CHECK_U64(s.max, all[nr - 1]);
	CHECK_U64(spread_is_exact(&s), nr <= SPREAD_FEW);
	for (i = 0; i < ARRAY_SIZE(percents); i++) {
		uint64_t want = all[(nr * percents[i] + 99) / 100 - 1];
		uint64_t got = spread_quantile(&s, percents[i]);
		uint64_t error = got > want ? got - want : want - got;
		double allowed = spread_is_exact(&s) ? 0 : (double)want * SPREAD_ERROR_PERCENT / 100;

		CHECK((double)error <= allowed);
	}
	for (i = 0; i < SPREAD_BINS; i++)
		in_bins += s.bins[i];
	CHECK_U64(in_bins, nr);
	spread_release(&s);
	free(all);
}

TEST(spread_quantiles_are_exact_or_near)
{
	check_quantiles(1);
	check_quantiles(7);
	check_quantiles(SPREAD_FEW);
	check_quantiles(SPREAD_FEW + 1);
	check_quantiles(100000);
}

TEST(spread_bins_begin_at_1_2_5)
{
	static const uint64_t starts[] = { 0, 1, 2, 5, 10, 20, 50, 100 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		struct spread s = { 0 };

		CHECK_U64(spread_bin_start(i), starts[i]);
		spread_add(&s, starts[i]);
		CHECK_U64(s.bins[i], 1);
		spread_release(&s);
	}
	CHECK_U64(spread_bin_start(SPREAD_BINS - 1), 5000000000000);
}

TEST(spread_of_nothing_is_zero)
{
	struct spread s = { 0 };

	CHECK_U64(spread_quantile(&s, 50), 0);
	spread_release(&s);
}
