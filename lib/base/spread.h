/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spread.h - how values are spread: quantiles and a histogram, in little memory however many there are.
 * Quantiles of few values are exact; those of more are within SPREAD_ERROR_PERCENT of the value.
 */
#ifndef BASE_SPREAD_H
#define BASE_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SPREAD_FEW = 1000,	/* values of which all are kept */
	SPREAD_STEPS = 64,	/* of each octave of the others */
	SPREAD_OCTAVES = 59,	/* the first has all values below SPREAD_STEPS */
	SPREAD_BINS = 40,	/* of the histogram: 0, then from 1, 2, 5, 10, ... on */
};
#define SPREAD_ERROR_PERCENT 0.8	/* half a step: 1 / (2 * SPREAD_STEPS) */

struct spread {			/* zeroed: none */
	uint64_t nr, min, max;
	uint64_t total;			/* of the values, modulo 2^64 */
	uint64_t *few;			/* [nr] while there are few */
	size_t alloc_few;
	bool sorted;
	uint64_t *octaves[SPREAD_OCTAVES];	/* [SPREAD_STEPS] counts of each; NULL: none */
	uint64_t bins[SPREAD_BINS];
};

void spread_add(struct spread *s, uint64_t value);
void spread_release(struct spread *s);
/* Return the value that percent of all are not above, by nearest rank; 0 when there are none. */
uint64_t spread_quantile(struct spread *s, unsigned int percent);
/* Return whether all values are kept. */
bool spread_is_exact(const struct spread *s);
/* Return where a bin of the histogram begins; it ends where the next one does. */
uint64_t spread_bin_start(unsigned int bin);

#endif
