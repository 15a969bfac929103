/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * buf.h - a growing byte buffer that is also a string: data[len] is always 0.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct buf {
	char *data;		/* NULL only while nothing was added */
	size_t len;		/* bytes used, without the final 0 */
	size_t alloc;
};

#define BUF_INIT { NULL, 0, 0 }

void buf_release(struct buf *b);
static inline void buf_reset(struct buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}

/* Makes room for len more bytes and returns where they go; the caller adds to b->len. */
void *buf_room(struct buf *b, size_t len);
void buf_add(struct buf *b, const void *p, size_t len);
void buf_str(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_fmt(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vfmt(struct buf *b, const char *fmt, va_list ap);

/* Append bytes as hexadecimal digits; hex_put() writes them to text[2 * len + 1], with a 0 behind them. */
void buf_hex(struct buf *b, const void *bytes, size_t len);
void hex_put(char *text, const void *bytes, size_t len);
/* Return the value of a hexadecimal digit, or -1; hex_lower() knows those in lower case alone. */
static inline int hex_lower(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static inline int hex_digit(char c)
{
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : hex_lower(c);
}

/* Append little-endian integers, or LEB128 variable-length ones, as trace files hold them. */
void buf_u8(struct buf *b, uint8_t v);
void buf_u16(struct buf *b, uint16_t v);
void buf_u32(struct buf *b, uint32_t v);
void buf_u64(struct buf *b, uint64_t v);
void buf_varint(struct buf *b, uint64_t v);

/* Hands the string over to the caller, who frees it; the buffer is empty after. */
char *buf_take(struct buf *b);

#endif
