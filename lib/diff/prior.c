// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * prior.c - how much runs vary, by class of code and share of the total: what is stated, and what rows make
 * of that once they have shown theirs.
 *
 * How much a row varies from run to run, as a variance of ln, is scaled inverse chi-squared with prior.df
 * degrees of freedom about a line of its share; what its runs show is that and sampling, chi-squared (Smyth
 * 2004, but with the part of sampling known). The lines and degrees of freedom that are tried are weighted
 * by how well they explain all rows: a class of few rows is not taken for as steady as those few are.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "diff/noise.h"

#define LEAST .01	/* no row is expected to be steadier from run to run than that */
#define MOST 1.		/* nor to vary more */
#define LEAST_SHARE 1e-4
#define FIRST_DEVIATION .003
#define STEP_OF_DEVIATION .25	/* of ln */

/* The uncertainty of what is stated: standard deviations of ln(at_percent), of falls, and of ln(df). */
static const struct noise_prior sure = { .6, .15, .7 };

/* Measured on programs in C and Java: Documentation/technical/difference.adoc. */
static const struct noise_prior stated[NOISE_NR_CLASSES] = {
	[NOISE_NATIVE] = { .06, .40, 5 },
	[NOISE_JAVA] = { .10, .40, 4 },
	[NOISE_EARLY] = { .40, .20, 4 },
	[NOISE_JVM] = { .08, .30, 6 },
	[NOISE_KERNEL] = { .25, .20, 4 },
	[NOISE_ANY] = { .10, .40, 5 },
};

/* More degrees of freedom than the last would trust the line more than the few rows that made it. */
static const double tried_df[] = { 3, 5, 10 };
enum { STEPS_OF_LOG = 4, STEPS_OF_FALLS = 1 };	/* to each side of what is stated */
#define STEP_OF_LOG .45
#define STEP_OF_FALLS .2
#define LEAST_WEIGHT 1e-4	/* a line that is worth less is left out */
enum { NR_TRIED = (2 * STEPS_OF_LOG + 1) * (2 * STEPS_OF_FALLS + 1) * ARRAY_SIZE(tried_df) };

double noise_deviation(size_t i)
{
	return FIRST_DEVIATION * exp(STEP_OF_DEVIATION * i);
}

/* ---- what is tried ---- */

static struct noise_prior tried(const struct noise_prior *from, size_t i)
{
	int nr_df = ARRAY_SIZE(tried_df), nr_falls = 2 * STEPS_OF_FALLS + 1;
	int line = i / nr_df, falls = line % nr_falls - STEPS_OF_FALLS, up = line / nr_falls - STEPS_OF_LOG;

	return (struct noise_prior){ from->at_percent * exp(up * STEP_OF_LOG),
				     from->falls + falls * STEP_OF_FALLS, tried_df[i % nr_df] };
}

/* ln of how likely it is before any row was seen. */
static double log_stated(const struct noise_prior *p, const struct noise_prior *from)
{
	double a = log(p->at_percent / from->at_percent) / sure.at_percent;
	double b = (p->falls - from->falls) / sure.falls, c = log(p->df / from->df) / sure.df;

	return -(a * a + b * b + c * c) / 2;
}

static double share_at(size_t i)
{
	return LEAST_SHARE * pow(1 / LEAST_SHARE, (double)i / (NOISE_NR_SHARES - 1));
}

/* Compute what a line says about rows of each share. */
static void believe(const struct noise_prior *p, struct noise_belief *by_share)
{
	size_t i, k;

	for (i = 0; i < NOISE_NR_SHARES; i++) {
		double line = p->at_percent * pow(share_at(i) / .01, -p->falls), sum = 0;

		line = MIN(MAX(line, LEAST), MOST);
		for (k = 0; k < NOISE_NR_DEVIATIONS; k++) {
			double u = 2 * log(noise_deviation(k) / line);

			sum += by_share[i].part[k] = exp(-p->df / 2 * (u + exp(-u) - 1));
		}
		for (k = 0; k < NOISE_NR_DEVIATIONS; k++)
			by_share[i].part[k] /= sum;
	}
}

/* ---- what is seen ---- */

/* Compute the likelihood of each deviation to make such a spread, up to a factor. */
static void explain(const struct noise_spread *s, double df, double *likelihood)
{
	double most = -INFINITY;
	size_t k;

	for (k = 0; k < NOISE_NR_DEVIATIONS; k++) {
		double v = s->sampling + pow(noise_deviation(k), 2);

		likelihood[k] = -df / 2 * (log(v) + s->variance / v);
		most = MAX(most, likelihood[k]);
	}
	for (k = 0; k < NOISE_NR_DEVIATIONS; k++)
		likelihood[k] = exp(likelihood[k] - most);
}

/* Between which shares a row is: at i, and part of the way to the next. */
struct where {
	size_t i;
	double part;
};

static struct where where_is(double share)
{
	double at = log(MAX(share, LEAST_SHARE) / LEAST_SHARE) / log(1 / LEAST_SHARE) * (NOISE_NR_SHARES - 1);
	struct where w = { .i = MIN((size_t)at, (size_t)NOISE_NR_SHARES - 2) };

	w.part = MIN(at - w.i, 1.);
	return w;
}

struct noise_belief noise_believe(const struct noise_belief *by_share, double share)
{
	struct where w = where_is(share);
	struct noise_belief b;
	size_t k;

	for (k = 0; k < NOISE_NR_DEVIATIONS; k++)
		b.part[k] = (1 - w.part) * by_share[w.i].part[k] + w.part * by_share[w.i + 1].part[k];
	return b;
}

void noise_update(struct noise_belief *b, const struct noise_spread *seen, double df)
{
	double likelihood[NOISE_NR_DEVIATIONS], sum = 0;
	size_t k;

	explain(seen, df, likelihood);
	for (k = 0; k < NOISE_NR_DEVIATIONS; k++)
		sum += likelihood[k] *= b->part[k];
	/* what nobody believed of any row stays what is believed */
	for (k = 0; k < NOISE_NR_DEVIATIONS && sum > 0; k++)
		b->part[k] = likelihood[k] / sum;
}

static double log_seen(const struct noise_belief *by_share, const struct where *where, size_t nr,
		       double (*likelihood)[NOISE_NR_DEVIATIONS])
{
	double sum = 0;
	size_t i, k;

	for (i = 0; i < nr; i++) {
		const struct noise_belief *b = &by_share[where[i].i];
		double low = 0, high = 0;

		for (k = 0; k < NOISE_NR_DEVIATIONS; k++) {
			low += b[0].part[k] * likelihood[i][k];
			high += b[1].part[k] * likelihood[i][k];
		}
		sum += log(MAX((1 - where[i].part) * low + where[i].part * high, 1e-300));
	}
	return sum;
}

/* Fill in what each line is worth, of 1, with these rows. */
static void weigh_lines(const struct noise_prior *from, const struct noise_spread *list, size_t nr, double df,
			double *weight)
{
	double (*likelihood)[NOISE_NR_DEVIATIONS] = xcalloc(nr, sizeof(*likelihood));
	struct where *where = xcalloc(nr, sizeof(*where));
	struct noise_belief by_share[NOISE_NR_SHARES];
	double most = -INFINITY, sum = 0;
	size_t i, n;

	for (i = 0; i < nr; i++) {
		explain(&list[i], df, likelihood[i]);
		where[i] = where_is(list[i].share);
	}
	for (n = 0; n < NR_TRIED; n++) {
		struct noise_prior p = tried(from, n);

		believe(&p, by_share);
		weight[n] = log_stated(&p, from) + log_seen(by_share, where, nr, likelihood);
		most = MAX(most, weight[n]);
	}
	for (n = 0; n < NR_TRIED; n++)
		sum += weight[n] = exp(weight[n] - most);
	for (n = 0; n < NR_TRIED; n++)
		weight[n] /= sum;
	free(likelihood);
	free(where);
}

void noise_learn(enum noise_class class, const struct noise_spread *list, size_t nr, double df,
		 struct noise_belief *by_share)
{
	const struct noise_prior *from = &stated[class];
	struct noise_belief one[NOISE_NR_SHARES];
	double weight[NR_TRIED];
	size_t i, k, n;

	if (!nr) {
		believe(from, by_share);
		return;
	}
	weigh_lines(from, list, nr, df, weight);
	memset(by_share, 0, NOISE_NR_SHARES * sizeof(*by_share));
	for (n = 0; n < NR_TRIED; n++) {
		struct noise_prior p = tried(from, n);

		if (weight[n] < LEAST_WEIGHT)
			continue;
		believe(&p, one);
		for (i = 0; i < NOISE_NR_SHARES; i++)
			for (k = 0; k < NOISE_NR_DEVIATIONS; k++)
				by_share[i].part[k] += weight[n] * one[i].part[k];
	}
}
