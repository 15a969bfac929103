// SPDX-License-Identifier: GPL-2.0-or-later
/* codec.c - encodes and decodes records by the rows of table.h (codec.h). */
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "trace/codec.h"

/* ---- the table ---- */

/* Types of fields: how they are encoded. */
#define OP_u32 FIELD_U32
#define OP_x32 FIELD_U32
#define OP_i32 FIELD_U32
#define OP_u64 FIELD_U64
#define OP_x64 FIELD_U64
#define OP_v FIELD_VARINT

#define NUMBER(type, name, m, unit, is_key) { .op = OP_##type, .key = (is_key), .off = offsetof(self, m) },
#define ELEMENT(type, name, m) NUMBER(type, name, m, "", false)
#define WITH_LENGTH(how, m, l) { .op = (how), .off = offsetof(self, m), .len_off = offsetof(self, l) },
#define STRING(type, name, m, l) WITH_LENGTH(FIELD_BYTES, m, l)
#define PAIRS(nr, a, b, m, l) WITH_LENGTH(FIELD_PAIRS, m, l)
#define MEMBER(type, m)
#define RECORD(s, chunk, time, major, code, name, text) \
	static const struct record_field *fields_of_##s(uint32_t *nr) \
	{ \
		typedef struct rec_##s self; \
		static const struct record_field fields[] = { text }; \
\
		*nr = ARRAY_SIZE(fields); \
		return fields; \
	}
#include "trace/table.h"

/* The same as text; each field has a blank before it. */
#define NUMBER(type, name, m, unit, is_key) " " name ":" #type unit
#define ELEMENT(type, name, m) NUMBER(type, name, m, "", false)
#define STRING(type, name, m, l) " " name ":" #type
#define PAIRS(nr, a, b, m, l) " " nr ":v *" nr "( " a ":z " b ":z )"
#define MEMBER(type, m)
#define RECORD(s, chunk, time, major, code, name, fields) static const char s##_text[] = fields;
#include "trace/table.h"

static const uint8_t *span_pairs(struct span *s, size_t *len)
{
	uint64_t nr = span_varint(s);
	const uint8_t *p = s->p;

	for (; nr && !s->bad; nr--) {
		span_varint(s);
		span_varint(s);
	}
	*len = s->p - p;
	return p;
}

/* The same as code that reads them; a key must not be 0. */
#define READ_u32 span_u32
#define READ_x32 span_u32
#define READ_i32 span_u32
#define READ_u64 span_u64
#define READ_x64 span_u64
#define READ_v span_varint

#define NUMBER(type, name, m, unit, is_key) \
	rec->m = READ_##type(s); \
	s->bad |= (is_key) && !rec->m;
#define ELEMENT(type, name, m) NUMBER(type, name, m, "", false)
#define STRING(type, name, m, l) rec->m = (const void *)span_str(s, &rec->l);
#define PAIRS(nr, a, b, m, l) rec->m = span_pairs(s, &rec->l);
#define MEMBER(type, m)
#define RECORD(k, chunk, time, major, code, name, fields) \
	static void decode_##k(union trace_record *any, struct span *s) \
	{ \
		struct rec_##k *rec = &any->k; \
\
		memset(rec, 0, sizeof(*rec)); \
		fields \
	}
#include "trace/table.h"

#define OFF(s, m) offsetof(struct rec_##s, m)
#define IS(s, m, T) __builtin_types_compatible_p(__typeof__(((struct rec_##s *)0)->m), T)

#define CODE_ANY .minor_mask = 0
#define CODE_LOW(n) .minor = (n), .minor_mask = 0xff
#define CODE(n) .minor = (n), .minor_mask = 0xffffffff
#define CODE_OF(s, m) .minor_mask = 0, .minor_off = OFF(s, m)

#define IS_TIMED true
#define IS_UNTIMED false

const struct record_kind record_kinds[NR_RECORD_KINDS] = {
#define RECORD(s, where, when, majr, minr, title, text) \
	[RECORD_##s] = { \
		.number = RECORD_##s, .chunk = CHUNK_##where, .size = sizeof(struct rec_##s), \
		.timed = IS_##when, .code = { .major = TRF_MAJOR_##majr, minr }, \
		.fields = fields_of_##s, .decode = decode_##s, \
	},
#include "trace/table.h"
};

const struct record_row record_rows[] = {
#define RECORD(s, where, when, majr, minr, title, text) \
	{ .code = { .major = TRF_MAJOR_##majr, minr }, .name = (title), .fields = s##_text + 1, \
	  .kind = &record_kinds[RECORD_##s] },
#define VARIANT(s, majr, minr, title, m) \
	{ .code = { .major = TRF_MAJOR_##majr, minr }, .name = (title), .fields = s##_text + 1, \
	  .kind = &record_kinds[RECORD_##s], .flag_off = IS(s, m, bool) ? OFF(s, m) : 0 },
#define BY_HAND(majr, minr, title, text) \
	{ .code = { .major = TRF_MAJOR_##majr, minr }, .name = (title), .fields = (text) },
#include "trace/table.h"
};

const unsigned int nr_record_rows = ARRAY_SIZE(record_rows);

static const struct variant {
	enum record_number number;
	struct record_code code;
	uint32_t off;		/* of the member that is not 0 then */
	bool flag;		/* which is a bool, else 4 bytes */
} variants[] = {
#define VARIANT(s, majr, minr, title, m) \
	{ .number = RECORD_##s, .code = { minr }, .off = OFF(s, m), .flag = IS(s, m, bool) },
#include "trace/table.h"
};

const struct record_row *record_find(uint32_t major, uint32_t minor)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(record_rows); i++)
		if (record_is(&record_rows[i], major, minor))
			return &record_rows[i];
	return NULL;
}

/* ---- encoding ---- */

enum { MAX_VARINT = 10 };

struct bytes {
	const uint8_t *p;
	size_t len;
};

uint32_t record_minor(const struct record_kind *k, const void *rec)
{
	const char *p = rec;
	uint32_t minor = k->code.minor;
	size_t i;

	if (k->code.minor_off)
		memcpy(&minor, p + k->code.minor_off, sizeof(minor));
	for (i = 0; i < ARRAY_SIZE(variants); i++) {
		const struct variant *v = &variants[i];
		uint32_t set = 0;

		if (v->number != k->number)
			continue;
		memcpy(&set, p + v->off, v->flag ? sizeof(bool) : sizeof(set));
		if (set)
			minor = v->code.minor;
	}
	return minor;
}

static char *codec_put(char *to, const void *p, size_t len)
{
	memcpy(to, p, len);
	return to + len;
}

static char *codec_put_varint(char *to, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*to++ = v | 0x80;
	*to++ = v;
	return to;
}

static struct bytes field_bytes(const struct record_field *f, const char *rec)
{
	struct bytes x;

	memcpy(&x.p, rec + f->off, sizeof(x.p));
	memcpy(&x.len, rec + f->len_off, sizeof(x.len));
	return x;
}

static char *put_field_bytes(char *to, const struct record_field *f, struct bytes x)
{
	uint64_t nr = x.len;
	size_t i;

	if (f->op == FIELD_PAIRS) {
		for (i = nr = 0; i < x.len; i++)
			nr += !(x.p[i] & 0x80);		/* ends of varints */
		nr /= 2;
	}
	to = codec_put_varint(to, nr);
	return x.len ? codec_put(to, x.p, x.len) : to;
}

/* Return the most bytes that the fields may take. */
static size_t bound(const struct record_kind *k, const char *rec)
{
	uint32_t i, nr;
	const struct record_field *f = k->fields(&nr);
	size_t sum = nr * MAX_VARINT;

	for (i = 0; i < nr; i++)
		if (f[i].op >= FIELD_BYTES)
			sum += field_bytes(&f[i], rec).len;
	return sum;
}

enum trf_type record_encode(struct buf *b, const struct record_kind *k, const void *rec)
{
	enum trf_type type = TRF_INTS;
	char *to = buf_room(b, bound(k, rec));
	uint32_t i, nr;
	const struct record_field *f = k->fields(&nr);

	for (i = 0; i < nr; i++, f++) {
		const char *from = (const char *)rec + f->off;
		uint64_t v;

		switch (f->op) {
		case FIELD_U32:		/* every supported CPU is little-endian */
			to = codec_put(to, from, 4);
			continue;
		case FIELD_U64:
			to = codec_put(to, from, 8);
			continue;
		case FIELD_VARINT:
			memcpy(&v, from, sizeof(v));
			to = codec_put_varint(to, v);
			break;
		default:
			to = put_field_bytes(to, f, field_bytes(f, rec));
		}
		type = TRF_MIXED;
	}
	b->len = to - b->data;
	*to = '\0';
	return type;
}

/* ---- decoding ---- */

bool record_decode(union trace_record *rec, const struct record_row *row, uint64_t time_ns, struct span body)
{
	const bool set = true;
	char *p = (char *)rec;

	row->kind->decode(rec, &body);
	if (row->kind->timed)
		memcpy(p, &time_ns, sizeof(time_ns));
	if (row->flag_off)
		memcpy(p + row->flag_off, &set, sizeof(set));
	return !body.bad;
}
