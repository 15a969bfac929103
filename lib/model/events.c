// SPDX-License-Identifier: GPL-2.0-or-later
/* events.c - reads the events of a trace (events.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fields.h"
#include "base/json.h"
#include "base/mem.h"
#include "model/events.h"
#include "model/filter.h"
#include "model/threadlabels.h"

const char *const event_value_keys[VALUE_NR] = {
	[VALUE_BEFORE] = "before_bytes", [VALUE_AFTER] = "after_bytes", [VALUE_CAPACITY] = "capacity_bytes",
	[VALUE_REACH] = "reach_ns", [VALUE_STOPPED] = "stopped_ns", [VALUE_TIER] = "tier",
	[VALUE_BYTECODE] = "bytecode_bytes", [VALUE_BCI] = "bci", [VALUE_COMPILE_ID] = "compile_id",
	[VALUE_CAUGHT] = "caught", [VALUE_VALUE] = "value", [VALUE_OWN] = "own_ns",
	[VALUE_LAST] = "last_tid",
};

const struct event_kind_row event_kinds[EVENT_NR] = {
#define EVENT(kind, name, group, lasts, told, text, ...) \
	[EVENT_##kind] = { (name), (group), (lasts), (text) != TEXT_ANY, { __VA_ARGS__ } },
#include "base/eventkinds.h"
};

static bool events_is_name(const char *name, const char *text, size_t len)
{
	return strlen(name) == len && !memcmp(name, text, len);
}

uint32_t event_kinds_named(const char *name, size_t len)
{
	uint32_t kinds = 0;
	size_t i;

	for (i = 0; i < EVENT_NR; i++)
		if (events_is_name(event_kinds[i].name, name, len) ||
		    events_is_name(event_kinds[i].group, name, len))
			kinds |= 1u << i;
	return kinds;
}

bool event_has_value(uint32_t kind, enum event_value v)
{
	const uint8_t *values = event_kinds[kind].values;

	return values[0] == v || values[1] == v || values[2] == v;
}

bool event_is_for_all(uint32_t kind)
{
	return kind == EVENT_GC || kind == EVENT_GC_CONCURRENT || kind == EVENT_SAFEPOINT;
}

uint64_t event_value(const struct event *x, enum event_value v)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(x->values); i++)
		if (event_kinds[x->kind].values[i] == v)
			return x->values[i];
	return EVENT_UNKNOWN;
}

uint64_t event_own_ns(const struct event *x)
{
	uint64_t own = event_value(x, VALUE_OWN);

	return own == EVENT_UNKNOWN ? x->duration_ns : own;
}

const char *events_str(const struct events *v, uint32_t string)
{
	return model_str(&v->strings, string);
}

const void *events_fields(const struct events *v, const struct event *x)
{
	return v->fields.data + x->fields_at;
}

char *events_fields_json(const struct events *v, const struct event *x)
{
	char *text = NULL;
	size_t len;
	FILE *f = x->fields_len ? open_memstream(&text, &len) : NULL;
	struct json j;

	if (!f)
		return NULL;
	json_init(&j, f);
	j.one_line = true;
	json_object(&j, NULL);
	fields_put_json(&j, events_fields(v, x), x->fields_len);
	json_end(&j);
	fclose(f);
	return text;
}

static uint32_t string_of(struct events *v, const char *s, size_t len)
{
	return strtab_add(&v->strings.consumers.names, s, len);
}

static uint32_t events_tid_of(const struct events *v, uint32_t thread)
{
	uint32_t at = map_get(&v->names.thread_of, thread);

	return at == MAP_NONE ? 0 : v->names.threads[at].tid;
}

/* Return whether an event is selected; labels of threads count as well as those of the recording. */
static bool events_is_selected(struct events *v, const struct event *x)
{
	struct selection s = *v->o->select;

	if (s.labels.nr_items && names_has_labels(&v->names)) {
		uint32_t all = v->strings.consumers.items[x->process].detail;

		if (!threadlabels_select(&v->names, all, x->labels, &s.labels))
			return false;
		s.labels = (struct opt_list){ 0 };
	}
	return selection_has_thread(&s, &v->strings, x->process, x->thread);
}

/* Return whether all events of this kind are needed to recognise repeated ones. */
static bool may_be_repeated(uint32_t kind)
{
	return kind == EVENT_CLASS_LOAD || kind == EVENT_CLASS_PRESENT;
}

static bool wants_loads(const struct events *v)
{
	return v->o->kinds & 1u << EVENT_CLASS_LOAD;
}

static int on_load_cause(void *ctx, const struct rec_load_cause *r)
{
	struct events *v = ctx;

	if (wants_loads(v))
		load_parts_add(&v->parts, &(struct load_part){
			.time_ns = r->time_ns, .proc = r->proc, .thread = r->thread,
			.text = string_of(v, r->by, r->by_len),
		});
	return 0;
}

static int on_load_time(struct events *v, const struct rec_event *r)
{
	if (wants_loads(v) && r->what_len)
		load_parts_add(&v->parts, &(struct load_part){
			.time_ns = r->time_ns, .duration_ns = r->duration_ns, .own_ns = r->values[0],
			.proc = r->proc, .thread = r->thread, .what = string_of(v, r->what, r->what_len),
			.text = string_of(v, r->cause, r->cause_len),
		});
	return 0;
}

/* Return the name of the process's thread with that tid: the latest one, should there be several. */
static uint32_t events_thread_name(struct events *v, uint32_t proc, uint64_t tid)
{
	size_t i;

	for (i = v->names.nr_threads; i-- > 0;)
		if (v->names.threads[i].tid == tid && v->names.threads[i].proc == proc)
			return v->names.threads[i].name;
	return string_of(v, "", 0);
}

static bool events_is_kept(struct events *v, const struct rec_event *r)
{
	const struct event_kind_row *k = &event_kinds[r->kind];
	const uint32_t class = k->has_class ? string_of(v, r->what, r->what_len) : 0;

	return filter_wants_event(v->kept, &(struct filter_event){
		.event = { k->name, k->group }, .time_ns = r->time_ns,
		.duration_ns = k->lasts ? r->duration_ns : EVENT_UNKNOWN, .proc = r->proc,
		.thread = r->thread, .class_name = class ? events_str(v, class) : NULL,
	});
}

/* Get the bounds of an event; return false if it has no length, or no known one, and so is a moment. */
static bool bounds(const struct event *x, uint64_t *from_ns, uint64_t *to_ns)
{
	bool lasts = event_kinds[x->kind].lasts && x->duration_ns != EVENT_UNKNOWN && x->duration_ns;

	*from_ns = x->time_ns;
	*to_ns = x->time_ns + (lasts ? MIN(x->duration_ns, UINT64_MAX - x->time_ns) : 0);
	return lasts;
}

static bool is_in_window(const struct events *v, const struct event *x)
{
	uint64_t from, to;

	if (!bounds(x, &from, &to))
		return window_has(&v->window, x->time_ns);
	return from < v->window.to_ns && to > v->window.from_ns;
}

/*
 * Return what the window leaves of a part of an event: ns of it, from at_ns on, which moves on to the
 * next part.
 */
static uint64_t cut_part(const struct window *w, uint64_t *at_ns, uint64_t ns)
{
	uint64_t from = *at_ns, to = from + MIN(ns, UINT64_MAX - from);

	*at_ns = to;
	from = MAX(from, w->from_ns);
	to = MIN(to, w->to_ns);
	return to > from ? to - from : 0;
}

/* Cut an event with a duration to the window, and the parts of a safepoint as well, one after the other. */
static void events_cut(const struct window *w, struct event *x)
{
	uint64_t from, to, at = x->time_ns, whole = x->duration_ns;

	if (!bounds(x, &from, &to) || (from >= w->from_ns && to <= w->to_ns))
		return;
	x->time_ns = MAX(from, w->from_ns);
	x->duration_ns = MIN(to, w->to_ns) - x->time_ns;
	if (x->kind == EVENT_SAFEPOINT && x->values[0] != EVENT_UNKNOWN && x->values[1] != EVENT_UNKNOWN) {
		x->values[0] = cut_part(w, &at, x->values[0]);
		x->values[1] = cut_part(w, &at, x->values[1]);
	}
	if (x->kind == EVENT_CLASS_LOAD && x->values[0] != EVENT_UNKNOWN)
		x->values[0] = (uint64_t)((unsigned __int128)x->values[0] * x->duration_ns / whole);
}

static enum event_shown how_shown(struct events *v, const struct rec_event *r, const struct event *x)
{
	/* when a load began is known in the end */
	if (!(v->o->kinds & 1u << r->kind) || (!may_be_repeated(r->kind) && !is_in_window(v, x)) ||
	    (v->o->select && !events_is_selected(v, x)))
		return EVENT_NOT_SELECTED;
	return v->kept && !events_is_kept(v, r) ? EVENT_LEFT_OUT : EVENT_SHOWN;
}

static int events_on_event(void *ctx, const struct rec_event *r)
{
	struct events *v = ctx;
	struct event x = {
		.time_ns = r->time_ns, .duration_ns = r->duration_ns, .kind = r->kind,
		.values = { r->values[0], r->values[1], r->values[2] },
		.proc_number = r->proc, .thread_number = r->thread,
	};
	uint32_t proc = r->proc;

	if (r->kind == EVENT_CLASS_TIME)
		return on_load_time(v, r);
	v->nr_all++;
	v->nr_strange += r->kind >= EVENT_NR;
	if (r->kind >= EVENT_NR)
		return 0;
	x.thread = r->thread ? names_thread(&v->names, r->thread, &proc) : 0;
	x.process = names_process(&v->names, proc);
	x.labels = r->thread ? threadlabels_at(&v->names, r->thread, r->time_ns) : 0;
	x.shown = how_shown(v, r, &x);
	v->nr_left_out += x.shown == EVENT_LEFT_OUT && !may_be_repeated(r->kind);
	if (x.shown != EVENT_SHOWN && !may_be_repeated(r->kind))
		return 0;
	x.tid = events_tid_of(v, r->thread);
	x.what = string_of(v, r->what, r->what_len);
	x.cause = string_of(v, r->cause, r->cause_len);
	x.by = x.source = x.last = string_of(v, "", 0);
	if (r->kind == EVENT_SAFEPOINT && r->values[2] != EVENT_UNKNOWN)
		x.last = events_thread_name(v, r->proc, r->values[2]);
	if (!event_kinds[r->kind].lasts)
		x.duration_ns = EVENT_UNKNOWN;
	*VEC_ADD(v->list, v->nr, v->alloc) = x;
	return 0;
}

static int on_trigger(void *ctx, const struct rec_trigger *r)
{
	return events_on_event(ctx, &(struct rec_event){
		.time_ns = r->time_ns, .proc = r->proc, .kind = EVENT_TRIGGER, .duration_ns = EVENT_UNKNOWN,
		.values = { EVENT_UNKNOWN, EVENT_UNKNOWN, EVENT_UNKNOWN },
		.what = r->when, .what_len = r->when_len, .cause = r->cause, .cause_len = r->cause_len,
	});
}

static int on_marked(void *ctx, const struct rec_marked *r)
{
	struct events *v = ctx;
	const size_t nr = v->nr;

	events_on_event(v, &(struct rec_event){
		.time_ns = r->time_ns, .proc = r->proc, .thread = r->thread,
		.kind = r->duration_ns == EVENT_UNKNOWN ? EVENT_MARK : EVENT_PHASE,
		.duration_ns = r->duration_ns, .values = { EVENT_UNKNOWN, EVENT_UNKNOWN, EVENT_UNKNOWN },
		.what = r->name, .what_len = r->name_len, .cause = "",
	});
	if (v->nr == nr || !fields_valid(r->fields, r->fields_len))
		return 0;
	v->list[nr].fields_at = v->fields.len;
	v->list[nr].fields_len = r->fields_len;
	buf_add(&v->fields, r->fields, r->fields_len);
	return 0;
}

static int events_by_time(const void *a, const void *b, void *ctx)
{
	const struct event *x = *(const struct event *const *)a, *y = *(const struct event *const *)b;

	return COMPARE(x->time_ns, y->time_ns) ?: COMPARE(x, y);	/* as they were written */
}

static void events_sort(struct events *v)
{
	struct event *sorted = xcalloc(v->nr, sizeof(*sorted));
	const struct event **order = xcalloc(v->nr, sizeof(*order));
	size_t i;

	for (i = 0; i < v->nr; i++)
		order[i] = &v->list[i];
	qsort_r(order, v->nr, sizeof(*order), events_by_time, NULL);
	for (i = 0; i < v->nr; i++)
		sorted[i] = *order[i];
	free(order);
	free(v->list);
	load_parts_release(&v->parts);
	v->list = sorted;
	v->alloc = v->nr;
}

/* Set the bounds of the recording within the window; a truncated one ends with its last event. */
static void set_bounds(struct events *v)
{
	uint64_t start = names_label_u64(&v->names, "jvm_events.start_ns");
	uint64_t end = names_label_u64(&v->names, "jvm_events.end_ns");

	v->start_ns = MAX(start ? start : v->trace_start_ns, v->window.from_ns);
	if (!end)
		end = v->nr ? v->list[v->nr - 1].time_ns : v->start_ns;
	v->end_ns = MAX(MIN(end, v->window.to_ns), v->start_ns);
}

/* Drop what a JVM reported twice, and then what is not shown. */
static void finish_loads(struct events *v)
{
	size_t i, left = 0;

	v->nr_all -= v->nr;
	v->nr = loads_drop_repeated(v->list, v->nr);
	v->nr_all += v->nr;
	load_parts_join(&v->parts, v->list, v->nr);
	load_parts_release(&v->parts);
	for (i = 0; i < v->nr; i++) {
		struct event *x = &v->list[i];

		if (!is_in_window(v, x))
			continue;
		v->nr_left_out += x->shown == EVENT_LEFT_OUT;
		if (x->shown != EVENT_SHOWN)
			continue;
		events_cut(&v->window, x);
		v->list[left++] = *x;
	}
	v->nr = left;
}

int events_read(struct events *v, struct trace_reader *t, const struct events_opts *o, struct err *e)
{
	static const struct trace_sink sink = {
		.event = events_on_event, .trigger = on_trigger, .marked = on_marked,
		.load_cause = on_load_cause,
	};
	uint64_t real_ns;
	int r;

	*v = (struct events){ .o = o };
	model_init(&v->strings, 1, FLOW_CALLS);
	names_init(&v->names, &v->strings, &(const struct resolve_opts){ .no_files = true });
	trace_reader_start(t, &v->trace_start_ns, &real_ns);
	r = trace_read(t, &names_sink, &v->names, e);
	/* what --from and --to, and the other reports, count from */
	if (names_label_u64(&v->names, "start.mono_ns"))
		v->trace_start_ns = names_label_u64(&v->names, "start.mono_ns");
	if (!r)
		r = names_window(&v->names, o->select, &v->window, e);
	if (!r)
		r = filter_new(&v->kept, &v->names, o->select ? o->select->filter : NULL, t, e);
	if (!r)
		r = trace_read(t, &sink, v, e);
	filter_free(v->kept);
	v->kept = NULL;
	if (!r && !v->nr_all && !names_label(&v->names, "jvm_events") &&
	    !(o->labels && v->names.thread_labels.nr))
		r = err_set(e, ENODATA, "events of JVMs were not recorded (arcprof record -e jvm)");
	if (r)
		return r;
	finish_loads(v);
	events_sort(v);
	set_bounds(v);
	return 0;
}

bool events_labels(struct events *v, size_t *at, struct event *x)
{
	uint64_t end = MAX(v->end_ns, names_label_u64(&v->names, "end.mono_ns"));
	struct threadlabels_span s;
	uint32_t proc;

	while (threadlabels_next(&v->names, at, &s)) {
		*x = (struct event){ .time_ns = s.from_ns, .kind = EVENT_PHASE, .labels = s.labels,
				     .values = { EVENT_UNKNOWN, EVENT_UNKNOWN, EVENT_UNKNOWN } };
		if (s.to_ns == UINT64_MAX)
			s.to_ns = MAX(end, s.from_ns);
		x->duration_ns = s.to_ns - s.from_ns;
		x->thread = names_thread(&v->names, s.thread, &proc);
		x->process = names_process(&v->names, proc);
		x->tid = events_tid_of(v, s.thread);
		if (!is_in_window(v, x) || (v->o->select && !events_is_selected(v, x)))
			continue;
		events_cut(&v->window, x);
		return true;
	}
	return false;
}

void events_release(struct events *v)
{
	free(v->list);
	buf_release(&v->fields);
	names_release(&v->names);
	model_release(&v->strings);
}
