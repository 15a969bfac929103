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
static const struct simulate_sampling java = { SIMULATE_SAMPLES, 1, 0, true };

#ifndef SANITIZED	/* statistics of what is computed below as well */
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

/* The variance that rows have of which sampling alone makes that much. */
static double prior_variance(const struct noise_prior *p, double expected)
{
	return exp(p->offset + p->slope * log(expected));
}

TEST(diff_learns_of_java_and_of_native_code_apart)
{
	struct simulate_program *p;
	struct diff_rows x;
	struct noise noise;
	struct diff d;
	int i;

	simulate_seed(0x5eed0004);
	p = simulate_program();
	diff_init(&d, NULL, NULL);
	for (i = 0; i < 4; i++)
		simulate_add(&d, i & 1, p, &java);
	diff_finish(&d);
	rows_init(&x, &d, DIFF_BY_FUNCTION, DIFF_BASE, DIFF_TOTAL);
	noise_fill(&noise, &x);
	CHECK(noise.priors[true].df > 0 && noise.priors[true].df <= 50);
	CHECK(prior_variance(&noise.priors[true], 4e-7) > 2 * prior_variance(&noise.priors[false], 4e-7));
	rows_release(&x);
	rows_init(&x, &d, DIFF_BY_CONTEXT, DIFF_CUM, DIFF_TOTAL);	/* native code that calls Java */
	noise_fill(&noise, &x);
	CHECK(noise.priors[true].df > 0 && noise.priors[false].df <= 0);
	rows_release(&x);
	diff_release(&d);
	free(p);
}

#ifndef SANITIZED
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
	CHECK(!find_row(&x, "f")->changed && !find_row(&x, "read")->changed);
	CHECK(find_row(&x, "f")->high - find_row(&x, "f")->low > 3 * width);
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
