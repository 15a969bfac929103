// SPDX-License-Identifier: GPL-2.0-or-later
/* noise.c - judges which rows changed by more than noise (noise.h). */
#include <math.h>
#include <string.h>

#include "base/dist.h"
#include "base/mem.h"
#include "diff/noise.h"

#define LEAST_BLOCK 8			/* samples of a block: fewer say nothing of clusters */
#define LEAST_BIG 8			/* effective samples of each side from which ln is about normal */
#define LEAST_LEARNT 24			/* effective samples of both sides that prior.c learns from */
#define MAX_LEARNT 600			/* rows: more tell no more */
#define LEAST_ROWS 20			/* of one run each: of fewer rows most may have changed */
#define LEAST_DEVIATION .01		/* ln from run to run: no row is steadier */
#define KERNEL_DEVIATION .6		/* paths of the kernel are there in one run and not in the next */
#define ON_OFF .7			/* the same of code that is inlined, or not yet compiled */
#define ON_OFF_OF_OTHERS 1.		/* and of the kernel and a JVM, where one side has next to nothing */
#define MACHINE_DEVIATION .07		/* ln of a machine's speed from one run to the next */
#define PSEUDO_N 1000.			/* of a run whose values were not sampled */
#define WRONG_PAIRS .12			/* of runs of both sides: more means that one run makes the change */
#define Z_OF_8_IN_10 .9			/* 8 of 10 draws are above the mean less that many deviations */
#define MAX_DETECTABLE 100.		/* more is as good as nothing */
#define MEAN_WEIGHT .6			/* below 1: rows vary in more ways than the model has */
#define GROWTH .5			/* weights are by the chance to see that, */
#define LEAST_SEEN .05			/* which is taken for that at least */
#define MOST_OF_STEADY .7		/* where a side has next to nothing, of what is not on or off */
#define HALF .5				/* of what the last compiler would have saved */
#define MAX_EFFECT 100.			/* ln: nothing is that large */
#define ONE_DEVIATION .3173		/* the chance of more than one of the normal distribution */
#define LEAST_PART 1e-5			/* a belief below that changes nothing */

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

static bool is_sampled(const struct diff *d)
{
	return !d->exact && !d->counts_unknown;
}

/* ---- kinds of code ---- */

static uint32_t subject_of(const struct diff_row *row)
{
	return row->kind == DIFF_CHILD || row->kind == DIFF_RCHILD ? row->other : row->consumer;
}

static enum noise_class class_of(const struct diff_rows *x, const struct diff_row *row)
{
	uint32_t kind = x->d->m.consumers.items[subject_of(row)].kind;

	if (kind == CONSUMER_KERNEL)
		return NOISE_KERNEL;
	if (kind == CONSUMER_ANY || kind == CONSUMER_CLASS)
		return NOISE_ANY;
	if (!x->d->has_jit)
		return kind_is(kind, KIND_JVM) ? NOISE_JAVA : NOISE_NATIVE;
	return kind_is(kind, KIND_NATIVE) && x->of == DIFF_BASE ? NOISE_JVM : NOISE_JAVA;
}

/* The part of each side that its last compiler would have saved. */
static void saved_parts(const struct diff_rows *x, const struct diff_row *row, double *part)
{
	double early[DIFF_NR_SIDES] = { 0 }, all[DIFF_NR_SIDES] = { 0 };
	size_t i;

	for (i = 0; i < x->d->nr_runs; i++) {
		const struct diff_run *r = &x->d->runs[i];

		early[r->side] += row_saved_of(row, r->saved);
		all[r->side] += row_sum(x, row, r);
	}
	for (i = 0; i < DIFF_NR_SIDES; i++)
		part[i] = all[i] > 0 ? early[i] / all[i] : 0;
}

static bool is_mostly_inlined(const struct diff *d, uint32_t c)
{
	uint64_t inlined = 0, all = 0;
	unsigned int side;

	for (side = 0; side < DIFF_NR_SIDES && c < d->nr_code; side++) {
		inlined += d->inlined_n[side][c];
		all += d->code_n[side][c];
	}
	return 2 * inlined > all;
}

/* How a row is judged. */
struct way {
	enum noise_class class;
	bool late;		/* without what its last compiler would have saved */
	bool early;		/* as it is, and most would have been saved on one side */
};

/*
 * A method that is compiled late has consumed more in the interpreter, which is not a change of the program.
 * So what it consumed before counts as much as it would have been afterwards, unless that is a guess about
 * most of it.
 */
static struct way way_of(const struct diff_rows *x, const struct diff_row *row)
{
	struct way w = { .class = class_of(x, row) };
	double early[DIFF_NR_SIDES] = { 0 };

	if (x->of == DIFF_BASE && is_sampled(x->d) && !x->as_recorded)
		saved_parts(x, row, early);
	w.early = early[DIFF_A] > .5 || early[DIFF_B] > .5;
	w.late = !w.early && early[DIFF_A] + early[DIFF_B] > 0;
	if (w.early)
		w.class = NOISE_EARLY;
	return w;
}

/* ---- what runs show of a row ---- */

struct look {
	double x[DIFF_NR_SIDES], size[DIFF_NR_SIDES];	/* sums of values, and of what they are divided by */
	double n[DIFF_NR_SIDES];	/* independent samples that those are worth */
	double share;			/* of the totals */
	double *y;			/* [run]: value over size */
	double sampling;		/* variance of one run, as a part of its square */
	double variance, df;		/* the same of the runs of each side */
	double effect;			/* ln of B over A */
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
 * Return the variance of a sum, from differences of neighbouring blocks. A slow trend, as from one phase of
 * the program to the next, is the same in every run and cancels out. What clusters within a block does not.
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

/* Return how many samples of one run count as one: their weights differ, and they come in clusters. */
static double samples_as_one(const struct noise *s, const struct diff_row *row, const struct diff_run *r)
{
	double x = row_sum(s->x, row, r), n = row_n(s->x, row, r), share = r->total ? x / r->total : 0;
	double blocks[DIFF_NR_BLOCKS] = { 0 }, squares, clusters = 1;

	if (!r->samples || x <= 0 || n <= 0)
		return 1;
	squares = add_samples(s->x, row, r, blocks);
	if (r->nr_samples >= LEAST_BLOCK * DIFF_NR_BLOCKS && share < 1)
		clusters = variance_of_blocks(r, blocks, share) / (squares * (1 - share));
	return MAX(1., clusters) * MAX(1., squares * n / (x * x));
}

static void add_runs(const struct noise *s, const struct diff_row *row, bool late, struct look *k)
{
	const struct diff *d = s->x->d;
	double n = 0, x = 0, as_one = 0, total = 0;
	size_t i;

	for (i = 0; i < d->nr_runs; i++) {
		const struct diff_run *r = &d->runs[i];
		double value = row_sum(s->x, row, r) - (late ? row_saved_of(row, r->saved) : 0);
		double of_n = row_n(s->x, row, r) - (late ? row_saved_of(row, r->saved_n) : 0);
		double size = row_divisor(s->x, row, r);

		k->x[r->side] += value;
		k->size[r->side] += size;
		k->y[i] = size > 0 ? value / size : 0;
		x += value;
		n += of_n;
		total += r->total;
		as_one += is_sampled(d) ? of_n * samples_as_one(s, row, r) : 0;
	}
	k->share = total > 0 ? x / total : 0;
	for (i = 0; i < DIFF_NR_SIDES; i++) {
		if (!is_sampled(d))
			k->n[i] = x > 0 ? k->x[i] / x * PSEUDO_N * d->nr_runs : 0;
		else
			k->n[i] = x > 0 && as_one > 0 ? k->x[i] / x * n * (n / as_one) : 0;
	}
}

static void set_spread(const struct noise *s, struct look *k)
{
	const struct diff *d = s->x->d;
	double mean[DIFF_NR_SIDES] = { 0 }, off;
	size_t i;

	for (i = 0; i < d->nr_runs; i++)
		mean[d->runs[i].side] += k->y[i] / d->nr_of_side[d->runs[i].side];
	k->df = d->nr_runs - DIFF_NR_SIDES;
	for (i = 0; i < d->nr_runs && k->df > 0; i++) {
		off = k->y[i] - mean[d->runs[i].side];
		if (mean[d->runs[i].side] > 0)
			k->variance += off * off / pow(mean[d->runs[i].side], 2) / k->df;
	}
	if (k->df > 0)
		return;
	/* most rows did not change: what they differ by is what runs vary by */
	k->df = 1;
	k->variance = k->effect * k->effect / 2;
}

/*
 * Collect what is known of a row; return false if there is nothing to divide by, or nothing there. For
 * look_release().
 */
static bool look_init(const struct noise *s, const struct diff_row *row, bool late, struct look *k)
{
	const struct diff *d = s->x->d;
	double n;

	memset(k, 0, sizeof(*k));
	k->y = xcalloc(d->nr_runs, sizeof(*k->y));
	if (!row->defined[DIFF_A] || !row->defined[DIFF_B])
		return false;
	add_runs(s, row, late, k);
	n = k->n[DIFF_A] + k->n[DIFF_B];
	if (n <= 0 || k->size[DIFF_A] <= 0 || k->size[DIFF_B] <= 0)
		return false;
	k->effect = log((k->n[DIFF_B] + .5) / k->size[DIFF_B] / ((k->n[DIFF_A] + .5) / k->size[DIFF_A]));
	/* a share of a total cannot vary where it is all of it */
	if (is_sampled(d))
		k->sampling = (s->x->normalize == DIFF_TOTAL ? 1 - k->share : 1) * d->nr_runs / n;
	set_spread(s, k);
	return true;
}

static void look_release(struct look *k)
{
	free(k->y);
}

/* ---- one row ---- */

/* The likelihood of each deviation from run to run of a row, and the variance that it makes. */
struct judgement {
	struct noise_belief deviations;
	double variance[NOISE_NR_DEVIATIONS];	/* of ln */
	bool small;			/* one side has too little for logarithms */
};

/* How much a row varies at least that may be there in one run and not in the next. */
static double on_off(const struct diff_rows *x, const struct diff_row *row, const struct way *w)
{
	uint32_t c = subject_of(row);

	if (w->class == NOISE_KERNEL || w->class == NOISE_JVM)
		return ON_OFF_OF_OTHERS;
	if (x->d->has_jit && (w->early || x->d->m.consumers.items[c].kind == CONSUMER_STUB ||
			      is_mostly_inlined(x->d, c)))
		return ON_OFF;
	return 0;
}

/* Compute p for counts that are too small for logarithms: exactly, for each deviation that runs may have. */
static double exact_p(const struct noise *s, const struct look *k, const struct judgement *j, double least)
{
	double nr_b = s->x->d->nr_of_side[DIFF_B], rest = nr_b * k->size[DIFF_A] / k->size[DIFF_B], p = 0, v;
	double n = round(k->n[DIFF_A] + k->n[DIFF_B]), b = MIN(n, round(k->n[DIFF_B]));
	size_t i;

	for (i = 0; i < NOISE_NR_DEVIATIONS; i++) {
		v = pow(MAX(MIN(noise_deviation(i), MOST_OF_STEADY), MAX(LEAST_DEVIATION, least)), 2);
		if (j->deviations.part[i] > LEAST_PART)
			p += j->deviations.part[i] * dist_beta_binomial_p(b, n, nr_b / v, rest / v);
	}
	return MIN(p, 1.);
}

/*
 * Return whether a single run makes the change. A change has all but a few runs of one side above those of
 * the other.
 */
static bool is_of_one_run(const struct diff *d, const struct look *k)
{
	size_t a, b, wrong = 0;

	if (d->nr_of_side[DIFF_A] < 3 || d->nr_of_side[DIFF_B] < 3)
		return false;
	for (a = 0; a < d->nr_runs; a++)
		for (b = 0; b < d->nr_runs; b++)
			if (d->runs[a].side == DIFF_A && d->runs[b].side == DIFF_B)
				wrong += k->effect > 0 ? k->y[b] <= k->y[a] : k->y[b] >= k->y[a];
	return wrong > WRONG_PAIRS * d->nr_of_side[DIFF_A] * d->nr_of_side[DIFF_B];
}

/*
 * Fills what is known of ln of B over A. The row's own spread is a part of it, unless one side has next to
 * nothing, which says little of how it varies.
 */
static void weigh_deviations(const struct noise *s, enum noise_class class, const struct look *k,
			     struct judgement *j)
{
	const struct noise_spread seen = { k->variance, k->sampling, k->share };
	const struct diff *d = s->x->d;
	const double floor = class == NOISE_KERNEL ? KERNEL_DEVIATION : LEAST_DEVIATION;
	double whole = s->x->normalize == DIFF_TOTAL ? 1 - k->share : 1, sampling = 0, machine = 0;
	size_t i;

	j->small = is_sampled(d) && MIN(k->n[DIFF_A], k->n[DIFF_B]) < LEAST_BIG;
	j->deviations = noise_believe(s->beliefs[class], k->share);
	if (s->kind == NOISE_REPEATS && !j->small)
		noise_update(&j->deviations, &seen, k->df);
	if (is_sampled(d))
		sampling = whole * (1 / (k->n[DIFF_A] + .5) + 1 / (k->n[DIFF_B] + .5));
	if (s->x->normalize == DIFF_SIZE)
		sampling += d->size_variance;
	if (s->kind != NOISE_REPEATS && s->x->normalize != DIFF_SIZE && s->x->normalize != DIFF_TOTAL)
		machine = MACHINE_DEVIATION * MACHINE_DEVIATION;
	for (i = 0; i < NOISE_NR_DEVIATIONS; i++)
		j->variance[i] = sampling + (pow(MAX(noise_deviation(i), floor), 2) + machine) *
			(1. / d->nr_of_side[DIFF_A] + 1. / d->nr_of_side[DIFF_B]);
}

/* Return the chance of an effect at least that far from 0. */
static double chance_of(const struct judgement *j, double effect)
{
	double p = 0;
	size_t i;

	for (i = 0; i < NOISE_NR_DEVIATIONS; i++)
		if (j->deviations.part[i] > LEAST_PART)
			p += j->deviations.part[i] * erfc(fabs(effect) / sqrt(2 * j->variance[i]));
	return MIN(p, 1.);
}

/* Return the effect that is exceeded with chance p: by secants of ln(chance), and by halves. */
static double effect_of(const struct judgement *j, double p)
{
	double low = 0, high = 0, x, at_low = 0, at_high, mean = 0, at;
	int i;

	for (i = 0; i < NOISE_NR_DEVIATIONS; i++)
		mean += j->deviations.part[i] * sqrt(j->variance[i]);
	high = mean * 2;
	while ((at_high = log(MAX(chance_of(j, high), 1e-300) / p)) > 0 && high < MAX_EFFECT) {
		low = high;
		at_low = at_high;
		high *= 2;
	}
	if (at_high > 0)
		return high;
	if (low <= 0)
		at_low = -log(p);
	for (i = 0; i < 6; i++) {
		x = i % 2 ? (low + high) / 2 : low + (high - low) * at_low / (at_low - at_high);
		at = log(MAX(chance_of(j, x), 1e-300) / p);
		if (at > 0) {
			low = x;
			at_low = at;
		} else {
			high = x;
			at_high = at;
		}
		if (fabs(at) < .01)
			return x;
	}
	return high;
}

/*
 * Check the guess how much faster the last compiler's code is: with half of that the direction must be the
 * same.
 */
static bool tiers_disagree(const struct noise *s, const struct diff_row *row, const struct look *late)
{
	struct look all;
	bool disagree;

	disagree = !look_init(s, row, false, &all) ||
		   late->effect * ((1 - HALF) * late->effect + HALF * all.effect) <= 0;
	look_release(&all);
	return disagree;
}

static enum diff_doubt doubt_of(const struct noise *s, const struct diff_row *row, const struct look *k,
				bool late)
{
	if (is_of_one_run(s->x->d, k))
		return DIFF_ONE_RUN;
	return late && tiers_disagree(s, row, k) ? DIFF_TIERS : DIFF_SURE;
}

/* Runs of each side have the same counts. */
static bool is_certain(const struct noise *s, const struct look *k)
{
	return s->kind == NOISE_REPEATS && s->x->d->exact && k->variance <= 0;
}

static void judge(const struct noise *s, struct diff_row *row, const struct look *k, const struct way *w)
{
	bool sampled = is_sampled(s->x->d);
	struct judgement j;
	double half = 0;

	weigh_deviations(s, w->class, k, &j);
	row->error = 0;
	if (!is_certain(s, k)) {
		half = effect_of(&j, NOISE_FDR);
		row->error = effect_of(&j, ONE_DEVIATION);
	}
	row->small = j.small;
	row->known = true;
	row->of_last_tier = w->late;
	row->low = expm1(k->effect - half);
	row->high = expm1(k->effect + half);
	row->tested = !sampled || k->n[DIFF_A] + k->n[DIFF_B] >= NOISE_LEAST_N;
	if (row->error <= 0)
		row->p = row->delta != 0 ? 0 : 1;
	else if (j.small)
		row->p = exact_p(s, k, &j, on_off(s->x, row, w));
	else
		row->p = chance_of(&j, k->effect);
	row->doubt = doubt_of(s, row, k, w->late);
}

static void test_row(const struct noise *s, struct diff_row *row)
{
	struct way w = way_of(s->x, row);
	struct look k;

	if (look_init(s, row, w.late, &k))
		judge(s, row, &k, &w);
	look_release(&k);
}

void noise_of_row(const struct noise *s, struct diff_row *row)
{
	row->known = row->tested = false;
	row->doubt = DIFF_SURE;
	row->of_last_tier = false;
	if (!row->defined[DIFF_A] || !row->defined[DIFF_B] || s->kind == NOISE_UNKNOWN)
		return;
	if (s->kind != NOISE_EXACT) {
		test_row(s, row);
		return;
	}
	row->known = row->tested = true;
	row->low = row->high = row->value[DIFF_A] > 0 ? row->delta / row->value[DIFF_A] : INFINITY;
	row->p = row->delta != 0 ? 0 : 1;
}

/* ---- all rows ---- */

static void learn(struct noise *s, enum noise_class class)
{
	struct noise_spread *list = xcalloc(MAX_LEARNT, sizeof(*list));
	size_t i, nr = 0, step = s->x->nr / MAX_LEARNT + 1;
	bool repeats = s->kind == NOISE_REPEATS;
	double df = repeats ? s->x->d->nr_runs - DIFF_NR_SIDES : 1;
	struct look k;

	for (i = 0; i < s->x->nr; i += step) {
		const struct diff_row *row = &s->x->list[i];
		struct way w = way_of(s->x, row);

		if (w.class != class)
			continue;
		if (look_init(s, row, w.late, &k) && k.n[DIFF_A] + k.n[DIFF_B] >= LEAST_LEARNT)
			list[nr++] = (struct noise_spread){ k.variance, k.sampling, k.share };
		look_release(&k);
	}
	noise_learn(class, list, repeats || nr >= LEAST_ROWS ? nr : 0, df, s->beliefs[class]);
	free(list);
}

/*
 * Whatever is compared, the rows to learn from are functions by base: each sample is in one of them. Cums
 * change together: with one run each, half of the stacks of a program may say that runs vary much.
 */
static void learn_all(struct noise *s)
{
	const struct diff_rows *x = s->x;
	enum noise_class class;
	struct diff_rows rows;

	rows_init(&rows, x->d, DIFF_BY_FUNCTION, DIFF_BASE, x->normalize);
	s->x = &rows;
	for (class = 0; class < NOISE_NR_CLASSES; class++)
		learn(s, class);
	s->x = x;
	rows_release(&rows);
}

/*
 * Weigh by share (Genovese, Roeder and Wasserman 2006), so that hundreds of small rows do not hide a large
 * one, and by the chance to see growth in the row at all, so that those that vary much do not either.
 */
static double weight_of(const struct diff_row *row)
{
	double half = (log1p(row->high) - log1p(row->low)) / 2, seen = 1;

	if (!row->tested)
		return 0;
	if (row->error > 0 && !row->small)
		seen = erfc((half - log1p(GROWTH)) / row->error / sqrt(2)) / 2;
	return row->share * MAX(seen, LEAST_SEEN);
}

/* Exact counts need no weights. */
static void weigh(const struct noise *s, struct diff_rows *x)
{
	double mean = s->kind == NOISE_REPEATS || x->d->has_jit ? MEAN_WEIGHT : 1, sum = 0, nr = 0;
	size_t i;

	for (i = 0; i < x->nr; i++) {
		sum += weight_of(&x->list[i]);
		nr += x->list[i].tested;
	}
	for (i = 0; i < x->nr; i++) {
		struct diff_row *row = &x->list[i];

		row->weight = s->kind == NOISE_EXACT || sum <= 0 ? 1 : mean * weight_of(row) * nr / sum;
		row->alone_p = NOISE_FDR * row->weight / MAX(nr, 1);
	}
}

static void decide(struct diff_rows *x)
{
	double *p = xcalloc(x->nr + 1, sizeof(*p)), *q = xcalloc(x->nr + 1, sizeof(*q));
	size_t i, nr = 0;

	for (i = 0; i < x->nr; i++)
		if (x->list[i].tested)
			p[nr++] = x->list[i].weight > 0 ? x->list[i].p / x->list[i].weight : 1;
	dist_fdr(p, q, nr);
	for (i = nr = 0; i < x->nr; i++) {
		struct diff_row *row = &x->list[i];

		row->q = row->tested ? q[nr++] : 1;
		row->changed = row->tested && row->q <= NOISE_FDR && row->delta != 0 && !row->doubt;
	}
	free(p);
	free(q);
}

double noise_detectable(const struct noise *s, const struct diff_row *row)
{
	struct way w = way_of(s->x, row);
	double growth = INFINITY;
	struct judgement j;
	struct look k;

	if (!row->known || !row->tested || s->kind == NOISE_EXACT || row->alone_p <= 0)
		return INFINITY;
	if (look_init(s, row, w.late, &k)) {
		weigh_deviations(s, w.class, &k, &j);
		growth = row->error <= 0 ? 0 :
			expm1(effect_of(&j, MIN(row->alone_p, .5)) + Z_OF_8_IN_10 * row->error);
	}
	look_release(&k);
	return growth < MAX_DETECTABLE ? growth : INFINITY;
}

void noise_fill(struct noise *s, struct diff_rows *x)
{
	size_t i;

	*s = (struct noise){ .x = x, .kind = noise_kind_of(x->d) };
	if (s->kind == NOISE_SAMPLING || s->kind == NOISE_REPEATS)
		learn_all(s);
	for (i = 0; i < x->nr; i++)
		noise_of_row(s, &x->list[i]);
	weigh(s, x);
	decide(x);
	noise_mark_inlined(s, x);
}
