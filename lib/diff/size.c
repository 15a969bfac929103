// SPDX-License-Identifier: GPL-2.0-or-later
/* size.c - finds the size of each run, by which its values are divided (size.h). */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "diff/size.h"

#define LEAST_SHARE .003	/* of a function that has a say */
#define LEAST_COVERED .2	/* of each side's total by all of these */
#define DEVIATION .1		/* ln of a function's time from one run to the next, about */
#define LEAST_SPREAD .5		/* of what the weights say: few functions may agree by chance */
#define OUTSIDE 4.		/* deviations at which a function has no say any more */
#define NORMAL_QUARTILE .6745	/* half of what is normal is nearer to the middle, in deviations */
enum { LEAST_FUNCTIONS = 5, LEAST_N = 8, ROUNDS = 20 };

struct sizes {
	struct diff *d;
	size_t nr;		/* consumers */
	double *n;		/* [run][consumer]: samples, all of the run's mean weight */
	double *mean;		/* [consumer]: of all runs */
	double mean_n;		/* of all consumers */
	bool *use;		/* [consumer] */
};

struct ratio {
	double log, weight;	/* weight: one over its variance */
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

	return COMPARE(a->log, b->log);
}

/* Return the middle of ratios by weight, which are sorted by that. */
static double median_of(struct ratio *list, size_t nr)
{
	double half = 0, sum = 0;
	size_t i;

	for (i = 0; i < nr; i++)
		half += list[i].weight / 2;
	qsort(list, nr, sizeof(*list), compare_ratios);
	for (i = 0; i + 1 < nr && (sum += list[i].weight) < half; i++)
		;
	return nr ? list[i].log : 0;
}

/* Return how much wider ratios are spread about the middle than their weights say. */
static double spread_of(const struct ratio *list, size_t nr, double middle)
{
	struct ratio *off = xcalloc(nr + 1, sizeof(*off));
	double median;
	size_t i;

	for (i = 0; i < nr; i++)
		off[i] = (struct ratio){ fabs(list[i].log - middle) * sqrt(list[i].weight), 1 };
	median = median_of(off, nr);
	free(off);
	return MAX(median / NORMAL_QUARTILE, LEAST_SPREAD);
}

/*
 * Return what most of the ratios agree in, and its variance. It is their mean by weight, in which a ratio
 * counts less the further it is from the others, and nothing from OUTSIDE deviations on (Tukey's biweight).
 */
static double agreed_of(struct ratio *list, size_t nr, double *variance)
{
	double middle = median_of(list, nr), spread = spread_of(list, nr, middle), sum = 0, weights = 0;
	size_t i;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		sum = weights = 0;
		for (i = 0; i < nr; i++) {
			double off = (list[i].log - middle) * sqrt(list[i].weight) / spread / OUTSIDE;
			double weight = fabs(off) < 1 ? list[i].weight * pow(1 - off * off, 2) : 0;

			sum += weight * list[i].log;
			weights += weight;
		}
		if (weights > 0)
			middle = sum / weights;
	}
	*variance = weights > 0 ? spread * spread / weights : 0;
	return middle;
}

/* Return what is known of how a function differs between two counts that stand for that many runs each. */
static struct ratio ratio_of(double a, double nr_a, double b, double nr_b)
{
	double variance = 1 / (a + .5) + 1 / (b + .5) + DEVIATION * DEVIATION * (1 / nr_a + 1 / nr_b);

	return (struct ratio){ log((b + .5) / nr_b / ((a + .5) / nr_a)), 1 / variance };
}

/* Return the size of a run among those of its side, whose mean is 1. */
static double size_in_side(const struct sizes *s, size_t run, struct ratio *list)
{
	const struct diff *d = s->d;
	double nr_runs = d->nr_of_side[d->runs[run].side], all, unused;
	size_t i, k, nr = 0;

	for (i = 1; i < s->nr && nr_runs > 1; i++) {
		if (!s->use[i])
			continue;
		for (k = 0, all = 0; k < d->nr_runs; k++)
			all += d->runs[k].side == d->runs[run].side ? s->n[k * s->nr + i] : 0;
		list[nr++] = ratio_of(all, nr_runs, s->n[run * s->nr + i], 1);
	}
	return exp(agreed_of(list, nr, &unused));
}

/* Return the size of side B's runs over those of side A; sizes: the sum of each side's, among themselves. */
static double size_between(const struct sizes *s, const double *sizes, struct ratio *list)
{
	struct diff *d = s->d;
	double n[DIFF_NR_SIDES];
	size_t i, k, nr = 0;

	for (i = 1; i < s->nr; i++) {
		if (!s->use[i])
			continue;
		n[DIFF_A] = n[DIFF_B] = 0;
		for (k = 0; k < d->nr_runs; k++)
			n[d->runs[k].side] += s->n[k * s->nr + i];
		list[nr++] = ratio_of(n[DIFF_A], sizes[DIFF_A], n[DIFF_B], sizes[DIFF_B]);
	}
	return exp(agreed_of(list, nr, &d->size_variance));
}

static void set_sizes(struct sizes *s)
{
	struct ratio *list = xcalloc(s->nr, sizeof(*list));
	double total = 0, sizes[DIFF_NR_SIDES] = { 0 }, between;
	size_t r;

	for (r = 0; r < s->d->nr_runs; r++) {
		struct diff_run *run = &s->d->runs[r];

		run->size = size_in_side(s, r, list);
		sizes[run->side] += run->size;
		total += run->side == DIFF_A ? run->total : 0;
	}
	between = size_between(s, sizes, list);
	for (r = 0; r < s->d->nr_runs; r++) {
		struct diff_run *run = &s->d->runs[r];

		run->size *= total / sizes[DIFF_A] * (run->side == DIFF_B ? between : 1);
	}
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
