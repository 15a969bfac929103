// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * read.c - speedscope's own format: several profiles, sampled or of events, with shared frames.
 *
 * Source: the file format's JSON schema, in the npm package speedscope.
 *
 * A sampled profile is a list of stacks with weights, and nobody says whether each is one sample. A profile
 * of events says when each frame was entered and left: what passes between two events was spent in the
 * innermost frame then.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/jsonin.h"

enum { MAX_FRAMES = 65536, UNIT_FRACTIONS = 6 };

static const struct unit {
	const char *name, *event, *unit;
	double scale;
} units[] = {
	{ "none", "weight", "weight", 1 },
	{ "nanoseconds", "time", "ns", 1 },
	{ "microseconds", "time", "ns", 1e3 },
	{ "milliseconds", "time", "ns", 1e6 },
	{ "seconds", "time", "ns", 1e9 },
	{ "bytes", "memory", "bytes", 1 },
	[UNIT_FRACTIONS] = { "", "weight", "millionths", 1e6 },	/* none, with weights that are not whole */
};

struct profile {
	struct import_text name, type, unit;
	struct jsonin samples, weights, events;
};

struct metric {
	char *name;
	const char *unit;		/* of units[] */
	uint32_t event;
};

struct speedscope {
	struct import *im;
	uint32_t *functions;		/* [frame]: number of import_function() */
	uint32_t *lines;
	size_t nr_functions, alloc_functions, nr_lines, alloc_lines;
	struct frame *stack;		/* [MAX_FRAMES], outermost first */
	size_t nr_stack, nr_same;	/* nr_same: of it, as in the last sample that was written */
	uint32_t event_of[ARRAY_SIZE(units)];	/* + 1; units of the same event have the same */
	struct import_text metric;	/* of this profile, if its name has one */
	struct metric *metrics;
	size_t nr_metrics, alloc_metrics;
	uint32_t thread;
	size_t nr_profiles;
	bool has_proc, has_thread, untimed;
	uint64_t first_ns, last_ns;	/* of events */
	struct buf text, file;		/* scratch */
};

/* ---- frames ---- */

static void add_frame(struct speedscope *s, struct jsonin *j)
{
	struct import_function fn = { FUNCTION_ANY, .name = { "", 0 }, .module = { "", 0 }, .file = { "", 0 } };
	struct import_text key;
	double line = 0;

	jsonin_open(j, '{');
	while (jsonin_member(j, &key))
		if (jsonin_is(key, "name"))
			fn.name = jsonin_text(jsonin_string(j), &s->text);
		else if (jsonin_is(key, "file") && jsonin_peek(j) == '"')
			fn.file = jsonin_text(jsonin_string(j), &s->file);
		else if (jsonin_is(key, "line"))
			line = jsonin_number(j);
		else
			jsonin_skip(j);
	if (!fn.name.len)
		fn.name = (struct import_text){ "[no name]", 9 };
	if (frame_mark_is_text(fn.name.s, fn.name.len))
		fn.kind = FUNCTION_MARK;
	*VEC_ADD(s->functions, s->nr_functions, s->alloc_functions) = import_function(s->im, &fn);
	*VEC_ADD(s->lines, s->nr_lines, s->alloc_lines) = line >= 1 && line <= UINT32_MAX ? line : 0;
}

static void read_shared(struct speedscope *s, struct jsonin j)
{
	struct import_text key;

	jsonin_open(&j, '{');
	while (jsonin_member(&j, &key)) {
		if (!jsonin_is(key, "frames")) {
			jsonin_skip(&j);
			continue;
		}
		jsonin_open(&j, '[');
		while (jsonin_element(&j))
			add_frame(s, &j);
	}
}

static int speedscope_push(struct speedscope *s, double frame, struct err *e)
{
	size_t i = frame >= 0 && frame < (double)s->nr_functions ? (size_t)frame : s->nr_functions;

	if (i == s->nr_functions)
		return err_set(e, EINVAL, "frame %.0f, of which there are %zu", frame, s->nr_functions);
	if (s->nr_stack == MAX_FRAMES)
		return err_set(e, EINVAL, "more than %d functions in a stack", MAX_FRAMES);
	s->stack[s->nr_stack++] =
		(struct frame){ FRAME_NAMED, .function = s->functions[i], .line = s->lines[i] };
	return 0;
}

/* ---- samples ---- */

static bool has_fractions(struct jsonin weights)
{
	double v;

	jsonin_open(&weights, '[');
	while (jsonin_element(&weights)) {
		v = jsonin_number(&weights);
		if (v != floor(v))
			return true;
	}
	return false;
}

/*
 * Return the unit of the weights. Those without a unit may be anything, such as percentages: fractions stay
 * fractions.
 */
static const struct unit *find_unit(const struct profile *p)
{
	size_t i;

	for (i = 1; i < UNIT_FRACTIONS; i++)
		if (jsonin_is(p->unit, units[i].name))
			return &units[i];
	return &units[p->weights.p && has_fractions(p->weights) ? UNIT_FRACTIONS : 0];
}

static uint32_t event_of_metric(struct speedscope *s, const struct unit *u)
{
	struct metric *x;
	size_t i;

	for (i = 0; i < s->nr_metrics; i++) {
		x = &s->metrics[i];
		if (x->unit == u->unit && jsonin_is(s->metric, x->name))
			return x->event;
	}
	x = VEC_ADD(s->metrics, s->nr_metrics, s->alloc_metrics);
	*x = (struct metric){ xstrndup(s->metric.s, s->metric.len), u->unit,
			      import_event(s->im, s->metric, u->unit) };
	return x->event;
}

static uint32_t speedscope_event_of(struct speedscope *s, const struct unit *u)
{
	size_t i = u - units, k;

	if (s->metric.len)
		return event_of_metric(s, u);
	for (k = 0; k < ARRAY_SIZE(units) && !s->event_of[i]; k++)
		if (s->event_of[k] && !strcmp(units[k].event, u->event) && !strcmp(units[k].unit, u->unit))
			s->event_of[i] = s->event_of[k];
	if (!s->event_of[i])
		s->event_of[i] =
			1 + import_event(s->im, (struct import_text){ u->event, strlen(u->event) }, u->unit);
	return s->event_of[i] - 1;
}

static int speedscope_write_sample(struct speedscope *s, const struct unit *u, double weight,
				   uint64_t time_ns, struct err *e)
{
	struct rec_sample r = { .cpu = IMPORT_NO_CPU, .thread = s->thread, .time_ns = time_ns, .more = -1 };

	weight *= u->scale;
	if (!(weight >= 0) || weight >= 0x1p63)
		return err_set(e, EINVAL, "a weight of %g", weight / u->scale);
	r.weight = llround(weight);
	r.event = speedscope_event_of(s, u);
	if (!r.weight)
		return 0;
	r.stack = trace_write_changed_stack(s->im->w, s->stack, s->nr_stack, s->nr_same);
	s->nr_same = s->nr_stack;
	import_sample(s->im, &r);
	return 0;
}

static int read_sampled(struct speedscope *s, struct profile *p, struct err *e)
{
	const struct unit *u = find_unit(p);
	struct jsonin *j = &p->samples, *w = &p->weights;
	int r = 0;

	s->untimed = true;
	jsonin_open(j, '[');
	jsonin_open(w, '[');
	while (!r && jsonin_element(j)) {
		s->nr_stack = s->nr_same = 0;
		jsonin_open(j, '[');
		while (!r && jsonin_element(j))
			r = speedscope_push(s, jsonin_number(j), e);
		if (!r && (j->bad || !jsonin_element(w)))
			r = err_set(e, EINVAL, "a profile has more samples than weights");
		if (!r)
			r = speedscope_write_sample(s, u, jsonin_number(w), 0, e);
	}
	if (!r && (j->bad || w->bad || jsonin_element(w)))
		r = err_set(e, EINVAL, "a profile has other numbers of samples and of weights");
	return r;
}

/* ---- events ---- */

static int add_event(struct speedscope *s, const struct unit *u, struct jsonin *j, double *last,
		     struct err *e)
{
	struct import_text key, type = { "", 0 };
	double frame = -1, at = NAN;
	uint64_t time_ns = 0;
	int r;

	jsonin_open(j, '{');
	while (jsonin_member(j, &key))
		if (jsonin_is(key, "type"))
			type = jsonin_string(j);
		else if (jsonin_is(key, "frame"))
			frame = jsonin_number(j);
		else if (jsonin_is(key, "at"))
			at = jsonin_number(j);
		else
			jsonin_skip(j);
	if (j->bad || isnan(at) || (!isnan(*last) && at < *last))
		return err_set(e, EINVAL, "an event without a time, or before the one before it");
	if (!isnan(*last) && *last * u->scale >= 0 && at * u->scale < 0x1p62 && !strcmp(u->unit, "ns"))
		time_ns = 1 + llround(*last * u->scale);
	if (s->nr_stack && at > *last && (r = speedscope_write_sample(s, u, at - *last, time_ns, e)))
		return r;
	if (time_ns && s->nr_stack) {
		s->first_ns = s->first_ns && s->first_ns < time_ns ? s->first_ns : time_ns;
		s->last_ns = MAX(s->last_ns, (uint64_t)(1 + llround(at * u->scale)));
	}
	*last = at;
	if (jsonin_is(type, "O"))
		return speedscope_push(s, frame, e);
	if (!jsonin_is(type, "C") || !s->nr_stack)
		return err_set(e, EINVAL, "an event that leaves what was not entered");
	s->nr_stack--;
	s->nr_same = MIN(s->nr_same, s->nr_stack);
	return 0;
}

static int read_evented(struct speedscope *s, struct profile *p, struct err *e)
{
	const struct unit *u = find_unit(p);
	double last = NAN;
	int r = 0;

	s->untimed |= strcmp(u->unit, "ns") != 0;
	s->nr_stack = s->nr_same = 0;
	jsonin_open(&p->events, '[');
	while (!r && jsonin_element(&p->events))
		r = add_event(s, u, &p->events, &last, e);
	if (!r && p->events.bad)
		r = err_set(e, EINVAL, "the events of a profile cannot be read");
	return r;
}

/* ---- profiles ---- */

static bool is_metric(const struct speedscope *s, struct import_text name)
{
	size_t i;

	for (i = 0; i < s->nr_metrics; i++)
		if (jsonin_is(name, s->metrics[i].name))
			return true;
	return false;
}

/*
 * "main [tid 12]: wall", as arcprof names the profiles of several metrics: each thread has one of each, and
 * they do not add up. What is in no thread, "[no owner]: blame", has a metric that a thread had before.
 */
static void cut_metric(struct speedscope *s, struct import_text *name)
{
	static const char mark[] = "]: ";
	const char *at = NULL, *next = name->s;
	struct import_text metric;

	s->metric = (struct import_text){ "", 0 };
	while ((next = memmem(next, name->s + name->len - next, mark, strlen(mark))))
		at = next++;
	if (!at)
		return;
	metric = (struct import_text){ at + strlen(mark), name->s + name->len - at - strlen(mark) };
	if (!memmem(name->s, at - name->s, " [tid ", 6) && !is_metric(s, metric))
		return;
	s->metric = metric;
	name->len = at + 1 - name->s;
}

/* Take the name, which is that of a thread; arcprof writes the process before it. */
static void name_thread(struct speedscope *s, struct import_text name)
{
	struct import_text process = name, thread = name;
	const char *at = memmem(name.s, name.len, " [pid ", 6), *end;
	uint32_t pid = 0, tid = 0, proc = 0;

	end = at ? memchr(at, ']', name.s + name.len - at) : NULL;
	if (end) {
		process.len = end + 1 - name.s;
		thread = (struct import_text){ end + 1, name.s + name.len - end - 1 };
		if (thread.len && *thread.s == ' ')
			thread = (struct import_text){ thread.s + 1, thread.len - 1 };
		if (import_cut_id(&process, " [pid ", &pid)) {
			proc = import_proc(s->im, pid, process);
			s->has_proc = true;
		} else {
			thread = name;
		}
	}
	import_cut_id(&thread, " [tid ", &tid);
	s->thread = import_thread(s->im, proc, tid, thread);
	s->has_thread = true;
}

static int read_profile(struct speedscope *s, struct jsonin *j, bool one_of_many, struct err *e)
{
	struct profile p = { .name = { "", 0 }, .type = { "", 0 }, .unit = { "", 0 } };
	struct import_text key, name;

	jsonin_open(j, '{');
	while (jsonin_member(j, &key))
		if (jsonin_is(key, "name"))
			p.name = jsonin_string(j);
		else if (jsonin_is(key, "type"))
			p.type = jsonin_string(j);
		else if (jsonin_is(key, "unit"))
			p.unit = jsonin_string(j);
		else if (jsonin_is(key, "samples"))
			p.samples = jsonin_skip(j);
		else if (jsonin_is(key, "weights"))
			p.weights = jsonin_skip(j);
		else if (jsonin_is(key, "events"))
			p.events = jsonin_skip(j);
		else
			jsonin_skip(j);
	if (j->bad)
		return err_set(e, EINVAL, "its JSON is damaged at offset %zu", (size_t)(j->p - j->start));
	name = jsonin_text(p.name, &s->text);
	cut_metric(s, &name);
	s->thread = 0;
	if (one_of_many || memmem(name.s, name.len, " [tid ", 6))
		name_thread(s, name);
	if (jsonin_is(p.type, "sampled") && p.samples.p && p.weights.p)
		return read_sampled(s, &p, e);
	if (jsonin_is(p.type, "evented") && p.events.p)
		return read_evented(s, &p, e);
	return err_set(e, EINVAL, "a profile is neither sampled nor of events");
}

static size_t count_elements(struct jsonin j)
{
	size_t nr = 0;

	jsonin_open(&j, '[');
	for (; jsonin_element(&j); nr++)
		jsonin_skip(&j);
	return nr;
}

static int read_profiles(struct speedscope *s, struct jsonin j, struct err *e)
{
	size_t nr = count_elements(j), i = 0;
	int r = 0;

	jsonin_open(&j, '[');
	for (; !r && jsonin_element(&j); i++)
		if ((r = read_profile(s, &j, nr > 1, e)))
			err_wrap(e, "profile %zu", i);
	return r ? r : nr ? 0 : err_set(e, EINVAL, "it has no profiles");
}

/* Read the two parts, which come in any order. */
static int speedscope_read_root(struct speedscope *s, const char *data, size_t len, struct err *e)
{
	struct jsonin j = jsonin_init(data, len), profiles = { 0 }, shared = { 0 };
	struct import_text key;

	jsonin_open(&j, '{');
	while (jsonin_member(&j, &key))
		if (jsonin_is(key, "profiles"))
			profiles = jsonin_skip(&j);
		else if (jsonin_is(key, "shared"))
			shared = jsonin_skip(&j);
		else
			jsonin_skip(&j);
	if (j.bad)
		return err_set(e, EINVAL, "its JSON is damaged or truncated at offset %zu",
			       (size_t)(j.p - j.start));
	if (!profiles.p || !shared.p)
		return err_set(e, EINVAL, "it has no \"profiles\" or no \"shared\"");
	read_shared(s, shared);
	return read_profiles(s, profiles, e);
}

static int speedscope_read(struct import *im, const char *data, size_t len, struct err *e)
{
	struct speedscope s = { .im = im };
	int r;

	s.stack = xcalloc(MAX_FRAMES, sizeof(*s.stack));
	r = speedscope_read_root(&s, data, len, e);
	if (!s.untimed && s.last_ns) {
		trace_write_label(im->w, "start.mono_ns", "%llu", (unsigned long long)s.first_ns);
		trace_write_label(im->w, "end.mono_ns", "%llu", (unsigned long long)s.last_ns);
	}
	im->unknown = IMPORT_NO_COUNTS | IMPORT_NO_LOST | IMPORT_NO_MODES |
		      (s.has_proc ? 0 : IMPORT_NO_PROCESSES) | (s.has_thread ? 0 : IMPORT_NO_THREADS) |
		      (s.untimed || !s.last_ns ? IMPORT_NO_TIMES : 0);
	free(s.functions);
	free(s.lines);
	while (s.nr_metrics)
		free(s.metrics[--s.nr_metrics].name);
	free(s.metrics);
	free(s.stack);
	buf_release(&s.text);
	buf_release(&s.file);
	return r;
}

static bool speedscope_is(const char *data, size_t len)
{
	struct jsonin j = jsonin_init(data, len);

	return jsonin_peek(&j) == '{' && (memmem(data, len, "speedscope.app/file-format-schema", 33) ||
					  jsonin_has(&j, "profiles", "shared"));
}

const struct import_format import_speedscope = {
	.name = "speedscope",
	.what = "a speedscope file",
	.is = speedscope_is,
	.read = speedscope_read,
};
