// SPDX-License-Identifier: GPL-2.0-or-later

#include "base/clock.h"
#include "pmu/idle.h"
#include "unit.h"

static const char before_text[] =
	"cpu  1 2 3 4 5 6 7 8 9 10\n"
	"cpu0 100 10 20 1000 30 4 5 6 50 7\n"
	"cpu2 1 1 1 1 1 1 1 1 1 1\n"
	"intr 12 0 0\nctxt 99\ncpufreq 1 2 3 4 5\n";
static const char after_text[] =
	"cpu  9 9 9 9 9 9 9 9 9 9\n"
	"cpu0 130 10 25 1055 25 6 8 11 60 7\n"
	"cpu2 1 1 1 1 1 1 1 1 1 1\n"
	"cpu3 5 5 5 5 5 5 5 5 5 5\n";

TEST(idle_groups_the_columns_of_proc_stat)
{
	struct idle_stat s = { 0 };
	struct err e;

	CHECK(!idle_parse(before_text, &s, &e));
	CHECK_U64(s.nr_cpus, 2);
	CHECK_U64(s.cpus[0].cpu, 0);
	CHECK_U64(s.cpus[0].idle, 1030);
	CHECK_U64(s.cpus[0].busy, 136);		/* with steal; guest is part of user already */
	CHECK_U64(s.cpus[0].intr, 9);
	CHECK_U64(s.cpus[0].steal, 6);
	CHECK_U64(idle_find(&s, 2)->cpu, 2);
	CHECK(!idle_find(&s, 1));
	idle_release(&s);
}

TEST(idle_difference_has_the_cpus_of_both_readings_and_adds_up_to_100)
{
	struct idle_stat a = { 0 }, b = { 0 }, d = { 0 };
	struct idle_share s, mean;
	struct err e;

	CHECK(!idle_parse(before_text, &a, &e));
	CHECK(!idle_parse(after_text, &b, &e));
	a.time_ns = 5;
	b.time_ns = 1005;
	idle_diff(&a, &b, &d);
	CHECK_U64(d.time_ns, 1000);
	CHECK_U64(d.nr_cpus, 2);		/* not CPU 3, which came in between */
	CHECK_U64(d.cpus[0].idle, 50);
	CHECK_U64(d.cpus[0].busy, 40);
	CHECK_U64(d.cpus[0].intr, 5);
	CHECK_U64(d.cpus[0].steal, 5);
	s = idle_share(&d.cpus[0]);
	CHECK(s.known && s.idle + s.busy + s.intr > 99.999 && s.idle + s.busy + s.intr < 100.001);
	CHECK(s.busy > 42.1 && s.busy < 42.11);
	CHECK(!idle_share(&d.cpus[1]).known);	/* no tick: nothing is known, not 0 % */
	mean = idle_mean(&d);
	CHECK(mean.known && mean.busy == s.busy);
	idle_release(&a);
	idle_release(&b);
	idle_release(&d);
}

TEST(idle_counter_that_steps_back_counts_as_nothing)
{
	struct idle_stat a = { 0 }, b = { 0 }, d = { 0 };
	struct err e;

	CHECK(!idle_parse("cpu0 1 0 0 100 9 0 0 0\n", &a, &e));
	CHECK(!idle_parse("cpu0 2 0 0 100 8 0 0 0\n", &b, &e));
	idle_diff(&a, &b, &d);
	CHECK_U64(d.cpus[0].idle, 0);
	CHECK_U64(d.cpus[0].busy, 1);
	idle_release(&a);
	idle_release(&b);
	idle_release(&d);
}

TEST(idle_text_without_a_cpu_is_an_error)
{
	static const char *const bad[] = { "", "cpu 1 2 3 4 5\n", "cpu0\n", "cpu0 1 2 3\n", "cpux 1 2 3 4 5",
		"\n" };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct idle_stat s = { 0 };
		struct err e = { 0 };

		CHECK(idle_parse(bad[i], &s, &e) < 0);
		CHECK(e.msg[0]);
		idle_release(&s);
	}
}

TEST(ticker_intervals_count_from_the_start_and_leave_out_those_missed)
{
	struct ticker t = { .start_ns = 1000 };

	CHECK_U64(ticker_next(&t, 100, 1000), 1100);
	CHECK_U64(ticker_next(&t, 100, 1099), 1100);
	CHECK_U64(ticker_next(&t, 100, 1100), 1200);
	CHECK_U64(ticker_next(&t, 100, 1777), 1800);
	CHECK_U64(ticker_next(&t, 100, 5), 1100);
}

TEST(ticker_reports_a_signal_that_came_before_the_time)
{
	struct ticker t;

	ticker_init(&t, false);
	CHECK_U64(ticker_wait(&t, t.start_ns + 1000), 0);
	raise(SIGINT);
	CHECK_U64(ticker_wait(&t, UINT64_MAX), SIGINT);
	raise(SIGTERM);			/* nobody waits for it any more: it must not kill us */
	ticker_release(&t);
}
