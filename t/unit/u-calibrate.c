// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "calibrate/cost.h"
#include "calibrate/table.h"
#include "unit.h"

TEST(calibration_rows_are_found_by_all_their_names_and_replaced)
{
	static const char text[] = "# comment\nhook\tcpu x\tcpu,wall\tcpu\t1500\t2500\t10\t1\n\nhook\tcpu x\tcpu\tcpu\t1\t2\t900\t0\n"
				   "hook\tcpu x\tcpu,wall\tcpu\t1600\t2600\t20\t1";
	struct calibration c = { 0 };
	const struct calibration_row *r;
	struct err e = { 0 };

	CHECK(!calibration_parse(&c, text, strlen(text), &e));
	CHECK_U64(c.nr_rows, 2);
	r = calibration_find(&c, "hook", "cpu x", "cpu,wall", "cpu");
	CHECK(r && r->cost.within == 1600 && r->cost.between == 2600 && r->cost.spread == 20 && r->used);
	r = calibration_find(&c, "hook", "cpu x", "cpu", "cpu");
	CHECK(r && !r->used);
	CHECK(!calibration_find(&c, "hook", "cpu y", "cpu", "cpu"));
	CHECK(!calibration_find(&c, "hook", "cpu x", "cpu,wall", "wall"));
	calibration_release(&c);
}

TEST(calibration_rows_of_a_client_stay_together)
{
	static const char text[] = "a\tcpu\tcpu\tcpu\t1\t2\t3\t1\nb\tcpu\tcpu\tcpu\t1\t2\t3\t1\n"
				   "a\tcpu\twall\twall\t1\t2\t3\t1\n";
	struct calibration c = { 0 };
	struct err e = { 0 };

	CHECK(!calibration_parse(&c, text, strlen(text), &e));
	CHECK_U64(c.nr_rows, 3);
	CHECK_STR(c.rows[1].client, "a");
	CHECK_STR(c.rows[1].metric, "wall");
	CHECK_STR(c.rows[2].client, "b");
	calibration_release(&c);
}

TEST(calibration_of_jvms_is_found_by_agent_and_named_in_one_plain_line)
{
	static const char agent[] = "0123456789abcdef0123456789abcdef01234567";
	char client[CALIBRATION_NAME], long_version[2 * CALIBRATION_NAME];

	calibration_java(client, agent, 0x12ab, "17.0.1+2 (A\tVendor\xc3)");
	CHECK_STR(client, "java-0123456789abcdef-00000000000012ab 17.0.1+2 (A?Vendor?)");
	CHECK_STR(calibration_jvm(client, agent), "00000000000012ab 17.0.1+2 (A?Vendor?)");
	CHECK(!calibration_jvm(client, "0123456789abcdee"));
	CHECK(!calibration_jvm("hookit-0123456789abcdef", agent));
	CHECK(!calibration_jvm("java-0123", agent));
	memset(long_version, 'x', sizeof(long_version) - 1);
	long_version[sizeof(long_version) - 1] = '\0';
	calibration_java(client, agent, 1, long_version);
	CHECK_U64(strlen(client), CALIBRATION_NAME - 1);
}

TEST(calibration_lines_that_are_not_rows_are_refused)
{
	static const char *const bad[] = {
		"x", "a\tb\tc\td\t1\t2\t3", "a\tb\tc\td\t1\t2\t3\t2", "a\tb\tc\td\t1\t2\t3\t1\t", "a\t\tc\td\t1\t2\t3\t1",
		"a\tb\tc\td\t-1\t2\t3\t1", "a\tb\tc\td\t1000000001\t2\t3\t1", "a\tb\tc\td\t1 \t2\t3\t1",
	};
	struct calibration c = { 0 };
	struct err e = { 0 };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(calibration_parse(&c, bad[i], strlen(bad[i]), &e) == -EINVAL);
	CHECK_U64(c.nr_rows, 0);
}

TEST(calibration_costs_of_a_label_are_three_numbers)
{
	struct calibration_cost c;

	CHECK(calibration_cost("1 20 300", &c) && c.within == 1 && c.between == 20 && c.spread == 300);
	CHECK(!calibration_cost("unstable", &c));
	CHECK(!calibration_cost("", &c));
	CHECK(!calibration_cost("1 2", &c));
	CHECK(!calibration_cost("1 2 3 ", &c));
	CHECK(!calibration_cost("1 2 99999999999999999999", &c));
}

TEST(calibration_costs_of_call_traces_have_nine_sequences)
{
	static const char text[] = "1 2 3 4 10 11 12 20 21 22 30 31 32";
	static const char row[] = "a\tb\tcpu trace\tcpu\t1\t2\t3\t1\t4\t10 11 12 20 21 22 30 31 32\n";
	struct calibration t = { 0 };
	struct buf b = BUF_INIT;
	struct calibration_cost c;
	struct err e = { 0 };

	CHECK(calibration_cost(text, &c) && c.has_sequences && c.within == 1 && c.doubt == 4);
	CHECK(c.sequences[0][2] == 12 && c.sequences[1][0] == 20 && c.sequences[2][2] == 32);
	calibration_put_cost(&b, &c);
	CHECK_STR(b.data, text);
	CHECK(!calibration_cost("1 2 3 4 5 6 7", &c));
	CHECK(!calibration_cost("1 2 3 4 10 11 12 20 21 22 30 31 32 33", &c));
	CHECK(calibration_cost("1 2 3 4", &c) && !c.has_sequences);
	CHECK(!calibration_parse(&t, row, strlen(row), &e));
	CHECK(t.rows[0].cost.has_sequences && t.rows[0].cost.sequences[2][1] == 31);
	CHECK(calibration_parse(&t, "a\tb\tc\td\t1\t2\t3\t1\t4\t1 2 3\n", 28, &e) == -EINVAL);
	calibration_release(&t);
	buf_release(&b);
}

TEST(calibration_costs_of_trees_have_that_of_exceptions)
{
	static const char row[] = "a\tb\tcpu,thrown\tcpu\t1\t2\t3\t1\t4\t5\tLinux 6.1\n";
	struct calibration t = { 0 };
	struct buf b = BUF_INIT;
	struct calibration_cost c;
	struct err e = { 0 };

	CHECK(calibration_cost("1 2 3 4 5", &c) && !c.has_sequences && c.thrown == 5);
	calibration_put_cost(&b, &c);
	CHECK_STR(b.data, "1 2 3 4 5");
	CHECK(calibration_cost("1 2 3 4", &c) && !c.thrown);
	CHECK(!calibration_parse(&t, row, strlen(row), &e));
	CHECK(t.rows[0].cost.thrown == 5 && !t.rows[0].cost.has_sequences);
	CHECK_STR(t.rows[0].environment, "Linux 6.1");
	calibration_release(&t);
	buf_release(&b);
}

TEST(calibration_rows_have_the_environment_in_which_they_were_measured)
{
	static const char row[] = "a\tb\tcpu\tcpu\t1\t2\t3\t1\t4\t-\tLinux 6.1, clock tsc\n";
	static const char earlier[] = "a\tb\tcpu\tcpu\t1\t2\t3\t1\t4\n";
	static const char empty[] = "a\tb\tc\td\t1\t2\t3\t1\t4\t-\t\n";
	static const char more[] = "a\tb\tc\td\t1\t2\t3\t1\t4\t-\tx\ty\n";
	char here[CALIBRATION_NAME], text[300];
	struct calibration t = { 0 };
	struct utsname u;
	struct err e = { 0 };

	CHECK(!calibration_parse(&t, row, strlen(row), &e));
	CHECK_STR(t.rows[0].environment, "Linux 6.1, clock tsc");
	CHECK(!t.rows[0].cost.has_sequences && t.rows[0].cost.doubt == 4);
	CHECK(!calibration_parse(&t, earlier, strlen(earlier), &e));
	CHECK_STR(t.rows[0].environment, "");
	CHECK(calibration_parse(&t, empty, strlen(empty), &e) == -EINVAL);
	CHECK(calibration_parse(&t, more, strlen(more), &e) == -EINVAL);
	calibration_release(&t);
	calibration_environment(here);
	uname(&u);
	snprintf(text, sizeof(text), "%.20s %.50s, clock ", u.sysname, u.release);
	CHECK(!strncmp(here, text, strlen(text)) && strlen(here) > strlen(text));
}

TEST(calibration_keeps_what_is_used_when_a_result_is_unstable)
{
	struct calibration_row r = { .client = "a", .cpu = "b", .metrics = "cpu", .metric = "cpu",
				     .cost = { 1, 1, 900, 0 } };
	struct calibration c = { 0 };

	CHECK(!calibration_offer(&c, &r));
	CHECK_U64(c.nr_rows, 1);
	r.cost.spread = 10;
	r.used = true;
	CHECK(calibration_offer(&c, &r));
	r.cost.spread = 500;
	r.used = false;
	CHECK(!calibration_offer(&c, &r));
	CHECK_U64(c.nr_rows, 1);
	CHECK(c.rows[0].used && c.rows[0].cost.spread == 10);
	calibration_release(&c);
}

TEST(calibration_costs_of_trees_have_that_of_call_sites)
{
	static const char row[] = "a\tb\tcpu sites\tcpu\t1\t2\t3\t1\t4\t0 6\tLinux 6.1\n";
	struct calibration t = { 0 };
	struct buf b = BUF_INIT;
	struct calibration_cost c;
	struct err e = { 0 };

	CHECK(calibration_cost("1 2 3 4 5 6", &c) && !c.has_sequences && c.thrown == 5 && c.site == 6);
	calibration_put_cost(&b, &c);
	CHECK_STR(b.data, "1 2 3 4 5 6");
	CHECK(!calibration_parse(&t, row, strlen(row), &e));
	CHECK(!t.rows[0].cost.thrown && t.rows[0].cost.site == 6);
	calibration_release(&t);
	buf_release(&b);
}

enum { NR_TURNS = 30, CALLS = 1000 };

/* Calls that cost so much within and between, of functions whose work takes as long as here. */
static void make_turn(struct calibration_turn *t, int64_t within, int64_t between)
{
	static const int64_t bodies[CALIBRATION_LOOPS] = {
		[LOOP_PLAIN_CHAIN] = 30, [LOOP_CHAIN] = 30, [LOOP_PLAIN_LONG] = 120, [LOOP_LONG] = 120,
		[LOOP_PLAIN_STORES] = 40, [LOOP_STORES] = 40,
	};
	int i;

	for (i = 0; i < CALIBRATION_LOOPS; i++) {
		bool hooked = i % 2, has_own = i >= LOOP_PLAIN_CALLER;

		t->of[i].site = 0;
		t->of[i].within = hooked ? CALLS * (bodies[i] + within) : 0;
		t->of[i].both = CALLS * (2 + 30 * has_own + bodies[i] + hooked * (within + between));
	}
}

TEST(calibration_of_turns_is_exact_though_some_were_interrupted)
{
	struct calibration_turn turns[NR_TURNS];
	struct calibration_cost c;
	int i;

	for (i = 0; i < NR_TURNS; i++) {
		make_turn(&turns[i], 12, 9);
		if (i % 3 == 0) {
			turns[i].of[i % CALIBRATION_LOOPS].both += 500000;
			turns[i].of[i % CALIBRATION_LOOPS].within += i % 2 * 500000;
		}
	}
	calibration_derive(turns, NR_TURNS, CALLS, false, &c);
	CHECK(c.within == 12000 && c.between == 9000 && c.doubt == 0);
	calibration_derive(turns, NR_TURNS, CALLS, true, &c);
	CHECK(c.within == 12000 && c.between == 9000);
}

TEST(calibration_says_how_much_of_a_call_may_be_missing)
{
	struct calibration_turn t;
	struct calibration_cost c;

	/* 11 of each call with a chain are in its caller, where hooks have nothing to wait for then */
	make_turn(&t, 12, 9);
	t.of[LOOP_CHAIN].within -= CALLS * 23;
	t.of[LOOP_CHAIN].both -= CALLS * 18;
	t.of[LOOP_LONG].within -= CALLS * 23;
	calibration_derive(&t, 1, CALLS, false, &c);
	/* of the chain, which costs less; all that is left is the caller's */
	CHECK(c.within == 0 && c.between == 3000);
	/* 18 that an empty function costs more */
	CHECK_U64(c.doubt, 20 * 18000);
	/* with precise time, 8 that a call costs more in which there is no room for a hook */
	make_turn(&t, 12, 9);
	t.of[LOOP_STORES].within += CALLS * 8;
	t.of[LOOP_STORES].both += CALLS * 8;
	calibration_derive(&t, 1, CALLS, true, &c);
	CHECK(c.within == 12000 && c.between == 9000);
	CHECK_U64(c.doubt, 20 * 8000);
}

TEST(calibration_of_exceptions_is_what_calls_cost_more_that_they_end)
{
	struct calibration_turn t;
	struct calibration_cost c;

	make_turn(&t, 12, 9);
	t.of[LOOP_THROWN].both += CALLS * 70;
	calibration_derive(&t, 1, CALLS, false, &c);
	calibration_derive_thrown(&t, 1, CALLS, &c);
	CHECK_U64(c.thrown, 70000);
	/* less than nothing is nothing */
	t.of[LOOP_THROWN].both -= CALLS * 80;
	calibration_derive_thrown(&t, 1, CALLS, &c);
	CHECK_U64(c.thrown, 0);
}

TEST(calibration_of_call_sites_is_what_their_contexts_have)
{
	struct calibration_turn t;
	struct calibration_cost c;
	int precise, i;

	for (precise = 0; precise < 2; precise++) {
		make_turn(&t, 12, 9);
		for (i = LOOP_EMPTY; i < CALIBRATION_LOOPS; i += 2) {
			t.of[i].site = CALLS * 30;
			t.of[i].both += CALLS * 30;
		}
		calibration_derive(&t, 1, CALLS, precise, &c);
		CHECK(c.within == 12000 && c.between == 9000 && c.site == 30000);
	}
	/* no more than there is */
	t.of[LOOP_EMPTY].site = t.of[LOOP_CHAIN].site = CALLS * 300;
	calibration_derive(&t, 1, CALLS, false, &c);
	CHECK(c.within == 12000 && c.between == 0 && c.site == 39000);
	calibration_derive_thrown(&t, 1, CALLS, &c);
	CHECK_U64(c.thrown, 0);
}

TEST(calibration_middle_is_the_mean_of_the_middle_half)
{
	int64_t many[] = { 1000000, 0, 3, 4, 4, 3, 4, -50 }, one[] = { 7 };

	/* 3, 3, 4 and 4 are left */
	CHECK(calibration_middle(many, 8) == 3500);
	CHECK(calibration_middle(one, 1) == 7000);
}

TEST(calibration_takes_the_cheapest_run_and_doubts_what_the_middle_one_is_more)
{
	struct calibration_cost runs[] = { { 14000, 8000 }, { 10000, 8000, .doubt = 5000 }, { 12000, 8000 } };
	struct calibration_cost wild[] = { { 9000, 2000 }, { 3000, 2000 }, { 20000, 0 } };
	struct calibration_cost none[] = { { 0 }, { 0 }, { 100 } }, any[] = { { 0 }, { 1 } };
	struct calibration_cost vague[] = { { 1000, .doubt = 400000 }, { 5000 } };
	struct calibration_cost c = calibration_cheapest(runs, 3);

	CHECK(c.within == 10000 && c.between == 8000 && c.spread == 111 && c.doubt == 40000);
	CHECK(calibration_cheapest(wild, 3).spread > CALIBRATION_UNCERTAIN);
	CHECK_U64(calibration_cheapest(none, 3).spread, 0);
	CHECK(calibration_cheapest(any, 2).spread > CALIBRATION_UNCERTAIN);
	/* of 20 that a call may be off anyway */
	CHECK_U64(calibration_cheapest(vague, 2).spread, 200);
}

TEST(calibration_median_is_that_of_the_middle)
{
	int64_t odd[] = { 5, -1, 3 }, even[] = { 4, 1, 3, 2 }, one[] = { 7 };

	CHECK(calibration_median(odd, 3) == 3);
	CHECK(calibration_median(even, 4) == 2);
	CHECK(calibration_median(one, 1) == 7);
}
