/* SPDX-License-Identifier: MIT */
/*
 * chance.h - times that nothing is in step with, and what chance explains.
 *
 * Xorshift64: Marsaglia, "Xorshift RNGs" (2003). Not for secrets.
 */
#ifndef BASE_CHANCE_H
#define BASE_CHANCE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* *state: not 0 at the beginning, and it never is. */
static inline uint64_t chance_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Between half of mean, which is not 0, and one and a half. */
static inline uint64_t chance_around(uint64_t *state, uint64_t mean)
{
	return mean / 2 + chance_next(state) % mean;
}

/*
 * More is missing of the total than samples that hit by chance, with that weight each, would leave out: three
 * standard deviations of their number.
 */
static inline bool chance_is_too_few(uint64_t total, uint64_t sampled, uint64_t weight)
{
	return weight && (double)total - (double)sampled > 3 * sqrt((double)total * (double)weight);
}

#endif
