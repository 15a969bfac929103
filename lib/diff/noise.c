// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <string.h>

#include "base/dist.h"
#include "base/mem.h"
#include "diff/noise.h"

#define Z 1.959963984540054		/* 19 of 20 cases of the normal distribution */
#define BLOCKS_DF 40			/* what an estimate from the blocks is worth */
#define RUNS_DF 2			/* what is known of code that varies from run to run is worth */
#define LEAST_BLOCK 8			/* samples of a block: fewer say nothing of clusters */

static enum noise_kind noise_kind_of(const struct diff *d)
{
	static const char *const counts[] = { "calls", "bytes", "objects", "instructions" };
	size_t i;

	if (d->nr_runs > DIFF_NR_SIDES)
		return NOISE_REPEATS;
	if (!d->exact)
		return d->counts_unknown ? NOISE_UNKNOWN : NOISE_SAMPLING;
	for (i = 0; i < ARRAY_SIZE(counts); i++)
		if (!strcmp(d->unit, counts[i]))
			return NOISE_EXACT;
	return NOISE_UNKNOWN;
}

/* ---- what one run was sampled as ---- */

struct sampled {
	double x, squares, n;		/* sums of weights and of their squares, samples */
	double divisor, y;		/* y = x / divisor */
	double clusters;		/* variance of x, over that of independent samples: at least 1 */
};

/* Adds the samples of a row to blocks, and their squares. */
static double add_samples(const struct diff_rows *x, const struct diff_row *row, const struct diff_run *r,
			  double *blocks)
{
	double squares = 0;
	size_t i, k;

	for (i = 0; i < row->nr_nodes; i++) {
		uint32_t node = row->nodes[i], last = x->of == DIFF_CUM ? x->d->last[node] : node;

		for (k = r->first_sample[node]; k < r->first_sample[last + 1]; k++) {
			blocks[r->samples[k].block] += r->samples[k].weight;
			squares += r->samples[k].weight * r->samples[k].weight;
		}
	}
	return squares;
}

/*
 * The variance of a sum, from differences of neighbouring blocks: a slow trend, as from one phase of the
 * program to the next, is the same in every run and cancels out; what clusters within a block does not.
 */
static double variance_of_blocks(const struct diff_run *r, const double *blocks, double share)
{
	double sum = 0, step;
	int k;

	for (k = 1; k < DIFF_NR_BLOCKS; k++) {
		step = blocks[k] - blocks[k - 1] - share * (r->block_total[k] - r->block_total[k - 1]);
		sum += step * step / 2;
	}
	return sum * DIFF_NR_BLOCKS / (DIFF_NR_BLOCKS - 1);
}

/* Of independent samples: of a share of them all, or of a rate. */
static double variance_of_samples(const struct diff_rows *x, const struct diff_run *r,
				  const struct sampled *s)
{
	double share = s->y, all = r->total_n ? (double)r->total / r->total_n * r->total : 0;

	if (x->normalize != DIFF_TOTAL)
		return s->squares;
	return s->squares * (1 - 2 * share) + share * share * MAX(all, s->squares);
}

static struct sampled look_at(const struct diff_rows *x, const struct diff_row *row, const struct diff_run *r)
{
	struct sampled s = { .x = row_sum(x, row, r), .n = row_n(x, row, r), .clusters = 1,
		.divisor = row_divisor(x, row, r) };
	double blocks[DIFF_NR_BLOCKS] = { 0 }, independent;

	s.y = s.divisor > 0 ? s.x / s.divisor : 0;
	s.squares = s.n > 0 ? s.x * s.x / s.n : 0;
	if (!r->samples || x->d->exact)
		return s;
	s.squares = add_samples(x, row, r, blocks);
	independent = variance_of_samples(x, r, &s);
	if (r->nr_samples >= LEAST_BLOCK * DIFF_NR_BLOCKS && independent > 0)
		s.clusters = MAX(1., variance_of_blocks(r, blocks, x->normalize == DIFF_TOTAL ? s.y : 0) /
					     independent);
	return s;
}

/* ---- one run of each side ---- */

static uint32_t kind_of(const struct diff_rows *x, const struct diff_row *row)
{
	bool is_child = row->kind == DIFF_CHILD || row->kind == DIFF_RCHILD;

	return x->d->m.consumers.items[is_child ? row->other : row->consumer].kind;
}

/* How much a program with a JIT compiler, and the kernel, vary from run to run, as a part of themselves. */
static double varies_by(const struct diff_rows *x, const struct diff_row *row)
{
	return x->d->has_jit || kind_of(x, row) == CONSUMER_KERNEL ? NOISE_OF_RUNS : 0;
}

/* The number of its prior: cum of native code contains that of the Java code it calls. */
static bool has_modes(const struct diff_rows *x, const struct diff_row *row)
{
	uint32_t kind = kind_of(x, row);

	if (x->d->has_jit && x->of == DIFF_CUM)
		return true;
	return kind == CONSUMER_KERNEL || kind_is(kind, KIND_JVM);
}

/* Where a share, or a rate, of n effective samples is, 19 of 20 times: Wilson's interval. */
static void interval_of(double y, double n, bool share, double *low, double *high)
{
	double middle, half, z = Z * Z;

	if (share) {
		middle = (y + z / (2 * n)) / (1 + z / n);
		half = Z * sqrt(MAX(0., y * (1 - y)) / n + z / (4 * n * n)) / (1 + z / n);
	} else {
		middle = y + z / (2 * n);
		half = Z * sqrt(y / n + z / (4 * n * n));
	}
	*low = MAX(0., middle - half);
	*high = middle + half;
}

/* Newcombe's interval of a difference: that of each side, as far as it is on the other's side. */
static void set_interval(struct diff_row *row, const struct sampled *a, const struct sampled *b, double na,
			 double nb, bool share)
{
	double la, ua, lb, ub;

	interval_of(a->y, na, share, &la, &ua);
	interval_of(b->y, nb, share, &lb, &ub);
	row->low = row->delta - hypot(b->y - lb, ua - a->y);
	row->high = row->delta + hypot(ub - b->y, a->y - la);
}

static void test_samples(const struct diff_rows *x, struct diff_row *row)
{
	const struct diff_run *runs = x->d->runs;
	bool b_first = runs[0].side == DIFF_B, share = x->normalize == DIFF_TOTAL;
	struct sampled a = look_at(x, row, &runs[b_first]), b = look_at(x, row, &runs[!b_first]);
	double n = a.n + b.n, clusters, weight, y, na, nb, spread, runs_differ;

	if (a.divisor <= 0 || b.divisor <= 0 || n <= 0)
		return;
	clusters = (a.n * a.clusters + b.n * b.clusters) / n;
	weight = a.x + b.x > 0 ? (a.squares + b.squares) / (a.x + b.x) : 1;
	y = (a.x + b.x) / (a.divisor + b.divisor);
	na = a.divisor / (weight * clusters);
	nb = b.divisor / (weight * clusters);
	row->known = true;
	row->tested = n >= NOISE_LEAST_N;
	set_interval(row, &a, &b, na, nb, share);
	runs_differ = varies_by(x, row) * y * (share ? MAX(0., 1 - y) : 1) * M_SQRT2;
	row->low = row->delta - hypot(row->delta - row->low, Z * runs_differ);
	row->high = row->delta + hypot(row->high - row->delta, Z * runs_differ);
	spread = sqrt(y * (share ? MAX(0., 1 - y) : 1) * (1 / na + 1 / nb));
	if (n < 50 * clusters)
		row->p = dist_binomial_p(b.y * nb, a.y * na + b.y * nb, nb / (na + nb));
	else if (spread > 0)
		row->p = dist_t_p(row->delta / spread, clusters > 1 ? BLOCKS_DF : INFINITY);
	else
		row->p = 1;
	if (runs_differ > 0)
		row->p = MAX(row->p, dist_t_p(row->delta / hypot(spread, runs_differ), INFINITY));
}

/* ---- several runs ---- */

struct spread {
	double variance;		/* of one run, from their differences within each side */
	double expected;		/* what sampling makes of it; of exact values their square */
	double df;
	bool known;
};

static struct spread spread_of(const struct diff_rows *x, const struct diff_row *row)
{
	const struct diff *d = x->d;
	struct spread s = { .df = d->nr_runs - DIFF_NR_SIDES, .known = true };
	size_t i;

	for (i = 0; i < d->nr_runs; i++) {
		const struct diff_run *r = &d->runs[i];
		struct sampled one = look_at(x, row, r);
		double off = one.y - row->value[r->side];

		s.known &= one.divisor > 0;
		s.variance += off * off / s.df;
		if (one.divisor > 0)
			s.expected += (d->exact ? one.y * one.y :
						  variance_of_samples(x, r, &one) / one.divisor /
							  one.divisor) / d->nr_runs;
	}
	return s;
}

/* The variance of one run, and what it is worth. varies: the standard deviation that its kind of code has. */
static double steady(const struct noise *s, const struct noise_prior *p, const struct spread *of,
		     double varies, double *df)
{
	double prior, variance = of->variance;

	*df = of->df;
	if (p->df > 0 && of->expected > 0) {
		prior = exp(p->offset + p->slope * log(of->expected));
		*df += p->df;
		variance = (prior * p->df + variance * of->df) / *df;
	}
	/* A JIT compiler has modes: a few runs may have the same one by chance. */
	variance = MAX(variance, varies * varies * RUNS_DF / (of->df + RUNS_DF));
	return s->x->d->exact ? variance : MAX(variance, of->expected);
}

static void test_repeats(const struct noise *s, struct diff_row *row)
{
	const struct diff *d = s->x->d;
	struct spread of = spread_of(s->x, row);
	double mean = (row->value[DIFF_A] + row->value[DIFF_B]) / 2, df, error;
	double varies = d->exact ? 0 : varies_by(s->x, row) * mean;
	double variance = steady(s, &s->priors[has_modes(s->x, row)], &of, varies, &df);

	if (!of.known)
		return;
	error = sqrt(variance * (1. / d->nr_of_side[DIFF_A] + 1. / d->nr_of_side[DIFF_B]));
	row->known = true;
	row->tested = d->exact || row->n[DIFF_A] + row->n[DIFF_B] >= NOISE_LEAST_N;
	row->low = row->delta - dist_t_quantile(.05, df) * error;
	row->high = row->delta + dist_t_quantile(.05, df) * error;
	row->p = error > 0 ? dist_t_p(row->delta / error, df) : row->delta != 0 ? 0 : 1;
}

enum { LEAST_ROWS = 6, LEAST_ROWS_OF_TREND = 20 };

/*
 * What a prior is worth at most, in degrees of freedom.  Where there are modes, it is a few hundred rows of a
 * few runs that say how much variances differ, and by chance they may seem not to.
 */
static const double most_df[2] = { 1e4, 50 };

/* ln(expected) and ln(variance) of the rows that say something; returns how many. */
static size_t list_spreads(const struct diff_rows *x, bool modes, double (*point)[2])
{
	double df = x->d->nr_runs - DIFF_NR_SIDES, bias = dist_digamma(df / 2) - log(df / 2);
	size_t i, nr = 0;

	for (i = 0; i < x->nr; i++) {
		const struct diff_row *row = &x->list[i];
		struct spread of = spread_of(x, row);

		if (has_modes(x, row) != modes || !of.known || of.variance <= 0 || of.expected <= 0 ||
		    (!x->d->exact && row->n[DIFF_A] + row->n[DIFF_B] < NOISE_LEAST_N))
			continue;
		point[nr][0] = log(of.expected);
		point[nr++][1] = log(of.variance) - bias;
	}
	return nr;
}

/* A line through the points; with few of them, of slope 1. */
static void fit(struct noise_prior *p, double (*point)[2], size_t nr)
{
	double x = 0, y = 0, xx = 0, xy = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		x += point[i][0] / nr;
		y += point[i][1] / nr;
	}
	for (i = 0; i < nr; i++) {
		xx += (point[i][0] - x) * (point[i][0] - x);
		xy += (point[i][0] - x) * (point[i][1] - y);
	}
	p->slope = nr >= LEAST_ROWS_OF_TREND && xx > 0 ? xy / xx : 1;
	p->offset = y - p->slope * x;
}

/*
 * What variances of rows follow, and how closely: a line through ln(variance) against ln(expected), and the
 * degrees of freedom that its scatter leaves (Smyth 2004, with a trend).
 */
static void learn(struct noise *s, bool modes)
{
	double (*point)[2] = xcalloc(s->x->nr + 1, sizeof(*point)), scatter = 0;
	size_t i, nr = list_spreads(s->x, modes, point);
	struct noise_prior *p = &s->priors[modes];

	if (nr >= LEAST_ROWS) {
		fit(p, point, nr);
		for (i = 0; i < nr; i++)
			scatter += pow(point[i][1] - p->offset - p->slope * point[i][0], 2) / (nr - 2);
		scatter -= dist_trigamma((s->x->d->nr_runs - DIFF_NR_SIDES) / 2.);
		p->df = most_df[modes];
		if (scatter > 0)
			p->df = MIN(p->df, 2 * dist_trigamma_inverse(scatter));
		p->offset += dist_digamma(p->df / 2) - log(p->df / 2);
	}
	free(point);
}

/* ---- all rows ---- */

void noise_of_row(const struct noise *s, struct diff_row *row)
{
	row->known = row->tested = false;
	if (!row->defined[DIFF_A] || !row->defined[DIFF_B])
		return;
	switch (s->kind) {
	case NOISE_SAMPLING:
		test_samples(s->x, row);
		break;
	case NOISE_REPEATS:
		test_repeats(s, row);
		break;
	case NOISE_EXACT:
		row->known = true;
		row->low = row->high = row->delta;
		row->p = row->delta != 0 ? 0 : 1;
		row->tested = true;
		break;
	case NOISE_UNKNOWN:
		break;
	}
}

static void decide(struct diff_rows *x)
{
	double *p = xcalloc(x->nr + 1, sizeof(*p)), *q = xcalloc(x->nr + 1, sizeof(*q));
	size_t i, nr = 0;

	for (i = 0; i < x->nr; i++)
		if (x->list[i].tested)
			p[nr++] = x->list[i].p;
	dist_fdr(p, q, nr);
	for (i = nr = 0; i < x->nr; i++) {
		struct diff_row *row = &x->list[i];

		row->q = row->tested ? q[nr++] : 1;
		row->changed = row->tested && row->q <= NOISE_FDR && row->delta != 0;
	}
	free(p);
	free(q);
}

void noise_fill(struct noise *s, struct diff_rows *x)
{
	size_t i;

	*s = (struct noise){ .x = x, .kind = noise_kind_of(x->d) };
	if (s->kind == NOISE_REPEATS) {
		learn(s, false);
		learn(s, true);
	}
	for (i = 0; i < x->nr; i++)
		noise_of_row(s, &x->list[i]);
	decide(x);
	noise_mark_inlined(s, x);
}
