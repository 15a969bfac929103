/* SPDX-License-Identifier: MIT */
/*
 * chance.h - times that nothing is in step with, and what chance explains.
 *
 * Xorshift64: Marsaglia, "Xorshift RNGs" (2003). Not for secrets.
 */
#ifndef BASE_CHANCE_H
#define BASE_CHANCE_H

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

/* Return half to one and a half times mean, which must not be 0. */
static inline uint64_t chance_around(uint64_t *state, uint64_t mean)
{
	return mean / 2 + chance_next(state) % mean;
}

/*
 * Check whether samples of this weight each that hit by chance explain the difference from a total: it is
 * at most this many standard deviations.
 */
static inline bool chance_explains(double difference, uint64_t total, double weight, double deviations)
{
	return difference <= 0 || difference * difference <= deviations * deviations * (double)total * weight;
}

/* Check whether more is missing of the total than chance explains. */
static inline bool chance_is_too_few(uint64_t total, uint64_t sampled, uint64_t weight)
{
	return weight && !chance_explains((double)total - (double)sampled, total, (double)weight, 3);
}

/* Return whether more than 3 % is missing, and more than chance explains. */
static inline bool chance_is_short(uint64_t total, uint64_t sampled, uint64_t weight)
{
	return (double)sampled < (double)total * .97 && chance_is_too_few(total, sampled, weight);
}

#endif
