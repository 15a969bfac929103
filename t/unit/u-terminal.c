// SPDX-License-Identifier: GPL-2.0-or-later
/* u-terminal.c - the line of time of the browser in a terminal. */
#include <stdlib.h>

#include "model/origin.h"
#include "terminal/screens.h"
#include "unit.h"

enum { BIN_NS = 1000, START_NS = 5000 };

static void add(struct model *m, unsigned int metric, uint64_t end_ns, uint64_t weight)
{
	flow_times_add(&m->times, &(struct flow_time){ .time_ns = START_NS + end_ns, .weight = weight,
						       .metric = metric });
}

/* In thousandths: sums of halves are exact. */
static uint64_t bin(const struct strip *s, unsigned int metric, unsigned int i)
{
	return s->bins[metric][i] * 1000;
}

TEST(strip_moments_are_in_one_bin_and_what_lasts_in_all_that_it_took)
{
	struct strip *s = calloc(1, sizeof(*s));
	const struct origin o = { .duration_ns = (uint64_t)STRIP_BINS * BIN_NS };
	struct model m;
	const struct view v = { .m = &m, .origin = &o };
	uint64_t sum = 0;
	unsigned int i;

	model_init(&m, 2, FLOW_SAMPLES);
	m.metrics[1].lasts = true;
	m.times.start_ns = START_NS;
	add(&m, 0, 1500, 7);
	add(&m, 0, o.duration_ns + 5, 2);	/* later than the end */
	add(&m, 1, 10500, 4000);
	add(&m, 1, 500, 4000);		/* begins before the recording */
	add(&m, 1, o.duration_ns, 2000);
	add(&m, 1, o.duration_ns + 700, 500);
	strip_fill(s, &v);
	CHECK_U64(bin(s, 0, 1), 7000);
	CHECK_U64(bin(s, 0, STRIP_BINS - 1), 2000);
	CHECK_U64(bin(s, 1, 0), 500);
	CHECK_U64(bin(s, 1, 6), 500);
	CHECK_U64(bin(s, 1, 8), 1000);
	CHECK_U64(bin(s, 1, 10), 500);
	for (i = 0; i < STRIP_BINS; i++)
		sum += bin(s, 1, i);
	CHECK_U64(sum, 500 + 4000 + 2000);
	model_release(&m);
	free(s);
}
