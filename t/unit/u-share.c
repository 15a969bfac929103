// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>

#include "agent/locks/share.c"
#include "unit.h"

static struct shares shares;
static uint64_t now_ns;

struct context {
	uint64_t ns;			/* of each of its waits */
	uint64_t waited_ns, told_ns;
	double waits;			/* by its stacks */
	uint64_t nr, nr_stacks;
};

static void wait_for(uint64_t key, struct context *x, uint64_t interval_ns)
{
	uint64_t weight = share_of(&shares, key, x->ns, interval_ns, now_ns += SHARE_WINDOW_NS);
	double length = (double)x->ns / (double)interval_ns;

	x->waited_ns += x->ns;
	x->told_ns += weight;
	x->nr++;
	x->nr_stacks += weight > 0;
	if (weight)
		x->waits += length >= 1 ? 1 : 1 / (length - length * length / 4);
}

/* Within that many times what chance makes of n stacks. */
static bool agrees(double got, double want, uint64_t n)
{
	return fabs(got - want) <= 4.5 * want / sqrt((double)n);
}

TEST(shares_of_a_lock_are_those_of_its_waits)
{
	static const uint64_t lengths[][2] = {
		{ 450, 50 }, { 990, 10 }, { 700, 300 }, { 999, 999 }, { 2500, 100 },
	};
	size_t i;
	int n;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct context a = { .ns = lengths[i][0] }, b = { .ns = lengths[i][1] };

		for (n = 0; n < 200000; n++) {
			wait_for(i + 1, &a, 1000);
			wait_for(i + 1, &b, 1000);
		}
		CHECK(agrees((double)a.told_ns, (double)a.waited_ns, a.nr_stacks));
		CHECK(agrees((double)b.told_ns, (double)b.waited_ns, b.nr_stacks));
		CHECK(agrees(a.waits, (double)a.nr, a.nr_stacks));
		CHECK(agrees(b.waits, (double)b.nr, b.nr_stacks));
		CHECK(a.told_ns + b.told_ns <= a.waited_ns + b.waited_ns);
		CHECK(a.told_ns + b.told_ns + 2000 > a.waited_ns + b.waited_ns);
	}
}

/* Whatever the first point, a lock that one short wait was for is not above others. */
TEST(shares_of_few_waits_are_right_on_average)
{
	struct context a = { .ns = 400 };
	uint64_t key;

	for (key = 100; key < 100000; key++)
		wait_for(key, &a, 1000);
	CHECK(agrees(a.waits, (double)a.nr, a.nr_stacks));
	CHECK(a.told_ns <= a.waited_ns);
}

TEST(shares_take_as_many_stacks_as_there_is_room_for)
{
	uint64_t told = 0, i, nr = 0;

	now_ns += SHARE_WINDOW_NS;
	for (i = 0; i < 3000000; i++) {
		uint64_t weight = share_of(&shares, 7, 400, 1000, now_ns + SHARE_WINDOW_NS * (i / 1500000));

		told += weight;
		nr += weight > 0;
	}
	CHECK_U64(nr, 2 * SHARE_STACKS_A_WINDOW);
	CHECK(told <= 3000000ull * 400);
	/* the second window begins with a stack for all that went before */
	CHECK(told >= 1500000ull * 400);
	CHECK_U64(share_of(&shares, 7, 5, 0, now_ns += SHARE_WINDOW_NS * 4), 5);
}
