// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read.c - Chrome's trace events, as Chrome, Node.js (--trace-events-enabled), Perfetto, compilers and many
 * other programs write them: CPU profiles of V8, slices, which say when something began and ended, and
 * samples with "stackFrames", as Hermes writes them.
 *
 * Sources: "Trace Event Format" (the design document of catapult), and v8/src/profiler/profile-generator.cc.
 * What passes between two ends of slices of a thread was spent in the innermost one then. The list of events
 * need not be closed, and they need not be in the order of time.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/v8/read.h"

enum { MAX_FRAMES = 65536 };

struct lane {				/* a thread */
	uint64_t pid_key, tid_key;	/* numbers, or hashes of text */
	uint32_t pid, tid;		/* 0: the file has a text */
	struct import_text name;	/* as it is written */
	uint32_t thread;		/* of import_thread(); 0: not passed on yet */
	double last_us;
};

struct slice {
	double at_us, end_us;		/* end_us: NAN until the end is found */
	uint32_t lane, index;
	uint32_t function;		/* 0: the end of a slice */
};

struct profile {
	struct v8_samples samples;
	double at_us, end_us;
};

struct chrome {
	struct import *im;
	struct import_nodes nodes;
	struct lane *lanes;
	size_t nr_lanes, alloc_lanes;
	struct map lane_of;
	struct map process_of;		/* key of a pid -> index + 1 in processes */
	struct import_text *processes;
	size_t nr_processes, alloc_processes;
	struct slice *slices;
	size_t nr_slices, alloc_slices;
	struct profile *profiles;
	size_t nr_profiles, alloc_profiles;
	struct map profile_of, node_of;
	enum v8_function *what;		/* [node - 1] */
	size_t nr_what, alloc_what;
	struct chunk {			/* an event "ProfileChunk" */
		struct jsonin data;
		double at_us;
		uint32_t profile, index;
	} *chunks;
	size_t nr_chunks, alloc_chunks;
	uint32_t events[2];		/* + 1 */
	uint64_t nr_other, nr_overlaps, nr_unpaired, nr_unknown, nr_endless;
	double first_us, last_us;
	bool truncated, has_samples;
	struct jsonin frames, samples;	/* "stackFrames" and their "samples"; p NULL: none */
	struct map frame_of;		/* key of a frame -> node */
	struct v8_scratch scratch;
};

struct event {
	struct import_text phase, name;
	double at_us, dur_us;
	uint64_t pid_key, tid_key, id_key;
	uint32_t pid, tid;
	struct jsonin args;
};

/* ---- events ---- */

static bool is_number(struct import_text t)
{
	size_t i;

	for (i = 0; i < t.len && t.s[i] >= '0' && t.s[i] <= '9'; i++)
		;
	return i && i == t.len && i < 16;
}

/* Read an id, which is a number, also as text, or any other text. Returns a value that is unique to it. */
static uint64_t read_id(struct jsonin *j, uint32_t *number)
{
	struct import_text t;
	struct jsonin digits;
	double v;

	if (jsonin_peek(j) == '"') {
		t = jsonin_string(j);
		if (!is_number(t))
			return hash_bytes(t.s, t.len) | 1ull << 63;
		digits = jsonin_init(t.s, t.len);
		v = jsonin_number(&digits);
	} else if (jsonin_peek(j) != '-' && (jsonin_peek(j) < '0' || jsonin_peek(j) > '9')) {
		jsonin_skip(j);
		return 0;
	} else {
		v = jsonin_number(j);
	}
	if (number && v > 0 && v <= INT32_MAX)
		*number = v;
	return v >= 0 && v < 0x1p53 ? (uint64_t)v : 0;
}

/* Read a number, which some programs write as text; NAN: other text. */
static double read_number(struct jsonin *j)
{
	struct jsonin t;
	struct import_text text;
	double v;

	if (jsonin_peek(j) != '"')
		return jsonin_number(j);
	text = jsonin_string(j);
	t = jsonin_init(text.s, text.len);
	v = jsonin_number(&t);
	return t.bad ? NAN : v;
}

static void read_event(struct jsonin *j, struct event *ev)
{
	struct import_text key;

	*ev = (struct event){ .phase = { "", 0 }, .name = { "", 0 }, .at_us = NAN };
	jsonin_open(j, '{');
	while (jsonin_member(j, &key))
		if (jsonin_is(key, "ph") && jsonin_peek(j) == '"')
			ev->phase = jsonin_string(j);
		else if (jsonin_is(key, "name") && jsonin_peek(j) == '"')
			ev->name = jsonin_string(j);
		else if (jsonin_is(key, "ts"))
			ev->at_us = read_number(j);
		else if (jsonin_is(key, "dur"))
			ev->dur_us = read_number(j);
		else if (jsonin_is(key, "pid"))
			ev->pid_key = read_id(j, &ev->pid);
		else if (jsonin_is(key, "tid"))
			ev->tid_key = read_id(j, &ev->tid);
		else if (jsonin_is(key, "id"))
			ev->id_key = read_id(j, NULL);
		else if (jsonin_is(key, "args"))
			ev->args = jsonin_skip(j);
		else
			jsonin_skip(j);
}

static uint32_t lane_of(struct chrome *c, const struct event *ev)
{
	uint32_t *at = map_put(&c->lane_of, hash_pair(ev->pid_key, ev->tid_key));

	if (*at == MAP_NONE) {
		*at = c->nr_lanes;
		VEC_GROW(c->lanes, c->nr_lanes, c->alloc_lanes);
		c->lanes[c->nr_lanes++] = (struct lane){ .pid_key = ev->pid_key, .tid_key = ev->tid_key,
							 .pid = ev->pid, .tid = ev->tid, .name = { "", 0 } };
	}
	return *at;
}

/* Find the value of that name in the object that begins at j; return false if it has none. */
static bool find_member(struct jsonin j, const char *name, struct jsonin *value)
{
	struct import_text key;

	if (!j.p || jsonin_peek(&j) != '{')
		return false;
	jsonin_open(&j, '{');
	while (jsonin_member(&j, &key)) {
		*value = jsonin_skip(&j);
		if (jsonin_is(key, name) && !j.bad)
			return true;
	}
	return false;
}

static double chrome_number_in(struct jsonin j, const char *name)
{
	struct jsonin value;

	return find_member(j, name, &value) ? read_number(&value) : NAN;
}

/* ---- names ---- */

static void take_metadata(struct chrome *c, const struct event *ev)
{
	struct jsonin value;
	struct import_text name;
	uint32_t *at, lane;

	if (!find_member(ev->args, "name", &value) || jsonin_peek(&value) != '"')
		return;
	name = jsonin_string(&value);
	if (jsonin_is(ev->name, "thread_name")) {
		lane = lane_of(c, ev);
		c->lanes[lane].name = name;
	} else if (jsonin_is(ev->name, "process_name")) {
		at = map_put(&c->process_of, mix64(ev->pid_key));
		if (*at == MAP_NONE) {
			VEC_GROW(c->processes, c->nr_processes, c->alloc_processes);
			c->nr_processes++;
			*at = c->nr_processes;
		}
		c->processes[*at - 1] = name;
	}
}

/* Names may come after all else, so threads are passed on when all is read. */
static uint32_t chrome_thread_of(struct chrome *c, uint32_t lane)
{
	struct lane *l = &c->lanes[lane];
	struct import_text process = { "", 0 };
	uint32_t at, proc;

	if (l->thread)
		return l->thread;
	at = map_get(&c->process_of, mix64(l->pid_key));
	if (at != MAP_NONE)
		process = jsonin_text(c->processes[at - 1], &c->scratch.name);
	proc = import_proc(c->im, l->pid, process);
	l->thread = import_thread(c->im, proc, l->tid, jsonin_text(l->name, &c->scratch.name));
	return l->thread;
}

static void cover(struct chrome *c, double from_us, double to_us)
{
	if (isnan(c->first_us) || from_us < c->first_us)
		c->first_us = from_us;
	if (isnan(c->last_us) || to_us > c->last_us)
		c->last_us = to_us;
}

/* ---- CPU profiles ---- */

static uint32_t profile_of(struct chrome *c, const struct event *ev)
{
	uint32_t *at = map_put(&c->profile_of, hash_pair(ev->pid_key, ev->id_key));

	if (*at == MAP_NONE) {
		*at = c->nr_profiles;
		*VEC_ADD(c->profiles, c->nr_profiles, c->alloc_profiles) = (struct profile){
			.samples = { .im = c->im, .nodes = &c->nodes, .events = c->events,
				     .thread = lane_of(c, ev) },	/* a lane until all is read */
			.end_us = NAN,
		};
	}
	return *at;
}

static void take_profile_event(struct chrome *c, const struct event *ev)
{
	uint32_t at = profile_of(c, ev);
	struct jsonin data;

	if (!find_member(ev->args, "data", &data))
		return;
	if (jsonin_is(ev->name, "Profile")) {
		double start_us = chrome_number_in(data, "startTime");

		c->profiles[at].samples.thread = lane_of(c, ev);
		c->profiles[at].at_us = isnan(start_us) ? 0 : start_us;
		return;
	}
	VEC_GROW(c->chunks, c->nr_chunks, c->alloc_chunks);
	c->chunks[c->nr_chunks] = (struct chunk){ data, isnan(ev->at_us) ? 0 : ev->at_us, at, c->nr_chunks };
	c->nr_chunks++;
}

static uint32_t as_id(double v)
{
	return v >= 0 && v < UINT32_MAX ? v : UINT32_MAX;
}

static uint64_t node_key(uint32_t profile, uint32_t id)
{
	return mix64((uint64_t)profile << 32 | id);
}

static void chrome_add_node(struct chrome *c, uint32_t profile, struct jsonin *j)
{
	struct v8_frame f = { .frame = { 0 } };
	uint32_t id = 0, caller = MAP_NONE, node;
	struct import_text key;

	jsonin_open(j, '{');
	while (jsonin_member(j, &key))
		if (jsonin_is(key, "id"))
			id = as_id(jsonin_number(j));
		else if (jsonin_is(key, "parent"))
			caller = map_get(&c->node_of, node_key(profile, as_id(jsonin_number(j))));
		else if (jsonin_is(key, "callFrame"))
			f = v8_frame_read(c->im, j, &c->scratch);
		else
			jsonin_skip(j);
	if (!f.frame.kind) {
		j->bad = true;
		return;
	}
	node = import_nodes_add(&c->nodes, f.frame, caller == MAP_NONE ? 0 : caller);
	c->nodes.items[node - 1].hidden = f.what == V8_ROOT;
	*VEC_ADD(c->what, c->nr_what, c->alloc_what) = f.what;
	*map_put(&c->node_of, node_key(profile, id)) = node;
}

static int read_nodes(struct chrome *c, const struct chunk *x, struct err *e)
{
	struct profile *p = &c->profiles[x->profile];
	double end_us = chrome_number_in(x->data, "endTime");
	struct jsonin cpu, j;

	if (!isnan(end_us))
		p->end_us = end_us;
	if (!find_member(x->data, "cpuProfile", &cpu))
		return 0;
	if (!isnan(chrome_number_in(cpu, "endTime")))
		p->end_us = chrome_number_in(cpu, "endTime");
	if (!find_member(cpu, "nodes", &j))
		return 0;
	jsonin_open(&j, '[');
	while (jsonin_element(&j))
		chrome_add_node(c, x->profile, &j);
	return j.bad ? err_set(e, EINVAL, "damaged: the nodes of a profile cannot be read") : 0;
}

/* Read the samples. If a part of the trace was removed, they may have nodes that were in that part. */
static int chrome_read_samples(struct chrome *c, const struct chunk *x, struct err *e)
{
	struct profile *p = &c->profiles[x->profile];
	struct jsonin cpu, j, deltas, data = x->data;
	int r = 0;

	if (!find_member(data, "cpuProfile", &cpu) || !find_member(cpu, "samples", &j) ||
	    (!find_member(data, "timeDeltas", &deltas) && !find_member(cpu, "timeDeltas", &deltas)))
		return 0;
	p->samples.what = c->what;
	jsonin_open(&j, '[');
	jsonin_open(&deltas, '[');
	while (!r && jsonin_element(&j)) {
		uint32_t id = as_id(jsonin_number(&j)), node = map_get(&c->node_of, node_key(x->profile, id));

		if (!jsonin_element(&deltas))
			return err_set(e, EINVAL, "damaged: a profile has more samples than times");
		p->at_us += jsonin_number(&deltas);
		c->nr_unknown += node == MAP_NONE;
		r = v8_samples_take(&p->samples, p->at_us, node == MAP_NONE ? 0 : node, e);
		c->has_samples = true;
	}
	return r;
}

static int compare_chunks(const void *p, const void *q)
{
	const struct chunk *a = p, *b = q;

	return COMPARE(a->at_us, b->at_us) ?: COMPARE(a->index, b->index);
}

static int read_profiles(struct chrome *c, struct err *e)
{
	size_t i;
	int r = 0;

	for (i = 0; i < c->nr_profiles; i++)
		c->profiles[i].samples.thread = chrome_thread_of(c, c->profiles[i].samples.thread);
	if (c->nr_chunks)
		qsort(c->chunks, c->nr_chunks, sizeof(*c->chunks), compare_chunks);
	for (i = 0; i < c->nr_chunks && !r; i++)
		r = read_nodes(c, &c->chunks[i], e);
	for (i = 0; i < c->nr_chunks && !r; i++)
		r = chrome_read_samples(c, &c->chunks[i], e);
	for (i = 0; i < c->nr_profiles && !r; i++) {
		struct v8_samples *s = &c->profiles[i].samples;
		double end_us = c->profiles[i].end_us;

		if (!s->node)
			continue;
		s->what = c->what;
		r = v8_samples_end(s, isnan(end_us) ? s->at_us : MAX(end_us, s->at_us), e);
		cover(c, s->first_us, s->at_us);
	}
	return r;
}

/* ---- samples with "stackFrames" ---- */

static bool has_stacks(const struct chrome *c)
{
	return c->frames.p && c->samples.p;
}

/* Return a key for a number, or a text of one. */
static uint64_t frame_key(struct jsonin *j)
{
	struct import_text t;
	struct jsonin value;

	if (jsonin_peek(j) == '"') {
		t = jsonin_string(j);
	} else {
		value = jsonin_skip(j);
		t = (struct import_text){ value.p, value.end - value.p };
	}
	return hash_bytes(t.s, t.len);
}

static void add_stack_frame(struct chrome *c, struct jsonin *j)
{
	struct import_function fn = { FUNCTION_ANY, .name = { "", 0 }, .module = { "", 0 }, .file = { "", 0 } };
	uint32_t caller = MAP_NONE;
	struct import_text key;

	jsonin_open(j, '{');
	while (jsonin_member(j, &key))
		if (jsonin_is(key, "name") && jsonin_peek(j) == '"')
			fn.name = jsonin_text(jsonin_string(j), &c->scratch.name);
		else if (jsonin_is(key, "parent"))
			caller = map_get(&c->frame_of, frame_key(j));
		else
			jsonin_skip(j);
	if (!fn.name.len)
		fn.name = (struct import_text){ "[no name]", 9 };
	if (frame_mark_is_text(fn.name.s, fn.name.len))
		fn.kind = FUNCTION_MARK;
	import_nodes_add(&c->nodes, (struct frame){ FRAME_NAMED, .function = import_function(c->im, &fn) },
			 caller == MAP_NONE ? 0 : caller);
}

/*
 * Read the frames, which may come before their callers: each gets its number before the first is read. Those
 * behind one that is not a frame have numbers, too, and no names.
 */
static void read_stack_frames(struct chrome *c)
{
	struct jsonin j = c->frames;
	uint32_t nr = c->nodes.nr_items;
	struct import_text key;

	jsonin_open(&j, '{');
	while (jsonin_member(&j, &key)) {
		*map_put(&c->frame_of, hash_bytes(key.s, key.len)) = ++nr;
		jsonin_skip(&j);
	}
	j = c->frames;
	jsonin_open(&j, '{');
	while (jsonin_member(&j, &key))
		add_stack_frame(c, &j);
	while (c->nodes.nr_items < nr) {
		struct jsonin none = { .bad = true };

		add_stack_frame(c, &none);
	}
}

static int read_stack_sample(struct chrome *c, struct jsonin *j, uint32_t event, struct err *e)
{
	struct event ev = { .at_us = NAN };
	struct rec_sample s = { .cpu = IMPORT_NO_CPU, .event = event };
	uint32_t node = MAP_NONE;
	struct import_text key;
	double weight = 1;
	int r;

	jsonin_open(j, '{');
	while (jsonin_member(j, &key))
		if (jsonin_is(key, "ts"))
			ev.at_us = read_number(j);
		else if (jsonin_is(key, "pid"))
			ev.pid_key = read_id(j, &ev.pid);
		else if (jsonin_is(key, "tid"))
			ev.tid_key = read_id(j, &ev.tid);
		else if (jsonin_is(key, "weight"))
			weight = read_number(j);
		else if (jsonin_is(key, "sf"))
			node = map_get(&c->frame_of, frame_key(j));
		else
			jsonin_skip(j);
	if (j->bad || !(ev.at_us >= 0 && ev.at_us < 0x1p52) || !(weight >= 1 && weight < 0x1p52)) {
		c->nr_other++;
		return 0;
	}
	c->nr_unknown += node == MAP_NONE;
	r = import_nodes_stack(&c->nodes, node == MAP_NONE ? 0 : node, &s.stack, e);
	s.thread = chrome_thread_of(c, lane_of(c, &ev));
	s.time_ns = 1 + llround(ev.at_us * 1e3);
	s.weight = weight;
	s.more = s.weight - 1;
	if (!r)
		import_sample(c->im, &s);
	cover(c, ev.at_us, ev.at_us);
	return r;
}

static int read_stacks(struct chrome *c, struct err *e)
{
	uint32_t event = import_event(c->im, (struct import_text){ "samples", 7 }, "samples");
	struct jsonin j = c->samples;
	int r = 0;

	read_stack_frames(c);
	c->has_samples = true;
	jsonin_open(&j, '[');
	while (!r && jsonin_element(&j))
		r = read_stack_sample(c, &j, event, e);
	return r;
}

/* ---- slices ---- */

static void take_slice(struct chrome *c, const struct event *ev)
{
	struct import_function fn = { FUNCTION_ANY, .name = jsonin_text(ev->name, &c->scratch.name),
				      .module = { "", 0 }, .file = { "", 0 } };
	struct slice s = { .at_us = ev->at_us, .end_us = NAN, .lane = lane_of(c, ev), .index = c->nr_slices };
	struct lane *l = &c->lanes[s.lane];
	bool has_end;

	if (*ev->phase.s == 'X') {
		has_end = ev->dur_us >= 0 && ev->dur_us < 0x1p52;
		c->nr_endless += !has_end;
		s.end_us = ev->at_us + (has_end ? ev->dur_us : 0);
	}
	if (*ev->phase.s != 'E') {
		if (!fn.name.len)
			fn.name = (struct import_text){ "[no name]", 9 };
		if (frame_mark_is_text(fn.name.s, fn.name.len))
			fn.kind = FUNCTION_MARK;
		s.function = import_function(c->im, &fn);
	}
	l->last_us = MAX(l->last_us, isnan(s.end_us) ? s.at_us : s.end_us);
	*VEC_ADD(c->slices, c->nr_slices, c->alloc_slices) = s;
}

/* Order by thread and time, longer slices first; equal ones as in the file. */
static int compare_slices(const void *p, const void *q)
{
	const struct slice *a = p, *b = q;

	return COMPARE(a->lane, b->lane) ?: COMPARE(a->at_us, b->at_us) ?: COMPARE(b->end_us, a->end_us) ?:
	       COMPARE(a->index, b->index);
}

/* Order by thread and time alone: durations are not known yet. */
static int compare_ends(const void *p, const void *q)
{
	struct slice a = *(const struct slice *)p, b = *(const struct slice *)q;

	a.end_us = b.end_us = NAN;
	return compare_slices(&a, &b);
}

/* Turn beginnings and ends, "B" and "E", into slices with both; a slice without an end ends last. */
static void pair_slices(struct chrome *c)
{
	uint32_t *open = NULL;
	size_t nr_open = 0, alloc_open = 0, nr = 0, i;

	qsort(c->slices, c->nr_slices, sizeof(*c->slices), compare_ends);
	for (i = 0; i < c->nr_slices; i++) {
		struct slice *s = &c->slices[i];

		if (i && s->lane != s[-1].lane)
			nr_open = 0;
		if (s->function && isnan(s->end_us)) {
			*VEC_ADD(open, nr_open, alloc_open) = i;
		} else if (!s->function && nr_open) {
			c->slices[open[--nr_open]].end_us = s->at_us;
		} else if (!s->function) {
			c->nr_unpaired++;
		}
	}
	free(open);
	for (i = 0; i < c->nr_slices; i++) {
		struct slice *s = &c->slices[i];

		if (!s->function)
			continue;
		if (isnan(s->end_us)) {
			s->end_us = c->lanes[s->lane].last_us;
			c->nr_unpaired++;
		}
		c->slices[nr++] = *s;
	}
	c->nr_slices = nr;
	qsort(c->slices, nr, sizeof(*c->slices), compare_slices);
}

struct sweep {
	struct chrome *c;
	struct frame *stack;
	double *ends_us;		/* of the functions on the stack */
	size_t nr, nr_same, alloc_stack, alloc_ends;
	double now_us;
	uint32_t event, thread;
};

/* Time goes on to that moment, in the innermost function. */
static void pass(struct sweep *w, double to_us)
{
	struct rec_sample s = { .cpu = IMPORT_NO_CPU, .thread = w->thread, .event = w->event, .more = -1 };

	if (w->nr && to_us > w->now_us) {
		/* Differences of rounded times add up to the whole. */
		s.weight = llround(to_us * 1e3) - llround(w->now_us * 1e3);
		s.time_ns = 1 + llround(w->now_us * 1e3);
		s.stack = trace_write_changed_stack(w->c->im->w, w->stack, w->nr, w->nr_same);
		w->nr_same = w->nr;
		if (s.weight)
			import_sample(w->c->im, &s);
		cover(w->c, w->now_us, to_us);
	}
	w->now_us = MAX(w->now_us, to_us);
}

static void leave_slice(struct sweep *w, double until_us)
{
	while (w->nr && w->ends_us[w->nr - 1] <= until_us) {
		pass(w, w->ends_us[w->nr - 1]);
		w->nr--;
		w->nr_same = MIN(w->nr_same, w->nr);
	}
}

static int sweep_slices(struct sweep *w, struct err *e)
{
	struct chrome *c = w->c;
	size_t i, alloc;

	for (i = 0; i < c->nr_slices; i++) {
		const struct slice *s = &c->slices[i];
		double end_us = s->end_us;

		if (!i || s->lane != s[-1].lane) {
			leave_slice(w, INFINITY);
			w->thread = chrome_thread_of(c, s->lane);
			w->now_us = s->at_us;
		}
		leave_slice(w, s->at_us);
		pass(w, s->at_us);
		if (w->nr == MAX_FRAMES)
			return err_set(e, EINVAL, "more than %d functions in a stack", MAX_FRAMES);
		if (w->nr && end_us > w->ends_us[w->nr - 1]) {
			end_us = w->ends_us[w->nr - 1];
			c->nr_overlaps++;
		}
		alloc = w->nr;
		VEC_GROW(w->stack, alloc, w->alloc_stack);
		VEC_GROW(w->ends_us, alloc, w->alloc_ends);
		w->stack[w->nr] = (struct frame){ FRAME_NAMED, .function = s->function };
		w->ends_us[w->nr++] = end_us;
	}
	leave_slice(w, INFINITY);
	return 0;
}

static int write_slices(struct chrome *c, struct err *e)
{
	struct sweep w = { .c = c };
	int r;

	if (!c->nr_slices)
		return 0;
	pair_slices(c);
	w.event = import_event(c->im, (struct import_text){ "slices", 6 }, "ns");
	r = sweep_slices(&w, e);
	free(w.stack);
	free(w.ends_us);
	return r;
}

/* ---- the whole ---- */

static void take_event(struct chrome *c, const struct event *ev)
{
	bool profile = jsonin_is(ev->name, "Profile") || jsonin_is(ev->name, "ProfileChunk");
	char phase = ev->phase.len == 1 ? *ev->phase.s : 0;
	bool timed = ev->at_us >= 0 && ev->at_us < 0x1p52;

	if (phase == 'M')
		take_metadata(c, ev);
	else if (phase == 'P' && profile)
		take_profile_event(c, ev);
	else if (timed && (phase == 'X' || phase == 'B' || phase == 'E'))
		take_slice(c, ev);
	else
		c->nr_other++;
}

static int read_events(struct chrome *c, struct jsonin *j, struct err *e)
{
	struct event ev;
	uint64_t nr = 0;

	jsonin_open(j, '[');
	while (jsonin_element(j)) {
		read_event(j, &ev);
		if (j->bad) {
			c->truncated = true;
			break;
		}
		take_event(c, &ev);
		nr++;
	}
	if (j->bad && (j->p < j->end || !nr))
		return err_set(e, EINVAL, "its JSON is damaged at offset %zu, in event %llu",
			       (size_t)(j->p - j->start), (unsigned long long)nr + 1);
	return 0;
}

static int chrome_read_root(struct chrome *c, const char *data, size_t len, struct err *e)
{
	struct jsonin j = jsonin_init(data, len);
	struct import_text key;
	int r = 0;

	if (jsonin_peek(&j) == '[') {
		r = read_events(c, &j, e);
	} else {
		jsonin_open(&j, '{');
		while (!r && jsonin_member(&j, &key))
			if (jsonin_is(key, "traceEvents") && jsonin_peek(&j) == '[')
				r = read_events(c, &j, e);
			else if (jsonin_is(key, "stackFrames"))
				c->frames = jsonin_skip(&j);
			else if (jsonin_is(key, "samples") && jsonin_peek(&j) == '[')
				c->samples = jsonin_skip(&j);
			else
				jsonin_skip(&j);
		c->truncated |= j.bad;
	}
	return r;
}

static void write_notes(struct chrome *c)
{
	if (c->nr_other)
		import_note(c->im, "left out: %llu events that are no times of functions, such as asynchronous ones, counters and marks",
			    (unsigned long long)c->nr_other);
	if (c->nr_endless)
		import_note(c->im, "%llu events have no valid duration, and no time",
			    (unsigned long long)c->nr_endless);
	if (c->nr_unknown)
		import_note(c->im, "left out: %llu samples of functions that are in no part of the file",
			    (unsigned long long)c->nr_unknown);
	if (c->nr_unpaired)
		import_note(c->im, "%llu events begin without an end, or end without a beginning",
			    (unsigned long long)c->nr_unpaired);
	if (c->nr_overlaps)
		import_note(c->im, "%llu events end after the one that they began in, and are shortened",
			    (unsigned long long)c->nr_overlaps);
	if (c->truncated)
		import_note(c->im, "the file is truncated: what follows its last whole event is missing");
	if (!isnan(c->first_us)) {
		trace_write_label(c->im->w, "start.mono_ns", "%.0f", 1 + c->first_us * 1e3);
		trace_write_label(c->im->w, "end.mono_ns", "%.0f", 1 + c->last_us * 1e3);
	}
	c->im->unknown = IMPORT_NO_LOST | IMPORT_NO_MODES | (c->has_samples ? 0 : IMPORT_NO_COUNTS);
}

static int chrome_read(struct import *im, const char *data, size_t len, struct err *e)
{
	struct chrome c = { .im = im, .first_us = NAN, .last_us = NAN };
	int r;

	import_nodes_init(&c.nodes, im, len);
	r = chrome_read_root(&c, data, len, e);
	if (!r && !c.nr_chunks && !c.nr_slices && !has_stacks(&c))
		r = err_set(e, EINVAL, "it has neither a CPU profile nor events that begin and end, but %llu others",
			    (unsigned long long)c.nr_other);
	if (!r)
		r = read_profiles(&c, e);
	if (!r && has_stacks(&c))
		r = read_stacks(&c, e);
	if (!r)
		r = write_slices(&c, e);
	write_notes(&c);
	import_nodes_release(&c.nodes);
	free(c.lanes);
	free(c.processes);
	free(c.slices);
	free(c.profiles);
	free(c.what);
	free(c.chunks);
	map_release(&c.lane_of);
	map_release(&c.process_of);
	map_release(&c.profile_of);
	map_release(&c.node_of);
	map_release(&c.frame_of);
	v8_scratch_release(&c.scratch);
	return r;
}

static bool chrome_is(const char *data, size_t len)
{
	struct jsonin j = jsonin_init(data, len);

	if (jsonin_peek(&j) == '[') {
		jsonin_open(&j, '[');
		return jsonin_element(&j) && jsonin_peek(&j) == '{' && jsonin_has(&j, "ph", NULL);
	}
	return jsonin_has(&j, "traceEvents", NULL);
}

const struct import_format import_chrome = {
	.name = "Chrome trace",
	.what = "a Chrome trace",
	.is = chrome_is,
	.read = chrome_read,
};
