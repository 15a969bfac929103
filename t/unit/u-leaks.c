// SPDX-License-Identifier: GPL-2.0-or-later
/* u-leaks.c - statistics of what grows, against tables and simulated samples; and rows of a trace. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/leaks.h"
#include "traces.h"
#include "unit.h"

static bool is_near(double a, double b, double share)
{
	return fabs(a - b) <= share * fabs(b);
}

/* Exact limits of the mean of a Poisson count, from tables of chi-square. */
TEST(growth_intervals_are_those_of_counts)
{
	static const struct {
		double n, low, high;
	} exact[] = {
		{ 1, .0253, 5.572 }, { 3, .6187, 8.767 }, { 10, 4.795, 18.39 }, { 100, 81.36, 121.63 },
	};
	struct growth_range r;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(exact); i++) {
		r = growth_range(exact[i].n * 64, exact[i].n * 64 * 64);
		CHECK(fabs(r.low / 64 - exact[i].low) < .03);
		CHECK(is_near(r.high / 64, exact[i].high, .01));
	}
	r = growth_range(5000, 0);
	CHECK(r.low == 5000 && r.high == 5000);
}

TEST(growth_variance_is_that_of_sampling)
{
	/* all are hit that are much larger than the interval, and tiny ones stand for one interval each */
	CHECK(growth_variance(1e6, 1000) < 1);
	CHECK(is_near(growth_variance(1000, 1000), 1e6, 1e-9));
	CHECK(growth_variance(77, 0) == 0);
	/* size = interval: p = 1 - 1/e */
	CHECK(is_near(growth_variance(1000 / -expm1(-1), 1000), 1e6 * exp(-1) / pow(-expm1(-1), 2), 1e-6));
}

/* Sums of sampled objects of one size: the interval has the truth in 95 of 100 runs. */
TEST(growth_intervals_have_the_truth)
{
	enum { RUNS = 4000, OBJECTS = 300, SIZE = 600, INTERVAL = 1000 };
	double p = -expm1(-(double)SIZE / INTERVAL), w = SIZE / p, sum, variance;
	struct growth_range r;
	int run, i, hit = 0;

	srand48(5);
	for (run = 0; run < RUNS; run++) {
		sum = variance = 0;
		for (i = 0; i < OBJECTS; i++) {
			if (drand48() >= p)
				continue;
			sum += w;
			variance += growth_variance(w, INTERVAL);
		}
		r = growth_range(sum, variance);
		hit += r.low <= OBJECTS * SIZE && r.high >= OBJECTS * SIZE;
	}
	CHECK(hit > RUNS * .935 && hit < RUNS * .975);
}

TEST(growth_chance_is_one_sided)
{
	CHECK(growth_chance(5, 5) == 1);
	CHECK(growth_chance(0, 9) == 1);
	CHECK(is_near(growth_chance(10, 0), 1. / 1024, 1e-9));
	CHECK(is_near(growth_chance(9, 1), 11. / 1024, 1e-9));
}

/* ---- a trace ---- */

enum { LIVE, OBJECTS, SURVIVED, FREED, SECOND = 1000000000, SIZE = 100 };

static uint32_t stack_of(struct trace_writer *w, uint32_t site)
{
	const struct frame frames[] = { { FRAME_NAMED, .function = site }, { FRAME_NAMED, .function = 9 } };

	return trace_write_stack(w, frames, ARRAY_SIZE(frames));
}

static void write_names(struct trace_writer *w)
{
	static const char *const events[] = { "live", "live-objects", "survived", "freed" };
	char key[16];
	uint32_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		snprintf(key, sizeof(key), "event.%u", i);
		trace_write_label(w, key, "%s", events[i]);
	}
	trace_write_proc(w, &(struct rec_proc){ .proc = 1, .pid = 7, .comm = "p", .comm_len = 1 });
	trace_write_thread(w, &(struct rec_thread){ .thread = 1, .proc = 1, .tid = 7, .name = "t",
			   .name_len = 1 });
	trace_write_function(w, &(struct rec_function){ .function = 9, .kind = FUNCTION_CLASS, .name = "C",
			     .name_len = 1, .module = "", .file = "" });
}

/* died: in s, 0: it is left */
static void object(struct trace_writer *w, uint32_t stack, uint32_t event, double born, double died)
{
	struct rec_sample s = { .time_ns = (uint64_t)(born * SECOND) + SECOND, .thread = 1, .stack = stack,
				.weight = SIZE, .event = event };

	if (!died) {
		s.event = LIVE;
		trace_write_sample(w, &s);
		return;
	}
	s.event = SURVIVED;
	trace_write_sample(w, &s);
	s.event = FREED;
	s.time_ns = (uint64_t)(died * SECOND) + SECOND;
	trace_write_sample(w, &s);
}

static void sweeps(struct trace_writer *w, double whole)
{
	uint32_t i;

	for (i = 0; i <= 10; i++)
		trace_write_sweep(w, &(struct rec_sweep){
			.time_ns = i * (uint64_t)SECOND + SECOND, .proc = 1, .pauses = i,
			.known_ns = i * (uint64_t)SECOND + SECOND,
			.whole_ns = i == 10 && whole > 0 ? (uint64_t)(whole * SECOND) + SECOND : 0,
		});
}

static void read_back(struct leaks *m, struct trace_writer *w)
{
	const struct selection all = { 0 };
	struct buf b = traces_close(w);
	struct trace_reader *t;
	struct err e;

	CHECK(!trace_reader_open_memory(&t, b.data, b.len, &e));
	CHECK(!leaks_read(m, t, &all, true, &e));
	trace_reader_close(t);
	buf_release(&b);
}

static enum leak_grows verdict(double from, double to, double life, double whole, struct leaks *m)
{
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ 0 });
	uint32_t stack, i;

	write_names(w);
	stack = stack_of(w, 9);
	object(w, stack, LIVE, 0, 0);
	for (i = 0; i < 200; i++) {
		double born = from + (to - from) * i / 200;

		object(w, stack, LIVE, born, life && born + life < 10 ? born + life : 0);
	}
	sweeps(w, whole);
	read_back(m, w);
	CHECK_U64(m->nr_rows, 1);
	CHECK_U64(m->nr_unpaired, 0);
	return m->rows[0].grows;
}

TEST(leaks_are_told_from_what_does_not_grow)
{
	struct leaks m;

	CHECK_U64(verdict(0, 10, 0, 10, &m), LEAK_YES);
	CHECK_U64(m.rows[0].n, 201);
	CHECK(is_near(m.rows[0].a_second, 2000, .02));
	CHECK(is_near(m.rows[0].a_collection, 2000, .02));
	CHECK_U64(m.rows[0].oldest_pauses, 10);
	CHECK_U64(m.rows[0].bytes, 20100);
	leaks_release(&m);
	/* the same, but nothing has looked at the old */
	CHECK_U64(verdict(0, 10, 0, 0, &m), LEAK_MAYBE);
	leaks_release(&m);
	/* filled in the first three seconds */
	CHECK_U64(verdict(0, 3, 0, 10, &m), LEAK_NO);
	leaks_release(&m);
	/* each entry stays for two seconds */
	CHECK_U64(verdict(0, 10, 2, 10, &m), LEAK_NO);
	CHECK(m.rows[0].n < 60 && m.rows[0].n > 20);
	leaks_release(&m);
	/* all in one moment of the second half */
	CHECK_U64(verdict(6, 6.1, 0, 10, &m), LEAK_NO);
	leaks_release(&m);
}

TEST(leaks_pair_nothing_that_contradicts_itself)
{
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ 0 });
	struct rec_sample s = { .time_ns = SECOND, .thread = 1, .weight = 5, .event = FREED };
	struct leaks m;

	write_names(w);
	s.stack = stack_of(w, 9);
	trace_write_sample(w, &s);	/* of nothing */
	s.event = SURVIVED;
	trace_write_sample(w, &s);
	s.weight = 6;
	trace_write_sample(w, &s);
	s.event = FREED;
	s.time_ns--;			/* before it began */
	trace_write_sample(w, &s);
	read_back(&m, w);
	CHECK_U64(m.nr_unpaired, 4);
	CHECK_U64(m.nr_rows, 0);
	CHECK_U64(m.nr_growing, 0);
	leaks_release(&m);
}
