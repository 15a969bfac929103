/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dist.h - distributions of statistics: how likely chance alone makes a difference.
 *
 * Sources: NIST Digital Library of Mathematical Functions, 8.17 (incomplete beta function, its continued
 * fraction 8.17.22, and t and binomial as special cases).
 * Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal Statistical
 * Society B 57, 1995. E. B. Wilson and M. M. Hilferty, "The distribution of chi-square", PNAS 17, 1931.
 */
#ifndef BASE_DIST_H
#define BASE_DIST_H

#include <stddef.h>

/*
 * Return the chance of a value at least as far from 0, in either direction. df may be INFINITY: the
 * normal one.
 */
double dist_t_p(double t, double df);
/* Return the value that t exceeds, in either direction, with chance p. */
double dist_t_quantile(double p, double df);
/*
 * Return twice the smaller tail, at most 1, for x out of n where each has the chance q. x and n need not
 * be whole, since effective counts are not.
 */
double dist_binomial_p(double x, double n, double q);
/*
 * Return the same of whole counts whose chance itself varies by the beta distribution with shapes a, and
 * b of the rest (beta-binomial): x of n.
 */
double dist_beta_binomial_p(double x, double n, double a, double b);
/*
 * The value of chi-squared with df degrees of freedom that is as likely to be exceeded as z of the normal
 * distribution is, by Wilson and Hilferty; never below .05.
 */
double dist_chi2_at(double z, double df);

/*
 * The false discovery rate at which each would still be found (Benjamini and Hochberg): q[i] of p[i], nr of
 * them.
 */
void dist_fdr(const double *p, double *q, size_t nr);

#endif
