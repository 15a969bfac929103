// SPDX-License-Identifier: GPL-2.0-or-later
/* buf.c - growing byte buffers (buf.h). */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

void buf_release(struct buf *b)
{
	free(b->data);
	memset(b, 0, sizeof(*b));
}

void *buf_room(struct buf *b, size_t len)
{
	if (b->len + len + 1 > b->alloc) {
		size_t want = b->alloc ? b->alloc * 2 : 64;

		if (want < b->len + len + 1)
			want = b->len + len + 1;
		b->data = xrealloc(b->data, want);
		b->alloc = want;
	}
	return b->data + b->len;
}

void buf_add(struct buf *b, const void *p, size_t len)
{
	char *to = buf_room(b, len);

	if (len)
		memcpy(to, p, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void buf_str(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_putc(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_vfmt(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		return;
	vsnprintf(buf_room(b, n), n + 1, fmt, ap);
	b->len += n;
}

void buf_fmt(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(b, fmt, ap);
	va_end(ap);
}

void hex_put(char *text, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	for (*text = '\0'; len--; text += 2)
		snprintf(text, 3, "%02x", *p++);
}

void buf_hex(struct buf *b, const void *bytes, size_t len)
{
	hex_put(buf_room(b, 2 * len), bytes, len);
	b->len += 2 * len;
}

void buf_u8(struct buf *b, uint8_t v)
{
	buf_add(b, &v, 1);
}

void buf_u16(struct buf *b, uint16_t v)
{
	uint8_t x[2] = { v, v >> 8 };

	buf_add(b, x, sizeof(x));
}

void buf_u32(struct buf *b, uint32_t v)
{
	uint8_t x[4] = { v, v >> 8, v >> 16, v >> 24 };

	buf_add(b, x, sizeof(x));
}

void buf_u64(struct buf *b, uint64_t v)
{
	buf_u32(b, v);
	buf_u32(b, v >> 32);
}

void buf_varint(struct buf *b, uint64_t v)
{
	uint8_t x[10];
	size_t n = 0;

	while (v >= 0x80) {
		x[n++] = v | 0x80;
		v >>= 7;
	}
	x[n++] = v;
	buf_add(b, x, n);
}

char *buf_take(struct buf *b)
{
	char *p = b->data ? b->data : xstrdup("");

	memset(b, 0, sizeof(*b));
	return p;
}
