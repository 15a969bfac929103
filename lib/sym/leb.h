/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leb.h - LEB128 as DWARF writes it: any number of bytes, of which the first ten count.
 */
#ifndef SYM_LEB_H
#define SYM_LEB_H

#include <stdint.h>

#include "base/span.h"

/* Return the bits, how many of them were given, and the last byte. */
static inline uint64_t leb_bits(struct span *s, unsigned int *nr, uint8_t *last)
{
	uint64_t v = 0;

	for (*nr = 0; s->p < s->end; ) {
		*last = *s->p++;
		if (*nr < 64) {
			v |= (uint64_t)(*last & 0x7f) << *nr;
			*nr += 7;
		}
		if (!(*last & 0x80))
			return v;
	}
	s->bad = true;
	*nr = 64;
	return 0;
}

static inline uint64_t leb_unsigned(struct span *s)
{
	unsigned int nr;
	uint8_t last;

	return leb_bits(s, &nr, &last);
}

static inline int64_t leb_signed(struct span *s)
{
	unsigned int nr;
	uint8_t last = 0;
	uint64_t v = leb_bits(s, &nr, &last);

	return (int64_t)(last & 0x40 && nr < 64 ? v | ~0ull << nr : v);
}

#endif
