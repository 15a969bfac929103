// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * write.c - OpenTelemetry's profiles: for each process a resource, with a profile for each metric.
 *
 * The file is a ProfilesData, which is also a request of its collector's profiles service.  Samples of
 * one stack and thread are one Sample with all their values and, where they are known, times.
 *
 * Source: opentelemetry/proto/profiles/v1development/profiles.proto of opentelemetry-proto 1.11.0;
 * names of attributes: OpenTelemetry's semantic conventions.
 */
#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/labels.h"
#include "base/mem.h"
#include "base/quote.h"
#include "formats/otlp/otlp.h"
#include "formats/otlp/wire.h"
#include "report/export.h"
#include "version.h"

/* Numbers of the fields, by message. */
enum { DATA_RESOURCE_PROFILES = 1, DATA_DICTIONARY };
enum { RESOURCE_PROFILES_RESOURCE = 1, RESOURCE_PROFILES_SCOPE_PROFILES };
enum { RESOURCE_ATTRIBUTES = 1 };
enum { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE };
enum { ANY_STRING = 1, ANY_INT = 3 };
enum { SCOPE_PROFILES_SCOPE = 1, SCOPE_PROFILES_PROFILES };
enum { SCOPE_NAME = 1, SCOPE_VERSION };
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLES,
	PROFILE_TIME,
	PROFILE_DURATION,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_ID,
};
enum { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT };
enum { SAMPLE_STACK = 1, SAMPLE_ATTRIBUTES, SAMPLE_LINK, SAMPLE_VALUES, SAMPLE_TIMES };
enum {
	DICTIONARY_MAPPINGS = 1,
	DICTIONARY_LOCATIONS,
	DICTIONARY_FUNCTIONS,
	DICTIONARY_LINKS,
	DICTIONARY_STRINGS,
	DICTIONARY_ATTRIBUTES,
	DICTIONARY_STACKS,
};
enum { MAPPING_FILENAME = 4, MAPPING_ATTRIBUTES };
enum { LOCATION_MAPPING = 1, LOCATION_LINES = 3, LOCATION_ATTRIBUTES };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_NAME = 1, FUNCTION_FILENAME = 3 };
enum { LINK_TRACE = 1, LINK_SPAN };
enum { TRACE_ID_BYTES = 16, SPAN_ID_BYTES = 8, PROFILE_ID_BYTES = 16 };
enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE };
enum { STACK_LOCATIONS = 1 };

struct otlp {
	struct view *v;
	int64_t id;			/* of the recording; 0: profiles have none */
	uint64_t nr_profiles;
	struct otlp_wire w;
	struct export x;
	struct strtab values;		/* of attributes */
	struct map attribute_of[2];	/* key and value -> index; of strings, of numbers */
	struct otlp_attribute {
		uint32_t key, value;	/* key: id of a string; value: of one in values, or a number */
		bool is_number;
	} *attributes;			/* [index - 1] */
	size_t nr_attributes, alloc_attributes;
	/* Locations of stacks; others are only what is inlined in something. */
	struct map location_of;		/* id of the export -> index */
	uint32_t *locations;		/* [index - 1]: id of the export */
	size_t nr_locations, alloc_locations;
	/* all beginnings of stacks as a tree: [id - 1], a caller before its callees */
	struct map beginning_of;	/* id of the caller and index of the location -> id */
	struct otlp_beginning {
		uint32_t caller, location;
		uint32_t stack;		/* index in the table of stacks; 0: it is none */
	} *beginnings;
	size_t nr_beginnings, alloc_beginnings;
	uint32_t *stacks;		/* [index - 1]: id of beginning */
	size_t nr_stacks, alloc_stacks;
	uint32_t *frames;		/* of the stack that is looked up, innermost first */
	size_t nr_frames, alloc_frames;
	struct map link_of;		/* their hash -> index */
	struct otlp_link {
		uint8_t trace[TRACE_ID_BYTES], span[SPAN_ID_BYTES];
	} *links;			/* [index - 1] */
	size_t nr_links, alloc_links;
	uint32_t *stack_at;		/* [node]: index of its stack; 0: not looked up */
	uint32_t *rank;			/* [node]: in the order of the tree */
};

/* ---- tables ---- */

static uint32_t attribute(struct otlp *o, const char *key, uint32_t value, bool is_number)
{
	uint32_t name = export_string(&o->x, key);
	uint32_t *at = map_put(&o->attribute_of[is_number], (uint64_t)name << 32 | value);

	if (*at == MAP_NONE) {
		VEC_GROW(o->attributes, o->nr_attributes, o->alloc_attributes);
		o->attributes[o->nr_attributes++] = (struct otlp_attribute){ name, value, is_number };
		*at = o->nr_attributes;
	}
	return *at;
}

static uint32_t text_attribute(struct otlp *o, const char *key, const char *value)
{
	return attribute(o, key, strtab_adds(&o->values, quote_str(&o->x.escaped, value)), false);
}

static uint32_t location(struct otlp *o, uint32_t id)
{
	uint32_t *at = map_put(&o->location_of, id);

	if (*at == MAP_NONE) {
		VEC_GROW(o->locations, o->nr_locations, o->alloc_locations);
		o->locations[o->nr_locations++] = id;
		*at = o->nr_locations;
	}
	return *at;
}

static uint32_t beginning(struct otlp *o, uint32_t caller, uint32_t location)
{
	uint32_t *at = map_put(&o->beginning_of, (uint64_t)caller << 32 | location);

	if (*at == MAP_NONE) {
		VEC_GROW(o->beginnings, o->nr_beginnings, o->alloc_beginnings);
		o->beginnings[o->nr_beginnings++] = (struct otlp_beginning){ caller, location, 0 };
		*at = o->nr_beginnings;
	}
	return *at;
}

/* Index of the node's stack; a thread that is in no function is a frame itself. */
static uint32_t stack(struct otlp *o, uint32_t node)
{
	const struct flow_node *nodes = o->v->m->flow.nodes;
	struct otlp_beginning *b;
	uint32_t id = 0;

	o->nr_frames = 0;
	do {
		VEC_GROW(o->frames, o->nr_frames, o->alloc_frames);
		o->frames[o->nr_frames++] = location(o, export_location(&o->x, node, &node));
	} while (node && !export_is_root(o->v, nodes[node].consumer));
	while (o->nr_frames)
		id = beginning(o, id, o->frames[--o->nr_frames]);
	b = &o->beginnings[id - 1];
	if (!b->stack) {
		VEC_GROW(o->stacks, o->nr_stacks, o->alloc_stacks);
		o->stacks[o->nr_stacks++] = id;
		b->stack = o->nr_stacks;
	}
	return b->stack;
}

/* ---- profiles ---- */

static void put_text_value(struct otlp *o, const char *key, const char *text)
{
	struct otlp_wire *w = &o->w;

	if (!text)
		return;
	otlp_wire_begin(w, RESOURCE_ATTRIBUTES, NULL);
	otlp_wire_str(w, KEY_VALUE_KEY, "key", key);
	otlp_wire_begin(w, KEY_VALUE_VALUE, "value");
	otlp_wire_str(w, ANY_STRING, "stringValue", quote_str(&o->x.escaped, text));
	otlp_wire_end(w);
	otlp_wire_end(w);
}

static void put_number_value(struct otlp *o, const char *key, uint64_t value)
{
	struct otlp_wire *w = &o->w;

	if (!value)
		return;
	otlp_wire_begin(w, RESOURCE_ATTRIBUTES, NULL);
	otlp_wire_str(w, KEY_VALUE_KEY, "key", key);
	otlp_wire_begin(w, KEY_VALUE_VALUE, "value");
	otlp_wire_int64(w, ANY_INT, "intValue", value);
	otlp_wire_end(w);
	otlp_wire_end(w);
}

static const char *conventional_key(const char *key)
{
	static const char *const keys[][2] = {
		{ "service", "service.name" }, { "version", "service.version" },
		{ LABEL_CONTAINER, "container.id" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(key, keys[i][0]))
			return keys[i][1];
	return key;
}

/* Write the labels of the recording, each key once. */
static void otlp_put_labels(struct otlp *o, const char *labels)
{
	struct buf key = BUF_INIT, value = BUF_INIT, other = BUF_INIT;
	const char *next = labels, *name;

	while (labels_next(&next, &key, &value)) {
		name = conventional_key(key.data);
		if (name == key.data || !labels_value(labels, name, &other))
			put_text_value(o, name, value.data);
	}
	buf_release(&key);
	buf_release(&value);
	buf_release(&other);
}

/* Return whether the recording has the label: a name that its makers gave takes precedence over ours. */
static bool has_label(const char *labels, const char *key)
{
	struct buf value = BUF_INIT;
	bool has = labels_value(labels, key, &value);

	buf_release(&value);
	return has;
}

static void put_resource(struct otlp *o, uint32_t process)
{
	const struct model *m = o->v->m;
	const struct consumer *c = &m->consumers.items[m->flow.nodes[process].consumer];
	const char *labels = process ? model_str(m, c->detail) : "";
	const struct {
		const char *key, *text;
		uint64_t number;
	} attributes[] = {
		{ "host.name", o->v->origin->host, 0 },
		{ "process.executable.name", process ? model_str(m, c->name) : NULL, 0 },
		{ "process.pid", NULL, process ? export_pid(c) : 0 },
		{ "arcprof.command", o->v->origin->command, 0 },
		{ "arcprof.lost_samples", NULL, o->v->origin->lost },
	};
	size_t i;

	otlp_wire_begin(&o->w, RESOURCE_PROFILES_RESOURCE, "resource");
	otlp_wire_list(&o->w, "attributes");
	otlp_put_labels(o, labels);
	for (i = 0; i < ARRAY_SIZE(attributes); i++) {
		if (has_label(labels, attributes[i].key))
			continue;
		put_text_value(o, attributes[i].key, attributes[i].text);
		put_number_value(o, attributes[i].key, attributes[i].number);
	}
	otlp_wire_list_end(&o->w);
	otlp_wire_end(&o->w);
}

static void put_value_type(struct otlp *o, unsigned int field, const char *name, const char *type,
			   const char *unit)
{
	otlp_wire_begin(&o->w, field, name);
	otlp_wire_int32(&o->w, VALUE_TYPE_TYPE, "typeStrindex", export_string(&o->x, type));
	otlp_wire_int32(&o->w, VALUE_TYPE_UNIT, "unitStrindex", export_string(&o->x, unit));
	otlp_wire_end(&o->w);
}

/* Parse hexadecimal digits to bytes; return false for anything else. */
static bool parse_id(const char *text, uint8_t *id, size_t nr_bytes)
{
	size_t i;
	int digit;

	if (strlen(text) != 2 * nr_bytes)
		return false;
	for (i = 0; i < 2 * nr_bytes; i++) {
		digit = hex_digit(text[i]);
		if (digit < 0)
			return false;
		id[i / 2] = id[i / 2] << 4 | digit;
	}
	return true;
}

static bool is_key(const struct export_labels *l, const char *a, const char *b, const char *c)
{
	return !strcmp(l->key.data, a) || !strcmp(l->key.data, b) || !strcmp(l->key.data, c);
}

/* Index of the span that labels name; 0: they name none. */
static uint32_t link_of(struct otlp *o, const struct otlp_link *link)
{
	uint32_t *at = map_put(&o->link_of, hash_bytes(link, sizeof(*link)));

	if (*at == MAP_NONE) {
		VEC_GROW(o->links, o->nr_links, o->alloc_links);
		o->links[o->nr_links++] = *link;
		*at = o->nr_links;
	}
	return *at;
}

/*
 * Write what all samples of a root have beside their stacks: the thread, labels as attributes, and the span
 * that they were in, if labels have it in the form of OpenTelemetry's ids.
 */
static void put_root(struct otlp *o, uint32_t root)
{
	const struct model *m = o->v->m;
	uint32_t thread = export_thread(o->v, root);
	const struct consumer *c = &m->consumers.items[m->flow.nodes[thread].consumer];
	struct otlp_link link = { { 0 }, { 0 } };
	struct buf had = BUF_INIT, value = BUF_INIT;
	bool is_thread = thread && c->kind == CONSUMER_THREAD, in_trace = false;
	struct export_labels l;

	otlp_wire_numbers(&o->w, SAMPLE_ATTRIBUTES, "attributeIndices");
	if (is_thread)
		otlp_wire_add_int32(&o->w, text_attribute(o, "thread.name", model_str(m, c->name)));
	if (is_thread && export_tid(c))
		otlp_wire_add_int32(&o->w, attribute(o, "thread.id", export_tid(c), true));
	export_labels_init(&l, o->v, root, true);	/* those of the process are its resource's */
	while (export_labels_next(&l)) {
		if (labels_value(had.data ? had.data : "", l.key.data, &value))
			continue;
		labels_add(&had, l.key.data, l.value.data);
		otlp_wire_add_int32(&o->w, text_attribute(o, l.key.data, l.value.data));
		if (is_key(&l, "trace-id", "trace_id", "traceId"))
			in_trace = parse_id(l.value.data, link.trace, sizeof(link.trace));
		else if (is_key(&l, "span-id", "span_id", "spanId") &&
			 !parse_id(l.value.data, link.span, sizeof(link.span)))
			memset(link.span, 0, sizeof(link.span));
	}
	otlp_wire_numbers_end(&o->w);
	if (in_trace)
		otlp_wire_int32(&o->w, SAMPLE_LINK, "linkIndex", link_of(o, &link));
	export_labels_release(&l);
	buf_release(&had);
	buf_release(&value);
}

/* Samples of one stack and thread. */
static void put_sample(struct otlp *o, const struct export_samples *s, size_t first, size_t end)
{
	uint64_t start_ns = s->timed ? o->v->origin->start_ns : 0;
	size_t i;

	otlp_wire_begin(&o->w, PROFILE_SAMPLES, NULL);
	otlp_wire_int32(&o->w, SAMPLE_STACK, "stackIndex", o->stack_at[export_sample(s, first).node]);
	put_root(o, s->tracks[s->track_of[export_sample(s, first).node]].root);
	otlp_wire_numbers(&o->w, SAMPLE_VALUES, "values");
	for (i = first; i < end; i++)
		otlp_wire_add_int64(&o->w, export_sample(s, i).weight);
	otlp_wire_numbers_end(&o->w);
	if (start_ns) {
		otlp_wire_numbers(&o->w, SAMPLE_TIMES, "timestampsUnixNano");
		for (i = first; i < end; i++)
			otlp_wire_add_fixed64(&o->w, start_ns + export_sample(s, i).time_ns);
		otlp_wire_numbers_end(&o->w);
	}
	otlp_wire_end(&o->w);
}

static bool is_one_sample(const struct otlp *o, const struct export_samples *s, size_t i, size_t k)
{
	uint32_t a = export_sample(s, i).node, b = export_sample(s, k).node;

	return s->track_of[a] == s->track_of[b] && o->stack_at[a] == o->stack_at[b];
}

static void put_period(struct otlp *o, unsigned int metric)
{
	const struct origin *origin = o->v->origin;
	const struct model *m = o->v->m;

	if (!origin->period || !origin->period_event ||
	    strcmp(origin->period_event, model_str(m, m->metrics[metric].name)))
		return;
	put_value_type(o, PROFILE_PERIOD_TYPE, "periodType", origin->period_event,
		       export_unit(origin->period_unit ? origin->period_unit : ""));
	otlp_wire_int64(&o->w, PROFILE_PERIOD, "period", origin->period);
}

/* Write an id that is the same each time the recording is sent, so that a receiver can drop what it has. */
static void put_id(struct otlp *o)
{
	uint64_t id[2] = { htobe64(o->id), htobe64(++o->nr_profiles) };

	static_assert(sizeof(id) == PROFILE_ID_BYTES, "profiles.proto says so");
	if (o->id)
		otlp_wire_bytes(&o->w, PROFILE_ID, id, sizeof(id));
}

static void put_profile(struct otlp *o, const struct export_samples *s, unsigned int metric,
			const struct export_track *first, size_t nr)
{
	const struct model *m = o->v->m;
	size_t i = first->first, end = first[nr - 1].first + first[nr - 1].nr, next;

	otlp_wire_begin(&o->w, SCOPE_PROFILES_PROFILES, NULL);
	put_value_type(o, PROFILE_SAMPLE_TYPE, "sampleType",
		       s->by_n ? model_kind_name(m->flow.n_means) : model_str(m, m->metrics[metric].name),
		       export_unit(s->by_n ? "" : model_str(m, m->metrics[metric].unit)));
	otlp_wire_list(&o->w, "samples");
	for (; i < end; i = next) {
		for (next = i; next < end && is_one_sample(o, s, i, next); next++)
			;
		put_sample(o, s, i, next);
	}
	otlp_wire_list_end(&o->w);
	otlp_wire_fixed64(&o->w, PROFILE_TIME, "timeUnixNano", o->v->origin->start_ns);
	otlp_wire_int64(&o->w, PROFILE_DURATION, "durationNano", o->v->origin->duration_ns);
	put_period(o, metric);
	put_id(o);
	otlp_wire_end(&o->w);
}

/* Return the first track from i on that is not of the process. */
static size_t next_process(const struct otlp *o, const struct export_samples *s, size_t i, uint32_t process)
{
	while (i < s->nr_tracks && export_process(o->v, s->tracks[i].root) == process)
		i++;
	return i;
}

static void put_resource_profiles(struct otlp *o, const struct export_samples *s, size_t *at,
				  uint32_t process)
{
	unsigned int i;
	size_t end;

	otlp_wire_begin(&o->w, DATA_RESOURCE_PROFILES, NULL);
	put_resource(o, process);
	otlp_wire_list(&o->w, "scopeProfiles");
	otlp_wire_begin(&o->w, RESOURCE_PROFILES_SCOPE_PROFILES, NULL);
	otlp_wire_begin(&o->w, SCOPE_PROFILES_SCOPE, "scope");
	otlp_wire_str(&o->w, SCOPE_NAME, "name", "arcprof");
	otlp_wire_str(&o->w, SCOPE_VERSION, "version", ARCPROF_VERSION);
	otlp_wire_end(&o->w);
	otlp_wire_list(&o->w, "profiles");
	for (i = 0; i < o->v->m->nr_shown; i++) {
		end = next_process(o, &s[i], at[i], process);
		if (end > at[i])
			put_profile(o, &s[i], i, &s[i].tracks[at[i]], end - at[i]);
		at[i] = end;
	}
	otlp_wire_list_end(&o->w);
	otlp_wire_end(&o->w);
	otlp_wire_list_end(&o->w);
	otlp_wire_end(&o->w);
}

/* Brings samples of one stack together. */
static void otlp_read_samples(struct otlp *o, struct export_samples *s, unsigned int metric)
{
	size_t i;

	export_samples_init(s, o->v, metric);
	for (i = 0; i < s->nr; i++) {
		uint32_t node = export_sample(s, i).node;

		if (!o->stack_at[node])
			o->stack_at[node] = stack(o, node);
	}
	export_samples_regroup(s, o->stack_at);
}

/* Tracks of a process are neighbours, and in the same order for all metrics: that of the tree. */
static void put_all(struct otlp *o)
{
	struct export_samples s[FLOW_MAX_METRICS];
	size_t at[FLOW_MAX_METRICS] = { 0 };
	unsigned int nr = o->v->m->nr_shown, i;
	uint32_t node, first;

	for (i = 0; i < nr; i++)
		otlp_read_samples(o, &s[i], i);
	otlp_wire_list(&o->w, "resourceProfiles");
	for (;;) {
		/* the first process in the tree of which a metric has samples left */
		for (i = 0, first = MAP_NONE; i < nr; i++) {
			if (at[i] == s[i].nr_tracks)
				continue;
			node = s[i].tracks[at[i]].root;
			if (first == MAP_NONE || o->rank[node] < o->rank[first])
				first = node;
		}
		if (first == MAP_NONE)
			break;
		put_resource_profiles(o, s, at, export_process(o->v, first));
	}
	otlp_wire_list_end(&o->w);
	for (i = 0; i < nr; i++)
		export_samples_release(&s[i]);
}

/* ---- the dictionary: the first element of each table is nothing ---- */

static void put_zero(struct otlp *o, unsigned int field)
{
	otlp_wire_begin(&o->w, field, NULL);
	otlp_wire_end(&o->w);
}

static void put_mappings(struct otlp *o)
{
	const struct export_module *m = o->x.modules;
	size_t i;

	otlp_wire_list(&o->w, "mappingTable");
	put_zero(o, DICTIONARY_MAPPINGS);
	for (i = 0; i < o->x.nr_modules; i++) {
		otlp_wire_begin(&o->w, DICTIONARY_MAPPINGS, NULL);
		otlp_wire_int32(&o->w, MAPPING_FILENAME, "filenameStrindex", m[i].path);
		if (*m[i].build_id) {
			otlp_wire_numbers(&o->w, MAPPING_ATTRIBUTES, "attributeIndices");
			otlp_wire_add_int32(&o->w, text_attribute(o, "process.executable.build_id.gnu",
								  m[i].build_id));
			otlp_wire_numbers_end(&o->w);
		}
		otlp_wire_end(&o->w);
	}
	otlp_wire_list_end(&o->w);
}

/* Return the kind of a frame in the semantic conventions; NULL: they have no name for it. */
static const char *frame_type(uint32_t kind)
{
	return kind_is(kind, KIND_NATIVE) ? "native" : kind_is(kind, KIND_JVM) ? "jvm" :
	       kind == CONSUMER_KERNEL ? "kernel" : NULL;
}

static void put_lines(struct otlp *o, uint32_t id)
{
	const struct export_location *l = o->x.locations;

	otlp_wire_list(&o->w, "lines");
	for (; id; id = l[id - 1].caller) {
		otlp_wire_begin(&o->w, LOCATION_LINES, NULL);
		otlp_wire_int32(&o->w, LINE_FUNCTION, "functionIndex", l[id - 1].function);
		otlp_wire_int64(&o->w, LINE_LINE, "line", l[id - 1].line);
		otlp_wire_end(&o->w);
	}
	otlp_wire_list_end(&o->w);
}

static void put_location(struct otlp *o, uint32_t id)
{
	const struct export_location *l = o->x.locations;
	const char *type, *kind;

	otlp_wire_begin(&o->w, DICTIONARY_LOCATIONS, NULL);
	otlp_wire_int32(&o->w, LOCATION_MAPPING, "mappingIndex", l[id - 1].module);
	put_lines(o, id);
	while (l[id - 1].caller)	/* the code itself */
		id = l[id - 1].caller;
	type = frame_type(l[id - 1].kind);
	kind = consumer_kind_name(l[id - 1].kind);
	otlp_wire_numbers(&o->w, LOCATION_ATTRIBUTES, "attributeIndices");
	if (type)
		otlp_wire_add_int32(&o->w, text_attribute(o, "profile.frame.type", type));
	otlp_wire_add_int32(&o->w, text_attribute(o, "arcprof.frame.kind", kind));
	otlp_wire_numbers_end(&o->w);
	otlp_wire_end(&o->w);
}

static void put_locations(struct otlp *o)
{
	size_t i;

	otlp_wire_list(&o->w, "locationTable");
	put_zero(o, DICTIONARY_LOCATIONS);
	for (i = 0; i < o->nr_locations; i++)
		put_location(o, o->locations[i]);
	otlp_wire_list_end(&o->w);
}

static void put_functions(struct otlp *o)
{
	const struct export_function *f = o->x.functions;
	size_t i;

	otlp_wire_list(&o->w, "functionTable");
	put_zero(o, DICTIONARY_FUNCTIONS);
	for (i = 0; i < o->x.nr_functions; i++) {
		otlp_wire_begin(&o->w, DICTIONARY_FUNCTIONS, NULL);
		otlp_wire_int32(&o->w, FUNCTION_NAME, "nameStrindex", f[i].name);
		otlp_wire_int32(&o->w, FUNCTION_FILENAME, "filenameStrindex", f[i].file);
		otlp_wire_end(&o->w);
	}
	otlp_wire_list_end(&o->w);
}

static void put_stacks(struct otlp *o)
{
	uint32_t id;
	size_t i;

	otlp_wire_list(&o->w, "stackTable");
	put_zero(o, DICTIONARY_STACKS);
	for (i = 0; i < o->nr_stacks; i++) {
		otlp_wire_begin(&o->w, DICTIONARY_STACKS, NULL);
		otlp_wire_numbers(&o->w, STACK_LOCATIONS, "locationIndices");
		for (id = o->stacks[i]; id; id = o->beginnings[id - 1].caller)
			otlp_wire_add_int32(&o->w, o->beginnings[id - 1].location);
		otlp_wire_numbers_end(&o->w);
		otlp_wire_end(&o->w);
	}
	otlp_wire_list_end(&o->w);
}

static void put_ids(struct otlp *o, const struct otlp_link *link)
{
	otlp_wire_id(&o->w, LINK_TRACE, "traceId", link->trace, TRACE_ID_BYTES);
	otlp_wire_id(&o->w, LINK_SPAN, "spanId", link->span, SPAN_ID_BYTES);
}

static void put_links(struct otlp *o)
{
	static const struct otlp_link none;
	size_t i;

	otlp_wire_list(&o->w, "linkTable");
	otlp_wire_begin(&o->w, DICTIONARY_LINKS, NULL);
	put_ids(o, &none);
	otlp_wire_end(&o->w);
	for (i = 0; i < o->nr_links; i++) {
		otlp_wire_begin(&o->w, DICTIONARY_LINKS, NULL);
		put_ids(o, &o->links[i]);
		otlp_wire_end(&o->w);
	}
	otlp_wire_list_end(&o->w);
}

static void put_attributes(struct otlp *o)
{
	const struct otlp_attribute *a = o->attributes;
	size_t i;

	otlp_wire_list(&o->w, "attributeTable");
	put_zero(o, DICTIONARY_ATTRIBUTES);
	for (i = 0; i < o->nr_attributes; i++) {
		otlp_wire_begin(&o->w, DICTIONARY_ATTRIBUTES, NULL);
		otlp_wire_int32(&o->w, ATTRIBUTE_KEY, "keyStrindex", a[i].key);
		otlp_wire_begin(&o->w, ATTRIBUTE_VALUE, "value");
		if (a[i].is_number)
			otlp_wire_int64(&o->w, ANY_INT, "intValue", a[i].value);
		else
			otlp_wire_str(&o->w, ANY_STRING, "stringValue", strtab_get(&o->values, a[i].value));
		otlp_wire_end(&o->w);
		otlp_wire_end(&o->w);
	}
	otlp_wire_list_end(&o->w);
}

static void put_strings(struct otlp *o)
{
	size_t i;

	otlp_wire_list(&o->w, "stringTable");
	for (i = 0; i < o->x.strings.nr_entries; i++)
		otlp_wire_str(&o->w, DICTIONARY_STRINGS, NULL, export_str(&o->x, i));
	otlp_wire_list_end(&o->w);
}

/* Write the dictionary, attributes and strings last, as the other tables add to them. */
static void put_dictionary(struct otlp *o)
{
	otlp_wire_begin(&o->w, DATA_DICTIONARY, "dictionary");
	put_mappings(o);
	put_locations(o);
	put_functions(o);
	put_stacks(o);
	put_links(o);
	put_attributes(o);
	put_strings(o);
	otlp_wire_end(&o->w);
}

static void rank_nodes(struct otlp *o)
{
	const struct flow *f = &o->v->m->flow;
	uint32_t i, nr = 0;

	o->stack_at = xcalloc(f->nr_nodes, sizeof(*o->stack_at));
	o->rank = xcalloc(f->nr_nodes, sizeof(*o->rank));
	for (i = flow_next(f, FLOW_NONE); i; i = flow_next(f, i))
		o->rank[i] = ++nr;
}

static int print(struct view *v, FILE *out, bool is_json, int64_t id)
{
	struct otlp o = { .v = v, .id = id };

	otlp_wire_init(&o.w, out, is_json);
	strtab_init(&o.values);
	export_init(&o.x, v);
	rank_nodes(&o);
	put_all(&o);
	put_dictionary(&o);
	otlp_wire_finish(&o.w);
	export_lacks(v, "addresses");
	export_release(&o.x);
	strtab_release(&o.values);
	map_release(&o.attribute_of[0]);
	map_release(&o.attribute_of[1]);
	map_release(&o.location_of);
	map_release(&o.beginning_of);
	map_release(&o.link_of);
	free(o.links);
	free(o.attributes);
	free(o.locations);
	free(o.beginnings);
	free(o.stacks);
	free(o.frames);
	free(o.stack_at);
	free(o.rank);
	return 0;
}

int otlp_print(struct view *v, FILE *out, struct err *e)
{
	return print(v, out, false, 0);
}

int otlp_json_print(struct view *v, FILE *out, struct err *e)
{
	return print(v, out, true, 0);
}

int otlp_request(struct view *v, int64_t id, FILE *out)
{
	return print(v, out, false, id);
}
