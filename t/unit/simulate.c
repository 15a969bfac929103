// SPDX-License-Identifier: GPL-2.0-or-later
/* simulate.c - random trees whose functions have shares as those of real programs do: few have most. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "diff/choice.h"
#include "diff/noise.h"
#include "simulate.h"

enum { NR_FUNCTIONS = 250, NR_CONTEXTS = 700 };

static uint64_t seed;

void simulate_seed(uint64_t value)
{
	seed = value;
}

static double random_unit(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (double)(seed >> 11) / (1ull << 53);
}

/* A program: contexts, each with a function, the context above it, and what it consumes itself. */
struct simulate_program {
	uint32_t parent[NR_CONTEXTS], function[NR_CONTEXTS];
	double share[NR_CONTEXTS], sum[NR_CONTEXTS];	/* sum: of shares up to it, as this run has them */
};

static void invent(struct simulate_program *p)
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

struct simulate_program *simulate_program(void)
{
	struct simulate_program *p = xcalloc(1, sizeof(*p));

	invent(p);
	return p;
}

static double share_of(const struct simulate_program *p, uint32_t function)
{
	double sum = 0;
	int i;

	for (i = 0; i < NR_CONTEXTS; i++)
		sum += p->function[i] == function ? p->share[i] : 0;
	return sum;
}

/* The function consumes that much more, as a part of the total. */
static void slow_down(struct simulate_program *p, uint32_t function, double by)
{
	double was = share_of(p, function);
	int i;

	for (i = 0; i < NR_CONTEXTS; i++) {
		if (p->function[i] == function)
			p->share[i] *= (was + by) / was;
		p->share[i] /= 1 + by;
	}
}

static bool is_java(const struct simulate_sampling *s, uint32_t function)
{
	return s->java && function % 3 == 0;
}

static void name_nodes(struct model *m, const struct simulate_program *p, const struct simulate_sampling *s,
		       uint32_t *node)
{
	char name[32];
	uint32_t c;
	int i;

	for (i = 0; i < NR_CONTEXTS; i++) {
		c = consumer_add_name(&m->consumers,
				      is_java(s, p->function[i]) ? CONSUMER_JAVA : CONSUMER_NATIVE, name,
				      snprintf(name, sizeof(name), "f%u", p->function[i]));
		node[i] = flow_child(&m->flow, i ? node[p->parent[i]] : FLOW_NONE, c);
	}
}

/* The context in which the running sum of shares passes a random part of it. */
static int draw(const struct simulate_program *p)
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

static void record(struct model *m, struct simulate_program *p, const struct simulate_sampling *s)
{
	uint32_t node[NR_CONTEXTS];
	const uint64_t weight = 1000;
	bool runs[NR_FUNCTIONS];
	double sum = 0;
	unsigned int i;
	int at = 0;

	model_init(m, 1, FLOW_SAMPLES);
	model_set_metric(m, 0, "cpu", 3, "ns", 2);
	name_nodes(m, p, s, node);
	for (i = 0; i < NR_FUNCTIONS; i++)
		runs[i] = !is_java(s, i) || random_unit() * 3 > 1;
	for (i = 0; i < NR_CONTEXTS; i++)
		p->sum[i] = sum += p->share[i] * exp(s->jitter * (random_unit() + random_unit() - 1) * 2.45) *
				   (runs[p->function[i]] ? 1 : .5);
	for (i = 0; i < s->nr_samples; i++) {
		if (!i || random_unit() * s->burst < 1)
			at = draw(p);
		flow_add(&m->flow, node[at], 1, &weight);
		flow_times_add(&m->times, &(struct flow_time){ i * weight, weight, node[at], 0 });
	}
	model_finish(m);
}

void simulate_add(struct diff *d, unsigned int side, struct simulate_program *p,
		  const struct simulate_sampling *s)
{
	struct model m;
	struct err e;

	record(&m, p, s);
	if (diff_add(d, side, &m, &(struct diff_about){ .path = "run", .has_jit = s->java }, &e))
		abort();
	model_release(&m);
}

/* ---- flat programs ---- */

double simulate_normal(void)
{
	return sqrt(-2 * log(1 - random_unit())) * cos(2 * M_PI * random_unit());
}

static double random_count(double mean)
{
	double limit = exp(-mean), product = random_unit(), nr = 0;

	if (mean > 50)
		return MAX(0., round(mean + sqrt(mean) * simulate_normal()));
	for (; product > limit; nr++)
		product *= random_unit();
	return nr;
}

void simulate_rows(struct simulate_rows *p, double at_percent)
{
	double sum = 0, squares;
	int i, k;

	for (i = 0; i < SIMULATE_ROWS; i++)
		sum += p->share[i] = pow(i + 2, -.95);
	for (i = 0; i < SIMULATE_ROWS; i++) {
		p->share[i] /= sum;
		p->factor[i] = 1;
		for (squares = k = 0; k < 4; k++)
			squares += pow(simulate_normal(), 2);
		p->deviation[i] = MIN(1., at_percent * pow(p->share[i] / .01, -.4) * sqrt(4 / squares));
	}
	p->nr_samples = 5000;
}

void simulate_add_rows(struct diff *d, unsigned int side, const struct simulate_rows *p)
{
	double machine = exp(.07 * simulate_normal());
	struct model m;
	struct err e;
	char name[32];
	int i;

	model_init(&m, 1, FLOW_SAMPLES);
	model_set_metric(&m, 0, "cpu", 3, "ns", 2);
	for (i = 0; i < SIMULATE_ROWS; i++) {
		double mean = p->share[i] * p->factor[i] * p->nr_samples * machine;
		uint64_t n = random_count(mean * exp(p->deviation[i] * simulate_normal())), value = n * 1000;
		uint32_t c = consumer_add_name(&m.consumers, CONSUMER_JAVA_COMPILED, name,
					       snprintf(name, sizeof(name), "f%d", i));

		flow_add(&m.flow, flow_child(&m.flow, FLOW_NONE, c), n, &value);
	}
	model_finish(&m);
	if (diff_add(d, side, &m, &(struct diff_about){ .path = "run", .has_jit = true }, &e))
		abort();
	model_release(&m);
}

/* ---- comparisons ---- */

struct found {
	size_t nr;		/* rows that changed */
	bool function;		/* the one that was slowed down is one of them */
	bool covered;		/* and its interval has the true difference, or that of nothing */
};

static struct found compare(struct simulate_program *a, struct simulate_program *b, unsigned int nr_runs,
			    const struct simulate_sampling *s, enum diff_by by, uint32_t function)
{
	struct found found = { 0 };
	double truth = share_of(b, function) / share_of(a, function) - 1;
	struct diff_rows x;
	struct noise noise;
	struct diff d;
	char name[32];
	size_t i;

	diff_init(&d, NULL, NULL);
	for (i = 0; i < nr_runs; i++) {
		simulate_add(&d, DIFF_A, a, s);
		simulate_add(&d, DIFF_B, b, s);
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

unsigned int simulate_false_alarms(unsigned int nr, unsigned int nr_runs, const struct simulate_sampling *s,
				   enum diff_by by)
{
	struct simulate_program *p = xcalloc(1, sizeof(*p));
	unsigned int i, alarms = 0;

	for (i = 0; i < nr; i++) {
		invent(p);
		alarms += compare(p, p, nr_runs, s, by, 0).nr > 0;
	}
	free(p);
	return alarms;
}

unsigned int simulate_times_found(unsigned int nr, unsigned int nr_runs, const struct simulate_sampling *s,
				  double by, unsigned int *covered)
{
	struct simulate_program *a = xcalloc(1, sizeof(*a)), *b = xcalloc(1, sizeof(*b));
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
