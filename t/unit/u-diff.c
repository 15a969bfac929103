// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * u-diff.c - differences of simulated recordings: how often noise is called a change, how often a change
 * is found, and what is matched. The program is a random tree whose functions have shares as those of real
 * programs do: few have most. Seeds are fixed, so that a rate is either held or not.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "diff/choice.h"
#include "diff/noise.h"
#include "unit.h"

enum { NR_FUNCTIONS = 250, NR_CONTEXTS = 700, NR_SAMPLES = 10000 };

static uint64_t seed;

static double random_unit(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (double)(seed >> 11) / (1ull << 53);
}

/* A program: contexts, each with a function, the context above it, and what it consumes itself. */
struct program {
	uint32_t parent[NR_CONTEXTS], function[NR_CONTEXTS];
	double share[NR_CONTEXTS], sum[NR_CONTEXTS];	/* sum: of shares up to it, as this run has them */
};

static void invent(struct program *p)
{
	double sum = 0;
	int i;

	for (i = 0; i < NR_CONTEXTS; i++) {
		p->parent[i] = i ? random_unit() * i : 0;
		p->function[i] = i < NR_FUNCTIONS ? i : NR_FUNCTIONS * random_unit();
		p->share[i] = 1 / (5 + NR_CONTEXTS * random_unit());
		sum += p->share[i];
	}
	for (i = 0; i < NR_CONTEXTS; i++)
		p->share[i] /= sum;
}

static double share_of(const struct program *p, uint32_t function)
{
	double sum = 0;
	int i;

	for (i = 0; i < NR_CONTEXTS; i++)
		sum += p->function[i] == function ? p->share[i] : 0;
	return sum;
}

/* The function consumes that much more, as a part of the total. */
static void slow_down(struct program *p, uint32_t function, double by)
{
	double was = share_of(p, function);
	int i;

	for (i = 0; i < NR_CONTEXTS; i++) {
		if (p->function[i] == function)
			p->share[i] *= (was + by) / was;
		p->share[i] /= 1 + by;
	}
}

/* How a recording differs from an ideal one. */
struct sampling {
	unsigned int nr_samples;
	double burst;		/* samples in a row that hit one context, on average */
	double jitter;		/* what a context consumes varies from run to run by that, relatively */
};

static const struct sampling ideal = { NR_SAMPLES, 1, 0 };

static void name_nodes(struct model *m, const struct program *p, uint32_t *node)
{
	char name[32];
	uint32_t c;
	int i;

	for (i = 0; i < NR_CONTEXTS; i++) {
		c = consumer_add_name(&m->consumers, CONSUMER_NATIVE, name,
				      snprintf(name, sizeof(name), "f%u", p->function[i]));
		node[i] = flow_child(&m->flow, i ? node[p->parent[i]] : FLOW_NONE, c);
	}
}

/* The context in which the running sum of shares passes a random part of it. */
static int draw(const struct program *p)
{
	double at = random_unit() * p->sum[NR_CONTEXTS - 1];
	int low = 0, high = NR_CONTEXTS - 1, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (p->sum[middle] <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void record(struct model *m, struct program *p, const struct sampling *s)
{
	uint32_t node[NR_CONTEXTS];
	const uint64_t weight = 1000;
	double sum = 0;
	unsigned int i;
	int at = 0;

	model_init(m, 1, FLOW_SAMPLES);
	model_set_metric(m, 0, "cpu", 3, "ns", 2);
	name_nodes(m, p, node);
	for (i = 0; i < NR_CONTEXTS; i++)
		p->sum[i] = sum += p->share[i] * exp(s->jitter * (random_unit() + random_unit() - 1) * 2.45);
	for (i = 0; i < s->nr_samples; i++) {
		if (!i || random_unit() * s->burst < 1)
			at = draw(p);
		flow_add(&m->flow, node[at], 1, &weight);
		flow_times_add(&m->times, &(struct flow_time){ i * weight, weight, node[at], 0 });
	}
	model_finish(m);
}

static void add(struct diff *d, unsigned int side, struct program *p, const struct sampling *s)
{
	struct model m;
	struct err e;

	record(&m, p, s);
	CHECK_U64(diff_add(d, side, &m, &(struct diff_about){ .path = "run" }, &e), 0);
	model_release(&m);
}

struct found {
	size_t nr;		/* rows that changed */
	bool function;		/* the one that was slowed down is one of them */
	bool covered;		/* and its interval has the true difference, or that of nothing */
};

static struct found compare(struct program *a, struct program *b, unsigned int nr_runs,
			    const struct sampling *s, enum diff_by by, uint32_t function)
{
	struct found found = { 0 };
	double truth = share_of(b, function) - share_of(a, function);
	struct diff_rows x;
	struct noise noise;
	struct diff d;
	char name[32];
	size_t i;

	diff_init(&d, NULL, NULL);
	for (i = 0; i < nr_runs; i++) {
		add(&d, DIFF_A, a, s);
		add(&d, DIFF_B, b, s);
	}
	diff_finish(&d);
	rows_init(&x, &d, by, by == DIFF_BY_FUNCTION ? DIFF_BASE : DIFF_CUM, DIFF_TOTAL);
	noise_fill(&noise, &x);
	found.nr = choice_nr_changed(&x);
	snprintf(name, sizeof(name), "f%u", function);
	for (i = 0; i < x.nr; i++) {
		if (strcmp(name, consumer_name(&d.m.consumers, x.list[i].consumer)) != 0)
			continue;
		found.function |= x.list[i].changed;
		found.covered |= x.list[i].known && x.list[i].low <= truth && truth <= x.list[i].high;
	}
	rows_release(&x);
	diff_release(&d);
	return found;
}

/* Comparisons of a program with itself in which something is called a change. */
static unsigned int false_alarms(unsigned int nr, unsigned int nr_runs, const struct sampling *s,
				 enum diff_by by)
{
	struct program *p = xcalloc(1, sizeof(*p));
	unsigned int i, alarms = 0;

	for (i = 0; i < nr; i++) {
		invent(p);
		alarms += compare(p, p, nr_runs, s, by, 0).nr > 0;
	}
	free(p);
	return alarms;
}

static const struct sampling bursts = { NR_SAMPLES, 4, 0 }, jittery = { NR_SAMPLES, 1, .1 };

TEST(diff_calls_noise_a_change_in_two_of_twenty_comparisons_at_most)
{
	seed = 0x5eed0001;
	CHECK(false_alarms(20, 1, &ideal, DIFF_BY_FUNCTION) <= 2);
	CHECK(false_alarms(20, 1, &ideal, DIFF_BY_CONTEXT) <= 2);
	CHECK(false_alarms(20, 1, &ideal, DIFF_BY_ARC) <= 2);
	CHECK(false_alarms(20, 1, &bursts, DIFF_BY_FUNCTION) <= 2);
	CHECK(false_alarms(20, 3, &ideal, DIFF_BY_FUNCTION) <= 2);
	CHECK(false_alarms(20, 3, &jittery, DIFF_BY_FUNCTION) <= 2);
}

static unsigned int times_found(unsigned int nr, unsigned int nr_runs, const struct sampling *s, double by,
				unsigned int *covered)
{
	struct program *a = xcalloc(1, sizeof(*a)), *b = xcalloc(1, sizeof(*b));
	unsigned int i, found = 0;

	*covered = 0;
	for (i = 0; i < nr; i++) {
		uint32_t function = NR_FUNCTIONS * random_unit();
		struct found f;

		invent(a);
		*b = *a;
		slow_down(b, function, by);
		f = compare(a, b, nr_runs, s, DIFF_BY_FUNCTION, function);
		found += f.function;
		*covered += f.covered;
	}
	free(a);
	free(b);
	return found;
}

TEST(diff_finds_two_percent_of_the_total_in_nineteen_of_twenty_programs)
{
	unsigned int covered;

	seed = 0x5eed0002;
	CHECK(times_found(20, 1, &ideal, .02, &covered) >= 19);
	CHECK(covered >= 17);
	CHECK(times_found(20, 3, &ideal, .02, &covered) >= 19);
	CHECK(covered >= 17);
	CHECK(times_found(20, 3, &jittery, .02, &covered) >= 19);
}

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
	struct program *p = xcalloc(1, sizeof(*p));
	double shares[DIFF_NR_SIDES] = { 0 }, parents[DIFF_NR_SIDES] = { 0 };
	struct diff_rows x;
	struct diff d;
	size_t i, side;

	seed = 0x5eed0004;
	invent(p);
	diff_init(&d, NULL, NULL);
	add(&d, DIFF_A, p, &ideal);
	add(&d, DIFF_B, p, &ideal);
	add(&d, DIFF_B, p, &bursts);
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

/* Rates of many: "UNIT_RATES=1 unit diff_rates" prints what the technical page says. */
TEST(diff_rates_are_printed_on_demand)
{
	static const struct {
		const char *name;
		unsigned int nr_runs;
		struct sampling s;
	} cases[] = {
		{ "1 run", 1, { NR_SAMPLES, 1, 0 } },
		{ "1 run, bursts of 4", 1, { NR_SAMPLES, 4, 0 } },
		{ "1 run, runs differ by 10 %", 1, { NR_SAMPLES, 1, .1 } },
		{ "3 runs", 3, { NR_SAMPLES, 1, 0 } },
		{ "3 runs, bursts of 4", 3, { NR_SAMPLES, 4, 0 } },
		{ "3 runs, runs differ by 10 %", 3, { NR_SAMPLES, 1, .1 } },
		{ "5 runs, runs differ by 10 %", 5, { NR_SAMPLES, 1, .1 } },
		{ "2 runs, runs differ by 10 %", 2, { NR_SAMPLES, 1, .1 } },
	};
	unsigned int covered, nr = getenv("UNIT_RATES") ? 400 : 0, i, alarms, found;

	if (!nr)
		unit_skip("UNIT_RATES is not set");
	seed = 0x5eed0003;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		alarms = false_alarms(nr, cases[i].nr_runs, &cases[i].s, DIFF_BY_FUNCTION);
		found = times_found(nr, cases[i].nr_runs, &cases[i].s, .02, &covered);
		printf("# %s: %.1f %% false alarms, %.1f %% found, %.1f %% of intervals hold\n",
		       cases[i].name, 100. * alarms / nr, 100. * found / nr, 100. * covered / nr);
	}
}
