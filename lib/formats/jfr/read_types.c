// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read_types.c - the description of types in a chunk of a JFR file, and values that follow it.
 *
 * Every value takes a byte at least: a description of which that cannot be said is refused, so work and
 * memory are in proportion to the file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/jfr/read.h"

enum {
	MAX_DEPTH = 16,		/* structs in structs */
	MAX_ELEMENT_DEPTH = 16,
	CLASS_DEPTH = 2,	/* below root and metadata */
};

static const struct { const char *name; uint8_t slot; } slots[] = {
	{ "startTime", JFR_START }, { "duration", JFR_DURATION }, { "eventThread", JFR_THREAD },
	{ "sampledThread", JFR_THREAD }, { "stackTrace", JFR_STACK },
	{ "objectClass", JFR_OBJECT_CLASS }, { "monitorClass", JFR_OBJECT_CLASS },
	{ "parkedClass", JFR_OBJECT_CLASS },
	{ "weight", JFR_WEIGHT }, { "samplingPeriod", JFR_WEIGHT }, { "timeSpan", JFR_WEIGHT },
	{ "tlabSize", JFR_TLAB_SIZE }, { "allocationSize", JFR_WEIGHT }, { "size", JFR_MALLOC_SIZE },
	{ "state", JFR_STATE }, { "samples", JFR_SAMPLES }, { "lostSamples", JFR_LOST_SAMPLES }, { "amount", JFR_LOST_BYTES },
	{ "id", JFR_ID }, { "name", JFR_NAME }, { "value", JFR_VALUE }, { "pid", JFR_PID },
	{ "javaArguments", JFR_ARGUMENTS }, { "type", JFR_TYPE }, { "descriptor", JFR_DESCRIPTOR },
	{ "modifiers", JFR_MODIFIERS }, { "package", JFR_PACKAGE }, { "module", JFR_MODULE },
	{ "location", JFR_LOCATION }, { "truncated", JFR_TRUNCATED }, { "frames", JFR_FRAMES },
	{ "method", JFR_METHOD }, { "lineNumber", JFR_LINE }, { "osName", JFR_OS_NAME },
	{ "osThreadId", JFR_OS_ID }, { "javaName", JFR_JAVA_NAME }, { "javaThreadId", JFR_JAVA_ID },
	{ "group", JFR_GROUP }, { "processName", JFR_PROCESS_NAME },
};

static const struct { const char *name; uint8_t kind; } kinds[] = {
	{ "boolean", JFR_BYTE }, { "byte", JFR_BYTE }, { "char", JFR_SHORT }, { "short", JFR_SHORT },
	{ "int", JFR_INT }, { "long", JFR_LONG }, { "float", JFR_RAW4 }, { "double", JFR_RAW8 },
	{ "java.lang.String", JFR_STRING },
};

static const struct { const char *annotation, *value; uint8_t unit; } units[] = {
	{ "jdk.jfr.Timespan", "TICKS", JFR_TICKS }, { "jdk.jfr.Timespan", "NANOSECONDS", JFR_NS },
	{ "jdk.jfr.Timespan", "MICROSECONDS", JFR_US }, { "jdk.jfr.Timespan", "MILLISECONDS", JFR_MS },
	{ "jdk.jfr.Timespan", "SECONDS", JFR_S }, { "jdk.jfr.DataAmount", "BYTES", JFR_BYTES },
};

enum encoding { TEXT_NULL, TEXT_EMPTY, TEXT_NUMBER, TEXT_UTF8, TEXT_CHARS, TEXT_LATIN1 };

/* ---- values ---- */

uint64_t jfr_integer(const struct jfr_chunk *c, struct span *s, int nr_bytes)
{
	const uint8_t *p;
	uint64_t v = 0;
	int i;

	if (!c->compressed) {
		p = span_bytes(s, nr_bytes);
		for (i = 0; p && i < nr_bytes; i++)
			v = v << 8 | p[i];
		return v;
	}
	for (i = 0; i < 8; i++) {
		uint8_t b = span_u8(s);

		v |= (uint64_t)(b & 0x7f) << 7 * i;
		if (!(b & 0x80))
			return v;
	}
	return v | (uint64_t)span_u8(s) << 56;
}

static int bytes_of(uint8_t kind)
{
	return kind == JFR_SHORT ? 2 : kind == JFR_INT ? 4 : 8;
}

static void skip_string(const struct jfr_chunk *c, struct span *s)
{
	uint8_t encoding = span_u8(s);
	uint64_t nr;

	if (encoding == TEXT_NUMBER) {
		jfr_integer(c, s, 8);
	} else if (encoding == TEXT_UTF8 || encoding == TEXT_LATIN1) {
		span_bytes(s, jfr_integer(c, s, 4));
	} else if (encoding == TEXT_CHARS) {
		for (nr = jfr_integer(c, s, 4); nr && !s->bad; nr--)
			jfr_integer(c, s, 2);
	} else if (encoding > TEXT_LATIN1) {
		s->bad = true;
	}
}

static void skip_value(const struct jfr_chunk *c, struct span *s, const struct jfr_field *f, int depth)
{
	const struct jfr_type *t = &c->types[f->type];
	uint32_t i;

	if (depth > MAX_DEPTH)
		s->bad = true;
	else if (f->pool)
		jfr_integer(c, s, 8);
	else if (t->kind == JFR_STRING)
		skip_string(c, s);
	else if (t->kind == JFR_BYTE)
		span_u8(s);
	else if (t->kind == JFR_RAW4 || t->kind == JFR_RAW8)
		span_bytes(s, t->kind == JFR_RAW4 ? 4 : 8);
	else if (t->kind != JFR_STRUCT)
		jfr_integer(c, s, bytes_of(t->kind));
	for (i = 0; t->kind == JFR_STRUCT && !f->pool && i < t->nr_fields && !s->bad; i++) {
		const struct jfr_field *part = &c->fields[t->first_field + i];
		uint64_t nr = part->array ? jfr_integer(c, s, 4) : 1;

		for (; nr && !s->bad; nr--)
			skip_value(c, s, part, depth + 1);
	}
}

void jfr_skip(const struct jfr_chunk *c, struct span *s, const struct jfr_field *f)
{
	uint64_t nr = f->array ? jfr_integer(c, s, 4) : 1;

	for (; nr && !s->bad; nr--)
		skip_value(c, s, f, 0);
}

void jfr_read_struct(const struct jfr_chunk *c, struct span *s, const struct jfr_type *t,
		     struct jfr_values *v)
{
	uint32_t i;

	v->has = 0;
	for (i = 0; i < t->nr_fields && !s->bad; i++) {
		const struct jfr_field *f = &c->fields[t->first_field + i];
		uint8_t kind = c->types[f->type].kind;
		struct jfr_value x = { .at = s->p, .field = f };

		if (f->array || (!f->pool && (kind == JFR_STRUCT || kind >= JFR_RAW4)))
			jfr_skip(c, s, f);
		else if (!f->pool && kind == JFR_BYTE)
			x.num = span_u8(s);
		else
			x.num = jfr_integer(c, s, f->pool ? 8 : bytes_of(kind));
		if (f->slot && !s->bad && !jfr_has(v, f->slot)) {
			v->v[f->slot] = x;
			v->has |= (uint64_t)1 << f->slot;
		}
	}
}

/* ---- strings ---- */

static void put_utf8(char **p, uint32_t x)
{
	if (x < 0x80) {
		*(*p)++ = x;
		return;
	}
	if (x < 0x800) {
		*(*p)++ = 0xc0 | x >> 6;
	} else if (x < 0x10000) {
		*(*p)++ = 0xe0 | x >> 12;
		*(*p)++ = 0x80 | (x >> 6 & 0x3f);
	} else {
		*(*p)++ = 0xf0 | x >> 18;
		*(*p)++ = 0x80 | (x >> 12 & 0x3f);
		*(*p)++ = 0x80 | (x >> 6 & 0x3f);
	}
	*(*p)++ = 0x80 | (x & 0x3f);
}

static struct import_text from_latin1(struct jfr_chunk *c, const uint8_t *s, size_t len)
{
	char *text = arena_alloc(&c->text, 2 * len + 1), *p = text;
	size_t i;

	for (i = 0; i < len; i++)
		put_utf8(&p, s[i]);
	return (struct import_text){ text, p - text };
}

/* Convert UTF-16; an unpaired surrogate becomes a character of its own. */
static struct import_text from_chars(struct jfr_chunk *c, struct span *s, uint64_t nr)
{
	uint32_t high = 0, x;
	char *text, *p;

	if (nr > span_left(s)) {
		s->bad = true;
		return (struct import_text){ "", 0 };
	}
	text = p = arena_alloc(&c->text, 3 * nr + 4);
	for (; nr && !s->bad; nr--) {
		x = jfr_integer(c, s, 2) & 0xffff;
		if (high && x >= 0xdc00 && x < 0xe000)
			put_utf8(&p, 0x10000 + ((high - 0xd800) << 10) + (x - 0xdc00));
		else if (high)
			put_utf8(&p, 0xfffd);
		if (!high || x < 0xdc00 || x >= 0xe000) {
			high = x >= 0xd800 && x < 0xdc00 ? x : 0;
			if (!high)
				put_utf8(&p, x >= 0xdc00 && x < 0xe000 ? 0xfffd : x);
		} else {
			high = 0;
		}
	}
	if (high)
		put_utf8(&p, 0xfffd);
	return (struct import_text){ text, p - text };
}

struct import_text jfr_string(struct jfr_chunk *c, struct span *s)
{
	uint8_t encoding = span_u8(s);
	struct import_text t = { "", 0 };
	const void *p;
	uint64_t len;

	if (encoding == TEXT_NUMBER) {
		uint32_t at = map_get(&c->strings, jfr_integer(c, s, 8));
		struct span there;

		if (at == MAP_NONE)
			return t;
		there = span_init(c->places[at], c->data + c->len - c->places[at]);
		/* not a number again, that of itself for example */
		return there.p < there.end && *there.p != TEXT_NUMBER ? jfr_string(c, &there) : t;
	}
	if (encoding != TEXT_UTF8 && encoding != TEXT_LATIN1 && encoding != TEXT_CHARS) {
		s->bad |= encoding > TEXT_LATIN1;
		return t;
	}
	len = jfr_integer(c, s, 4);
	if (encoding == TEXT_CHARS)
		return from_chars(c, s, len);
	p = span_bytes(s, len);
	if (!p)
		return t;
	return encoding == TEXT_LATIN1 ? from_latin1(c, p, len) : (struct import_text){ p, len };
}

/* ---- the description ---- */

struct annotation {
	uint32_t field;
	uint64_t type_id;
	struct import_text value;
};

struct description {
	struct jfr_chunk *c;
	struct span s;
	struct import_text *strings;
	uint64_t nr_strings;
	struct annotation *annotations;
	size_t nr_annotations, alloc_annotations;
};

struct element {
	uint64_t nr_children;	/* that are still to come */
	bool is_class, is_field;
};

static struct import_text next_string(struct description *d)
{
	uint64_t i = jfr_integer(d->c, &d->s, 4);

	if (i < d->nr_strings)
		return d->strings[i];
	d->s.bad = true;
	return (struct import_text){ "", 0 };
}

static uint64_t to_number(const struct import_text *t)
{
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < t->len && i < 19; i++)
		v = v * 10 + (uint8_t)(t->s[i] - '0') % 10;
	return v;
}

static void add_type(struct jfr_chunk *c, uint64_t id, struct import_text name)
{
	struct jfr_type t = { .id = id, .name = name, .first_field = c->nr_fields };
	uint32_t *at = map_put(&c->type_of, id);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (jfr_is(&name, kinds[i].name))
			t.kind = kinds[i].kind;
	t.has_table = t.kind == JFR_STRING;
	if (*at == MAP_NONE)
		*at = c->nr_types;
	*VEC_ADD(c->types, c->nr_types, c->alloc_types) = t;
}

static void add_field(struct jfr_chunk *c, struct jfr_field f, struct import_text name)
{
	size_t i;

	f.name = name;
	for (i = 0; i < ARRAY_SIZE(slots); i++)
		if (jfr_is(&name, slots[i].name))
			f.slot = slots[i].slot;
	*VEC_ADD(c->fields, c->nr_fields, c->alloc_fields) = f;
	c->types[c->nr_types - 1].nr_fields++;
}

/* Read an element; its children follow. */
static void read_element(struct description *d, const struct element *above, size_t depth, struct element *x)
{
	struct import_text kind = next_string(d), name = { "", 0 }, value = name, key, text;
	struct jfr_field f = { .label = name };
	uint64_t nr, id = 0, class = 0;

	for (nr = jfr_integer(d->c, &d->s, 4); nr && !d->s.bad; nr--) {
		key = next_string(d);
		text = next_string(d);
		if (jfr_is(&key, "name"))
			name = text;
		else if (jfr_is(&key, "id"))
			id = to_number(&text);
		else if (jfr_is(&key, "class"))
			class = to_number(&text);
		else if (jfr_is(&key, "value"))
			value = text;
		else if (jfr_is(&key, "constantPool"))
			f.pool = true;
		else if (jfr_is(&key, "dimension"))
			f.array = !jfr_is(&text, "0");
	}
	*x = (struct element){ .nr_children = jfr_integer(d->c, &d->s, 4) };
	if (d->s.bad)
		return;
	f.type_id = class;
	x->is_class = depth == CLASS_DEPTH && jfr_is(&kind, "class");
	x->is_field = above && above->is_class && jfr_is(&kind, "field");
	if (x->is_class)
		add_type(d->c, id, name);
	if (x->is_field)
		add_field(d->c, f, name);
	if (above && above->is_field && jfr_is(&kind, "annotation")) {
		VEC_GROW(d->annotations, d->nr_annotations, d->alloc_annotations);
		d->annotations[d->nr_annotations++] =
			(struct annotation){ d->c->nr_fields - 1, class, value };
	}
}

static void read_elements(struct description *d)
{
	struct element open[MAX_ELEMENT_DEPTH];
	size_t depth = 0;

	read_element(d, NULL, 0, &open[depth++]);
	while (depth && !d->s.bad) {
		if (!open[depth - 1].nr_children) {
			depth--;
		} else if (depth == MAX_ELEMENT_DEPTH) {
			d->s.bad = true;
		} else {
			open[depth - 1].nr_children--;
			read_element(d, &open[depth - 1], depth, &open[depth]);
			depth++;
		}
	}
}

static void apply_annotation(struct jfr_chunk *c, const struct annotation *a)
{
	uint32_t at = map_get(&c->type_of, a->type_id);
	size_t i;

	if (at == MAP_NONE)
		return;
	if (jfr_is(&c->types[at].name, "jdk.jfr.Unsigned"))
		c->fields[a->field].is_unsigned = true;
	if (jfr_is(&c->types[at].name, "jdk.jfr.Label") && a->value.len)
		c->fields[a->field].label = a->value;
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (jfr_is(&c->types[at].name, units[i].annotation) && jfr_is(&a->value, units[i].value))
			c->fields[a->field].unit = units[i].unit;
}

/* Find the types of fields, and which tables are needed. */
static int link_fields(struct jfr_chunk *c, struct err *e)
{
	struct jfr_type *t;
	uint32_t at;
	size_t i;

	for (i = 0; i < c->nr_fields; i++) {
		at = map_get(&c->type_of, c->fields[i].type_id);
		if (at == MAP_NONE)
			return err_set(e, EINVAL, "damaged: a field has the type %" PRIu64 ", which is not described",
				       c->fields[i].type_id);
		t = &c->types[at];
		c->fields[i].type = at;
		if (t->kind == JFR_STRUCT && !t->nr_fields && !c->fields[i].pool)
			return err_set(e, EINVAL, "damaged: a field has the type '%.*s', which has no content",
				       (int)MIN(t->name.len, (size_t)64), t->name.s);
		t->has_table |= c->fields[i].pool;
	}
	return 0;
}

int jfr_read_types(struct jfr_chunk *c, struct err *e)
{
	struct description d = { .c = c };
	uint64_t size, i;
	int r = 0;

	if (c->types_at >= c->len)
		return err_set(e, EINVAL, "damaged: the description of events is outside of its chunk");
	d.s = span_init(c->data + c->types_at, c->len - c->types_at);
	size = jfr_integer(c, &d.s, 4);
	if (jfr_integer(c, &d.s, 8) != 0 || size > c->len - c->types_at)
		return err_set(e, EINVAL, "damaged: no description of events where one should be");
	d.s.end = c->data + c->types_at + size;
	for (i = 0; i < 3; i++)		/* time, duration, number */
		jfr_integer(c, &d.s, 8);
	d.nr_strings = jfr_integer(c, &d.s, 4);
	if (d.s.p > d.s.end || d.nr_strings > span_left(&d.s))	/* each takes a byte */
		return err_set(e, EINVAL, "damaged: the description of events is truncated");
	d.strings = xcalloc(d.nr_strings + 1, sizeof(*d.strings));
	for (i = 0; i < d.nr_strings; i++)
		d.strings[i] = jfr_string(c, &d.s);
	if (!d.s.bad)
		read_elements(&d);
	if (d.s.bad)
		r = err_set(e, EINVAL, "damaged: invalid description of events at byte %zu of its chunk",
			    (size_t)(d.s.p - c->data));
	for (i = 0; i < d.nr_annotations && !r; i++)
		apply_annotation(c, &d.annotations[i]);
	free(d.annotations);
	free(d.strings);
	return r ? r : link_fields(c, e);
}
