// SPDX-License-Identifier: GPL-2.0-or-later
/* dist.c - p-values and quantiles of several distributions, and false discovery rates (dist.h). */
#include <math.h>
#include <stdlib.h>

#include "base/dist.h"
#include "base/mem.h"

/*
 * Return the continued fraction 1 + d1/(1 + d2/(1 + ...)) of DLMF 8.17.22, evaluated forwards with
 * Lentz's method (numerators and denominators as ratios, so that nothing overflows).
 */
static double fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double f = 1, c = 1, d = 0, k, step;
	int i;

	for (i = 1; i < 100000; i++) {
		k = i / 2;
		step = i % 2 ? -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1)) :
			       k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k));
		d = 1 + step * d;
		c = 1 + step / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		f *= c * d;
		if (fabs(c * d - 1) < 1e-13)
			break;
	}
	return 1 / f;
}

/* Return I_x(a, b): the chance that a variable of the beta distribution is below x. */
static double dist_beta(double a, double b, double x)
{
	double front;

	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * fraction(a, b, x) / a;
	return 1 - front * fraction(b, a, 1 - x) / b;
}

double dist_binomial_p(double x, double n, double q)
{
	/* P(X >= x) and P(X <= x), each with x itself */
	double above = x > 0 ? dist_beta(x, n - x + 1, q) : 1;
	double below = x < n ? dist_beta(n - x, x + 1, 1 - q) : 1;
	double p = 2 * MIN(above, below);

	return MIN(p, 1.);
}

static double beta_binomial_term(double x, double n, double a, double b)
{
	return exp(lgamma(n + 1) - lgamma(x + 1) - lgamma(n - x + 1) + lgamma(x + a) + lgamma(n - x + b) -
		   lgamma(n + a + b) + lgamma(a + b) - lgamma(a) - lgamma(b));
}

/* Sum the shorter of the two tails: callers ask about counts of which one is small. */
double dist_beta_binomial_p(double x, double n, double a, double b)
{
	double tail = 0, other, k;

	if (2 * x > n)
		return dist_beta_binomial_p(n - x, n, b, a);
	for (k = 0; k <= x; k++)
		tail += beta_binomial_term(k, n, a, b);
	other = 1 - tail + beta_binomial_term(x, n, a, b);
	return MAX(0., MIN(1., 2 * MIN(tail, other)));
}

static int compare_p(const void *x, const void *y, void *ctx)
{
	const double *p = ctx, a = p[*(const size_t *)x], b = p[*(const size_t *)y];

	return COMPARE(a, b);
}

void dist_fdr(const double *p, double *q, size_t nr)
{
	size_t *order = xcalloc(nr + 1, sizeof(*order)), i;
	double least = 1;

	for (i = 0; i < nr; i++)
		order[i] = i;
	qsort_r(order, nr, sizeof(*order), compare_p, (void *)p);
	for (i = nr; i-- > 0;) {
		least = MIN(least, p[order[i]] * nr / (i + 1));
		q[order[i]] = least;
	}
	free(order);
}

#define Z 1.959963984540054	/* of the normal distribution, 2.5 % are beyond it on each side */

struct interval interval_of_share(uint64_t x, uint64_t n)
{
	double p, middle, half, scale;
	struct interval i = { 0, 1 };

	if (!n)
		return i;
	p = (double)x / n;
	scale = 1 / (1 + Z * Z / n);
	middle = (p + Z * Z / (2.0 * n)) * scale;
	half = Z * sqrt(p * (1 - p) / n + Z * Z / (4.0 * n * n)) * scale;
	if (x)
		i.low = fmax(0, middle - half);
	if (x < n)
		i.high = fmin(1, middle + half);
	return i;
}

struct interval interval_of_ratio(uint64_t x, uint64_t y)
{
	struct interval p = interval_of_share(x, x + y);

	return (struct interval){ p.low / (1 - p.low), p.high < 1 ? p.high / (1 - p.high) : INFINITY };
}

struct interval interval_of_count(uint64_t x)
{
	double half = Z * sqrt(x + Z * Z / 4), middle = x + Z * Z / 2;

	if (!x)
		return (struct interval){ 0, Z * Z };
	return (struct interval){ (middle - half) / x, (middle + half) / x };
}
