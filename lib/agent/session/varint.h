/* SPDX-License-Identifier: MIT */
/* varint.h - writes integers as base/span.h reads them. */
#ifndef AGENT_VARINT_H
#define AGENT_VARINT_H

#include <stdint.h>

/* Write v as LEB128, at most 10 bytes; return the end. */
static inline void *varint_put(void *to, uint64_t v)
{
	uint8_t *d = to;

	for (; v > 0x7f; v >>= 7)
		*d++ = (uint8_t)(v | 0x80);
	*d++ = (uint8_t)v;
	return d;
}

/* Write a difference in zigzag encoding, which is short for small ones of either sign; return the end. */
static inline void *varint_put_signed(void *to, uint64_t difference)
{
	return varint_put(to, difference << 1 ^ (uint64_t)((int64_t)difference >> 63));
}

#endif
