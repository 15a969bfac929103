/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hash.h - hash functions, and one open-addressing map from 64-bit keys to
 * 32-bit values that forgets no single key.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mix.h"

static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
	return mix64(a * 0x9e3779b97f4a7c15ull ^ b);
}

static inline uint64_t hash_bytes(const void *data, size_t len)
{
	const char *p = data;
	uint64_t h = len * 0x9e3779b97f4a7c15ull, x;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&x, p, 8);
		h = (h ^ x) * 0xc2b2ae3d27d4eb4full;
		h ^= h >> 29;
	}
	if (len) {
		x = 0;
		memcpy(&x, p, len);
		h = (h ^ x) * 0xc2b2ae3d27d4eb4full;
		h ^= h >> 29;
	}
	return mix64(h);
}

#define MAP_NONE UINT32_MAX	/* no value; also what a missing key gives */

struct map_slot {
	uint64_t key;
	uint32_t val;		/* MAP_NONE: free */
};

struct map {
	struct map_slot *slots;
	size_t nr, alloc;	/* alloc is a power of two, or 0 */
};

#define MAP_INIT { NULL, 0, 0 }

uint32_t map_get(const struct map *m, uint64_t key);
/* Return the place of key's value, made with MAP_NONE when new; valid until the next map_put(). */
uint32_t *map_put(struct map *m, uint64_t key);
/* Keeps those that keep() says yes to, in as little memory as they need. */
void map_filter(struct map *m, bool (*keep)(void *ctx, uint64_t key, uint32_t val), void *ctx);
void map_reset(struct map *m);
void map_release(struct map *m);

#endif
