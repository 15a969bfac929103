// SPDX-License-Identifier: GPL-2.0-or-later
/* How much of a thread's time the samples of a JVM may take, and what becomes of those it does not get. */
#include <stdlib.h>
#include <string.h>

#include "agent/sys.h"
#include "collect/control/rates.h"
#include "unit.h"

#define sys_pages(n) calloc(1, n)
#define sys_clear_pages(p, n) memset(p, 0, n)
#include "agent/sources/budget.c"

#define US 1000ull
#define MS 1000000ull

struct run {
	uint64_t cpu_ns, own_ns;	/* of all, and of the program alone */
	uint64_t nr_taken, weight;
	uint64_t nr_clocks;		/* samples for which the thread's CPU time was asked for */
};

/* A thread until it has worked for so long, hit every interval of its time; each walk takes so long. */
static struct run run(int tid, uint64_t work_ns, uint64_t interval_ns, uint64_t walk_ns)
{
	struct budget *b = budget_of(tid);
	struct run r = { .cpu_ns = 1 };
	uint64_t next = interval_ns;
	bool by_clock;

	while (r.own_ns < work_ns) {
		if (r.cpu_ns < next) {
			r.own_ns += next - r.cpu_ns;
			r.cpu_ns = next;
		}
		while (next <= r.cpu_ns)		/* a signal is pending once, whatever it stands for */
			next += interval_ns;
		by_clock = budget_wants_clock(b);
		r.nr_clocks += by_clock;
		if (by_clock && !budget_allows(b, r.cpu_ns)) {
			budget_skip(b, r.cpu_ns, 1);
			r.cpu_ns += 1 * US;
			continue;
		}
		r.weight += 1 + b->periods;
		budget_settle(b);
		r.cpu_ns += walk_ns;
		if (by_clock)
			budget_spend(b, walk_ns);
		else			/* now and then others had the CPU in between */
			budget_spend_elapsed(b, r.nr_taken % 7 ? walk_ns : walk_ns + 5 * MS);
		r.nr_taken++;
		if (r.cpu_ns > 1000 * work_ns)
			break;
	}
	return r;
}

TEST(throttle_cheap_samples_ask_seldom_for_the_clock)
{
	struct run r;

	CHECK(budget_init());
	r = run(90, 2000 * MS, 1 * MS, 30 * US);
	CHECK(r.nr_taken > 1900 && r.weight == r.nr_taken);	/* none was skipped */
	CHECK(r.nr_clocks < r.nr_taken / 2);
	r = run(91, 2000 * MS, 1 * MS, 150 * US);
	CHECK(r.nr_clocks > r.nr_taken * 3 / 4);
}

TEST(throttle_a_thread_gets_four_fifths_of_its_time_however_often_it_is_hit)
{
	static const uint64_t intervals[] = { 10 * US, 50 * US, 200 * US, 1 * MS };
	size_t i;

	CHECK(budget_init());
	for (i = 0; i < sizeof(intervals) / sizeof(*intervals); i++) {
		struct run r = run(100 + (int)i, 2000 * MS, intervals[i], 300 * US);

		/* the rest is what skipping takes, a microsecond each time */
		CHECK(r.own_ns >= r.cpu_ns * 7 / 10);
		CHECK(r.nr_taken > 100);
	}
}

TEST(throttle_short_walks_are_all_taken)
{
	struct run r;

	CHECK(budget_init());
	r = run(7, 1000 * MS, 1 * MS, 150 * US);
	CHECK_U64(r.weight, r.nr_taken);
	CHECK(r.nr_taken > 800);
}

TEST(throttle_what_is_skipped_is_in_the_next_sample)
{
	struct budget *b;
	struct run r;
	uint64_t hits;

	CHECK(budget_init());
	r = run(8, 1000 * MS, 100 * US, 400 * US);
	b = budget_of(8);
	hits = r.weight + b->nr_skipped;
	CHECK(r.nr_taken * 4 < hits);
	CHECK(hits * 100 * US > r.own_ns);
	CHECK_U64(b->periods, b->nr_skipped);
}

TEST(throttle_a_thread_with_the_number_of_one_before_begins_anew)
{
	struct budget *b;

	CHECK(budget_init());
	b = budget_of(9);
	CHECK(budget_allows(b, 50 * MS));
	budget_spend(b, 900 * MS);
	CHECK(!budget_allows(b, 60 * MS));
	CHECK(budget_allows(b, 1 * MS));
	CHECK(budget_of(9) == b);
	CHECK(budget_of(9 + (1 << 16)) != b);
}

TEST(throttle_intervals_leave_a_program_four_fifths_of_its_time)
{
	struct pmu_event clock = { .clock = true }, counter = { .clock = false };
	struct ev_rate rate = { .period = 1 };
	struct evconf c = { .events = &clock, .nr_events = 1, .rates = &rate, .hit_ns = 40000 };
	uint64_t shortest = rates_shortest_ns(&c);

	CHECK(shortest >= 200000);
	rate.period = 1000000;
	/* what the kernel lets through bounds slow ones as well */
	CHECK(rates_shortest_ns(&c) < shortest || rates_kernel_bounds(&c, shortest));
	c.events = &counter;
	rate.period = 1;
	CHECK_U64(rates_shortest_ns(&c), 0);
}
