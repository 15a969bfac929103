/* SPDX-License-Identifier: MIT */
/* varint.h - writes integers as base/span.h reads them. */
#ifndef AGENT_VARINT_H
#define AGENT_VARINT_H

#include <stdint.h>

/* LEB128, at most 10 bytes. Returns their end, so does the next one. */
static inline void *varint_put(void *to, uint64_t v)
{
	uint8_t *d = to;

	for (; v > 0x7f; v >>= 7)
		*d++ = (uint8_t)(v | 0x80);
	*d++ = (uint8_t)v;
	return d;
}

/* The same of a difference, as zigzag: short if it is small, whatever its sign. */
static inline void *varint_put_signed(void *to, uint64_t difference)
{
	return varint_put(to, difference << 1 ^ (uint64_t)((int64_t)difference >> 63));
}

#endif
