/* SPDX-License-Identifier: MIT */
/*
 * mix.h - the one function that makes hashes of numbers. Addresses are multiples of 8 to 4096, of equal-sized
 * blocks they are an arithmetic progression, identifiers follow each other: a product alone, whichever bits
 * of it are taken, puts such keys into few places. t/unit/u-mix.c tries those of all our tables.
 */
#ifndef BASE_MIX_H
#define BASE_MIX_H

#include <stdint.h>

/* Mix all bits of x into all bits of the result (the finalizer of splitmix64); a bijection, 0 stays 0. */
static inline uint64_t mix64(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

#endif
