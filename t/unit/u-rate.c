// SPDX-License-Identifier: GPL-2.0-or-later
/* A bound on samples per second: how many there are, and what they stand for. */
#include <math.h>
#include <string.h>

#include "agent/ring.h"
#include "unit.h"

static uint64_t now_ns;
static struct jvm_ctl told;

#define sys_now() now_ns
#define ring_ctl() (&told)
#include "agent/sources/rate.c"

enum { INTERVAL = 64 << 10, SIZE = 1000 };
#define SECOND 1000000000ull

struct sum {
	uint64_t nr;			/* samples, */
	uint64_t most;			/* of a second */
	double bytes;			/* that they stand for */
};

/* A program that allocates so many objects a second, for a time. */
static struct sum allocate(uint64_t a_second, uint64_t seconds)
{
	struct sum sum = { 0 };
	uint64_t s, i, nr;
	uint32_t doubled;

	for (s = 0; s < seconds; s++) {
		for (i = nr = 0; i < a_second; i++) {
			now_ns += SECOND / a_second;
			if (!rate_chooses(SIZE, 0, INTERVAL) ||
			    !rate_takes(JVM_SOURCE_ALLOC, SIZE, INTERVAL, &doubled))
				continue;
			nr++;
			sum.bytes += SIZE / -expm1(-SIZE / (double)jvm_doubled_interval(INTERVAL, doubled));
		}
		sum.nr += nr;
		sum.most = nr > sum.most ? nr : sum.most;
	}
	return sum;
}

/* 1000 objects a sample; within five times what chance makes of as many samples as there are. */
TEST(rate_bounds_samples_and_they_stand_for_all)
{
	const double all = 10 * 640000.0 * SIZE;
	struct sum s;

	told.rate = 500;
	rate_begin();
	now_ns = 100 * SECOND;
	s = allocate(640000, 10);		/* some 10000 samples per second */
	CHECK(s.nr < 10 * 500 + 5 * 500);
	CHECK(s.nr > 10 * 500 / 4);
	CHECK(fabs(s.bytes - all) < 5 * all / sqrt(10 * 500 / 4));
	CHECK(told.left_out > 50000);
	/* what has become slow has all of its samples again */
	now_ns += 30 * SECOND;
	s = allocate(6400, 20);
	CHECK(s.nr > 20 * 60);
}

TEST(rate_leaves_few_samples_alone)
{
	uint32_t doubled = 1;
	uint64_t i;

	told.rate = 1000;
	told.left_out = 0;
	rate_begin();
	for (i = 0; i < 999; i++) {
		CHECK(rate_takes(JVM_SOURCE_THROW, 1, 0, &doubled));
		CHECK_U64(doubled, 0);
	}
	CHECK_U64(told.left_out, 0);
	told.rate = 0;
	for (i = 0; i < 5000; i++)
		CHECK(rate_takes(JVM_SOURCE_THROW, 1, 0, &doubled) && !doubled);
}
