/* SPDX-License-Identifier: MIT */
/*
 * span.h - a cursor over bytes somebody else wrote.  A read past the end gives
 * zero and sets "bad", which sticks: decode a record, then check once.
 */
#ifndef BASE_SPAN_H
#define BASE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span {
	const uint8_t *p;	/* next byte */
	const uint8_t *end;
	bool bad;		/* something was read that is not there */
};

static inline struct span span_init(const void *p, size_t len)
{
	return (struct span){ p, len ? (const uint8_t *)p + len : p, false };	/* NULL is no bytes */
}

static inline size_t span_left(const struct span *s)
{
	return s->end - s->p;
}

/* Return the next len bytes, or NULL (and s->bad) when there are fewer. */
static inline const void *span_bytes(struct span *s, size_t len)
{
	const uint8_t *p = s->p;

	if (s->bad || span_left(s) < len) {
		s->bad = true;
		return NULL;
	}
	s->p += len;
	return p;
}

static inline uint64_t span_le(struct span *s, size_t len)
{
	const uint8_t *p = span_bytes(s, len);
	uint64_t v = 0;

	if (p)
		__builtin_memcpy(&v, p, len);	/* every supported CPU is little-endian */
	return v;
}

static inline uint8_t span_u8(struct span *s) { return span_le(s, 1); }
static inline uint16_t span_u16(struct span *s) { return span_le(s, 2); }
static inline uint32_t span_u32(struct span *s) { return span_le(s, 4); }
static inline uint64_t span_u64(struct span *s) { return span_le(s, 8); }

/* Read LEB128, at most ten bytes. */
static inline uint64_t span_varint(struct span *s)
{
	uint64_t v = 0;
	int shift;

	for (shift = 0; shift < 70; shift += 7) {
		uint8_t b;

		if (s->p >= s->end)
			break;
		b = *s->p++;
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return v;
	}
	s->bad = true;
	s->p = s->end;
	return 0;
}

/* Return a string: varint length, then the bytes, not terminated; NULL and *len 0 if truncated. */
static inline const char *span_str(struct span *s, size_t *len)
{
	uint64_t n = span_varint(s);
	const char *p = n <= span_left(s) ? span_bytes(s, n) : NULL;

	if (!p)
		s->bad = true;
	*len = p ? n : 0;
	return p;
}

#endif
