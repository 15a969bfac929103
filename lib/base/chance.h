/* SPDX-License-Identifier: MIT */
/*
 * chance.h - times that nothing is in step with.
 *
 * Xorshift64: Marsaglia, "Xorshift RNGs" (2003). Not for secrets.
 */
#ifndef BASE_CHANCE_H
#define BASE_CHANCE_H

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

#endif
