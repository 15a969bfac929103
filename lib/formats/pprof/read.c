// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read.c - a profile.proto: samples of one or several types, with inlined functions, lines and mappings.
 *
 * Source: profile.proto of github.com/google/pprof; wire format: protobuf's encoding guide. The table of
 * strings and what samples refer to may come after them, so the file is read twice.
 *
 * A type that counts (samples, calls, *_objects, contentions) is the n of the types that follow it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/protobuf.h"
#include "base/span.h"
#include "formats/modules.h"
#include "formats/pprof/fields.h"

enum {
	MAX_TYPES = 32, MAX_FRAMES = 65537, MAX_LINES = 256,
	/*
	 * bounds all stacks together: a byte of a sample can name a location with many inlined functions, but
	 * few have many
	 */
	FRAMES_PER_BYTE = 16, LEAST_FRAMES = 1 << 20,
};

struct mapping {
	uint64_t start, offset, file, build_id;
	uint32_t module;		/* of import_modules_get(); 0: not asked for yet */
};

struct function {
	uint64_t name, system_name, file;
};

struct location {
	struct span message;
	uint32_t first, nr;		/* in frames; nr 0: not resolved yet */
};

struct type {
	uint64_t name, unit;		/* strings */
	uint64_t scale;			/* to the unit of the event */
	int counter;			/* the type that is its n, -1: none */
	bool counts;			/* is the n of others */
	uint32_t event;
	uint32_t minus;			/* + 1: event of what is below zero; 0: nothing is */
};

struct pprof {
	struct import *im;
	struct import_modules modules;
	struct import_text *strings;
	size_t nr_strings, alloc_strings;
	struct mapping *mappings;
	size_t nr_mappings, alloc_mappings;
	struct function *functions;
	size_t nr_functions, alloc_functions;
	struct location *locations;
	size_t nr_locations, alloc_locations;
	struct map mapping_of, function_of, location_of;	/* id -> index */
	struct frame *frames;
	size_t nr_frames, alloc_frames;
	struct type types[MAX_TYPES];
	size_t nr_types;
	uint64_t default_type, time_ns, duration_ns;
	struct frame *stack;		/* [MAX_FRAMES], of one sample */
	uint64_t *values;
	uint64_t frames_left;		/* what samples may still have */
	struct buf labels;		/* of one sample */
	bool has_proc, has_thread;
	uint64_t nr_minus;
};

/* ---- the wire ---- */

/* Read the next number of a repeated field, packed or not. */
static bool next_number(struct protobuf_field *f, uint64_t *v)
{
	if (f->wire == PROTOBUF_VARINT) {
		*v = f->v;
		f->wire = PROTOBUF_64;	/* it was the only one */
		return true;
	}
	if (f->wire != PROTOBUF_BYTES || f->bytes.bad || !span_left(&f->bytes))
		return false;
	*v = span_varint(&f->bytes);
	return !f->bytes.bad;
}

static struct import_text string(const struct pprof *p, uint64_t i)
{
	return i < p->nr_strings ? p->strings[i] : (struct import_text){ "", 0 };
}

static bool is_string(const struct pprof *p, uint64_t i, const char *s)
{
	const struct import_text t = string(p, i);

	return t.len == strlen(s) && !memcmp(t.s, s, t.len);
}

/* ---- what samples refer to ---- */

static void take_mapping(struct pprof *p, struct span s)
{
	struct mapping m = { .start = 0 };
	uint64_t id = 0;
	struct protobuf_field f;

	while (protobuf_next(&s, &f)) {
		uint64_t *to = f.number == MAPPING_ID ? &id : f.number == MAPPING_START ? &m.start :
			       f.number == MAPPING_OFFSET ? &m.offset :
			       f.number == MAPPING_FILENAME ? &m.file :
			       f.number == MAPPING_BUILD_ID ? &m.build_id : NULL;

		if (to)
			*to = f.v;
	}
	*map_put(&p->mapping_of, id) = p->nr_mappings;
	*VEC_ADD(p->mappings, p->nr_mappings, p->alloc_mappings) = m;
}

static void take_function(struct pprof *p, struct span s)
{
	struct function fn = { .name = 0 };
	uint64_t id = 0;
	struct protobuf_field f;

	while (protobuf_next(&s, &f)) {
		uint64_t *to = f.number == FUNCTION_ID ? &id : f.number == FUNCTION_NAME ? &fn.name :
			       f.number == FUNCTION_SYSTEM_NAME ? &fn.system_name :
			       f.number == FUNCTION_FILENAME ? &fn.file : NULL;

		if (to)
			*to = f.v;
	}
	*map_put(&p->function_of, id) = p->nr_functions;
	*VEC_ADD(p->functions, p->nr_functions, p->alloc_functions) = fn;
}

static void take_location(struct pprof *p, struct span message)
{
	struct span s = message;
	uint64_t id = 0;
	struct protobuf_field f;

	while (protobuf_next(&s, &f))
		if (f.number == LOCATION_ID)
			id = f.v;
	*map_put(&p->location_of, id) = p->nr_locations;
	*VEC_ADD(p->locations, p->nr_locations, p->alloc_locations) =
		(struct location){ .message = message };
}

static int take_type(struct pprof *p, struct span s, struct err *e)
{
	struct type t = { .scale = 1, .counter = -1 };
	struct protobuf_field f;

	while (protobuf_next(&s, &f))
		if (f.number == VALUE_TYPE_TYPE)
			t.name = f.v;
		else if (f.number == VALUE_TYPE_UNIT)
			t.unit = f.v;
	if (p->nr_types == MAX_TYPES)
		return err_set(e, EINVAL, "more than %d types of samples", MAX_TYPES);
	p->types[p->nr_types++] = t;
	return 0;
}

/* Read everything but the samples. */
static int read_tables(struct pprof *p, struct span s, struct err *e)
{
	const uint8_t *start = s.p;
	struct protobuf_field f;
	int r = 0;

	while (!r && protobuf_next(&s, &f)) {
		if (f.number == PROFILE_SAMPLE_TYPE)
			r = take_type(p, f.bytes, e);
		else if (f.number == PROFILE_MAPPING)
			take_mapping(p, f.bytes);
		else if (f.number == PROFILE_LOCATION)
			take_location(p, f.bytes);
		else if (f.number == PROFILE_FUNCTION)
			take_function(p, f.bytes);
		else if (f.number == PROFILE_TIME_NANOS)
			p->time_ns = f.v;
		else if (f.number == PROFILE_DURATION_NANOS)
			p->duration_ns = f.v;
		else if (f.number == PROFILE_DEFAULT_SAMPLE_TYPE)
			p->default_type = f.v;
		if (f.number != PROFILE_STRING_TABLE || f.wire != PROTOBUF_BYTES)
			continue;
		VEC_GROW(p->strings, p->nr_strings, p->alloc_strings);
		p->strings[p->nr_strings++] =
			(struct import_text){ (const char *)f.bytes.p, span_left(&f.bytes) };
	}
	if (!r && s.bad)
		r = err_set(e, EINVAL, "damaged or truncated: what is at offset %zu is not a field of a profile",
			    (size_t)(s.p - start));
	return r;
}

/* ---- types ---- */

static bool is_counter(const struct pprof *p, const struct type *t)
{
	const struct import_text name = string(p, t->name);

	return is_string(p, t->unit, "count") &&
	       (is_string(p, t->name, "samples") || is_string(p, t->name, "calls") ||
		is_string(p, t->name, "contentions") ||
		(name.len > 8 && !memcmp(name.s + name.len - 8, "_objects", 8)));
}

/* Return arcprof's name of the unit. */
static const char *unit_of(const struct pprof *p, struct type *t, char text[64])
{
	static const struct {
		const char *unit;
		uint64_t ns;
	} times[] = { { "nanoseconds", 1 }, { "microseconds", 1000 }, { "milliseconds", 1000000 },
		      { "seconds", 1000000000 } };
	const struct import_text unit = string(p, t->unit);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(times); i++)
		if (is_string(p, t->unit, times[i].unit)) {
			t->scale = times[i].ns;
			return "ns";
		}
	if (is_string(p, t->unit, "count"))
		return is_counter(p, t) ? "samples" : "events";
	snprintf(text, 64, "%.*s", (int)MIN(unit.len, (size_t)63), unit.s);
	return text;
}

static void find_counters(struct pprof *p)
{
	int counter = -1;
	size_t i;

	for (i = 0; i < p->nr_types; i++) {
		struct type *t = &p->types[i];

		if (is_counter(p, t)) {
			counter = i;
			t->counts = i + 1 < p->nr_types && !is_counter(p, &p->types[i + 1]);
			t->counter = i;
		} else {
			t->counter = counter;
		}
		if (t->counter < 0)
			p->im->unknown |= IMPORT_NO_COUNTS;
		if (is_string(p, t->name, "calls") && t->counts)
			import_note(p->im, "what is called samples here are calls");
	}
}

/*
 * Name the events. The default type comes first, as reports show that: the last type, unless the profile says
 * otherwise.
 */
static void name_events(struct pprof *p)
{
	size_t first = p->nr_types - 1, i, k;
	char unit[64];

	find_counters(p);
	for (i = 0; i < p->nr_types; i++)
		if (p->default_type && !p->types[i].counts && p->types[i].name == p->default_type)
			first = i;
	for (k = 0; k <= p->nr_types; k++) {
		i = k ? k - 1 : first;
		if (p->types[i].counts || (k && i == first))
			continue;
		p->types[i].event = import_event(p->im, string(p, p->types[i].name),
						 unit_of(p, &p->types[i], unit));
	}
}

/* ---- locations ---- */

static uint32_t module_of(struct pprof *p, struct mapping *m)
{
	const struct import_text id = string(p, m->build_id);
	struct import_module like = { .path = NULL };

	if (m->module)
		return m->module;
	import_module_id(&like, id);
	m->module = import_modules_get(&p->modules, p->im, &like, string(p, m->file));
	return m->module;
}

static struct frame address_frame(struct pprof *p, struct mapping *m, uint64_t address)
{
	struct import_function fn = { .kind = FUNCTION_UNRESOLVED };
	char text[32];

	if (m && string(p, m->file).len && address >= m->start)
		return (struct frame){ FRAME_NATIVE, .module = module_of(p, m),
				       .off = address - m->start + m->offset };
	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	fn.name = (struct import_text){ text, strlen(text) };
	return (struct frame){ FRAME_NAMED, .function = import_function(p->im, &fn) };
}

static struct frame line_frame(struct pprof *p, const struct mapping *m, struct span line, bool inlined)
{
	struct import_function fn = { .kind = FUNCTION_ANY, .module = { "", 0 }, .file = { "", 0 } };
	uint64_t id = 0, number = 0;
	struct protobuf_field f;
	uint32_t at;

	while (protobuf_next(&line, &f))
		if (f.number == LINE_FUNCTION_ID)
			id = f.v;
		else if (f.number == LINE_LINE)
			number = f.v;
	at = map_get(&p->function_of, id);
	fn.name = (struct import_text){ "[unknown]", 9 };
	if (at != MAP_NONE) {
		const struct function *known = &p->functions[at];

		fn.name = string(p, string(p, known->name).len ? known->name : known->system_name);
		fn.file = string(p, known->file);
	} else {
		fn.kind = FUNCTION_UNRESOLVED;
	}
	if (m) {
		fn.module = string(p, m->file);
		fn.kind = fn.module.len > 7 && !memcmp(fn.module.s, "[kernel", 7) ? FUNCTION_KERNEL :
			  inlined ? FUNCTION_NATIVE_INLINED : FUNCTION_NATIVE;
	}
	if (frame_mark_is_text(fn.name.s, fn.name.len))
		fn.kind = FUNCTION_MARK;
	return (struct frame){ FRAME_NAMED, .function = import_function(p->im, &fn),
			       .line = number <= UINT32_MAX ? number : 0 };
}

static void pprof_add_frame(struct pprof *p, struct location *l, struct frame f)
{
	*VEC_ADD(p->frames, p->nr_frames, p->alloc_frames) = f;
	l->nr++;
}

/* Find the frames of a location, innermost first as its lines are. */
static void resolve(struct pprof *p, struct location *l)
{
	struct span s = l->message, lines[MAX_LINES];
	uint64_t mapping = 0, address = 0;
	struct mapping *m;
	struct protobuf_field f;
	size_t nr = 0, i;
	uint32_t at;

	while (protobuf_next(&s, &f))
		if (f.number == LOCATION_MAPPING_ID)
			mapping = f.v;
		else if (f.number == LOCATION_ADDRESS)
			address = f.v;
		else if (f.number == LOCATION_LINE && f.wire == PROTOBUF_BYTES && nr < MAX_LINES)
			lines[nr++] = f.bytes;
	at = map_get(&p->mapping_of, mapping);
	m = mapping && at != MAP_NONE ? &p->mappings[at] : NULL;
	l->first = p->nr_frames;
	for (i = 0; i < nr; i++)
		pprof_add_frame(p, l, line_frame(p, m, lines[i], i + 1 < nr));
	if (!nr)
		pprof_add_frame(p, l, address_frame(p, m, address));
}

/* ---- samples ---- */

struct sample {
	struct import_text process, thread;
	uint64_t pid, tid;
	size_t nr_frames, nr_values;
	bool is_cut;
};

/* Add a label of the program. One that is neither text nor a number other than 0 has no value. */
static void add_label(struct pprof *p, uint64_t key, uint64_t str, uint64_t num)
{
	struct import_text value = string(p, str);
	char text[24];

	if (!value.len && num) {
		snprintf(text, sizeof(text), "%" PRId64, (int64_t)num);
		value = (struct import_text){ text, strlen(text) };
	}
	if (value.len)
		import_label(p->im, &p->labels, string(p, key), value);
}

static void take_label(struct pprof *p, struct span s, struct sample *x)
{
	uint64_t key = 0, str = 0, num = 0;
	struct protobuf_field f;

	while (protobuf_next(&s, &f))
		if (f.number == LABEL_KEY)
			key = f.v;
		else if (f.number == LABEL_STR)
			str = f.v;
		else if (f.number == LABEL_NUM)
			num = f.v;
	if (is_string(p, key, "process"))
		x->process = string(p, str);
	else if (is_string(p, key, "pid") && num <= INT32_MAX)
		x->pid = num;
	else if (is_string(p, key, "thread"))
		x->thread = string(p, str);
	else if (is_string(p, key, "tid") && num <= INT32_MAX)
		x->tid = num;
	else
		add_label(p, key, str, num);
}

/* Fill the stack from its end, as locations come innermost first. */
static void take_locations(struct pprof *p, struct protobuf_field *f, struct sample *x)
{
	uint64_t id;

	while (next_number(f, &id)) {
		uint32_t at = map_get(&p->location_of, id), i;
		struct location *l = at == MAP_NONE ? NULL : &p->locations[at];
		const struct import_function none = { FUNCTION_UNRESOLVED, .name = { "[unknown]", 9 } };

		if (l && !l->nr)
			resolve(p, l);
		p->frames_left -= MIN(p->frames_left, (uint64_t)(l ? l->nr : 1));
		if (x->nr_frames + (l ? l->nr : 1) >= MAX_FRAMES - 1) {
			x->is_cut = true;
			continue;
		}
		if (!l)
			p->stack[MAX_FRAMES - ++x->nr_frames] =
				(struct frame){ FRAME_NAMED, .function = import_function(p->im, &none) };
		for (i = 0; l && i < l->nr; i++)
			p->stack[MAX_FRAMES - ++x->nr_frames] = p->frames[l->first + i];
	}
}

static uint32_t thread_of(struct pprof *p, const struct sample *x)
{
	uint32_t proc = 0;

	if (x->pid || x->process.len) {
		proc = import_proc(p->im, x->pid, x->process);
		p->has_proc = true;
	}
	if (!proc && !x->tid && !x->thread.len)
		return 0;
	p->has_thread = true;
	return import_thread(p->im, proc, x->tid, x->thread);
}

/* Return whether the stack is only a thread, which arcprof writes as a function if it is in none. */
static bool is_thread_alone(struct pprof *p, const struct sample *x)
{
	struct import_function fn = { FUNCTION_ANY, .module = { "", 0 }, .file = { "", 0 } };
	struct buf b = BUF_INIT;
	bool same;

	if (x->nr_frames != 1 || !x->tid)
		return false;
	buf_fmt(&b, "%.*s [tid %" PRIu64 "]", (int)MIN(x->thread.len, (size_t)4096), x->thread.s, x->tid);
	fn.name = (struct import_text){ b.data, b.len };
	same = p->stack[MAX_FRAMES - 1].function == import_function(p->im, &fn);
	buf_release(&b);
	return same;
}

/*
 * Return an event for negative values, as in a difference of profiles, since no count or weight is below
 * zero.
 */
static uint32_t minus_event(struct pprof *p, struct type *t)
{
	const struct import_text name = string(p, t->name);
	struct buf b = BUF_INIT;
	char unit[64];

	p->nr_minus++;
	if (!t->minus) {
		buf_fmt(&b, "minus-%.*s", (int)MIN(name.len, (size_t)4096), name.s);
		t->minus = 1 + import_event(p->im, (struct import_text){ b.data, b.len },
					    unit_of(p, t, unit));
		buf_release(&b);
	}
	return t->minus - 1;
}

/* Write a value with the n of the same sign; -1: not known. */
static void pprof_put_value(struct pprof *p, struct type *t, struct rec_sample *s, uint64_t value, int64_t n,
			    bool minus)
{
	if (__builtin_mul_overflow(value, t->scale, &s->weight))
		s->weight = UINT64_MAX;	/* which import_sample() refuses */
	s->event = minus ? minus_event(p, t) : t->event;
	s->more = n - 1;
	import_sample(p->im, s);
}

static void write_sample(struct pprof *p, const struct sample *x)
{
	struct rec_sample s = { .cpu = IMPORT_NO_CPU, .thread = thread_of(p, x) };
	size_t nr = is_thread_alone(p, x) ? 0 : x->nr_frames, i;

	if (p->labels.len)
		p->stack[MAX_FRAMES - ++nr] = import_labels_frame(p->im, &p->labels);
	for (i = 0; i < p->nr_types; i++) {
		struct type *t = &p->types[i];
		int64_t n = t->counter < 0 ? 0 : (int64_t)p->values[t->counter], v = (int64_t)p->values[i];

		if (t->counter >= 0 && t->counter + 1 < (int)i && !v)	/* it counts those of another type */
			continue;
		if (t->counts || (!v && !n))
			continue;
		s.stack = trace_write_stack(p->im->w, p->stack + MAX_FRAMES - nr, nr);
		if (v > 0 || n > 0)
			pprof_put_value(p, t, &s, MAX(v, (int64_t)0), MAX(n, (int64_t)0), false);
		if (v >= 0 && n >= 0)
			continue;
		s.stack = trace_write_stack(p->im->w, p->stack + MAX_FRAMES - nr, nr);
		pprof_put_value(p, t, &s, v < 0 ? -(uint64_t)v : 0, n < 0 ? -MAX(n, -INT64_MAX) : 0, true);
	}
}

static int take_sample(struct pprof *p, struct span s, struct err *e)
{
	struct sample x = { .process = { "", 0 }, .thread = { "", 0 } };
	struct protobuf_field f;
	uint64_t v;

	buf_reset(&p->labels);
	while (protobuf_next(&s, &f))
		if (f.number == SAMPLE_LOCATION_ID)
			take_locations(p, &f, &x);
		else if (f.number == SAMPLE_LABEL && f.wire == PROTOBUF_BYTES)
			take_label(p, f.bytes, &x);
		else if (f.number == SAMPLE_VALUE)
			while (next_number(&f, &v))
				if (x.nr_values < p->nr_types)
					p->values[x.nr_values++] = v;
	if (x.is_cut)
		p->stack[MAX_FRAMES - ++x.nr_frames] =
			(struct frame){ FRAME_MARK, .mark = MARK_TRUNCATED_DEPTH };
	if (s.bad || x.nr_values != p->nr_types)
		return err_set(e, EINVAL, "damaged: a sample has %zu of %zu values", x.nr_values,
			       p->nr_types);
	if (!p->frames_left)
		return err_set(e, EINVAL, "damaged: its stacks are longer than such a file can have");
	write_sample(p, &x);
	return 0;
}

static int pprof_read_samples(struct pprof *p, struct span s, struct err *e)
{
	struct protobuf_field f;
	int r = 0;

	while (!r && protobuf_next(&s, &f))
		if (f.number == PROFILE_SAMPLE && f.wire == PROTOBUF_BYTES)
			r = take_sample(p, f.bytes, e);
	return r;
}

/* ---- the whole ---- */

static void write_rest(struct pprof *p)
{
	if (p->time_ns)
		import_start(p->im, p->time_ns);
	if (p->duration_ns)
		trace_write_label(p->im->w, "end.mono_ns", "%" PRIu64, p->duration_ns);
	if (p->nr_minus)
		import_note(p->im, "%" PRIu64 " value%s below zero, in the metrics minus-...", p->nr_minus,
			    p->nr_minus == 1 ? " is" : "s are");
	import_modules_names(&p->modules, p->im, false);
	p->im->unknown |= IMPORT_NO_TIMES | IMPORT_NO_LOST | IMPORT_NO_MODES |
			  (p->has_proc ? 0 : IMPORT_NO_PROCESSES) | (p->has_thread ? 0 : IMPORT_NO_THREADS);
}

static int pprof_read(struct import *im, const char *data, size_t len, struct err *e)
{
	struct pprof p = { .im = im, .frames_left = LEAST_FRAMES + len * FRAMES_PER_BYTE };
	struct span s = span_init(data, len);
	int r = read_tables(&p, s, e);

	if (!r && !p.nr_types)
		r = err_set(e, EINVAL, "damaged: it has no types of samples");
	if (!r) {
		p.stack = xcalloc(MAX_FRAMES, sizeof(*p.stack));
		p.values = xcalloc(MAX_TYPES, sizeof(*p.values));
		name_events(&p);
		r = pprof_read_samples(&p, s, e);
		write_rest(&p);
	}
	import_modules_release(&p.modules);
	free(p.strings);
	free(p.mappings);
	free(p.functions);
	free(p.locations);
	free(p.frames);
	free(p.stack);
	free(p.values);
	buf_release(&p.labels);
	map_release(&p.mapping_of);
	map_release(&p.function_of);
	map_release(&p.location_of);
	return r;
}

/* Return whether a type of samples has two strings and nothing else. */
static bool is_type(struct span s)
{
	struct protobuf_field f;

	while (protobuf_next(&s, &f))
		if ((f.number != VALUE_TYPE_TYPE && f.number != VALUE_TYPE_UNIT) || f.wire != PROTOBUF_VARINT)
			return false;
	return !s.bad;
}

/*
 * Return whether it is such a profile. There is no magic number: each field must be one that a profile has,
 * in its own wire format, up to where the head was cut, which may be in a long first sample, or the file.
 */
static bool pprof_is(const char *data, size_t len)
{
	static const uint8_t wires[] = {
		[PROFILE_SAMPLE_TYPE] = PROTOBUF_BYTES, [PROFILE_SAMPLE] = PROTOBUF_BYTES,
		[PROFILE_MAPPING] = PROTOBUF_BYTES, [PROFILE_LOCATION] = PROTOBUF_BYTES,
		[PROFILE_FUNCTION] = PROTOBUF_BYTES, [PROFILE_STRING_TABLE] = PROTOBUF_BYTES,
		[PROFILE_PERIOD_TYPE] = PROTOBUF_BYTES, [PROFILE_DEFAULT_SAMPLE_TYPE + 1] = 0,
	};
	struct span s = span_init(data, len);
	struct protobuf_field f = { .number = 0 };
	size_t nr, nr_types = 0;

	for (nr = 0; protobuf_next(&s, &f); nr++) {
		if (f.number >= ARRAY_SIZE(wires) ||
		    (f.wire != wires[f.number] && f.number != PROFILE_COMMENT))
			return false;
		if (f.number == PROFILE_SAMPLE_TYPE && !is_type(f.bytes))
			return false;
		nr_types += f.number == PROFILE_SAMPLE_TYPE;
	}
	if (!s.bad)
		return nr >= 4;
	if (len < IMPORT_HEAD_BYTES && !nr_types)	/* it may be truncated */
		return false;
	return nr >= 4 || (nr_types && f.number < ARRAY_SIZE(wires) && f.wire == wires[f.number]);
}

const struct import_format import_pprof = {
	.name = "pprof",
	.what = "a pprof profile",
	.is = pprof_is,
	.read = pprof_read,
};
