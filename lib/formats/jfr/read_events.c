// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read_events.c - events of a JFR file that are not samples: those that arcprof records of JVMs become such,
 * labels of threads as --format jfr has them are these again, all others marks or phases with their fields as
 * values.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fields.h"
#include "base/labels.h"
#include "base/mem.h"
#include "formats/jfr/read.h"

/* Events of the JDK that are those of a JVM in a trace. */
static const struct known {
	const char *type;
	enum event_kind kind;
	const char *group;		/* for the label "jvm_events" */
} known[] = {
	{ "jdk.GCPhasePause", EVENT_GC, "gc" },
	{ "jdk.GCPhaseConcurrent", EVENT_GC_CONCURRENT, "gc" },
	{ "jdk.ExecuteVMOperation", EVENT_SAFEPOINT, "safepoint" },
	{ "jdk.Compilation", EVENT_COMPILE, "jit" },
	{ "jdk.Deoptimization", EVENT_DEOPT, "jit" },
	{ "jdk.ClassLoad", EVENT_CLASS_LOAD, "class" },
	{ "jdk.ClassUnload", EVENT_CLASS_UNLOAD, "class" },
	{ "jdk.ThreadStart", EVENT_THREAD_START, "thread" },
	{ "jdk.ThreadEnd", EVENT_THREAD_END, "thread" },
};

/* what events of their own say of a collection, by its number; EVENT_UNKNOWN: not known */
struct jfr_collection {
	uint64_t before, after, capacity;
	uint32_t cause;			/* string of causes */
	bool taken;			/* the pause that has it */
};

struct jfr_events {
	struct map collections;		/* gcId -> index */
	struct jfr_collection *list;
	size_t nr, alloc;
	struct strtab causes;
	bool has_group[ARRAY_SIZE(known)];
	bool has_marks;
	struct buf fields, text;	/* scratch */
	unsigned int nr_fields;
};

struct jfr_events *jfr_events_new(void)
{
	struct jfr_events *x = xcalloc(1, sizeof(*x));

	strtab_init(&x->causes);
	return x;
}

void jfr_events_free(struct jfr_events *x)
{
	map_release(&x->collections);
	strtab_release(&x->causes);
	free(x->list);
	buf_release(&x->fields);
	buf_release(&x->text);
	free(x);
}

/* ---- fields by name ---- */

struct value {
	const struct jfr_field *field;
	uint64_t num;			/* of an integer, or the number in a table */
	double real;
	struct import_text text;	/* of a string, or of what the number refers to */
	enum { VALUE_NUM, VALUE_REAL, VALUE_TEXT, VALUE_ABSENT } kind;
};

static double read_real(struct span *s, int nr_bytes)
{
	const uint8_t *p = span_bytes(s, nr_bytes);
	uint64_t bits = 0;
	double d;
	float f;
	int i;

	for (i = 0; p && i < nr_bytes; i++)
		bits = bits << 8 | p[i];
	if (nr_bytes == 4) {
		uint32_t half = bits;

		memcpy(&f, &half, sizeof(f));
		return f;
	}
	memcpy(&d, &bits, sizeof(d));
	return d;
}

static bool has_sign(const struct jfr_chunk *c, const struct jfr_field *f)
{
	const struct import_text *type = &c->types[f->type].name;

	return !f->is_unsigned && !jfr_is(type, "boolean") && !jfr_is(type, "char");
}

/*
 * Read an integer, negative in the width of its type; the least value of an int or long means that it is not
 * known. What a signed number of 64 bits has no room for becomes a real one.
 */
static void read_integer(const struct jfr_chunk *c, struct span *s, const struct jfr_field *f,
			 struct value *v)
{
	uint8_t kind = c->types[f->type].kind;
	int bits = kind == JFR_BYTE ? 8 : kind == JFR_SHORT ? 16 : kind == JFR_INT ? 32 : 64;
	uint64_t x = kind == JFR_BYTE ? span_u8(s) : jfr_integer(c, s, bits / 8);
	bool is_signed = has_sign(c, f);

	v->kind = VALUE_NUM;
	if (is_signed)
		x = (uint64_t)((int64_t)(x << (64 - bits)) >> (64 - bits));
	else
		x = x << (64 - bits) >> (64 - bits);
	if (is_signed && bits > 16 && x == (uint64_t)(INT64_MIN >> (64 - bits))) {
		v->kind = VALUE_ABSENT;
	} else if (!is_signed && x > INT64_MAX) {
		v->kind = VALUE_REAL;
		v->real = x;
	} else if (f->unit >= JFR_TICKS && f->unit <= JFR_S && (int64_t)x >= 0) {
		x = jfr_span_ns(c, f, x);
	}
	v->num = x;
}

static void read_value(struct jfr_chunk *c, struct span *s, const struct jfr_field *f, struct value *v)
{
	uint8_t kind = c->types[f->type].kind;
	struct span here = *s;

	*v = (struct value){ .field = f, .kind = VALUE_ABSENT };
	if (f->array || (!f->pool && kind == JFR_STRUCT)) {
		jfr_skip(c, s, f);
	} else if (f->pool) {
		v->num = jfr_integer(c, s, 8);
		v->text = jfr_name_of(c, f, here.p, v->num);
		v->kind = v->text.len ? VALUE_TEXT : VALUE_ABSENT;
	} else if (kind == JFR_STRING) {
		v->text = jfr_string(c, s);
		v->kind = v->text.len ? VALUE_TEXT : VALUE_ABSENT;
	} else if (kind == JFR_RAW4 || kind == JFR_RAW8) {
		v->real = read_real(s, kind == JFR_RAW4 ? 4 : 8);
		v->kind = VALUE_REAL;
	} else {
		read_integer(c, s, f, v);
	}
}

bool jfr_is_label(const struct jfr_chunk *c, const struct jfr_field *f)
{
	uint8_t kind = c->types[f->type].kind;
	const struct import_text *name = &f->name;

	if (f->array)
		return false;
	return kind == JFR_STRING ||
	       (!f->pool && (kind == JFR_INT || kind == JFR_LONG) && name->len > 2 &&
		!memcmp(name->s + name->len - 2, "Id", 2));
}

void jfr_read_labels(struct jfr_chunk *c, struct import *im, const struct jfr_type *t, struct span s,
		     struct buf *labels)
{
	char number[24];
	struct value v;
	uint32_t i;

	for (i = 0; i < t->nr_fields && !s.bad; i++) {
		const struct jfr_field *f = &c->fields[t->first_field + i];

		if (!jfr_is_label(c, f)) {
			jfr_skip(c, &s, f);
			continue;
		}
		read_value(c, &s, f, &v);
		if (v.kind == VALUE_NUM && v.num) {	/* 0: of none */
			snprintf(number, sizeof(number), "%" PRId64, (int64_t)v.num);
			v.text = (struct import_text){ number, strlen(number) };
		}
		if (v.text.len && !s.bad)
			import_label(im, labels, f->name, v.text);
	}
}

/* Return the value of the field, or of "struct.field". */
static struct value find_value(struct jfr_chunk *c, struct span s, const struct jfr_type *t, const char *name)
{
	struct value v = { .kind = VALUE_ABSENT };
	const char *dot = strchr(name, '.');
	size_t len = dot ? (size_t)(dot - name) : strlen(name);
	uint32_t i;

	for (i = 0; i < t->nr_fields && !s.bad; i++) {
		const struct jfr_field *f = &c->fields[t->first_field + i];

		if (f->name.len != len || memcmp(f->name.s, name, len)) {
			jfr_skip(c, &s, f);
			continue;
		}
		if (dot && !f->pool && !f->array && c->types[f->type].kind == JFR_STRUCT)
			return find_value(c, s, &c->types[f->type], dot + 1);
		read_value(c, &s, f, &v);
		break;
	}
	if (s.bad)
		v.kind = VALUE_ABSENT;
	return v;
}

static uint64_t find_number(struct jfr_chunk *c, struct span s, const struct jfr_type *t, const char *name)
{
	struct value v = find_value(c, s, t, name);

	return v.kind == VALUE_NUM ? v.num : EVENT_UNKNOWN;
}

static struct import_text find_text(struct jfr_chunk *c, struct span s, const struct jfr_type *t,
				    const char *name)
{
	struct value v = find_value(c, s, t, name);

	return v.kind == VALUE_TEXT ? v.text : (struct import_text){ "", 0 };
}

/* ---- collections, in the first pass ---- */

static struct jfr_collection *collection(struct jfr_events *x, uint64_t id)
{
	uint32_t *at = map_put(&x->collections, id);

	if (*at == MAP_NONE) {
		*at = x->nr;
		*VEC_ADD(x->list, x->nr, x->alloc) = (struct jfr_collection){
			EVENT_UNKNOWN, EVENT_UNKNOWN, EVENT_UNKNOWN, 0, false
		};
	}
	return &x->list[*at];
}

void jfr_count_event(struct jfr_events *x, struct jfr_chunk *c, const struct jfr_type *t, struct span s)
{
	uint64_t id = find_number(c, s, t, "gcId");
	struct jfr_collection *g;
	struct import_text what;

	if (id == EVENT_UNKNOWN)
		return;
	if (jfr_is(&t->name, "jdk.GarbageCollection")) {
		what = find_text(c, s, t, "cause");
		collection(x, id)->cause = strtab_add(&x->causes, what.s, what.len);
	} else if (jfr_is(&t->name, "jdk.GCHeapSummary")) {
		what = find_text(c, s, t, "when");
		g = collection(x, id);
		*(jfr_is(&what, "Before GC") ? &g->before : &g->after) = find_number(c, s, t, "heapUsed");
		g->capacity = find_number(c, s, t, "heapSpace.committedSize");
	}
}

/* ---- events of JVMs ---- */

static const struct known *find_known(const struct jfr_type *t)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (jfr_is(&t->name, known[i].type))
			return &known[i];
	return NULL;
}

static void put_gc(struct jfr_events *x, struct jfr_chunk *c, const struct jfr_type *t, struct span s,
		   struct rec_event *r)
{
	uint64_t id = find_number(c, s, t, "gcId");
	uint32_t at = id == EVENT_UNKNOWN ? MAP_NONE : map_get(&x->collections, id);
	struct jfr_collection *g = at == MAP_NONE ? NULL : &x->list[at];
	struct import_text name = find_text(c, s, t, "name");

	r->what = name.s;
	r->what_len = name.len;
	if (!g || g->taken || r->kind != EVENT_GC)
		return;
	g->taken = true;
	r->values[0] = g->before;
	r->values[1] = g->after;
	r->values[2] = g->capacity;
	r->cause = strtab_get(&x->causes, g->cause);
	r->cause_len = strlen(r->cause);
}

static void set_what(struct rec_event *r, struct import_text t)
{
	r->what = t.s;
	r->what_len = t.len;
}

static void put_code(struct jfr_events *x, struct jfr_chunk *c, const struct jfr_type *t, struct span s,
		     struct rec_event *r)
{
	struct import_text reason, action;

	set_what(r, find_text(c, s, t, "method"));
	r->values[2] = find_number(c, s, t, "compileId");
	if (r->kind == EVENT_COMPILE) {
		r->values[0] = find_number(c, s, t, "compileLevel");
		r->cause = find_number(c, s, t, "isOsr") == 1 ? "OSR" : "";
	} else {
		r->values[1] = find_number(c, s, t, "bci");
		reason = find_text(c, s, t, "reason");
		action = find_text(c, s, t, "action");
		buf_reset(&x->text);
		buf_add(&x->text, reason.s, reason.len);
		buf_str(&x->text, action.len ? " " : "");
		buf_add(&x->text, action.s, action.len);
		r->cause = x->text.data;
	}
	r->cause_len = strlen(r->cause);
}

/* Fill in a known event; return false if it turns out to be none. */
static bool put_known(struct jfr_events *x, struct jfr_chunk *c, const struct jfr_type *t, struct span s,
		      struct rec_event *r)
{
	switch (r->kind) {
	case EVENT_GC:
	case EVENT_GC_CONCURRENT:
		put_gc(x, c, t, s, r);
		return true;
	case EVENT_SAFEPOINT:
		set_what(r, find_text(c, s, t, "operation"));
		r->values[1] = r->duration_ns;
		return find_number(c, s, t, "safepoint") == 1;
	case EVENT_COMPILE:
	case EVENT_DEOPT:
		put_code(x, c, t, s, r);
		return true;
	case EVENT_CLASS_LOAD:
		set_what(r, find_text(c, s, t, "loadedClass"));
		return r->what_len;
	case EVENT_CLASS_UNLOAD:
		set_what(r, find_text(c, s, t, "unloadedClass"));
		return r->what_len;
	default:
		set_what(r, find_text(c, s, t, "thread"));
		return true;
	}
}

/* ---- marks with all fields ---- */

static void put_le(struct buf *b, uint64_t v, int nr_bytes)
{
	for (; nr_bytes; nr_bytes--, v >>= 8)
		buf_u8(b, v & 0xff);
}

static bool is_named(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		bool letter = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z');

		bool digit = name[i] >= '0' && name[i] <= '9';

		if (!letter && name[i] != '_' && !(i && (digit || name[i] == '.')))
			return false;
	}
	return len && len <= FIELDS_MAX_NAME;
}

static void put_value(struct jfr_events *x, struct import_text prefix, const struct value *v)
{
	static const char *const suffixes[] = { [JFR_TICKS] = "_ns", [JFR_NS] = "_ns", [JFR_US] = "_ns",
		[JFR_MS] = "_ns", [JFR_S] = "_ns", [JFR_BYTES] = "" };
	const char *suffix = v->kind == VALUE_NUM && v->field->unit ? suffixes[v->field->unit] : "";
	size_t len = MIN(v->text.len, (size_t)FIELDS_MAX_TEXT);
	struct buf name = BUF_INIT;
	uint64_t bits;

	buf_add(&name, prefix.s, prefix.len);
	buf_add(&name, v->field->name.s, v->field->name.len);
	buf_str(&name, suffix);
	if (v->kind == VALUE_ABSENT || x->nr_fields == FIELDS_MAX || !is_named(name.data, name.len) ||
	    (v->kind == VALUE_TEXT && memchr(v->text.s, 0, len))) {
		buf_release(&name);
		return;
	}
	while (len < v->text.len && len && ((unsigned char)v->text.s[len] & 0xc0) == 0x80)
		len--;
	x->nr_fields++;
	buf_u8(&x->fields, v->kind == VALUE_TEXT ? FIELD_TEXT :
			   v->kind == VALUE_REAL ? FIELD_F64 : FIELD_I64);
	buf_u8(&x->fields, name.len);
	buf_add(&x->fields, name.data, name.len);
	memcpy(&bits, &v->real, sizeof(bits));
	if (v->kind == VALUE_TEXT) {
		put_le(&x->fields, len, 2);
		buf_add(&x->fields, v->text.s, len);
	} else {
		put_le(&x->fields, v->kind == VALUE_REAL ? bits : v->num, 8);
	}
	buf_release(&name);
}

/* Append the fields, and those of structs one level deep, as "heapSpace.committedSize". */
static void put_fields(struct jfr_events *x, struct jfr_chunk *c, struct span *s, const struct jfr_type *t,
		       struct import_text prefix)
{
	struct value v;
	uint32_t i;

	for (i = 0; i < t->nr_fields && !s->bad; i++) {
		const struct jfr_field *f = &c->fields[t->first_field + i];
		struct buf below = BUF_INIT;

		if (f->slot == JFR_START || f->slot == JFR_DURATION || f->slot == JFR_THREAD ||
		    f->slot == JFR_STACK) {
			jfr_skip(c, s, f);
		} else if (!prefix.len && !f->pool && !f->array && c->types[f->type].kind == JFR_STRUCT) {
			buf_add(&below, f->name.s, f->name.len);
			buf_putc(&below, '.');
			put_fields(x, c, s, &c->types[f->type],
				   (struct import_text){ below.data, below.len });
			buf_release(&below);
		} else {
			read_value(c, s, f, &v);
			put_value(x, prefix, &v);
		}
	}
}

static void write_mark(struct jfr_events *x, struct jfr_chunk *c, struct import *im, const struct jfr_type *t,
		       struct span s, const struct rec_event *r)
{
	buf_reset(&x->fields);
	x->nr_fields = 0;
	put_fields(x, c, &s, t, (struct import_text){ "", 0 });
	x->has_marks = true;
	trace_write_marked(im->w, &(struct rec_marked){
		.time_ns = r->time_ns, .proc = r->proc, .thread = r->thread, .duration_ns = r->duration_ns,
		.name = t->name.s, .name_len = t->name.len,
		.fields = (const void *)(s.bad || !x->fields.len ? "" : x->fields.data),
		.fields_len = s.bad ? 0 : x->fields.len });
}

/* "key=value,...", as write_jvm.c has them. */
static void take_labels(struct jfr_chunk *c, struct import *im, const struct jfr_type *t, struct span s,
			const struct rec_event *r)
{
	struct import_text of = find_text(c, s, t, "labels");
	char *copy = xstrndup(of.s, of.len);
	struct buf key = BUF_INIT, value = BUF_INIT, labels = BUF_INIT;
	const char *next = copy;

	while (labels_next(&next, &key, &value))
		import_label(im, &labels, (struct import_text){ key.data, key.len },
			     (struct import_text){ value.data, value.len });
	if (labels.len && r->thread && r->duration_ns && r->duration_ns < UINT64_MAX - r->time_ns)
		import_labels_until(im, r->thread, r->time_ns, r->time_ns + r->duration_ns, &labels);
	buf_release(&key);
	buf_release(&value);
	buf_release(&labels);
	free(copy);
}

void jfr_list_event(struct jfr_events *x, struct jfr_chunk *c, struct import *im, const struct jfr_type *t,
		     struct span s, struct rec_event *r)
{
	const struct known *k = find_known(t);

	r->values[0] = r->values[1] = r->values[2] = EVENT_UNKNOWN;
	r->what = r->cause = "";
	r->kind = k ? k->kind : EVENT_MARK;
	if (jfr_is(&t->name, "arcprof.Labels")) {
		take_labels(c, im, t, s, r);
		return;
	}
	if (!k || !put_known(x, c, t, s, r)) {
		write_mark(x, c, im, t, s, r);
		return;
	}
	x->has_group[k - known] = true;
	trace_write_event(im->w, r);
}

void jfr_events_end(const struct jfr_events *x, struct import *im)
{
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (x->has_group[i] && (!b.data || !strstr(b.data, known[i].group)))
			buf_fmt(&b, "%s%s", b.len ? "," : "", known[i].group);
	if (x->has_marks)
		buf_fmt(&b, "%smark", b.len ? "," : "");
	if (b.len)
		trace_write_label(im->w, "jvm_events", "%s", b.data);
	buf_release(&b);
}
