// SPDX-License-Identifier: GPL-2.0-or-later
/* completed.c - rebuilds calls from the events of a call trace (completed.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "model/profile.h"
#include "report/completed.h"

enum { SLOW_RULES = 64 };	/* as many as "record --trace" takes */

/* ---- the open calls of a tree ---- */

static struct completed_call *innermost(struct completed_tree *t)
{
	return t->nr_open ? &t->open[t->nr_open - 1] : NULL;
}

static bool in_window(const struct completed *c, uint64_t time_ns)
{
	return time_ns >= c->window.reset_ns && window_has(&c->window, time_ns);
}

static void give(struct completed *c, const struct completed_call *x)
{
	if (c->sink->left)
		c->sink->left(c->ctx, x);
}

static void completed_enter(struct completed *c, struct completed_tree *t, const struct timeline_event *x,
			    bool selected)
{
	struct completed_call *outer = innermost(t), call = {
		.id = ++c->nr_entered, .parent = outer ? outer->id : 0, .start_ns = x->time_ns,
		.consumer = calls_consumer(&c->calls, x->function), .tree = x->tree, .level = t->nr_open,
		.open = x->kind == CALL_OPEN, .selected = selected && in_window(c, x->time_ns),
	};

	call.before = c->consumed;
	if (outer && !call.open)
		outer->nr_inside++;
	*VEC_ADD(t->open, t->nr_open, t->alloc_open) = call;
	if (c->sink->entered)
		c->sink->entered(c->ctx, &call);
}

static void close_innermost(struct completed *c, struct completed_tree *t, uint64_t time_ns, uint8_t how)
{
	struct completed_call x = t->open[--t->nr_open];

	x.elapsed += x.self;
	x.others = c->consumed - x.before - x.elapsed;
	x.end_ns = time_ns;
	x.how = how;
	x.whole = how != CALL_ENTERED && !x.open;
	if (t->nr_open)
		innermost(t)->elapsed += x.elapsed;
	else
		t->inside += x.elapsed;
	give(c, &x);
}

/*
 * Report a call that was open before the thread's first event: all that the thread did until now belongs to
 * it.
 */
static void give_unseen(struct completed *c, struct completed_tree *t, const struct timeline_event *x,
			uint32_t consumer, bool selected)
{
	const struct completed_call call = {
		.start_ns = t->first_ns, .end_ns = x->time_ns, .self = t->outside,
		.elapsed = t->outside + t->inside, .consumer = consumer, .tree = x->tree, .how = x->kind,
		.selected = selected && in_window(c, MAX(c->window.reset_ns, (uint64_t)1) - 1),
	};

	t->inside = call.elapsed;
	t->outside = 0;
	give(c, &call);
}

static void completed_leave(struct completed *c, struct completed_tree *t, const struct timeline_event *x,
			    bool selected)
{
	uint32_t consumer = calls_consumer(&c->calls, x->function);
	size_t at = t->nr_open;

	while (at && t->open[at - 1].consumer != consumer)
		at--;
	while (t->nr_open > at)
		close_innermost(c, t, x->time_ns, CALL_UNWOUND);
	if (at)
		close_innermost(c, t, x->time_ns, x->kind);
	else
		give_unseen(c, t, x, consumer, selected);
}

static void consume(struct completed *c, struct completed_tree *t, uint64_t amount)
{
	uint64_t *to = t->nr_open ? &innermost(t)->self : &t->outside;

	*to += amount;
	c->consumed += amount;
}

static uint64_t delta_of(const struct completed *c, const struct completed_tree *t,
			 const struct timeline_event *x)
{
	if (c->metric == MEASURE_SAMPLES)
		return 0;
	if (c->metric == MEASURE_TIME)
		return t->begun ? x->time_ns - t->last_ns : 0;
	return x->delta[c->metric];
}

/* Charge what was consumed since the tree's event before to whatever is open. */
static void completed_charge(struct completed *c, struct completed_tree *t, const struct timeline_event *x)
{
	uint64_t delta = delta_of(c, t, x);

	/* the tree's own rule for values that go back */
	if (!(delta >> 63))
		consume(c, t, delta);
	if (!t->begun)
		t->first_ns = x->time_ns;
	t->last_ns = x->time_ns;
	t->begun = true;
}

/* Restart after a time of which nothing is known. */
static void resume(struct completed *c, struct completed_tree *t, const struct timeline_event *x)
{
	while (t->nr_open)
		close_innermost(c, t, t->last_ns, CALL_ENTERED);
	if (!t->begun)
		t->first_ns = x->time_ns;
	t->last_ns = x->time_ns;
	t->begun = true;
}

/*
 * Charge samples that were taken up to now; those of threads without calls count as other threads' for
 * all calls.
 */
static void charge_samples(struct completed *c, uint64_t until_ns)
{
	const struct flow_times *s = &c->samples;

	for (; c->at_sample < s->nr_list && s->list[c->at_sample].time_ns <= until_ns; c->at_sample++) {
		const struct flow_time *x = &s->list[c->at_sample];
		uint32_t tree = map_get(&c->tree_of, x->thread);

		if (tree == MAP_NONE)
			c->consumed += x->weight;
		else
			consume(c, &c->trees[tree], x->weight);
	}
}

/* Samples are of kernel threads, each of which is in the tree of its last event. */
static void note_tree(struct completed *c, uint32_t tree)
{
	const struct rec_call_tree *r = &c->calls.trees[tree];

	if (r->thread && !(r->flags & CALL_TREE_VIRTUAL))
		*map_put(&c->tree_of, r->thread) = tree;
}

static int completed_on_event(void *ctx, const struct timeline_event *x)
{
	struct completed *c = ctx;
	struct completed_tree *t;
	uint32_t nr = x->function;
	bool selected = gen_select_shows(&c->select, x);

	charge_samples(c, x->time_ns);
	if (x->kind >= CALL_EVENT_NR) {
		if (selected && c->sink->dispatch)
			c->sink->dispatch(c->ctx, x);
		return 0;
	}
	t = &c->trees[x->tree];
	if (c->metric == MEASURE_SAMPLES)
		note_tree(c, x->tree);
	if (x->kind == CALL_OPEN && !x->function)
		resume(c, t, x);
	else
		completed_charge(c, t, x);
	if (x->kind == CALL_ENTERED || (x->kind == CALL_OPEN && x->function))
		completed_enter(c, t, x, selected);
	else if (x->kind == CALL_LEFT || x->kind == CALL_LEFT_THROWING)
		completed_leave(c, t, x, selected);
	else if (x->kind == CALL_UNWOUND)
		for (; nr && t->nr_open; nr--)
			close_innermost(c, t, x->time_ns, CALL_UNWOUND);
	return c->ended;
}

static bool completed_needs(void *ctx, const struct timeline_event *x)
{
	const struct completed *c = ctx;

	if (x->kind < CALL_EVENT_NR)
		return x->tree < c->calls.nr_trees &&
		       (completed_has_others(c) || gen_select_thread(&c->select, x));
	return c->sink->dispatch && gen_select_thread(&c->select, x);
}

int completed_read(struct completed *c, struct trace_reader *t, const struct completed_sink *sink, void *ctx,
		   struct err *e)
{
	static const struct timeline_sink events = { .needs = completed_needs, .event = completed_on_event };
	size_t i;
	int r;

	c->sink = sink;
	c->ctx = ctx;
	c->nr_entered = 0;
	c->consumed = c->at_sample = 0;
	map_release(&c->tree_of);
	c->ended = false;
	r = timeline_read(&c->timeline, t, &events, c, e);
	for (i = 0; i < c->calls.nr_trees; i++) {
		struct completed_tree *x = &c->trees[i];

		while (x->nr_open)
			close_innermost(c, x, x->last_ns, CALL_ENTERED);
		free(x->open);
		*x = (struct completed_tree){ .nr_open = 0 };
	}
	return r;
}

/* ---- before the first event ---- */

const struct report_reason calls_have_no_cpu[] = {
	{ "cpu", "calls do not say on which CPU they were" },
	{ NULL, NULL },
};

int completed_check(const struct report_opts *o, struct err *e)
{
	if (o->profile->metrics.nr_items > 1)
		return err_set(e, EINVAL, "--%s measures calls by one --metric", o->report->name);
	return 0;
}

/* Choose the candidate as the measure if its name is wanted and none was chosen before. */
static void offer(struct completed *c, const char *wanted, int metric, const char *name, const char *unit,
		  struct buf *known)
{
	buf_fmt(known, ", %s", name);
	if (c->measure || strcmp(name, wanted) != 0)
		return;
	c->metric = metric;
	c->measure = name;
	c->unit = unit;
}

/* Choose among the metrics of the calls, then the events that were sampled beside them. */
static int choose_measure(struct completed *c, const struct opt_list *metrics, struct err *e)
{
	const char *wanted = metrics->nr_items ? metrics->items[0] : "elapsed", *name, *unit;
	struct buf known = BUF_INIT;
	uint32_t i;

	c->metric = MEASURE_TIME;
	for (i = 0; i < c->columns.nr_metrics; i++)
		offer(c, wanted, i, model_str(&c->m, c->m.metrics[i].name),
		      model_str(&c->m, c->m.metrics[i].unit), &known);
	for (i = 0; (name = names_event(&c->names, i, "")); i++) {
		unit = names_event(&c->names, i, ".unit");
		offer(c, wanted, MEASURE_SAMPLES, name, unit ? unit : "events", &known);
	}
	if (!c->measure && strcmp(wanted, "elapsed") != 0)
		err_set(e, EINVAL, "unknown metric '%s' (available: elapsed%s)", wanted,
			known.len ? known.data : "");
	buf_release(&known);
	return c->measure || !strcmp(wanted, "elapsed") ? 0 : -EINVAL;
}

/* Read the samples of all threads and times, as other threads' consumption is needed, too. */
static int completed_read_samples(struct completed *c, struct trace_reader *t, struct err *e)
{
	const struct profile_opts po = {
		.names.no_files = true, .metrics = c->opts.profile->metrics, .samples = true, .times = true,
	};
	struct origin origin;
	struct names names;
	struct model m;
	int r = profile_read(&names, &m, &origin, t, &po, e);

	if (!r) {
		c->samples = m.times;
		m.times = (struct flow_times){ .start_ns = 0 };
		flow_times_sort_by_time(&c->samples);
	}
	names_release(&names);
	model_release(&m);
	return r;
}

/* Calls of other times are followed, too: which are shown is asked of each when it is entered. */
static const struct window always = { .to_ns = UINT64_MAX };

static int completed_prepare(struct completed *c, struct trace_reader *t, struct err *e)
{
	const struct columns_opts all = { .no_samples = true };
	struct event_columns none;
	int r;

	if ((r = trace_read(t, &names_sink, &c->names, e)) ||
	    (r = names_window(&c->names, &c->opts.select, &c->window, e)) ||
	    (r = columns_of_calls(&c->columns, &none, &c->names, &all, e)) ||
	    (r = choose_measure(c, &c->opts.profile->metrics, e)) ||
	    (c->metric == MEASURE_SAMPLES && (r = completed_read_samples(c, t, e))) ||
	    (r = timeline_init(&c->timeline, &c->calls, t, e)))
		return r;
	c->trees = xcalloc(c->calls.nr_trees + 1, sizeof(*c->trees));
	return gen_select_init(&c->select, &c->calls, t, &always, &c->opts, e);
}

int completed_init(struct completed *c, struct trace_reader *t, const struct report_opts *o, struct err *e)
{
	struct resolve_opts names = o->profile->names;

	names.lines = false;
	*c = (struct completed){ .opts = *o };
	c->opts.own = &c->all_kinds;
	model_init(&c->m, 1, FLOW_CALLS);
	names_init(&c->names, &c->m, &names);
	calls_init(&c->calls, &c->names);
	return completed_prepare(c, t, e);
}

void completed_release(struct completed *c)
{
	flow_times_release(&c->samples);
	map_release(&c->tree_of);
	gen_select_release(&c->select);
	timeline_release(&c->timeline);
	free(c->trees);
	calls_release(&c->calls);
	names_release(&c->names);
	model_release(&c->m);
}

/* ---- what reports print of it ---- */

uint32_t completed_thread(const struct completed *c, uint32_t tree)
{
	const struct timeline_event x = { .kind = CALL_ENTERED, .tree = tree };
	const struct gen_thread *t = gen_select_thread(&c->select, &x);

	return t ? t->thread : 0;
}

static const char *completed_measure(const struct completed *c)
{
	return c->measure ? c->measure : "elapsed";
}

const char *completed_unit(const struct completed *c)
{
	return c->measure ? c->unit : "ns";
}

bool completed_has_others(const struct completed *c)
{
	return c->metric != MEASURE_TIME;
}

bool completed_in_ns(const struct completed *c)
{
	return !strcmp(completed_unit(c), "ns");
}

const char *completed_name(const struct completed *c, uint32_t consumer)
{
	return consumer_name(&c->m.consumers, consumer);
}

void completed_put_only(const struct names *x, struct buf *b)
{
	uint64_t cut = names_label_u64(x, "call.trace.cut");
	const char *rule;
	char key[64];
	unsigned int i;

	for (i = 0; i < SLOW_RULES; i++) {
		snprintf(key, sizeof(key), "call.trace.%u", i);
		rule = names_label(x, key);
		if (!rule)
			break;
		snprintf(key, sizeof(key), "call.trace.%u.slow", i);
		buf_str(b, i ? ", " : "\nonly slow calls, and calls in them: ");
		buf_fmt(b, "%" PRIu64, names_label_u64(x, key));
		snprintf(key, sizeof(key), "call.trace.%u.calls", i);
		buf_fmt(b, " of %" PRIu64 " are ", names_label_u64(x, key));
		quote_add(b, rule);
	}
	if (names_label(x, "call.trace") && !i)
		buf_str(b, "\nonly slow calls, and calls in them; the recorder was stopped before it said how many");
	if (cut)
		buf_fmt(b, "; %" PRIu64 " events in them are missing, as there were too many to keep", cut);
}

void completed_json_only(const struct names *x, struct json *j)
{
	const char *rule;
	char key[64];
	unsigned int i;

	if (!names_label(x, "call.trace"))
		return;
	json_array(j, "only");
	for (i = 0; i < SLOW_RULES; i++) {
		snprintf(key, sizeof(key), "call.trace.%u", i);
		rule = names_label(x, key);
		if (!rule)
			break;
		json_object(j, NULL);
		json_str(j, "rule", rule);
		snprintf(key, sizeof(key), "call.trace.%u.calls", i);
		json_u64(j, "calls", names_label_u64(x, key));
		snprintf(key, sizeof(key), "call.trace.%u.slow", i);
		json_u64(j, "slow", names_label_u64(x, key));
		json_end(j);
	}
	json_end(j);
}

void completed_head(const struct completed *c, struct buf *b)
{
	const char *command = names_label(&c->names, "command");

	buf_fmt(b, "%" PRIu64 " events of %zu thread%s, ", c->timeline.nr_calls,
		c->select.nr_trees, plural(c->select.nr_trees));
	report_put_lost_of(&c->names, b);
	buf_str(b, "; by ");
	quote_add(b, completed_measure(c));
	buf_str(b, c->metric == MEASURE_TIME ? " time" : "");
	buf_str(b, ", costs of counting included");
	if (command) {
		buf_str(b, "; ");
		quote_add(b, command);
	}
	gen_select_put_filter(&c->select, b);
	completed_put_only(&c->names, b);
}

void completed_json(const struct completed *c, struct json *j)
{
	report_json_source(j, c->opts.report->name, &c->names);
	report_json_lost_of(&c->names, j);
	gen_select_json_filter(&c->select, j);
	json_u64(j, "events", c->timeline.nr_calls);
	json_str(j, "measure", completed_measure(c));
	json_str(j, "unit", completed_unit(c));
	completed_json_only(&c->names, j);
	json_end(j);
}
