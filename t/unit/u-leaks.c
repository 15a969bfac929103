// SPDX-License-Identifier: GPL-2.0-or-later
/* u-leaks.c - statistics of what grows, against tables and simulated samples; and rows of a trace. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "model/leaks.h"
#include "model/unfreed.h"
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

static uint64_t base_ns;		/* of all times: the file has begun */

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

	base_ns = clock_mono_ns();
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
	struct rec_sample s = { .time_ns = (uint64_t)(born * SECOND) + base_ns, .thread = 1, .stack = stack,
				.weight = SIZE, .event = event };

	if (!died) {
		s.event = LIVE;
		trace_write_sample(w, &s);
		return;
	}
	s.event = SURVIVED;
	trace_write_sample(w, &s);
	s.event = FREED;
	s.time_ns = (uint64_t)(died * SECOND) + base_ns;
	trace_write_sample(w, &s);
}

static void sweeps(struct trace_writer *w, double whole)
{
	uint32_t i;

	for (i = 0; i <= 10; i++)
		trace_write_sweep(w, &(struct rec_sweep){
			.time_ns = i * (uint64_t)SECOND + base_ns, .proc = 1, .pauses = i,
			.known_ns = i * (uint64_t)SECOND + base_ns,
			.whole_ns = i == 10 && whole > 0 ? (uint64_t)(whole * SECOND) + base_ns : 0,
		});
}

/* A block of native memory: events 4 and 5, beside the others. */
static void block(struct trace_writer *w, uint32_t stack, double born, uint64_t bytes, bool left)
{
	struct rec_sample s = { .time_ns = (uint64_t)(born * SECOND) + SECOND, .thread = 1, .stack = stack,
				.weight = bytes, .event = 4 };

	trace_write_sample(w, &s);
	s.event = 5;
	if (left)
		trace_write_sample(w, &s);
}

static void write_native_names(struct trace_writer *w)
{
	static const char *const names[] = { "malloc", "std::vector::reserve", "ours" };
	uint32_t i;

	write_names(w);
	trace_write_label(w, "event.4", "native-memory");
	trace_write_label(w, "event.5", "native-live");
	trace_write_label(w, "event.5.interval", "1000");
	trace_write_label(w, "end.mono_ns", "%u", 2000000000u);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		trace_write_function(w, &(struct rec_function){
			.function = 20 + i, .kind = i ? FUNCTION_NATIVE : FUNCTION_REASON,
			.name = names[i], .name_len = strlen(names[i]), .module = "", .file = "" });
}

/* The process ended after 9 s, which is later than the label of the end says. */
TEST(unfreed_blocks_have_their_ages_and_their_callers)
{
	const struct frame frames[] = { { FRAME_NAMED, .function = 22 }, { FRAME_NAMED, .function = 21 },
					{ FRAME_NAMED, .function = 20 } };
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ 0 });
	const struct selection all = { 0 };
	struct trace_reader *t;
	struct unfreed u;
	struct err e;
	uint32_t stack;
	struct buf b;

	write_native_names(w);
	stack = trace_write_stack(w, frames, ARRAY_SIZE(frames));
	block(w, stack, 1, 3000, true);
	block(w, stack, 4, 500, true);
	block(w, stack, 5, 2500, false);
	block(w, stack, 8, 1500, true);
	trace_write_end(w, &(struct rec_end){ .time_ns = 10 * (uint64_t)SECOND, .thread = 1 });
	b = traces_close(w);
	CHECK(!trace_reader_open_memory(&t, b.data, b.len, &e));
	CHECK(!unfreed_read(&u, t, &all, NULL, &e));
	CHECK_U64(u.nr_rows, 1);
	CHECK_STR(consumer_name(&u.strings.consumers, u.rows[0].call), "malloc");
	CHECK_STR(consumer_name(&u.strings.consumers, u.rows[0].site), "ours");
	CHECK(u.rows[0].bytes == 5000 && u.rows[0].allocated == 7500);
	CHECK(u.rows[0].range.low < 5000 && u.rows[0].range.high > 5000);
	CHECK_U64(u.rows[0].oldest_ns, 8 * (uint64_t)SECOND);
	CHECK_U64(u.rows[0].median_ns, 5 * (uint64_t)SECOND);
	CHECK_U64(u.rows[0].newest_ns, SECOND);
	CHECK(u.ages[0].n == 1 && u.ages[0].bytes == 1500 && u.ages[3].n == 2);
	unfreed_release(&u);
	trace_reader_close(t);
	buf_release(&b);
}

/* Blocks that the table had no room for, of a call that has nothing else left, and of one that has. */
TEST(unfreed_blocks_that_were_not_followed_are_in_the_upper_bounds)
{
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ 0 });
	const struct selection all = { 0 };
	struct rec_sample lost = { .time_ns = 3 * (uint64_t)SECOND, .thread = 1, .weight = 5000, .event = 6 };
	struct trace_reader *t;
	struct unfreed u;
	struct err e;
	struct buf b;

	write_native_names(w);
	trace_write_label(w, "event.6", "native-unknown");
	lost.stack = stack_of(w, 21);
	block(w, lost.stack, 1, 3000, true);
	block(w, lost.stack, 2, 2000, false);
	block(w, lost.stack, 3, 5000, false);
	trace_write_sample(w, &lost);
	lost.stack = stack_of(w, 22);
	block(w, lost.stack, 3, 5000, false);
	trace_write_sample(w, &lost);
	b = traces_close(w);
	CHECK(!trace_reader_open_memory(&t, b.data, b.len, &e));
	CHECK(!unfreed_read(&u, t, &all, NULL, &e));
	CHECK(u.unknown == 10000 && u.bytes == 3000 && u.nr_rows == 2);
	CHECK(u.rows[0].bytes == 3000 && u.rows[0].unknown == 5000 && u.rows[0].nr_unknown == 1);
	CHECK(u.rows[0].range.low < 3000 && u.rows[0].range.high > 8000);
	CHECK(u.rows[1].n == 0 && u.rows[1].range.low == 0 && u.rows[1].range.high > 5000);
	unfreed_release(&u);
	trace_reader_close(t);
	buf_release(&b);
}

static void read_back(struct leaks *m, struct trace_writer *w)
{
	const struct selection all = { 0 };
	struct buf b = traces_close(w);
	struct trace_reader *t;
	struct err e;

	CHECK(!trace_reader_open_memory(&t, b.data, b.len, &e));
	CHECK(!leaks_read(m, t, &all, &(struct leaks_opts){ .by_class = true }, &e));
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

TEST(leaks_are_distinguished_from_what_does_not_grow)
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

/* In a segment that begins after 5 s: what lives from before is there, and what had died by then is not. */
TEST(leaks_compare_with_no_time_before_the_trace)
{
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ 0 });
	struct leaks m;
	uint32_t stack, i;

	write_names(w);
	base_ns -= 5 * (uint64_t)SECOND;
	stack = stack_of(w, 9);
	/* each entry stays for four seconds */
	for (i = 0; i < 2000; i++) {
		double born = i / 200., died = born + 4;

		if (died >= 5)
			object(w, stack, LIVE, born, died < 10 ? died : 0);
	}
	for (i = 5; i <= 10; i++)
		trace_write_sweep(w, &(struct rec_sweep){
			.time_ns = i * (uint64_t)SECOND + base_ns - SECOND / 2, .proc = 1,
			.pauses = i, .known_ns = i * (uint64_t)SECOND + base_ns,
			.whole_ns = i * (uint64_t)SECOND + base_ns,
		});
	read_back(&m, w);
	CHECK_U64(m.rows[0].grows, LEAK_NO);
	CHECK_U64(m.rows[0].oldest_pauses, 4);
	CHECK_U64(m.pauses, 5);
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

/* Of what came after the last collection nothing is known: it is in no estimate, and in the upper bounds. */
TEST(leaks_that_no_collection_has_looked_at_are_in_the_upper_bounds)
{
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ 0 });
	struct rec_sample late = {
		.time_ns = 11 * (uint64_t)SECOND, .thread = 1, .weight = 7 * SIZE, .event = 4,
	};
	uint32_t stack, i;
	struct leaks m;

	write_names(w);
	trace_write_label(w, "event.4", "live-unknown");
	stack = stack_of(w, 1);
	for (i = 1; i <= 5; i++)
		object(w, stack, LIVE, i, 0);
	late.stack = stack;
	trace_write_sample(w, &late);
	late.stack = stack_of(w, 2);
	trace_write_sample(w, &late);
	sweeps(w, 10);
	read_back(&m, w);
	CHECK(m.bytes == 5 * SIZE && m.unknown == 14 * SIZE);
	CHECK(m.range.low <= 5 * SIZE && m.range.high >= 19 * SIZE);
	for (i = 0; i < m.nr_rows; i++)
		CHECK(m.rows[i].range.high >= m.rows[i].bytes + m.rows[i].unknown);
	leaks_release(&m);
}

TEST(leaks_of_older_traces_have_what_is_unknown_in_a_label)
{
	struct trace_writer *w = traces_create(&(struct trace_writer_opts){ 0 });
	struct leaks m;

	write_names(w);
	trace_write_label(w, "event.0.interval", "1000");
	trace_write_label(w, "live.unknown_bytes", "%u", 7000u);
	read_back(&m, w);
	CHECK(m.bytes == 0 && m.unknown == 7000 && m.interval == 1000);
	CHECK(m.range.low == 0 && m.range.high >= 7000);
	leaks_release(&m);
}
