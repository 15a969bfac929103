/* SPDX-License-Identifier: MIT */
/*
 * encode.h - writes the records of table.h: jvm_size_method(), jvm_encode_method() and so on, inline,
 * and with nothing but memcpy(), as the agent has no C library.
 */
#ifndef JVM_ENCODE_H
#define JVM_ENCODE_H

#include "jvm/proto.h"
#include "jvm/record.h"

static inline uint32_t jvm_text_len(uint32_t len)
{
	return len < JVM_MAX_STRING ? len : JVM_MAX_STRING;
}

/* Names are short: a copy by words costs less than the call of a memcpy() that is made for large ones. */
static inline void jvm_copy_text(char *d, const char *s, uint32_t len)
{
	uint32_t i;

	if (len < 8) {
		for (i = 0; i < len; i++)
			d[i] = s[i];
		return;
	}
	for (i = 0; i < len - 8; i += 8)
		__builtin_memcpy(d + i, s + i, 8);
	__builtin_memcpy(d + len - 8, s + len - 8, 8);
}

static inline char *jvm_put_text(char *d, const char *p, uint32_t len)
{
	__builtin_memcpy(d, &len, sizeof(len));
	jvm_copy_text(d + sizeof(len), p, len);
	return d + sizeof(len) + len;
}

/* Append bytes; p NULL leaves room for them. */
static inline char *jvm_put_bytes(char *d, const void *p, uint32_t len)
{
	__builtin_memcpy(d, &len, sizeof(len));
	d += sizeof(len);
	if (p && len)
		__builtin_memcpy(d, p, len);
	return d + len;
}

/*
 * size_t jvm_size_<struct>(const struct jvm_<struct> *r)
 *	Bytes of the record, its header included; a multiple of 8.
 */
#define FIELD(type, m) + sizeof(from.m)
#define TEXT(m, l) + sizeof(from.l) + jvm_text_len(from.l)
#define BYTES(m, l) + sizeof(from.l) + from.l
#define RECORD(s, to, fields) \
	static inline size_t jvm_size_##s(const struct jvm_##s *r) \
	{ \
		const struct jvm_##s from = *r; \
\
		return (sizeof(struct jvm_rec) + sizeof(from.time_ns) fields + 7) & ~(size_t)7; \
	}
#include "jvm/table.h"

/*
 * char *jvm_encode_<struct>(void *rec, size_t size, const struct jvm_<struct> *r)
 *	Writes all of a record of that size but the header. Returns the end of the last field; of bytes
 *	given as NULL, only room is left.
 */
#define FIELD(type, m) __builtin_memcpy(d, &from.m, sizeof(from.m)), d += sizeof(from.m);
#define TEXT(m, l) d = jvm_put_text(d, from.m, jvm_text_len(from.l));
#define BYTES(m, l) d = jvm_put_bytes(d, from.m, from.l);
#define RECORD(s, to, fields) \
	static inline char *jvm_encode_##s(void *rec, size_t size, const struct jvm_##s *r) \
	{ \
		char *d = (char *)rec + sizeof(struct jvm_rec); \
		const struct jvm_##s from = *r; \
\
		__builtin_memset((char *)rec + size - 8, 0, 8);	/* the padding, if there is any */ \
		FIELD(u64, time_ns) \
		fields \
		return d; \
	}
#include "jvm/table.h"

#endif
