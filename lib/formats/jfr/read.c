// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read.c - recordings of Java Flight Recorder: of the JVM itself, of async-profiler, and of arcprof.
 *
 * Each type of event that has a stack is a source of its own; what is not a sample is listed (read_events.c).
 * All chunks are read twice: events are first counted, as what a report shows is the first source there is.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/jfr/read.h"

enum { HEADER_SIZE = 68, MAX_SOURCES = 64, FRAMES_PER_BYTE = 256, TEXT_PER_BYTE = 64, LIMIT_MIN = 1 << 20 };

struct source {
	char *type;			/* name of the events' type */
	char *metric;			/* the events' or arcprof's */
	const char *unit;		/* of the weights */
	uint64_t nr;
	bool has_stack;			/* some event has one: many types could only */
	bool has_weight;		/* the same: some types have a duration that is always 0 */
	uint32_t event;			/* number in the trace */
};

struct jfr {
	struct import *im;
	struct jfr_chunk chunk;
	struct jfr_limits limits;
	struct jfr_stack stack;
	struct buf labels;		/* of one sample */
	struct source sources[MAX_SOURCES];
	unsigned int nr_sources;
	uint64_t nr_others;		/* events of types beyond that */
	uint32_t proc;			/* of the JVM; 0: not known */
	uint64_t start_ns, end_ns;	/* 0: not known yet */
	uint64_t weights[JFR_NR_WEIGHTS];	/* of the samples that follow in the chunk; 0: not said */
	struct jfr_events *events;
	uint64_t nr_events;
	uint64_t lost_samples, lost_bytes;
	uint64_t nr_waiting;		/* samples of threads that did not run */
	uint64_t unfinished_bytes;	/* at the end, of a chunk that was not finished */
	bool is_open;			/* a chunk ends with what was flushed last */
	char *lost, *command, *host;	/* as arcprof wrote them */
	bool no_thread;			/* some event has none */
};

/* types that come first in a report; all others follow in the order of the file */
static const char *const first_types[] = {
	"jdk.ExecutionSample", "jdk.CPUTimeSample", "profiler.WallClockSample", "jdk.NativeMethodSample",
	"jdk.ObjectAllocationSample", "jdk.ObjectAllocationInNewTLAB", "jdk.ObjectAllocationOutsideTLAB",
	"profiler.LiveObject", "profiler.Malloc", "jdk.JavaMonitorEnter", "jdk.JavaMonitorWait", "jdk.ThreadPark",
	"profiler.NativeLock",
};

/* ---- sources ---- */

static const struct jfr_field *jfr_find_field(const struct jfr_chunk *c, const struct jfr_type *t,
					      enum jfr_slot slot)
{
	uint32_t i;

	for (i = 0; i < t->nr_fields; i++)
		if (c->fields[t->first_field + i].slot == slot)
			return &c->fields[t->first_field + i];
	return NULL;
}

static enum jfr_slot weight_slot(const struct jfr_chunk *c, const struct jfr_type *t)
{
	/* an allocation in a new TLAB stands for all of it */
	if (jfr_find_field(c, t, JFR_TLAB_SIZE))
		return JFR_TLAB_SIZE;
	if (jfr_find_field(c, t, JFR_WEIGHT))
		return JFR_WEIGHT;
	if (jfr_is(&t->name, "profiler.Malloc"))
		return JFR_MALLOC_SIZE;
	if (jfr_find_field(c, t, JFR_SAMPLES))
		return JFR_SAMPLES;
	return jfr_find_field(c, t, JFR_DURATION) ? JFR_DURATION : JFR_OTHER;
}

/* the events before samples that weigh them, in our own files with the layout of others */
static const struct { const char *type, *weights; } weighed[JFR_NR_WEIGHTS] = {
	{ "jdk.ExecutionSample", "arcprof.sample.Weight" },
	{ "profiler.WallClockSample", "arcprof.wall.Weight" },
};

/* Return which weight applies to events of the type, or JFR_NR_WEIGHTS if they have their own. */
static size_t find_weights(const struct jfr_chunk *c, const struct jfr_type *t)
{
	size_t i;

	for (i = 0; i < JFR_NR_WEIGHTS; i++)
		if (c->weights[i] && jfr_is(&t->name, weighed[i].type))
			return i;
	return JFR_NR_WEIGHTS;
}

static const struct jfr_type *weigher(const struct jfr_chunk *c, const struct jfr_type *t)
{
	size_t i = find_weights(c, t);

	return i < JFR_NR_WEIGHTS ? c->weights[i] : t;
}

static const char *jfr_unit_of(const struct jfr_chunk *c, const struct jfr_type *t)
{
	const struct jfr_type *w = weigher(c, t);
	enum jfr_slot slot = weight_slot(c, w);
	const struct jfr_field *f = slot ? jfr_find_field(c, w, slot) : NULL;

	if (!f || slot == JFR_SAMPLES)
		return "samples";
	return f->unit == JFR_BYTES ? "bytes" : f->unit == JFR_NO_UNIT ? "events" : "ns";
}

/* Return the metric's name. Events of arcprof have it as the label of their weight. */
static char *metric_of(const struct jfr_chunk *c, const struct jfr_type *t)
{
	static const char own[] = "arcprof.";
	const struct jfr_field *f = jfr_find_field(c, weigher(c, t), JFR_WEIGHT);
	bool is_own = t->name.len > strlen(own) && !memcmp(t->name.s, own, strlen(own));

	if (f && f->label.len && (is_own || find_weights(c, t) < JFR_NR_WEIGHTS || jfr_is(&t->name, "jdk.ExecutionSample")))
		return xstrndup(f->label.s, f->label.len);
	return xstrndup(t->name.s, t->name.len);
}

/* Return the source of events of the type, from 1; 0: there is none. */
static uint32_t find_source(const struct jfr *j, const struct jfr_type *t)
{
	unsigned int i;

	for (i = 0; i < j->nr_sources; i++)
		if (jfr_is(&t->name, j->sources[i].type))
			return i + 1;
	return 0;
}

/* Return the source of events of the type, made if new; 0: there are too many. */
static uint32_t add_source(struct jfr *j, const struct jfr_type *t)
{
	uint32_t found = find_source(j, t);
	struct source *s;

	if (found || j->nr_sources == MAX_SOURCES)
		return found;
	s = &j->sources[j->nr_sources++];
	s->type = xstrndup(t->name.s, t->name.len);
	s->metric = metric_of(&j->chunk, t);
	s->unit = jfr_unit_of(&j->chunk, t);
	return j->nr_sources;
}

static bool has_prefix(const struct import_text *t, const char *s)
{
	return t->len >= strlen(s) && !memcmp(t->s, s, strlen(s));
}

static size_t rank(const struct source *s)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(first_types) && strcmp(s->type, first_types[i]); i++)
		;
	return i;
}

/* Return whether events of that type are listed, even with stacks, rather than taken as samples. */
static bool is_listed(const struct jfr_type *t)
{
	static const char setting[] = "jdk.ActiveSetting";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(first_types) && !jfr_is(&t->name, first_types[i]); i++)
		;
	return i == ARRAY_SIZE(first_types) && !jfr_is(&t->name, setting) &&
	       !(has_prefix(&t->name, "arcprof.") && t->has_stack);
}

static bool jfr_is_wanted(const struct source *s)
{
	return s->nr && (s->has_stack || rank(s) < ARRAY_SIZE(first_types));
}

static void jfr_add_event(struct import *im, struct source *s)
{
	const char *nothing = strstr(s->type, "Sample") ? "samples" : "events";
	struct import_text metric = { s->metric, strlen(s->metric) };

	s->event = import_event(im, metric, s->has_weight ? s->unit : nothing);
}

static void number_sources(struct jfr *j)
{
	size_t r;
	unsigned int i;

	for (r = 0; r <= ARRAY_SIZE(first_types); r++)
		for (i = 0; i < j->nr_sources; i++)
			if (jfr_is_wanted(&j->sources[i]) && rank(&j->sources[i]) == r)
				jfr_add_event(j->im, &j->sources[i]);
}

/* ---- chunks ---- */

static uint64_t big(const uint8_t *p, int nr_bytes)
{
	uint64_t v = 0;

	while (nr_bytes--)
		v = v << 8 | *p++;
	return v;
}

/* 1: the chunk that begins there is not finished, and nothing of it can be read. */
static int begin_chunk(struct jfr *j, const uint8_t *data, size_t left, struct err *e)
{
	enum { COMPRESSED_INTS = 1 };
	struct jfr_chunk *c = &j->chunk;
	uint64_t size;

	if (left < 4 || memcmp(data, "FLR", 4))
		return err_set(e, EINVAL, "damaged: no chunk begins where one should");
	if (left < HEADER_SIZE)
		return 1;
	if (big(data + 4, 2) < 1 || big(data + 4, 2) > 2)
		return err_set(e, EINVAL, "version %" PRIu64 ".%" PRIu64 " of the format is not supported",
			       big(data + 4, 2), big(data + 6, 2));
	size = big(data + 8, 8);
	*c = (struct jfr_chunk){ .data = data, .len = MIN(size, (uint64_t)left), .left = &j->limits,
		.tables_at = big(data + 16, 8), .types_at = big(data + 24, 8), .start_ns = big(data + 32, 8),
		.duration_ns = big(data + 40, 8), .start_ticks = big(data + 48, 8),
		.ticks_per_s = big(data + 56, 8), .compressed = big(data + 64, 4) & COMPRESSED_INTS };
	if (size > left || !c->tables_at || !c->types_at)
		return 1;
	if (size < HEADER_SIZE || !c->ticks_per_s)
		return err_set(e, EINVAL, "damaged: invalid header of a chunk");
	c->is_open = data[64];
	return 0;
}

static uint64_t scale(uint64_t ticks, uint64_t ns, uint64_t per)
{
	unsigned __int128 v = (unsigned __int128)ticks * ns / per;

	return MIN(v, (unsigned __int128)UINT64_MAX);
}

uint64_t jfr_span_ns(const struct jfr_chunk *c, const struct jfr_field *f, uint64_t v)
{
	static const uint64_t ns[] = { [JFR_NO_UNIT] = 1, [JFR_NS] = 1, [JFR_US] = 1000, [JFR_MS] = 1000000,
		[JFR_S] = 1000000000, [JFR_BYTES] = 1 };

	return f->unit == JFR_TICKS ? scale(v, 1000000000, c->ticks_per_s) : scale(v, ns[f->unit], 1);
}

static uint64_t to_ns(const struct jfr_chunk *c, const struct jfr_value *x)
{
	return (int64_t)x->num < 0 ? 0 : jfr_span_ns(c, x->field, x->num);
}

static uint64_t time_of(const struct jfr_chunk *c, const struct jfr_values *event)
{
	int64_t ticks = jfr_num(event, JFR_START) - c->start_ticks;
	uint64_t ns = scale(ticks < 0 ? -(uint64_t)ticks : (uint64_t)ticks, 1000000000, c->ticks_per_s);

	return ticks < 0 ? c->start_ns - MIN(ns, c->start_ns) : c->start_ns + ns;
}

/* take() gets each event of a type that has a stack, or that tells something of the recording. */
static int each_event(struct jfr *j, void (*take)(struct jfr *j, struct jfr_type *t, struct span s),
		      struct err *e)
{
	struct jfr_chunk *c = &j->chunk;
	size_t at = HEADER_SIZE;

	while (at < c->len) {
		struct span s = span_init(c->data + at, c->len - at);
		uint64_t size = jfr_integer(c, &s, 4), id = jfr_integer(c, &s, 8);
		uint32_t type = map_get(&c->type_of, id);

		if (!size || size > c->len - at || (size_t)(s.p - c->data) - at > size)
			return err_set(e, EINVAL, "damaged: an event of %" PRIu64 " bytes at byte %zu of its chunk",
				       size, at);
		s.end = c->data + at + size;
		if (type != MAP_NONE && id > 1)
			take(j, &c->types[type], s);
		at += size;
		if (j->limits.exceeded)
			return err_set(e, EINVAL, "damaged: its stacks and names are longer than such a file can have");
	}
	return 0;
}

/* ---- counting ---- */

static void replace(char **p, struct import_text t)
{
	free(*p);
	*p = xstrndup(t.s, t.len);
}

/* Take what arcprof says of its recording (write.c). */
static void take_setting(struct jfr *j, const struct jfr_values *v)
{
	struct import_text name = jfr_text(&j->chunk, v, JFR_NAME), value = jfr_text(&j->chunk, v, JFR_VALUE);

	if (jfr_is(&name, "command"))
		replace(&j->command, value);
	else if (jfr_is(&name, "host"))
		replace(&j->host, value);
	else if (jfr_is(&name, "lost samples"))
		replace(&j->lost, value);
}

/* Name the process after what it ran. */
static void take_jvm(struct jfr *j, const struct jfr_values *v)
{
	struct import_text arguments = jfr_text(&j->chunk, v, JFR_ARGUMENTS), name = arguments;
	const char *blank = memchr(name.s, ' ', name.len);

	if (j->proc || !jfr_num(v, JFR_PID))
		return;
	name.len = blank ? (size_t)(blank - name.s) : name.len;
	j->proc = import_proc(j->im, jfr_num(v, JFR_PID), name.len ? name : (struct import_text){ "java", 4 });
	if (arguments.len)
		replace(&j->command, arguments);
}

/* 0 if there is none. */
static uint64_t weight_of(const struct jfr *j, const struct jfr_type *t, const struct jfr_values *v)
{
	const struct jfr_chunk *c = &j->chunk;
	enum jfr_slot slot = weight_slot(c, t);

	size_t i = find_weights(c, t);

	if (i < JFR_NR_WEIGHTS)
		return j->weights[i];
	return slot && jfr_has(v, slot) ? to_ns(c, &v->v[slot]) : 0;
}

/* Check whether the event says what those weigh that follow. */
static bool take_weight(struct jfr *j, const struct jfr_type *t, struct span s)
{
	struct jfr_values v;
	size_t i;

	for (i = 0; i < JFR_NR_WEIGHTS && t != j->chunk.weights[i]; i++)
		;
	if (i == JFR_NR_WEIGHTS)
		return false;
	jfr_read_struct(&j->chunk, &s, t, &v);
	j->weights[i] = weight_of(j, t, &v);
	return true;
}

static void count_event(struct jfr *j, struct jfr_type *t, struct span s)
{
	struct jfr_values v;

	if (take_weight(j, t, s))
		return;
	if (t->is_listed) {
		j->nr_events++;
		jfr_count_event(j->events, &j->chunk, t, s);
	}
	if (t->has_stack && !t->source) {
		t->source = add_source(j, t);
		j->nr_others += !t->source;
	}
	if (t->source) {
		jfr_read_struct(&j->chunk, &s, t, &v);
		j->sources[t->source - 1].nr++;
		j->sources[t->source - 1].has_stack |= !!jfr_num(&v, JFR_STACK);
		j->sources[t->source - 1].has_weight |= !!weight_of(j, t, &v);
	}
	if (jfr_is(&t->name, "jdk.JVMInformation")) {
		jfr_read_struct(&j->chunk, &s, t, &v);
		take_jvm(j, &v);
	} else if (jfr_is(&t->name, "jdk.ActiveSetting")) {
		jfr_read_struct(&j->chunk, &s, t, &v);
		take_setting(j, &v);
	} else if (jfr_is(&t->name, "jdk.CPUTimeSamplesLost") || jfr_is(&t->name, "jdk.DataLoss")) {
		jfr_read_struct(&j->chunk, &s, t, &v);
		j->lost_samples += jfr_num(&v, JFR_LOST_SAMPLES);
		j->lost_bytes += jfr_num(&v, JFR_LOST_BYTES);
	}
}

/* ---- samples ---- */

/* Take a listed event. */
static void take_listed(struct jfr *j, struct jfr_type *t, struct span s)
{
	struct span whole = s;
	struct jfr_values v;
	struct rec_event r = { .proc = j->proc, .duration_ns = EVENT_UNKNOWN };

	jfr_read_struct(&j->chunk, &s, t, &v);
	r.time_ns = time_of(&j->chunk, &v);
	if (jfr_has(&v, JFR_DURATION) && (int64_t)jfr_num(&v, JFR_DURATION) >= 0)
		r.duration_ns = to_ns(&j->chunk, &v.v[JFR_DURATION]);
	if (jfr_num(&v, JFR_THREAD))
		r.thread = jfr_read_thread(&j->chunk, j->im, j->proc, &v);
	jfr_list_event(j->events, &j->chunk, j->im, t, whole, &r);
	j->end_ns = MAX(j->end_ns, r.time_ns);
}

static void take_event(struct jfr *j, struct jfr_type *t, struct span s)
{
	struct rec_sample r = { .cpu = IMPORT_NO_CPU };
	const struct source *from;
	struct span whole = s;
	struct jfr_values v;

	if (take_weight(j, t, s))
		return;
	if (t->is_listed)
		take_listed(j, t, s);
	if (!t->source || !jfr_is_wanted(&j->sources[t->source - 1]))
		return;
	from = &j->sources[t->source - 1];
	jfr_read_struct(&j->chunk, &s, t, &v);
	r.event = from->event;
	r.time_ns = time_of(&j->chunk, &v);
	r.weight = from->has_weight ? weight_of(j, t, &v) : 1;
	if (jfr_num(&v, JFR_SAMPLES) > 1)
		r.more = MIN(jfr_num(&v, JFR_SAMPLES), (uint64_t)UINT32_MAX) - 1;
	r.thread = jfr_read_thread(&j->chunk, j->im, j->proc, &v);
	j->no_thread |= !r.thread;
	buf_reset(&j->labels);
	if (t->has_labels)
		jfr_read_labels(&j->chunk, j->im, t, whole, &j->labels);
	if (j->labels.len)
		import_labels_at(j->im, r.thread, r.time_ns, &j->labels);
	jfr_read_stack(&j->chunk, j->im, &v, &j->stack);
	j->nr_waiting += j->stack.waits ? 1 + r.more : 0;
	if (j->stack.nr_frames)
		r.stack = trace_write_stack(j->im->w, j->stack.frames, j->stack.nr_frames);
	import_sample(j->im, &r);
	j->end_ns = MAX(j->end_ns, r.time_ns);
}

/* ---- the whole ---- */

static int read_chunk(struct jfr *j, bool counting, struct err *e)
{
	struct jfr_chunk *c = &j->chunk;
	int r = jfr_read_types(c, e);
	size_t i, k;

	memset(j->weights, 0, sizeof(j->weights));
	for (i = 0; i < c->nr_types && !r; i++)
		for (k = 0; k < JFR_NR_WEIGHTS; k++)
			if (jfr_is(&c->types[i].name, weighed[k].weights))
				c->weights[k] = &c->types[i];
	for (i = 0; i < c->nr_types && !r; i++) {
		struct jfr_type *t = &c->types[i];

		t->has_stack = jfr_find_field(c, t, JFR_START) && jfr_find_field(c, t, JFR_STACK);
		t->source = t->has_stack ? find_source(j, t) : 0;
		t->is_listed = jfr_find_field(c, t, JFR_START) && is_listed(t);
		for (k = 0; t->has_stack && k < t->nr_fields; k++)
			t->has_labels |= jfr_is_label(c, &c->fields[t->first_field + k]);
	}
	if (!r)
		r = jfr_read_tables(c, e);
	if (!r)
		r = each_event(j, counting ? count_event : take_event, e);
	j->start_ns = j->start_ns ? MIN(j->start_ns, c->start_ns) : c->start_ns;
	j->end_ns = MAX(j->end_ns, c->start_ns + c->duration_ns);
	jfr_chunk_release(c);
	return r;
}

/* Return how much of a chunk is behind its end as of the last flush: all up to the next chunk. */
static size_t length_beyond(const char *data, size_t len)
{
	static const char version_2[] = "FLR\0\0\2\0";
	const char *next = memmem(data, len, version_2, sizeof(version_2) - 1);

	return next ? (size_t)(next - data) : len;
}

static int read_chunks(struct jfr *j, const char *data, size_t len, bool counting, struct err *e)
{
	size_t at = 0, nr = 0;
	int r = 0;

	while (at < len && !r) {
		bool is_open;
		size_t size;

		r = begin_chunk(j, (const uint8_t *)data + at, len - at, e);
		if (r > 0) {
			j->unfinished_bytes = len - at;
			return nr ? 0 : err_set(e, EINVAL, "truncated, or not finished: its only chunk has no end");
		}
		size = j->chunk.len;
		is_open = j->chunk.is_open;
		j->is_open |= is_open;
		if (!r)
			r = read_chunk(j, counting, e);
		nr++;
		if (r)
			err_wrap(e, "chunk %zu at byte %zu", nr, at);
		at += size;
		if (is_open && !r)
			at += length_beyond(data + at, len - at);
	}
	return r;
}

static void say_what_is_known(struct jfr *j)
{
	struct import *im = j->im;
	uint64_t lost;

	trace_write_label(im->w, "start.mono_ns", "%" PRIu64, j->start_ns);
	import_start(im, j->start_ns);
	trace_write_label(im->w, "end.mono_ns", "%" PRIu64, j->end_ns);
	if (j->command)
		trace_write_label(im->w, "command", "%s", j->command);
	if (j->host)
		trace_write_label(im->w, "host", "%s", j->host);
	if (j->lost_samples)
		import_note(im, "lost by the JVM: %" PRIu64 " of jdk.CPUTimeSample", j->lost_samples);
	if (j->nr_waiting)
		import_note(im, "of threads that did not run: %" PRIu64 " samples, below the state of each",
			    j->nr_waiting);
	if (j->lost_bytes)
		import_note(im, "lost by the JVM: events of %" PRIu64 " bytes", j->lost_bytes);
	if (j->unfinished_bytes)
		import_note(im, "the last chunk (%" PRIu64 " bytes) is not finished: its events are missing",
			    j->unfinished_bytes);
	if (j->is_open)
		import_note(im, "the recording was not ended: what the JVM had not written by its last flush is missing");
	if (j->nr_others)
		import_note(im, "left out, as more than %d types have a stack: %" PRIu64 " events",
			    MAX_SOURCES, j->nr_others);
	im->unknown = IMPORT_NO_MODES | (j->lost ? 0 : IMPORT_NO_LOST);
	lost = j->lost ? strtoull(j->lost, NULL, 10) : 0;
	if (lost)
		trace_write_lost(im->w, &(struct rec_lost){ j->end_ns, LOST_FILE, 0, lost });
	if (!im->nr_procs)
		im->unknown |= IMPORT_NO_PROCESSES;
	if (!im->nr_threads)
		im->unknown |= IMPORT_NO_THREADS;
}

static void jfr_release(struct jfr *j)
{
	unsigned int i;

	for (i = 0; i < j->nr_sources; i++) {
		free(j->sources[i].type);
		free(j->sources[i].metric);
	}
	jfr_events_free(j->events);
	free(j->stack.frames);
	buf_release(&j->labels);
	free(j->lost);
	free(j->command);
	free(j->host);
}

static int jfr_read(struct import *im, const char *data, size_t len, struct err *e)
{
	struct jfr j = {
		.im = im, .events = jfr_events_new(),
		.limits = { .frames = LIMIT_MIN + len * FRAMES_PER_BYTE,
			    .text_bytes = LIMIT_MIN + len * TEXT_PER_BYTE },
	};
	int r = read_chunks(&j, data, len, true, e);

	if (!r) {
		number_sources(&j);
		if (!im->nr_events && !j.nr_events)
			r = err_set(e, EINVAL, "no events in it");
	}
	if (!r)
		r = read_chunks(&j, data, len, false, e);
	if (!r)
		say_what_is_known(&j);
	jfr_events_end(j.events, im);
	jfr_release(&j);
	return r;
}

static bool jfr_is_one(const char *data, size_t len)
{
	return len >= 4 && !memcmp(data, "FLR", 4);
}

const struct import_format import_jfr = {
	.name = "JFR",
	.what = "a recording of Java Flight Recorder",
	.is = jfr_is_one,
	.read = jfr_read,
};
