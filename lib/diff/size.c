// SPDX-License-Identifier: GPL-2.0-or-later
/* size.c - finds the size of each run, by which its values are divided (size.h). */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "diff/size.h"

#define LEAST_SHARE .003	/* of a function that has a say */
#define LEAST_COVERED .2	/* of each side's total by all of these */
enum { LEAST_FUNCTIONS = 5, LEAST_N = 8 };

struct sizes {
	struct diff *d;
	size_t nr;		/* consumers */
	double *n;		/* [run][consumer]: samples, all of the run's mean weight */
	double *mean;		/* [consumer]: of all runs */
	double mean_n;		/* of all consumers */
	bool *use;		/* [consumer] */
};

struct ratio {
	double log, weight;
};

/* The program's own code: what a virtual machine and the kernel do beside it varies more. */
static bool is_own(const struct diff *d, uint32_t kind)
{
	return kind_is(kind, KIND_JVM) || kind == CONSUMER_ANY || kind == CONSUMER_FOLDED ||
	       kind == CONSUMER_CLASS || (kind_is(kind, KIND_NATIVE) && !d->has_jit);
}

static void sum_functions(struct sizes *s)
{
	const struct flow *f = &s->d->m.flow;
	size_t r, i;

	for (r = 0; r < s->d->nr_runs; r++) {
		const struct diff_run *run = &s->d->runs[r];
		double each = run->total_n ? (double)run->total / run->total_n : 1;

		for (i = 1; i < f->nr_nodes && each > 0; i++)
			s->n[r * s->nr + f->nodes[i].consumer] += run->base[i] / each;
		for (i = 1; i < s->nr; i++)
			s->mean[i] += s->n[r * s->nr + i] / s->d->nr_runs;
		s->mean_n += (double)run->total_n / s->d->nr_runs;
	}
}

/* Returns how many functions have a say: those that both sides have. */
static size_t choose(struct sizes *s, bool own)
{
	size_t i, r, nr = 0;

	for (i = 1; i < s->nr; i++) {
		double of[DIFF_NR_SIDES] = { 0 };

		for (r = 0; r < s->d->nr_runs; r++)
			of[s->d->runs[r].side] += s->n[r * s->nr + i];
		s->use[i] = s->mean[i] > LEAST_SHARE * s->mean_n && of[DIFF_A] >= LEAST_N &&
			    of[DIFF_B] >= LEAST_N && (!own || is_own(s->d, s->d->m.consumers.items[i].kind));
		nr += s->use[i];
	}
	return nr;
}

static bool is_covered(const struct sizes *s)
{
	double part[DIFF_NR_SIDES] = { 0 }, all[DIFF_NR_SIDES] = { 0 };
	size_t r, i;

	for (r = 0; r < s->d->nr_runs; r++) {
		all[s->d->runs[r].side] += s->d->runs[r].total_n;
		for (i = 1; i < s->nr; i++)
			part[s->d->runs[r].side] += s->use[i] ? s->n[r * s->nr + i] : 0;
	}
	return part[DIFF_A] >= LEAST_COVERED * all[DIFF_A] && part[DIFF_B] >= LEAST_COVERED * all[DIFF_B];
}

static int compare_ratios(const void *p, const void *q)
{
	const struct ratio *a = p, *b = q;

	return a->log < b->log ? -1 : a->log > b->log;
}

/* The middle of the ratios of one run to the mean, by weight. */
static double middle_of(const struct sizes *s, size_t run, struct ratio *list)
{
	double half = 0, sum = 0;
	size_t i, nr = 0;

	for (i = 1; i < s->nr; i++) {
		if (!s->use[i])
			continue;
		list[nr].log = log((s->n[run * s->nr + i] + .5) / (s->mean[i] + .5));
		list[nr].weight = sqrt(s->mean[i]);
		half += list[nr++].weight / 2;
	}
	qsort(list, nr, sizeof(*list), compare_ratios);
	for (i = 0; i + 1 < nr && (sum += list[i].weight) < half; i++)
		;
	return nr ? exp(list[i].log) : 1;
}

static void set_sizes(struct sizes *s)
{
	struct ratio *list = xcalloc(s->nr, sizeof(*list));
	double total = 0, sum = 0;
	size_t r;

	for (r = 0; r < s->d->nr_runs; r++) {
		struct diff_run *run = &s->d->runs[r];

		run->size = middle_of(s, r, list);
		if (run->side != DIFF_A)
			continue;
		sum += run->size;
		total += run->total;
	}
	for (r = 0; r < s->d->nr_runs; r++)
		s->d->runs[r].size *= total / sum;
	free(list);
}

void size_find(struct diff *d)
{
	struct sizes s = { .d = d, .nr = d->m.consumers.nr_items };
	size_t r;

	s.n = xcalloc(d->nr_runs * s.nr, sizeof(*s.n));
	s.mean = xcalloc(s.nr, sizeof(*s.mean));
	s.use = xcalloc(s.nr, sizeof(*s.use));
	sum_functions(&s);
	if (choose(&s, true) < LEAST_FUNCTIONS)
		choose(&s, false);
	if (is_covered(&s))
		set_sizes(&s);
	else
		for (r = 0; r < d->nr_runs; r++)
			d->runs[r].size = d->runs[r].total;
	free(s.n);
	free(s.mean);
	free(s.use);
}
