/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lockstat.h - the classes of length by which a struct rec_lock counts waits: eight an octave, so that a
 * length is known within 6 %. Below 8 ns each is its own.
 */
#ifndef TRACE_LOCKSTAT_H
#define TRACE_LOCKSTAT_H

#include <stdint.h>

enum { LOCKSTAT_BUCKETS = 62 * 8 };

static inline uint32_t lockstat_bucket(uint64_t ns)
{
	unsigned int octave;

	if (ns < 8)
		return ns;
	octave = 63 - __builtin_clzll(ns);
	return (octave - 2) * 8 + (ns >> (octave - 3) & 7);
}

/* Return the middle of a class; of a number that is none, 0. */
static inline uint64_t lockstat_ns(uint32_t bucket)
{
	unsigned int shift;

	if (bucket < 8 || bucket >= LOCKSTAT_BUCKETS)
		return bucket < 8 ? bucket : 0;
	shift = bucket / 8 - 1;
	return ((uint64_t)(8 + bucket % 8) << shift) + ((1ull << shift) >> 1);
}

#endif
