// SPDX-License-Identifier: GPL-2.0-or-later
/* spread.c - sketches of distributions: quantiles and a histogram in little memory (spread.h). */
#include <stdlib.h>

#include "base/mem.h"
#include "base/spread.h"

uint64_t spread_bin_start(unsigned int bin)
{
	static const uint8_t steps[] = { 1, 2, 5 };
	uint64_t v = 1;
	unsigned int i;

	if (!bin)
		return 0;
	for (i = 0; i < (bin - 1) / 3; i++)
		v *= 10;
	return v * steps[(bin - 1) % 3];
}

static unsigned int bin_of(uint64_t value)
{
	unsigned int low = 0, high = SPREAD_BINS - 1;

	while (low < high) {
		unsigned int middle = (low + high + 1) / 2;

		if (spread_bin_start(middle) <= value)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* Return how far the values of an octave are shifted to be steps. */
static unsigned int octave_of(uint64_t value)
{
	return value < SPREAD_STEPS ? 0 : 63 - __builtin_clzll(value) - 5;
}

static unsigned int shift_of(unsigned int octave)
{
	return octave ? octave - 1 : 0;
}

static void spread_count(struct spread *s, uint64_t value)
{
	unsigned int octave = octave_of(value);
	uint64_t **steps = &s->octaves[octave];

	if (!*steps)
		*steps = xcalloc(SPREAD_STEPS, sizeof(**steps));
	(*steps)[(value >> shift_of(octave)) % SPREAD_STEPS]++;
}

void spread_add(struct spread *s, uint64_t value)
{
	uint64_t i;

	s->min = s->nr ? MIN(s->min, value) : value;
	s->max = MAX(s->max, value);
	s->total += value;
	s->bins[bin_of(value)]++;
	if (s->nr < SPREAD_FEW) {
		*VEC_ADD(s->few, s->nr, s->alloc_few) = value;
		s->sorted = false;
		return;
	}
	for (i = 0; s->few && i < SPREAD_FEW; i++)
		spread_count(s, s->few[i]);
	free(s->few);
	s->few = NULL;
	spread_count(s, value);
	s->nr++;
}

void spread_release(struct spread *s)
{
	size_t i;

	free(s->few);
	for (i = 0; i < SPREAD_OCTAVES; i++)
		free(s->octaves[i]);
}

bool spread_is_exact(const struct spread *s)
{
	return s->nr <= SPREAD_FEW;
}

static int ascending(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return COMPARE(*x, *y);
}

/* Return the middle of the step that has the value of that rank, from 1. */
static uint64_t spread_find(const struct spread *s, uint64_t rank)
{
	uint64_t before = 0;
	unsigned int o, i;

	for (o = 0; o < SPREAD_OCTAVES; o++) {
		uint64_t width = (uint64_t)1 << shift_of(o);

		for (i = 0; s->octaves[o] && i < SPREAD_STEPS; i++) {
			before += s->octaves[o][i];
			if (before >= rank)
				return ((o ? SPREAD_STEPS : 0) + (uint64_t)i) * width + width / 2;
		}
	}
	return s->max;
}

uint64_t spread_quantile(struct spread *s, unsigned int percent)
{
	uint64_t rank = (s->nr / 100) * percent + ((s->nr % 100) * percent + 99) / 100;

	rank = MAX(rank, (uint64_t)1);
	if (!s->nr)
		return 0;
	if (!s->few)
		return MIN(MAX(spread_find(s, rank), s->min), s->max);
	if (!s->sorted)
		qsort(s->few, s->nr, sizeof(*s->few), ascending);
	s->sorted = true;
	return s->few[rank - 1];
}
