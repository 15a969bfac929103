// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read.c - OpenTelemetry's profiles in protobuf: a ProfilesData, as async-profiler and arcprof write it, or a
 * request of the collector's service, which is the same.  read_json.c makes such of JSON.
 *
 * Source: opentelemetry/proto/profiles/v1development/profiles.proto of opentelemetry-proto. The format is
 * still changing, and a file does not say its version. Three are distinguished by what their messages have:
 *	1.7	no table of stacks: a sample has a part of a list of its profile
 *	1.8	a table of stacks; of a sample the values are field 2 and the attributes field 3
 *	1.10	the same, but the attributes are field 2 and the values field 4
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/labels.h"
#include "base/mem.h"
#include "base/protobuf.h"
#include "formats/otlp/otlp.h"

enum { MAX_FRAMES = 65537, MAX_TYPES = 32, FRAMES_PER_BYTE = 16, LEAST_FRAMES = 1 << 20,
	MAX_ROW_BYTES = 4096, MAX_RESOURCE_BYTES = 4096 };

enum version { VERSION_7, VERSION_8, VERSION_10 };

enum table { MAPPINGS = 1, LOCATIONS, FUNCTIONS, LINKS, STRINGS, ATTRIBUTES, STACKS, NR_TABLES };

struct rows {
	struct span *v;
	size_t nr, alloc;
};

/* of a profile's values: strings, and the event once it had a sample */
struct type {
	uint64_t name, unit;
	const struct otlp_event *event;
};

struct otlp_event {
	struct import_text name, unit;
	uint64_t scale;
	bool counts;			/* values are numbers of samples */
	uint32_t number;
};

struct otlp {
	struct import *im;
	struct rows tables[NR_TABLES + 1];	/* of 1.7, 5 are strings and 6 attributes as well */
	enum version version;
	uint32_t *index;		/* 1.7: the profile's list of locations */
	size_t nr_index, alloc_index;
	struct otlp_event events[MAX_TYPES];
	size_t nr_events;
	uint32_t proc;
	struct location {
		uint32_t first, nr;	/* in frames; nr 0: not resolved yet */
	} *locations;			/* [index], and one for those that there are not */
	struct frame *frames;
	size_t nr_frames, alloc_frames;
	struct frame *stack;		/* [MAX_FRAMES], filled from its end */
	size_t nr_stack;
	struct buf labels;		/* of one sample */
	struct buf resource;		/* labels of one */
	struct import_text host;	/* of the last resource */
	size_t nr_resources;
	bool hosts_differ;
	uint64_t *values, *times;
	size_t nr_values, alloc_values, nr_times, alloc_times;
	uint64_t base_ns, last_ns, frames_left;	/* base_ns: CLOCK_REALTIME of the first profile */
	bool has_proc, has_thread, untimed, uncounted;
};

/* ---- messages ---- */

static struct import_text otlp_text_of(struct span s)
{
	return (struct import_text){ (const char *)s.p, span_left(&s) };
}

static struct import_text otlp_string(const struct otlp *o, uint64_t i)
{
	return i < o->tables[STRINGS].nr ? otlp_text_of(o->tables[STRINGS].v[i]) : (struct import_text){ "", 0 };
}

static bool otlp_is_text(struct import_text t, const char *s)
{
	return t.len == strlen(s) && !memcmp(t.s, s, t.len);
}

static bool is_same(struct import_text a, struct import_text b)
{
	return a.len == b.len && (!a.len || !memcmp(a.s, b.s, a.len));
}

/* Find the first field of that number; return false if the message has none. */
static bool find_field(struct span s, uint32_t number, struct protobuf_field *f)
{
	while (protobuf_next(&s, f))
		if (f->number == number)
			return true;
	return false;
}

static uint64_t number_in(struct span s, uint32_t number)
{
	struct protobuf_field f;

	return find_field(s, number, &f) && f.wire != PROTOBUF_BYTES ? f.v : 0;
}

/* Read the next number of a list, packed or not. */
static bool otlp_next_number(struct protobuf_field *f, uint64_t *v)
{
	if (f->wire != PROTOBUF_BYTES) {
		if (f->wire == PROTOBUF_32)
			return false;
		*v = f->v;
		f->wire = PROTOBUF_32;	/* it was the only one */
		return true;
	}
	if (f->bytes.bad || !span_left(&f->bytes))
		return false;
	*v = span_varint(&f->bytes);
	return !f->bytes.bad;
}

/* Return whether the row exists and is short enough: one that many refer to must not take long to read. */
static bool row(const struct otlp *o, enum table table, uint64_t i, struct span *s)
{
	if (i >= o->tables[table].nr)
		return false;
	*s = o->tables[table].v[i];
	return table == STACKS || table == LOCATIONS || span_left(s) <= MAX_ROW_BYTES;
}

static void read_dictionary(struct otlp *o, struct span s)
{
	struct protobuf_field f;

	while (protobuf_next(&s, &f)) {
		struct rows *r = f.number >= MAPPINGS && f.number < NR_TABLES ? &o->tables[f.number] : NULL;

		if (!r || f.wire != PROTOBUF_BYTES)
			continue;
		*VEC_ADD(r->v, r->nr, r->alloc) = f.bytes;
	}
}

/* The value of an attribute that all attributes have: text, or a number. */
struct value {
	struct import_text key, text;
	uint64_t number;
	bool has_number;
};

/* Read an attribute. The key is a string or the number of one, and so is a text value. */
static struct value read_attribute(const struct otlp *o, struct span s, bool of_resource)
{
	enum { KEY = 1, VALUE = 2, KEY_OF_RESOURCE = 3 };
	enum { ANY_STRING = 1, ANY_INT = 3, ANY_NUMBER_OF_STRING = 8 };
	struct value v = { .key = { "", 0 }, .text = { "", 0 } };
	struct protobuf_field f, any;

	while (protobuf_next(&s, &f))
		if (f.number == KEY || (of_resource && f.number == KEY_OF_RESOURCE)) {
			v.key = f.wire == PROTOBUF_BYTES ? otlp_text_of(f.bytes) : otlp_string(o, f.v);
		} else if (f.number == VALUE && f.wire == PROTOBUF_BYTES) {
			if (find_field(f.bytes, ANY_STRING, &any) && any.wire == PROTOBUF_BYTES)
				v.text = otlp_text_of(any.bytes);
			else
				v.text = otlp_string(o, number_in(f.bytes, ANY_NUMBER_OF_STRING));
			v.has_number = find_field(f.bytes, ANY_INT, &any) && any.wire == PROTOBUF_VARINT;
			v.number = v.has_number ? any.v : 0;
		}
	return v;
}

/* ---- stacks ---- */

static enum function_kind otlp_kind_of(const struct otlp *o, struct span location)
{
	static const struct {
		const char *type;
		enum function_kind kind;
	} kinds[] = {
		{ "kernel", FUNCTION_KERNEL }, { "jvm", FUNCTION_JAVA }, { "native", FUNCTION_NATIVE },
	};
	struct protobuf_field f;
	struct span attribute;
	uint64_t i;
	size_t k;

	while (protobuf_next(&location, &f))
		while (f.number == 4 && otlp_next_number(&f, &i)) {
			struct value v;

			if (!row(o, ATTRIBUTES, i, &attribute))
				continue;
			v = read_attribute(o, attribute, false);
			for (k = 0; k < ARRAY_SIZE(kinds) && otlp_is_text(v.key, "profile.frame.type"); k++)
				if (otlp_is_text(v.text, kinds[k].type))
					return kinds[k].kind;
		}
	return FUNCTION_ANY;
}

static void otlp_add_frame(struct otlp *o, struct location *l, const struct import_function *fn,
			   uint64_t line)
{
	VEC_GROW(o->frames, o->nr_frames, o->alloc_frames);
	o->frames[o->nr_frames++] = (struct frame){ FRAME_NAMED, .function = import_function(o->im, fn),
						    .line = line <= UINT32_MAX ? line : 0 };
	l->nr++;
}

/* Add a function; like: its kind, unless it is inlined, and its module. */
static void add_line(struct otlp *o, struct location *l, struct import_function like, struct span line,
		     bool inlined)
{
	struct import_function fn = like;
	struct span function;

	if (inlined && fn.kind == FUNCTION_NATIVE)
		fn.kind = FUNCTION_NATIVE_INLINED;
	else if (inlined && fn.kind == FUNCTION_JAVA)
		fn.kind = FUNCTION_JAVA_INLINED;
	if (row(o, FUNCTIONS, number_in(line, 1), &function)) {
		uint64_t name = number_in(function, 1);

		fn.name = otlp_string(o, name ? name : number_in(function, 2));
		fn.file = otlp_string(o, number_in(function, 3));
	}
	if (!fn.name.len)
		fn = (struct import_function){ FUNCTION_UNRESOLVED, .name = { "[no name]", 9 } };
	else if (frame_mark_is_text(fn.name.s, fn.name.len))
		fn.kind = FUNCTION_MARK;
	otlp_add_frame(o, l, &fn, number_in(line, 2));
}

/*
 * Find the frames of a location, innermost first as its lines are. This is done once, however many stacks
 * have it.
 */
static void resolve(struct otlp *o, uint64_t index, struct location *l)
{
	struct import_function fn = { FUNCTION_ANY, .name = { "", 0 }, .module = { "", 0 }, .file = { "", 0 } };
	struct protobuf_field f;
	struct span location, s, mapping, last = { 0 };
	char text[32];

	l->first = o->nr_frames;
	if (row(o, LOCATIONS, index, &location)) {
		fn.kind = otlp_kind_of(o, location);
		if (row(o, MAPPINGS, number_in(location, 1), &mapping))
			fn.module = otlp_string(o, number_in(mapping, 4));
		for (s = location; protobuf_next(&s, &f);) {
			if (f.number != 3 || f.wire != PROTOBUF_BYTES)
				continue;
			if (last.p)
				add_line(o, l, fn, last, true);
			last = f.bytes;
		}
		if (last.p) {
			add_line(o, l, fn, last, false);
			return;
		}
		snprintf(text, sizeof(text), "0x%" PRIx64, number_in(location, 2));
		fn.name = (struct import_text){ text, strlen(text) };
	} else {
		fn.name = (struct import_text){ "[unknown]", 9 };
	}
	fn.kind = FUNCTION_UNRESOLVED;
	otlp_add_frame(o, l, &fn, 0);
}

/* Push a location; return false if all stacks together are longer than such a file can have. */
static bool push_location(struct otlp *o, uint64_t index)
{
	struct location *l = &o->locations[MIN(index, (uint64_t)o->tables[LOCATIONS].nr)];
	uint32_t i;

	if (!l->nr)
		resolve(o, index, l);
	for (i = 0; i < l->nr && o->frames_left; i++, o->frames_left--)
		if (o->nr_stack < MAX_FRAMES - 1)	/* labels are the outermost one */
			o->stack[MAX_FRAMES - ++o->nr_stack] = o->frames[l->first + i];
	return o->frames_left;
}

static void fill_stack(struct otlp *o, struct span sample)
{
	uint64_t first, nr, i;
	struct protobuf_field f;
	struct span stack;

	o->nr_stack = 0;
	if (o->version != VERSION_7) {
		if (row(o, STACKS, number_in(sample, 1), &stack))
			while (protobuf_next(&stack, &f))
				while (f.number == 1 && otlp_next_number(&f, &i) && push_location(o, i))
					;
		return;
	}
	first = number_in(sample, 1);
	nr = number_in(sample, 2);
	for (i = first; i < o->nr_index && i - first < nr && push_location(o, o->index[i]); i++)
		;
}

/* ---- samples ---- */

static const char *otlp_unit_of(struct import_text unit, struct import_text name, uint64_t *scale,
				char text[64])
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} times[] = { { "nanoseconds", 1 }, { "microseconds", 1000 }, { "milliseconds", 1000000 },
		      { "seconds", 1000000000 }, { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 } };
	size_t i;

	*scale = 1;
	for (i = 0; i < ARRAY_SIZE(times); i++)
		if (otlp_is_text(unit, times[i].unit)) {
			*scale = times[i].ns;
			return "ns";
		}
	if (!unit.len || otlp_is_text(unit, "count") || otlp_is_text(unit, "1"))
		return otlp_is_text(name, "samples") ? "samples" : "events";
	snprintf(text, 64, "%.*s", (int)MIN(unit.len, (size_t)63), unit.s);
	return text;
}

/* Return the event of a type. Requests have their own strings, but share the events. */
static const struct otlp_event *otlp_event_of(struct otlp *o, struct type *type, struct err *e)
{
	struct import_text name = otlp_string(o, type->name), text = otlp_string(o, type->unit);
	struct otlp_event *x;
	const char *unit;
	char made[64];
	size_t i;

	for (i = 0; i < o->nr_events && !type->event; i++)
		if (is_same(o->events[i].name, name) && is_same(o->events[i].unit, text))
			type->event = &o->events[i];
	if (type->event)
		return type->event;
	if (o->nr_events == MAX_TYPES) {
		err_set(e, EINVAL, "more than %d types of samples", MAX_TYPES);
		return NULL;
	}
	x = &o->events[o->nr_events++];
	x->name = name;
	x->unit = text;
	unit = otlp_unit_of(text, name, &x->scale, made);
	x->counts = !strcmp(unit, "samples");
	x->number = import_event(o->im, name, unit);
	return type->event = x;
}

/* Return the value as text, which may be in number; empty if it is neither text nor a number. */
static struct import_text value_text(const struct value *v, char number[24])
{
	if (v->text.len || !v->has_number)
		return v->text;
	snprintf(number, 24, "%" PRId64, (int64_t)v->number);
	return (struct import_text){ number, strlen(number) };
}

static void add_label(struct otlp *o, const struct value *v)
{
	char number[24];
	struct import_text text = value_text(v, number);

	if (text.len)
		import_label(o->im, &o->labels, v->key, text);
}

static void add_id(struct otlp *o, struct span link, uint32_t field, const char *key)
{
	struct protobuf_field f;
	struct buf b = BUF_INIT;
	bool any = false;
	uint8_t byte;

	if (find_field(link, field, &f) && f.wire == PROTOBUF_BYTES)
		while (span_left(&f.bytes)) {
			byte = span_u8(&f.bytes);
			buf_fmt(&b, "%02x", byte);
			any |= byte;
		}
	if (any)
		import_label(o->im, &o->labels, (struct import_text){ key, strlen(key) },
			     (struct import_text){ b.data, b.len });
	buf_release(&b);
}

/* Add labels for the span that the sample was in, with the keys of which write.c makes a link. */
static void take_link(struct otlp *o, struct span sample)
{
	static const uint8_t fields[] = { [VERSION_7] = 5, [VERSION_8] = 4, [VERSION_10] = 3 };
	uint64_t i = number_in(sample, fields[o->version]);
	struct span link;

	if (!i || !row(o, LINKS, i, &link))	/* 0: none */
		return;
	add_id(o, link, 1, "trace-id");
	add_id(o, link, 2, "span-id");
}

/* Return the thread; other attributes become labels. */
static uint32_t otlp_thread_of(struct otlp *o, struct span sample)
{
	uint32_t field = o->version == VERSION_7 ? 4 : o->version == VERSION_8 ? 3 : 2;
	struct import_text name = { "", 0 };
	struct protobuf_field f;
	struct span attribute;
	uint64_t tid = 0, i;

	while (protobuf_next(&sample, &f))
		while (f.number == field && otlp_next_number(&f, &i)) {
			struct value v;

			if (!row(o, ATTRIBUTES, i, &attribute))
				continue;
			v = read_attribute(o, attribute, false);
			if (otlp_is_text(v.key, "thread.name"))
				name = v.text;
			else if (otlp_is_text(v.key, "thread.id") && v.number <= INT32_MAX)
				tid = v.number;
			else
				add_label(o, &v);
		}
	if (!name.len && !tid && !o->proc)
		return 0;
	o->has_thread |= name.len || tid;
	return import_thread(o->im, o->proc, tid, name);
}

static void take_lists(struct otlp *o, struct span sample)
{
	uint32_t field = o->version == VERSION_7 ? 3 : o->version == VERSION_8 ? 2 : 4;
	struct protobuf_field f;
	uint64_t v;

	o->nr_values = o->nr_times = 0;
	while (protobuf_next(&sample, &f)) {
		while (f.number == field && otlp_next_number(&f, &v))
			*VEC_ADD(o->values, o->nr_values, o->alloc_values) = v;
		while (f.number == 5 && o->version != VERSION_7 && f.wire == PROTOBUF_BYTES &&
		       span_left(&f.bytes) >= 8) {
			*VEC_ADD(o->times, o->nr_times, o->alloc_times) = span_u64(&f.bytes);
		}
	}
}

static int otlp_put_value(struct otlp *o, struct rec_sample *s, const struct otlp_event *x, uint64_t value,
			  struct err *e)
{
	size_t nr = o->nr_stack;

	if ((int64_t)value < 0)
		return err_set(e, EINVAL, "a value below zero");
	if (__builtin_mul_overflow(value, x->scale, &s->weight))
		s->weight = UINT64_MAX;	/* which import_sample() refuses */
	s->event = x->number;
	if (o->labels.len && s->time_ns)
		import_labels_at(o->im, s->thread, s->time_ns, &o->labels);
	else if (o->labels.len)
		o->stack[MAX_FRAMES - ++nr] = import_labels_frame(o->im, &o->labels);
	s->stack = trace_write_stack(o->im->w, o->stack + MAX_FRAMES - nr, nr);
	import_sample(o->im, s);
	return 0;
}

/* Read a sample: a value for each type (1.7), or a value of one type for each time. */
static int read_sample(struct otlp *o, struct span sample, struct type *types, size_t nr_types,
		       struct err *e)
{
	struct rec_sample s = { .cpu = IMPORT_NO_CPU };
	size_t i, nr;
	int r = 0;

	fill_stack(o, sample);
	if (!o->frames_left)
		return err_set(e, EINVAL, "damaged: its stacks are longer than such a file can have");
	take_lists(o, sample);
	buf_reset(&o->labels);
	s.thread = otlp_thread_of(o, sample);
	take_link(o, sample);
	nr = o->version == VERSION_7 ? MIN(o->nr_values, nr_types) : MAX(o->nr_values, o->nr_times);
	for (i = 0; i < nr && !r; i++) {
		bool timed = o->nr_times == nr && o->times[i] >= o->base_ns &&
			     o->times[i] - o->base_ns < 1ull << 62;
		const struct otlp_event *x = otlp_event_of(o, &types[o->version == VERSION_7 ? i : 0], e);
		uint64_t value = i < o->nr_values ? o->values[i] : 1;	/* times alone are samples */

		if (!x)
			return -e->code;
		s.time_ns = timed ? o->times[i] - o->base_ns + 1 : 0;
		o->last_ns = MAX(o->last_ns, s.time_ns);
		o->untimed |= !timed;
		if (!value && !timed)
			continue;
		s.more = x->counts ? (int64_t)value - 1 : o->nr_times == nr ? 0 : -1;
		o->uncounted |= s.more < 0;
		r = otlp_put_value(o, &s, x, value, e);
	}
	return r;
}

/* ---- profiles ---- */

static void take_indices(struct otlp *o, struct span profile)
{
	struct protobuf_field f;
	uint64_t v;

	o->nr_index = 0;
	while (o->version == VERSION_7 && protobuf_next(&profile, &f))
		while (f.number == 3 && otlp_next_number(&f, &v))
			*VEC_ADD(o->index, o->nr_index, o->alloc_index) = v;
}

static int read_profile(struct otlp *o, struct span profile, struct err *e)
{
	struct type types[MAX_TYPES];
	struct protobuf_field f;
	struct span s = profile;
	size_t nr = 0;
	int r = 0;

	take_indices(o, profile);
	while (protobuf_next(&s, &f))
		if (f.number == 1 && f.wire == PROTOBUF_BYTES && nr < MAX_TYPES)
			types[nr++] = (struct type){ number_in(f.bytes, 1), number_in(f.bytes, 2), NULL };
	if (!nr)
		types[nr++] = (struct type){ 0, 0, NULL };
	for (s = profile; !r && protobuf_next(&s, &f);)
		if (f.number == 2 && f.wire == PROTOBUF_BYTES)
			r = read_sample(o, f.bytes, types, nr, e);
	return !r && s.bad ? err_set(e, EINVAL, "damaged: a profile cannot be read") : r;
}

/* What is another for each process, or says who measured, would separate what belongs together. */
static bool is_of_resource(struct import_text key)
{
	static const char *const others[] = { "process.", "telemetry.", "arcprof." };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(others); i++)
		if (key.len > strlen(others[i]) && !memcmp(key.s, others[i], strlen(others[i])))
			return false;
	return true;
}

/* Add an attribute under the key that arcprof has for it. */
static void add_resource_label(struct otlp *o, const struct value *v)
{
	char number[24];
	struct import_text text = value_text(v, number);
	const char *own = otlp_is_text(v->key, "service.name") ? "service" :
			  otlp_is_text(v->key, "service.version") ? "version" : NULL;

	if (text.len && is_of_resource(v->key) && o->resource.len < MAX_RESOURCE_BYTES)
		labels_add_foreign(&o->resource, own ? own : v->key.s, own ? strlen(own) : v->key.len, text.s,
				   text.len);
}

/* The host of the recording is that which all resources have. */
static void take_host(struct otlp *o, struct import_text host)
{
	o->hosts_differ |= o->nr_resources && !is_same(o->host, host);
	o->host = host;
	o->nr_resources++;
}

static void read_resource(struct otlp *o, struct span resource)
{
	struct import_text name = { "", 0 }, host = { "", 0 };
	struct protobuf_field f;
	uint64_t pid = 0;

	buf_reset(&o->resource);
	while (protobuf_next(&resource, &f)) {
		struct value v;

		if (f.number != 1 || f.wire != PROTOBUF_BYTES)
			continue;
		v = read_attribute(o, f.bytes, true);
		if (otlp_is_text(v.key, "process.pid") && v.number <= INT32_MAX)
			pid = v.number;
		else if (otlp_is_text(v.key, "process.executable.name") ||
			 (otlp_is_text(v.key, "service.name") && !name.len))
			name = v.text;
		if (otlp_is_text(v.key, "host.name"))
			host = v.text;
		add_resource_label(o, &v);
	}
	take_host(o, host);
	o->proc = pid || name.len || o->resource.len ?
		  import_proc_labelled(o->im, pid, name, &o->resource) : 0;
	o->has_proc |= o->proc != 0;
}

typedef int each_profile(struct otlp *o, struct span profile, struct err *e);

/* Call fn for each profile, in the order of the file. */
static int walk(struct otlp *o, struct span s, bool resources, each_profile *fn, struct err *e)
{
	struct protobuf_field data, scope, profile;
	int r = 0;

	while (!r && protobuf_next(&s, &data)) {
		struct span at = data.bytes;

		if (data.number != 1 || data.wire != PROTOBUF_BYTES)
			continue;
		if (resources) {
			o->proc = 0;
			if (find_field(data.bytes, 1, &scope) && scope.wire == PROTOBUF_BYTES)
				read_resource(o, scope.bytes);
		}
		while (!r && protobuf_next(&at, &scope))
			while (!r && scope.number == 2 && scope.wire == PROTOBUF_BYTES &&
			       protobuf_next(&scope.bytes, &profile))
				if (profile.number == 2 && profile.wire == PROTOBUF_BYTES)
					r = fn(o, profile.bytes, e);
	}
	return r;
}

/* Find out the version of the samples, and when the first profile began. */
static int otlp_look_ahead(struct otlp *o, struct span profile, struct err *e)
{
	struct protobuf_field f, field;
	uint64_t time_ns = 0;

	while (protobuf_next(&profile, &f)) {
		if (f.number == (o->version == VERSION_7 ? 4 : 3) && f.wire != PROTOBUF_BYTES)
			time_ns = f.v;
		while (f.number == 2 && f.wire == PROTOBUF_BYTES && o->version != VERSION_7 &&
		       protobuf_next(&f.bytes, &field))
			if ((field.number == 4 && field.wire == PROTOBUF_BYTES) ||
			    (field.number == 3 && field.wire == PROTOBUF_VARINT))
				o->version = VERSION_10;
	}
	if (time_ns && (!o->base_ns || time_ns < o->base_ns))
		o->base_ns = time_ns;
	return 0;
}

static void release_tables(struct otlp *o)
{
	size_t i;

	for (i = 0; i <= NR_TABLES; i++)
		free(o->tables[i].v);
	memset(o->tables, 0, sizeof(o->tables));
	free(o->locations);
	o->locations = NULL;
	o->nr_frames = 0;
}

/* Begin a request: read its tables, its version, and its start. */
static int begin_request(struct otlp *o, struct span request, struct err *e)
{
	struct span at = request;
	struct protobuf_field f;

	release_tables(o);
	while (protobuf_next(&at, &f))
		if (f.number == 2 && f.wire == PROTOBUF_BYTES)
			read_dictionary(o, f.bytes);
	if (at.bad)
		return err_set(e, EINVAL, "damaged or truncated at offset %zu", (size_t)(at.p - request.p));
	o->version = o->tables[STACKS].nr ? VERSION_8 : VERSION_7;
	o->locations = xcalloc(o->tables[LOCATIONS].nr + 1, sizeof(*o->locations));
	return walk(o, request, false, otlp_look_ahead, e);
}

/* Read the requests. When the earliest began is known before the first is read. */
static int read_requests(struct otlp *o, const struct span *requests, size_t nr, struct err *e)
{
	size_t i;
	int r = 0;

	for (i = 0; i < nr && !r; i++) {
		o->frames_left += span_left(&requests[i]) * FRAMES_PER_BYTE;
		r = begin_request(o, requests[i], e);
	}
	for (i = 0; i < nr && !r; i++) {
		if (nr > 1)
			r = begin_request(o, requests[i], e);
		if (!r)
			r = walk(o, requests[i], true, read_profile, e);
	}
	return !r && !o->nr_events ? err_set(e, ENODATA, "no samples in it") : r;
}

static void write_head(struct otlp *o)
{
	o->untimed |= !o->last_ns;
	if (!o->untimed) {
		trace_write_label(o->im->w, "start.mono_ns", "1");
		trace_write_label(o->im->w, "end.mono_ns", "%" PRIu64, o->last_ns);
	}
	if (o->base_ns)
		import_start(o->im, o->base_ns);
	if (o->host.len && !o->hosts_differ)
		trace_write_label(o->im->w, "host", "%.*s", (int)MIN(o->host.len, (size_t)LABELS_MAX_VALUE),
				  o->host.s);
	o->im->unknown = IMPORT_NO_LOST | IMPORT_NO_MODES | (o->has_proc ? 0 : IMPORT_NO_PROCESSES) |
			 (o->has_thread ? 0 : IMPORT_NO_THREADS) | (o->untimed ? IMPORT_NO_TIMES : 0) |
			 (o->uncounted ? IMPORT_NO_COUNTS : 0);
}

int otlp_read_requests(struct import *im, const struct span *requests, size_t nr, struct err *e)
{
	struct otlp o = { .im = im, .frames_left = LEAST_FRAMES };
	int r;

	o.stack = xcalloc(MAX_FRAMES, sizeof(*o.stack));
	r = read_requests(&o, requests, nr, e);
	write_head(&o);
	release_tables(&o);
	free(o.index);
	free(o.stack);
	free(o.frames);
	free(o.values);
	free(o.times);
	buf_release(&o.labels);
	buf_release(&o.resource);
	return r;
}

static int otlp_read(struct import *im, const char *data, size_t len, struct err *e)
{
	const struct span request = span_init(data, len);

	return otlp_read_requests(im, &request, 1, e);
}

/* Enter the next message, if it has that tag; its end may be cut off. */
static bool enter_message(struct span *s, uint8_t tag)
{
	uint64_t len;

	if (!span_left(s) || *s->p != tag)
		return false;
	span_u8(s);
	len = span_varint(s);
	if (len < span_left(s))
		*s = span_init(s->p, len);
	return !s->bad;
}

/* Skips a message of that tag, if it is there. */
static void pass(struct span *s, uint8_t tag)
{
	if (!span_left(s) || *s->p != tag)
		return;
	span_u8(s);
	span_bytes(s, span_varint(s));
}

/* Return whether the data is nested messages: resource profiles, scope profiles, and a profile. */
static bool otlp_is(const char *data, size_t len)
{
	enum { FIRST = 1 << 3 | PROTOBUF_BYTES, SECOND = 2 << 3 | PROTOBUF_BYTES };
	struct span s = span_init(data, len);

	if (!enter_message(&s, FIRST))
		return false;
	pass(&s, FIRST);
	if (!enter_message(&s, SECOND))
		return false;
	pass(&s, FIRST);
	return enter_message(&s, SECOND) && (enter_message(&s, FIRST) || enter_message(&s, SECOND));
}

const struct import_format import_otlp = {
	.name = "OTLP",
	.what = "a file of OpenTelemetry's profiles",
	.is = otlp_is,
	.read = otlp_read,
};
