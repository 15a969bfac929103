// SPDX-License-Identifier: GPL-2.0-or-later
/* siphash.c - SipHash-2-4 (siphash.h). */
#include "base/siphash.h"

static inline uint64_t rotate(uint64_t x, unsigned int by)
{
	return x << by | x >> (64 - by);
}

static inline void sip_rounds(uint64_t v[4], int nr)
{
	while (nr--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

static inline void take_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_rounds(v, 2);
	v[0] ^= word;
}

/* Read a little-endian word on every machine. */
static inline uint64_t sip_word_at(const uint8_t *p, size_t len)
{
	uint64_t word = 0;
	size_t i;

	for (i = 0; i < len; i++)
		word |= (uint64_t)p[i] << 8 * i;
	return word;
}

uint64_t siphash(const void *data, size_t len, const uint64_t key[2])
{
	uint64_t v[4] = { key[0] ^ 0x736f6d6570736575ull, key[1] ^ 0x646f72616e646f6dull,
			  key[0] ^ 0x6c7967656e657261ull, key[1] ^ 0x7465646279746573ull };
	const uint8_t *p = data;
	size_t left = len;

	for (; left >= 8; p += 8, left -= 8)
		take_word(v, sip_word_at(p, 8));
	take_word(v, sip_word_at(p, left) | (uint64_t)len << 56);
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
