// SPDX-License-Identifier: MIT
/*
 * stream.c - reads HotSpot's compressed streams (stream.h). The code of integers has changed in JDK 20:
 * since then no byte of it is zero.
 *
 * Source: share/code/compressedStream.hpp, share/utilities/unsigned5.hpp.
 */
#include "agent/hotspot/stream.h"
#include "agent/hotspot/vm.h"

enum {
	SHIFT = 6,
	HIGH = 1 << SHIFT,		/* that many codes of a byte say that more follow */
	MAX_BYTES = 5,
};

uint32_t stream_byte(struct stream *s)
{
	if (s->pos == s->len) {
		s->len = s->left < sizeof(s->buf) ? s->left : sizeof(s->buf);
		if (s->told)
			memcpy(s->buf, (const void *)s->at, s->len);
		else
			s->len = sys_peek(s->buf, s->at, s->len);
		s->pos = 0;
		s->at += s->len;
		s->left -= s->len;
	}
	if (!s->len) {
		s->bad = true;
		return 0;
	}
	return s->buf[s->pos++];
}

uint32_t stream_int(struct stream *s)
{
	uint32_t least = vm.major && vm_i32((uintptr_t)vm.major, 0) >= 20, last = 256 - HIGH, v = 0;
	int i;

	for (i = 0; i < MAX_BYTES; i++) {
		uint32_t b = stream_byte(s);

		s->bad |= b < least;
		v += (b - least) << i * SHIFT;
		if (b < last)
			break;
	}
	return v;
}
