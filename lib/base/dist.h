/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dist.h - distributions of statistics: how likely chance alone makes a difference.
 *
 * Sources: NIST Digital Library of Mathematical Functions, 8.17 (incomplete beta function, its continued
 * fraction 8.17.22, and t and binomial as special cases), 5.11 and 5.5 (psi and its derivative).
 * Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal Statistical
 * Society B 57, 1995.
 */
#ifndef BASE_DIST_H
#define BASE_DIST_H

#include <stddef.h>

/* The chance of a value at least as far from 0, in either direction. df may be INFINITY: the normal one. */
double dist_t_p(double t, double df);
/* The value that t exceeds, in either direction, with chance p. */
double dist_t_quantile(double p, double df);
/*
 * Twice the smaller tail, at most 1: of x out of n where each has the chance q. x and n need not be whole:
 * effective counts are not.
 */
double dist_binomial_p(double x, double n, double q);
/* psi(x) and psi'(x) for x above 0, and the x for which psi'(x) is y. */
double dist_digamma(double x);
double dist_trigamma(double x);
double dist_trigamma_inverse(double y);

/*
 * The false discovery rate at which each would still be found (Benjamini and Hochberg): q[i] of p[i], nr of
 * them.
 */
void dist_fdr(const double *p, double *q, size_t nr);

#endif
