// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * u-diff.c - differences of simulated recordings (simulate.h): how often noise is called a change, how often
 * a change is found, and what is matched. Seeds are fixed, so that a rate is either held or not.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "diff/choice.h"
#include "diff/noise.h"
#include "simulate.h"
#include "unit.h"

static const struct simulate_sampling ideal = { SIMULATE_SAMPLES, 1, 0, false };
static const struct simulate_sampling bursts = { SIMULATE_SAMPLES, 4, 0, false };

#ifndef UNIT_SLOW	/* statistics of what is computed below as well */
static const struct simulate_sampling java = { SIMULATE_SAMPLES, 1, 0, true };
static const struct simulate_sampling jittery = { SIMULATE_SAMPLES, 1, .1, false };

TEST(diff_calls_noise_a_change_in_two_of_twenty_comparisons_at_most)
{
	simulate_seed(0x5eed0001);
	CHECK(simulate_false_alarms(20, 1, &ideal, DIFF_BY_FUNCTION) <= 2);
	CHECK(simulate_false_alarms(20, 1, &ideal, DIFF_BY_CONTEXT) <= 2);
	CHECK(simulate_false_alarms(20, 1, &ideal, DIFF_BY_ARC) <= 2);
	CHECK(simulate_false_alarms(20, 1, &bursts, DIFF_BY_FUNCTION) <= 2);
	CHECK(simulate_false_alarms(20, 3, &ideal, DIFF_BY_FUNCTION) <= 2);
	CHECK(simulate_false_alarms(20, 3, &jittery, DIFF_BY_FUNCTION) <= 2);
	CHECK(simulate_false_alarms(20, 2, &java, DIFF_BY_FUNCTION) <= 2);
}
#endif

/* The mean of ln(deviation) that is believed of rows of that share, and the standard deviation of that. */
static double mean_of(const struct noise_belief *by_share, double share, double *deviation)
{
	struct noise_belief b = noise_believe(by_share, share);
	double mean = 0, squares = 0;
	size_t i;

	for (i = 0; i < NOISE_NR_DEVIATIONS; i++) {
		mean += b.part[i] * log(noise_deviation(i));
		squares += b.part[i] * pow(log(noise_deviation(i)), 2);
	}
	*deviation = sqrt(squares - mean * mean);
	return mean;
}

/* Spreads of df 4 about a line of 3 % and of 30 % at a share of 1 %: what is stated lies between. */
TEST(diff_learns_how_much_runs_vary)
{
	static const double truth[] = { .03, .3 };
	struct noise_belief by_share[NOISE_NR_SHARES];
	struct noise_spread list[200];
	double mean, differ, stated_differ;
	size_t i, k, n;

	noise_learn(NOISE_JAVA, NULL, 0, 4, by_share);
	mean = mean_of(by_share, .01, &stated_differ);
	CHECK(mean > log(truth[0]) && mean < log(truth[1]));
	CHECK(mean_of(by_share, .001, &differ) > mean);
	simulate_seed(0x5eed0004);
	for (i = 0; i < ARRAY_SIZE(truth); i++) {
		for (n = 0; n < ARRAY_SIZE(list); n++) {
			double share = .0005 * (n + 1), squares = 0;

			list[n] = (struct noise_spread){ .share = share, .sampling = 1e-6 };
			for (k = 0; k < 4; k++)
				squares += pow(simulate_normal(), 2) / 4;
			list[n].variance = squares * pow(truth[i] * pow(share / .01, -.4), 2);
		}
		noise_learn(NOISE_JAVA, list, ARRAY_SIZE(list), 4, by_share);
		mean = mean_of(by_share, .01, &differ);
		CHECK(mean > log(truth[i] / 1.4) && mean < log(truth[i] * 1.4));
		CHECK(differ < stated_differ * .8);	/* rows do not differ in how much they vary */
	}
}

/* What is known to be sampling tells nothing of how a row varies; what is beyond it does. */
TEST(diff_learns_from_a_row_what_sampling_does_not_explain)
{
	struct noise_belief by_share[NOISE_NR_SHARES], b[NOISE_NR_SHARES];
	struct noise_spread seen = { .variance = .04, .sampling = .04, .share = .01 };
	double before, after, differ;
	size_t i;

	noise_learn(NOISE_JAVA, NULL, 0, 4, by_share);
	before = mean_of(by_share, .01, &differ);
	for (i = 0; i < NOISE_NR_SHARES; i++) {
		b[i] = by_share[i];
		noise_update(&b[i], &seen, 4);
	}
	CHECK(fabs(mean_of(b, .01, &differ) - before) < .3);
	seen.variance = .4;
	for (i = 0; i < NOISE_NR_SHARES; i++)
		noise_update(&b[i], &seen, 4);
	after = mean_of(b, .01, &differ);
	CHECK(after > before + .5);
}

/* Compares nr runs of each with those of the other; counts rows that changed, and whether row is one. */
static size_t compare_rows(const struct simulate_rows *a, const struct simulate_rows *b, int nr,
			   const char *row, bool *found, unsigned int *covered)
{
	struct diff_rows x;
	struct noise noise;
	size_t changed, i;
	struct diff d;

	diff_init(&d, NULL, NULL);
	while (nr--) {
		simulate_add_rows(&d, DIFF_A, a);
		simulate_add_rows(&d, DIFF_B, b);
	}
	diff_finish(&d);
	rows_init(&x, &d, DIFF_BY_FUNCTION, DIFF_BASE, DIFF_SIZE);
	noise_fill(&noise, &x);
	changed = choice_nr_changed(&x);
	*found = false;
	for (i = 0; i < x.nr; i++) {
		const char *name = consumer_name(&d.m.consumers, x.list[i].consumer);
		double truth = b->factor[atoi(name + 1)] - 1;

		*found |= !strcmp(name, row) && x.list[i].changed;
		if (i < 20)
			*covered += x.list[i].low <= truth && truth <= x.list[i].high;
	}
	rows_release(&x);
	diff_release(&d);
	return changed;
}

/* Rates on rows whose truth is known; a row of 8.7 % changes, appears or goes. */
TEST(diff_finds_what_is_planted_and_little_else)
{
	static const struct {
		int runs;
		double a, b;
		unsigned int least;	/* of 20 */
	} plants[] = {
		{ 1, 1, 2, 17 }, { 1, 1, .5, 15 }, { 1, 0, 1, 20 }, { 1, 1, 0, 20 },
		{ 3, 1, 1.5, 19 }, { 3, 1, .5, 19 }, { 5, 1, 1.2, 14 },
	};
	struct simulate_rows a, b;
	unsigned int covered = 0, alarms[4] = { 0 }, seen;
	size_t i;
	bool found;
	int k;

	simulate_seed(0x5eed0005);
	for (k = 0; k < 20; k++) {
		simulate_rows(&a, .05);
		alarms[1] += compare_rows(&a, &a, 1, "f0", &found, &covered) > 0;
		alarms[3] += compare_rows(&a, &a, 3, "f0", &found, &covered) > 0;
	}
	CHECK(alarms[1] <= 2 && alarms[3] <= 2);
	CHECK(covered >= 40 * 20 * 9 / 10);
	for (i = 0; i < ARRAY_SIZE(plants); i++) {
		for (k = seen = 0; k < 20; k++) {
			simulate_rows(&a, .05);
			b = a;
			a.factor[0] = plants[i].a;
			b.factor[0] = plants[i].b;
			compare_rows(&a, &b, plants[i].runs, "f0", &found, &covered);
			seen += found;
		}
		CHECK(seen >= plants[i].least);
	}
}

#ifndef UNIT_SLOW
TEST(diff_finds_two_percent_of_the_total_in_nineteen_of_twenty_programs)
{
	unsigned int covered;

	simulate_seed(0x5eed0002);
	CHECK(simulate_times_found(20, 1, &ideal, .02, &covered) >= 19);
	CHECK(covered >= 17);
	CHECK(simulate_times_found(20, 3, &ideal, .02, &covered) >= 19);
	CHECK(covered >= 17);
	CHECK(simulate_times_found(20, 3, &jittery, .02, &covered) >= 19);
}
#endif

/* ---- small trees, written down ---- */

struct node {
	uint32_t kind;
	const char *module, *name;
	uint64_t n;
	int level;		/* 0: a root */
};

static bool has_jit;		/* of the runs that follow */

static void add_nodes(struct diff *d, unsigned int side, const struct node *list, size_t nr)
{
	uint32_t path[16] = { 0 };
	struct model m;
	struct err e;
	size_t i;

	model_init(&m, 1, FLOW_SAMPLES);
	model_set_metric(&m, 0, "cpu", 3, "ns", 2);
	for (i = 0; i < nr; i++) {
		struct consumer c = { .kind = list[i].kind,
			.name = strtab_adds(&m.consumers.names, list[i].name) };
		uint64_t value = list[i].n * 10;

		c.module = strtab_adds(&m.consumers.names, list[i].module ? list[i].module : "");
		path[list[i].level] = flow_child(&m.flow, list[i].level ? path[list[i].level - 1] : FLOW_NONE,
						 consumer_add(&m.consumers, &c));
		flow_add(&m.flow, path[list[i].level], list[i].n, &value);
	}
	model_finish(&m);
	CHECK_U64(diff_add(d, side, &m, &(struct diff_about){ .path = "run", .has_jit = has_jit }, &e), 0);
	model_release(&m);
}

static struct diff_row *find_row(const struct diff_rows *x, const char *name)
{
	size_t i;

	for (i = 0; i < x->nr; i++)
		if (!strcmp(consumer_name(&x->d->m.consumers, x->list[i].consumer), name))
			return &x->list[i];
	CHECK_STR("no such row", name);
	exit(1);
}

#define NATIVE CONSUMER_NATIVE, "/bin/prog"
#define INLINED CONSUMER_NATIVE_INLINED, "/bin/prog"
#define JAVA CONSUMER_JAVA_COMPILED, NULL

static void begin_small(struct diff *d, struct diff_rows *x, const struct node *a, size_t nr_a,
			const struct node *b, size_t nr_b)
{
	struct noise noise;

	diff_init(d, NULL, NULL);
	add_nodes(d, DIFF_A, a, nr_a);
	add_nodes(d, DIFF_B, b, nr_b);
	diff_finish(d);
	rows_init(x, d, DIFF_BY_FUNCTION, DIFF_BASE, DIFF_TOTAL);
	noise_fill(&noise, x);
}

static void end_small(struct diff *d, struct diff_rows *x)
{
	rows_release(x);
	diff_release(d);
}

TEST(diff_matches_what_is_called_otherwise)
{
	static const struct node a[] = {
		{ CONSUMER_PROCESS, NULL, "prog.old", 0, 0 }, { CONSUMER_THREAD, NULL, "prog.old", 0, 1 },
		{ CONSUMER_NATIVE, "/bin/prog.old", "main", 10, 2 },
		{ CONSUMER_NATIVE, "/lib/libold.so.1", "moved", 100, 3 },
		{ NATIVE, "parse", 5, 3 }, { NATIVE, "before", 300, 4 }, { NATIVE, "leaf", 50, 5 },
		{ JAVA, "a.b.Main.lambda$run$1", 200, 3 }, { JAVA, "a.b.Shop.order", 80, 3 },
		{ JAVA, "a.b.Old.buy", 70, 4 }, { NATIVE, "rare_a", 3, 3 },
	}, b[] = {
		{ CONSUMER_PROCESS, NULL, "prog.new", 0, 0 }, { CONSUMER_THREAD, NULL, "prog.new", 0, 1 },
		{ CONSUMER_NATIVE, "/bin/prog.new", "main", 10, 2 },
		{ CONSUMER_NATIVE, "/lib/libnew.so.1", "moved", 100, 3 },
		{ NATIVE, "parse", 5, 3 }, { NATIVE, "after", 300, 4 }, { NATIVE, "leaf", 50, 5 },
		{ JAVA, "a.b.Main.lambda$run$2", 200, 3 }, { JAVA, "c.Shop.order", 80, 3 },
		{ JAVA, "a.b.New.buy", 70, 4 }, { NATIVE, "rare_b", 3, 3 },
	};
	static const struct {
		const char *now, *was;
	} want[] = {
		{ "prog.new", "prog.old" }, { "after", "before" }, { "a.b.Main.lambda$run$2", "a.b.Main.lambda$run$1" },
		{ "c.Shop.order", "a.b.Shop.order" }, { "a.b.New.buy", "a.b.Old.buy" }, { "moved", "" }, { "leaf", "" },
	};
	struct diff_rows x;
	struct diff d;
	size_t i;

	begin_small(&d, &x, a, ARRAY_SIZE(a), b, ARRAY_SIZE(b));
	rows_release(&x);
	rows_init(&x, &d, DIFF_BY_FUNCTION, DIFF_CUM, DIFF_TOTAL);
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		const struct diff_row *row = find_row(&x, want[i].now);

		CHECK_STR(model_str(&d.m, d.was[row->consumer]), want[i].was);
		CHECK_U64(row->sum[DIFF_A], row->sum[DIFF_B]);
	}
	/* what has few samples may be missing by chance */
	CHECK_U64(find_row(&x, "rare_a")->sum[DIFF_B], 0);
	CHECK_U64(find_row(&x, "rare_b")->sum[DIFF_A], 0);
	CHECK_U64(d.m.flow.nr_nodes, 1 + ARRAY_SIZE(a) + 1);
	end_small(&d, &x);
}

TEST(diff_does_not_match_what_could_be_several)
{
	static const struct node a[] = { { NATIVE, "main", 10, 0 }, { NATIVE, "one", 100, 1 }, { NATIVE, "two", 100, 1 } },
		b[] = { { NATIVE, "main", 10, 0 }, { NATIVE, "three", 100, 1 }, { NATIVE, "four", 100, 1 } };
	struct diff_rows x;
	struct diff d;

	begin_small(&d, &x, a, ARRAY_SIZE(a), b, ARRAY_SIZE(b));
	CHECK_U64(x.nr, 5);
	CHECK(find_row(&x, "one")->changed && find_row(&x, "three")->changed);
	end_small(&d, &x);
}

/* One function grows from 33 to 60 % of the total; what the others consume is what it was. */
TEST(diff_sizes_do_not_follow_what_changed)
{
	static const struct node a[] = { { NATIVE, "grows", 1000, 0 }, { NATIVE, "one", 500, 0 },
			{ NATIVE, "two", 500, 0 }, { NATIVE, "three", 500, 0 }, { NATIVE, "four", 300, 0 },
			{ NATIVE, "five", 200, 0 } },
		b[] = { { NATIVE, "grows", 3000, 0 }, { NATIVE, "one", 500, 0 },
			{ NATIVE, "two", 500, 0 }, { NATIVE, "three", 500, 0 }, { NATIVE, "four", 300, 0 },
			{ NATIVE, "five", 200, 0 } };
	struct diff_rows x;
	struct noise noise;
	struct diff d;

	begin_small(&d, &x, a, ARRAY_SIZE(a), b, ARRAY_SIZE(b));
	CHECK(find_row(&x, "one")->delta < 0);	/* as shares */
	rows_release(&x);
	rows_init(&x, &d, DIFF_BY_FUNCTION, DIFF_BASE, DIFF_SIZE);
	noise_fill(&noise, &x);
	CHECK(fabs(find_row(&x, "one")->delta) < 1e-9 && !find_row(&x, "one")->changed);
	CHECK(fabs(find_row(&x, "one")->value[DIFF_A] - 1 / 6.) < 1e-9);
	CHECK(fabs(choice_change(find_row(&x, "grows")) - 2) < 1e-6 && find_row(&x, "grows")->changed);
	end_small(&d, &x);
}

/* What goes is most of its callers, which then say nothing of how much runs vary. */
TEST(diff_finds_what_is_gone_by_cum_as_by_base)
{
	enum { NR_OTHERS = 40, NR_ABOVE = 12 };
	struct node a[NR_ABOVE + 1 + NR_OTHERS], b[ARRAY_SIZE(a)];
	char names[ARRAY_SIZE(a)][8];
	struct diff_rows x;
	struct noise noise;
	struct diff d;
	int i;

	for (i = 0; i < (int)ARRAY_SIZE(a); i++) {
		snprintf(names[i], sizeof(names[i]), "f%d", i);
		a[i] = (struct node){ CONSUMER_JAVA_COMPILED, NULL, names[i], i <= NR_ABOVE ? 0 : 100,
				      i > NR_ABOVE ? 1 : i };
		b[i] = a[i];
	}
	a[NR_ABOVE].n = 6000;
	has_jit = true;
	begin_small(&d, &x, a, ARRAY_SIZE(a), b, ARRAY_SIZE(b));
	rows_release(&x);
	rows_init(&x, &d, DIFF_BY_FUNCTION, DIFF_CUM, DIFF_SIZE);
	noise_fill(&noise, &x);
	CHECK(find_row(&x, "f12")->changed && find_row(&x, "f1")->changed && find_row(&x, "f0")->changed);
	CHECK(!find_row(&x, "f20")->changed);
	end_small(&d, &x);
	has_jit = false;
}

#define C2 CONSUMER_JAVA_C2, NULL
#define C1 CONSUMER_JAVA_C1, NULL
#define INTERPRETED CONSUMER_JAVA_INTERPRETED, NULL

/* Adds a run of methods that were mostly interpreted; the first has that much compiled code. */
static void add_early_run(struct diff *d, unsigned int side, uint64_t compiled)
{
	enum { NR = 30 };
	struct node list[2 * NR];
	char names[NR][8];
	int i;

	for (i = 0; i < NR; i++) {
		uint64_t n = 300 + 20 * simulate_normal();
		uint64_t c2 = (i ? n / 3 : compiled) + 15 * simulate_normal();

		snprintf(names[i], sizeof(names[i]), "f%d", i);
		list[2 * i] = (struct node){ INTERPRETED, names[i], i ? n : n / 2, 0 };
		list[2 * i + 1] = (struct node){ C2, names[i], c2, 0 };
	}
	add_nodes(d, side, list, ARRAY_SIZE(list));
}

TEST(diff_finds_a_change_of_what_was_compiled_late)
{
	struct diff_rows x;
	struct noise noise;
	struct diff d;
	int i;

	has_jit = true;
	simulate_seed(0x5eed0007);
	diff_init(&d, NULL, NULL);
	for (i = 0; i < 3; i++) {
		add_early_run(&d, DIFF_A, 400);
		add_early_run(&d, DIFF_B, 100);
	}
	diff_finish(&d);
	rows_init(&x, &d, DIFF_BY_FUNCTION, DIFF_BASE, DIFF_SIZE);
	noise_fill(&noise, &x);
	CHECK(find_row(&x, "f0")->changed && find_row(&x, "f0")->high < -.3);
	CHECK_U64(choice_nr_changed(&x), 1);
	end_small(&d, &x);
	has_jit = false;
}

/* A method consumes more until its last compiler has it, and when that is differs from run to run. */
TEST(diff_judges_the_code_of_the_last_compiler)
{
	static const struct node a[] = { { C2, "one", 2000, 0 }, { C2, "two", 1000, 0 },
			{ C2, "three", 1000, 0 }, { C2, "four", 1000, 0 }, { C2, "five", 1000, 0 },
			{ C2, "grew", 800, 0 },
			{ INTERPRETED, "grew", 200, 0 }, { C2, "late", 2000, 0 }, { C2, "twice", 1000, 0 },
			{ INTERPRETED, "twice", 900, 0 }, { C2, "gone", 500, 0 } },
		b[] = { { C2, "one", 2000, 0 }, { C2, "two", 1000, 0 }, { C2, "three", 1000, 0 },
			{ C2, "four", 1000, 0 }, { C2, "five", 1000, 0 }, { C2, "grew", 2400, 0 },
			{ INTERPRETED, "grew", 100, 0 }, { C2, "late", 1100, 0 },
			{ C1, "late", 1300, 0 }, { C2, "twice", 2000, 0 },
			{ INTERPRETED, "twice", 100, 0 } };
	struct diff_rows x;
	struct noise noise;
	struct diff d;

	has_jit = true;
	begin_small(&d, &x, a, ARRAY_SIZE(a), b, ARRAY_SIZE(b));
	rows_release(&x);
	rows_init(&x, &d, DIFF_BY_FUNCTION, DIFF_BASE, DIFF_SIZE);
	noise_fill(&noise, &x);
	CHECK(find_row(&x, "grew")->changed && find_row(&x, "grew")->low > 1);
	CHECK(find_row(&x, "twice")->changed && fabs(choice_change(find_row(&x, "twice")) - .105) < .04);
	CHECK(fabs(choice_compiled(find_row(&x, "twice")) - .92) < .07);
	CHECK(isnan(choice_compiled(find_row(&x, "gone"))) && find_row(&x, "gone")->changed);
	CHECK(!find_row(&x, "late")->changed && find_row(&x, "late")->doubt == DIFF_TIERS);
	CHECK_U64(find_row(&x, "late")->sum[DIFF_B], 24000);	/* shown is all of it */
	end_small(&d, &x);
	has_jit = false;
}

/* Counts of repeated runs that are equal on each side differ for certain. */
TEST(diff_of_repeated_exact_counts_needs_no_statistics)
{
	static const uint64_t calls[][2] = { { 7, 100 }, { 7, 101 }, { 8, 100 }, { 8, 101 } };
	struct diff_rows x;
	struct noise noise;
	struct model m;
	struct diff d;
	struct err e;
	size_t i;

	diff_init(&d, "calls", NULL);
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		uint64_t ns = 5;

		model_init(&m, 1, FLOW_CALLS);
		model_set_metric(&m, 0, "wall", 4, "ns", 2);
		flow_add(&m.flow, flow_child(&m.flow, 0, consumer_add_name(&m.consumers, CONSUMER_JAVA, "a", 1)),
			 calls[i][0], &ns);
		flow_add(&m.flow, flow_child(&m.flow, 0, consumer_add_name(&m.consumers, CONSUMER_JAVA, "b", 1)),
			 calls[i][1], &ns);
		model_finish(&m);
		CHECK_U64(diff_add(&d, i / 2, &m, &(struct diff_about){ .path = "run" }, &e), 0);
		model_release(&m);
	}
	diff_finish(&d);
	rows_init(&x, &d, DIFF_BY_FUNCTION, DIFF_BASE, DIFF_NONE);
	noise_fill(&noise, &x);
	CHECK_U64(noise.kind, NOISE_REPEATS);
	CHECK(find_row(&x, "a")->changed && !find_row(&x, "b")->changed);
	end_small(&d, &x);
}

/* Of one run each: a JIT compiler, and the kernel, do not do the same each time. */
TEST(diff_knows_what_varies_from_run_to_run)
{
	static const struct node a[] = { { NATIVE, "main", 3000, 0 }, { NATIVE, "f", 300, 1 },
			{ CONSUMER_KERNEL, NULL, "read", 300, 1 } },
		b[] = { { NATIVE, "main", 3000, 0 }, { NATIVE, "f", 450, 1 },
			{ CONSUMER_KERNEL, NULL, "read", 450, 1 } };
	struct diff_rows x;
	struct diff d;
	double width;

	begin_small(&d, &x, a, ARRAY_SIZE(a), b, ARRAY_SIZE(b));
	CHECK(find_row(&x, "f")->changed && !find_row(&x, "read")->changed);
	width = find_row(&x, "f")->high - find_row(&x, "f")->low;
	CHECK(find_row(&x, "read")->high - find_row(&x, "read")->low > 3 * width);
	end_small(&d, &x);
	has_jit = true;
	begin_small(&d, &x, a, ARRAY_SIZE(a), b, ARRAY_SIZE(b));
	CHECK(!find_row(&x, "read")->changed);
	CHECK(find_row(&x, "f")->high - find_row(&x, "f")->low > width);
	end_small(&d, &x);
	has_jit = false;
}

/* Inlined, a function leaves some of its time to its caller; together they consume what they did. */
TEST(diff_does_not_call_inlining_a_regression)
{
	static const struct node a[] = { { NATIVE, "main", 1000, 0 }, { NATIVE, "caller", 400, 1 },
			{ NATIVE, "f", 200, 2 } },
		b[] = { { NATIVE, "main", 1000, 0 }, { NATIVE, "caller", 500, 1 }, { INLINED, "f", 100, 2 } },
		same[] = { { NATIVE, "main", 1000, 0 }, { NATIVE, "caller", 402, 1 },
			{ INLINED, "f", 199, 2 } },
		gone[] = { { NATIVE, "main", 1000, 0 }, { NATIVE, "caller", 600, 1 } },
		slower[] = { { NATIVE, "main", 1000, 0 }, { NATIVE, "caller", 400, 1 },
			{ INLINED, "f", 500, 2 } };
	struct diff_rows x;
	struct diff d;

	begin_small(&d, &x, a, ARRAY_SIZE(a), b, ARRAY_SIZE(b));
	CHECK_U64(x.nr, 3);
	CHECK(find_row(&x, "f")->inlined_differently && !find_row(&x, "f")->changed);
	CHECK(!find_row(&x, "caller")->inlined_differently && !find_row(&x, "caller")->changed);
	end_small(&d, &x);
	begin_small(&d, &x, a, ARRAY_SIZE(a), same, ARRAY_SIZE(same));
	CHECK(find_row(&x, "f")->inlined_differently && !find_row(&x, "f")->changed);
	end_small(&d, &x);
	begin_small(&d, &x, a, ARRAY_SIZE(a), gone, ARRAY_SIZE(gone));
	CHECK(find_row(&x, "f")->inlined_differently && !find_row(&x, "f")->changed);
	CHECK(!find_row(&x, "caller")->changed);
	end_small(&d, &x);
	begin_small(&d, &x, a, ARRAY_SIZE(a), slower, ARRAY_SIZE(slower));
	CHECK(find_row(&x, "f")->changed);
	end_small(&d, &x);
}

/* What rows say is what the runs had: all bases are the total, a stanza's parents are its self. */
TEST(diff_rows_keep_the_sums_of_the_runs)
{
	struct simulate_program *p;
	double shares[DIFF_NR_SIDES] = { 0 }, parents[DIFF_NR_SIDES] = { 0 };
	struct diff_rows x;
	struct diff d;
	size_t i, side;

	simulate_seed(0x5eed0004);
	p = simulate_program();
	diff_init(&d, NULL, NULL);
	simulate_add(&d, DIFF_A, p, &ideal);
	simulate_add(&d, DIFF_B, p, &ideal);
	simulate_add(&d, DIFF_B, p, &bursts);
	diff_finish(&d);
	rows_init(&x, &d, DIFF_BY_FUNCTION, DIFF_BASE, DIFF_TOTAL);
	for (i = 0; i < x.nr; i++)
		for (side = 0; side < DIFF_NR_SIDES; side++)
			shares[side] += x.list[i].value[side];
	CHECK(fabs(shares[DIFF_A] - 1) < 1e-9 && fabs(shares[DIFF_B] - 1) < 1e-9);
	rows_release(&x);
	rows_init(&x, &d, DIFF_BY_ARC, DIFF_CUM, DIFF_NONE);
	for (i = 0; i < x.nr; i++)
		for (side = 0; side < DIFF_NR_SIDES; side++) {
			if (x.list[i].kind == DIFF_PARENT)
				parents[side] += x.list[i].value[side];
			if (x.list[i].kind == DIFF_SELF) {
				CHECK(fabs(parents[side] - x.list[i].value[side]) < 1e-6);
				parents[side] = 0;
			}
		}
	rows_release(&x);
	diff_release(&d);
	free(p);
}

TEST(diff_of_exact_counts_is_whether_they_differ)
{
	struct model m;
	struct diff_rows x;
	struct noise noise;
	struct diff d;
	struct err e;
	unsigned int side;
	uint64_t ns[] = { 5 };

	diff_init(&d, "calls", NULL);
	for (side = 0; side < DIFF_NR_SIDES; side++) {
		model_init(&m, 1, FLOW_CALLS);
		model_set_metric(&m, 0, "wall", 4, "ns", 2);
		flow_add(&m.flow, flow_child(&m.flow, 0, consumer_add_name(&m.consumers, CONSUMER_JAVA, "a", 1)), 7, ns);
		flow_add(&m.flow, flow_child(&m.flow, 0, consumer_add_name(&m.consumers, CONSUMER_JAVA, "b", 1)),
			 7 + side, ns);
		model_finish(&m);
		CHECK_U64(diff_add(&d, side, &m, &(struct diff_about){ .path = "run" }, &e), 0);
		model_release(&m);
	}
	diff_finish(&d);
	rows_init(&x, &d, DIFF_BY_FUNCTION, DIFF_BASE, DIFF_NONE);
	noise_fill(&noise, &x);
	CHECK_U64(noise.kind, NOISE_EXACT);
	CHECK(!find_row(&x, "a")->changed && find_row(&x, "b")->changed);
	CHECK(find_row(&x, "b")->delta == 1);
	end_small(&d, &x);
	diff_init(&d, NULL, NULL);
	model_init(&m, 1, FLOW_SAMPLES);
	model_set_metric(&m, 0, "wall", 4, "ns", 2);
	model_finish(&m);
	CHECK_U64(diff_add(&d, DIFF_A, &m, &(struct diff_about){ .path = "run" }, &e), 0);
	model_release(&m);
	model_init(&m, 1, FLOW_CALLS);
	model_set_metric(&m, 0, "cpu", 3, "ns", 2);
	model_finish(&m);
	CHECK_U64(diff_add(&d, DIFF_B, &m, &(struct diff_about){ .path = "run" }, &e), (uint64_t)-EINVAL);
	CHECK_STR(e.msg, "unknown metric 'wall' (available: cpu, calls)");
	model_release(&m);
	diff_release(&d);
}
