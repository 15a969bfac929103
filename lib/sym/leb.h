/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leb.h - LEB128 as DWARF writes it: any number of bytes, of which the first ten count.
 */
#ifndef SYM_LEB_H
#define SYM_LEB_H

#include <stdint.h>

#include "base/span.h"

static inline uint64_t leb_unsigned(struct span *s)
{
	uint64_t v = 0;
	int shift;

	for (shift = 0; s->p < s->end; shift += shift < 64 ? 7 : 0) {
		uint8_t b = *s->p++;

		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return v;
	}
	s->bad = true;
	return 0;
}

static inline int64_t leb_signed(struct span *s)
{
	uint64_t v = 0;
	int shift;

	for (shift = 0; s->p < s->end; shift += shift < 64 ? 7 : 0) {
		uint8_t b = *s->p++;

		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		if (b & 0x80)
			continue;
		if (b & 0x40 && shift + 7 < 64)
			v |= ~0ull << (shift + 7);
		return (int64_t)v;
	}
	s->bad = true;
	return 0;
}

#endif
