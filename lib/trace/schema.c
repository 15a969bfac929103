// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * schema.c - the decoder of any record by the table that a file brings along.
 *
 * That table is hostile as anything in it: its size is limited, and a group must
 * consume bytes with every element, so that a count alone makes no work.
 */
#include <errno.h>
#include <stdio.h>

#include "base/mem.h"
#include "trace/schema.h"

enum { MAX_KINDS = 1024, MAX_DEPTH = 2 };

struct schema {
	struct schema_kind *kinds;
	size_t nr_kinds, alloc_kinds;
};

struct schema *schema_new(void)
{
	return xcalloc(1, sizeof(struct schema));
}

void schema_free(struct schema *s)
{
	if (s)
		free(s->kinds);
	free(s);
}

static bool word_is(const char *w, size_t len, const char *s)
{
	return strlen(s) == len && !memcmp(w, s, len);
}

static void set_type(struct schema_field *f, const char *w, size_t len)
{
	static const struct {
		const char *word;
		enum schema_type type;
		uint8_t len;
	} types[] = {
		{ "u8", SCHEMA_UINT, 1 }, { "u16", SCHEMA_UINT, 2 }, { "u32", SCHEMA_UINT, 4 },
		{ "u64", SCHEMA_UINT, 8 }, { "i32", SCHEMA_INT, 4 }, { "i64", SCHEMA_INT, 8 },
		{ "x32", SCHEMA_HEX, 4 }, { "x64", SCHEMA_HEX, 8 }, { "v", SCHEMA_VARINT, 0 },
		{ "z", SCHEMA_ZIGZAG, 0 }, { "s", SCHEMA_TEXT, 0 }, { "b", SCHEMA_BYTES, 0 },
	};
	unsigned int shift, width, i;
	char copy[8] = "";

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		if (word_is(w, len, types[i].word)) {
			f->type = types[i].type;
			f->len = types[i].len;
			return;
		}
	}
	f->type = SCHEMA_REST;
	memcpy(copy, w, MIN(len, sizeof(copy) - 1));
	if (sscanf(copy, "m%2u.%2u", &shift, &width) == 2 && shift < 32 && width && width <= 32 - shift) {
		f->type = SCHEMA_MINOR;
		f->shift = shift;
		f->width = width;
	}
}

static int find_count(const struct schema_kind *k, const char *w, size_t len)
{
	size_t i = k->nr_fields;

	while (i--)
		if (k->fields[i].type <= SCHEMA_VARINT && word_is(w, len, k->fields[i].name))
			return i;
	return -1;
}

/* Add a word of the text: "name:type", "name:type:unit", "*nr(" or ")". */
static bool add_word(struct schema_kind *k, const char *w, size_t len, int *open, size_t *depth)
{
	struct schema_field *f = &k->fields[k->nr_fields];
	const char *type, *unit, *end = w + len;
	int count;

	if (k->nr_fields == SCHEMA_MAX_FIELDS)
		return false;
	memset(f, 0, sizeof(*f));
	if (word_is(w, len, ")")) {
		if (!*depth)
			return false;
		f->type = SCHEMA_GROUP_END;
		k->fields[open[--*depth]].end = k->nr_fields++;
		return true;
	}
	if (len > 2 && w[0] == '*' && end[-1] == '(') {
		count = find_count(k, w + 1, len - 2);
		if (count < 0 || *depth == MAX_DEPTH)
			return false;
		f->type = SCHEMA_GROUP;
		f->count = count;
		memcpy(f->name, k->fields[count].name, sizeof(f->name));
		open[(*depth)++] = k->nr_fields++;
		return true;
	}
	type = memchr(w, ':', len);
	if (!type || type == w)
		return false;
	memcpy(f->name, w, MIN((size_t)(type - w), sizeof(f->name) - 1));
	type++;
	unit = memchr(type, ':', end - type);
	set_type(f, type, (unit ? unit : end) - type);
	if (unit)
		memcpy(f->unit, unit + 1, MIN((size_t)(end - unit - 1), sizeof(f->unit) - 1));
	k->nr_fields++;
	return true;
}

static bool parse_fields(struct schema_kind *k, const char *text, size_t len)
{
	const char *p = text, *end = text + len;
	int open[MAX_DEPTH];
	size_t depth = 0;

	while (p < end) {
		const char *w = p;

		while (p < end && *p != ' ')
			p++;
		if (p > w && !add_word(k, w, p - w, open, &depth))
			return false;
		p += p < end;
	}
	return !depth;
}

int schema_learn(struct schema *s, struct span body, struct err *e)
{
	struct schema_kind k = { 0 };
	const char *name, *fields;
	size_t len, i;

	k.major = span_u32(&body);
	k.minor = span_u32(&body);
	k.minor_mask = span_u32(&body);
	name = span_str(&body, &len);
	memcpy(k.name, name ? name : "", MIN(len, sizeof(k.name) - 1));
	fields = span_str(&body, &len);
	if (body.bad || !parse_fields(&k, fields, len))
		return err_set(e, EILSEQ, "invalid schema of record %x/%x", k.major, k.minor);
	for (i = 0; i < s->nr_kinds; i++)
		if (s->kinds[i].major == k.major && s->kinds[i].minor == k.minor &&
		    s->kinds[i].minor_mask == k.minor_mask)
			return 0;
	if (s->nr_kinds == MAX_KINDS)
		return err_set(e, E2BIG, "more than %d kinds of records", MAX_KINDS);
	*VEC_ADD(s->kinds, s->nr_kinds, s->alloc_kinds) = k;
	return 0;
}

const struct schema_kind *schema_find(const struct schema *s, uint32_t major, uint32_t minor)
{
	size_t i;

	for (i = 0; i < s->nr_kinds; i++)
		if (s->kinds[i].major == major && (minor & s->kinds[i].minor_mask) == s->kinds[i].minor)
			return &s->kinds[i];
	return NULL;
}

struct visit {
	const struct schema_kind *k;
	const struct schema_visitor *v;
	void *ctx;
	uint32_t minor;
	struct span s;
	uint64_t vals[SCHEMA_MAX_FIELDS];	/* latest value of each field, for counts */
};

static void visit_number(struct visit *v, size_t i)
{
	const struct schema_field *f = &v->k->fields[i];
	uint64_t x;

	switch (f->type) {
	case SCHEMA_VARINT:
		x = span_varint(&v->s);
		break;
	case SCHEMA_ZIGZAG:
		x = span_varint(&v->s);
		x = x >> 1 ^ -(x & 1);
		break;
	case SCHEMA_MINOR:
		x = (uint64_t)v->minor >> f->shift & ((1ull << f->width) - 1);
		break;
	default:
		x = span_le(&v->s, f->len);
		if (f->type == SCHEMA_INT && f->len == 4)
			x = (int64_t)(int32_t)x;
	}
	v->vals[i] = x;
	if (!v->s.bad)
		v->v->number(v->ctx, f, x);
}

static void visit_bytes(struct visit *v, size_t i)
{
	const struct schema_field *f = &v->k->fields[i];
	size_t len = span_left(&v->s);
	const void *p;

	if (f->type == SCHEMA_REST)
		p = span_bytes(&v->s, len);
	else
		p = span_str(&v->s, &len);
	if (p)
		v->v->bytes(v->ctx, f, p, len);
}

/* Visit fields from "from" to the group's end or the last; nested MAX_DEPTH deep at most. */
static void visit_fields(struct visit *v, size_t from, size_t to);

static void visit_group(struct visit *v, size_t i)
{
	const struct schema_field *f = &v->k->fields[i];
	uint64_t nr = v->vals[f->count];

	v->v->group(v->ctx, f);
	while (nr-- && !v->s.bad) {
		const uint8_t *before = v->s.p;

		v->v->element(v->ctx, true);
		visit_fields(v, i + 1, f->end);
		v->v->element(v->ctx, false);
		if (v->s.p == before)
			v->s.bad = true;
	}
	v->v->group_end(v->ctx);
}

static void visit_fields(struct visit *v, size_t from, size_t to)
{
	size_t i;

	for (i = from; i < to && !v->s.bad; i++) {
		switch (v->k->fields[i].type) {
		case SCHEMA_GROUP:
			visit_group(v, i);
			i = v->k->fields[i].end;
			break;
		case SCHEMA_GROUP_END:
			break;
		case SCHEMA_TEXT:
		case SCHEMA_BYTES:
		case SCHEMA_REST:
			visit_bytes(v, i);
			break;
		default:
			visit_number(v, i);
		}
	}
}

bool schema_visit(const struct schema_kind *k, uint32_t minor, struct span body,
		  const struct schema_visitor *visitor, void *ctx)
{
	struct visit v = { .k = k, .v = visitor, .ctx = ctx, .minor = minor, .s = body };

	visit_fields(&v, 0, k->nr_fields);
	return !v.s.bad;
}
