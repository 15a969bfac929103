// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * events.c - tables of what happened when: the events of a call trace, the calls that they make, and
 * dispatches with interrupts.
 */
#include <errno.h>
#include <string.h>

#include "model/sched.h"
#include "model/timeline.h"
#include "query/table.h"

static void release_calls(struct query_data *d)
{
	uint32_t i;

	for (i = 0; i < d->nr_trees; i++)
		free(d->trees[i].open);
	free(d->trees);
	free(d->events);
	free(d->calls);
	d->trees = NULL;
	d->events = NULL;
	d->calls = NULL;
	d->nr_trees = d->nr_events = d->alloc_events = d->nr_calls = d->alloc_calls = 0;
}

void query_events_release(struct query_data *d)
{
	release_calls(d);
	free(d->dispatches);
}

/* ---- events of calls ---- */

struct event_pass {
	struct query_data *d;
	struct calls *c;
	struct window window;
	struct err *e;
	bool failed;
};

static bool query_events_needs(void *ctx, const struct timeline_event *x)
{
	const struct event_pass *p = ctx;

	return x->time_ns < p->window.to_ns;
}

static uint32_t open_call(struct query_data *d, struct query_tree *t, const struct query_event *x)
{
	uint32_t at = d->nr_calls;

	*VEC_ADD(d->calls, d->nr_calls, d->alloc_calls) = (struct query_call){
		.start_ns = x->time_ns, .tree = x->tree, .function = x->function,
		.parent = t->nr_open ? t->open[t->nr_open - 1] : MAP_NONE, .level = t->nr_open,
		.how = CALL_ENTERED, .open = x->kind == CALL_OPEN,
	};
	*VEC_ADD(t->open, t->nr_open, t->alloc_open) = at;
	return at;
}

static void close_call(struct query_data *d, struct query_tree *t, uint64_t time_ns, uint8_t how)
{
	struct query_call *c = &d->calls[t->open[--t->nr_open]];

	c->end_ns = time_ns;
	c->how = how;
	c->cum += c->base;
	if (c->parent != MAP_NONE)
		d->calls[c->parent].cum += c->cum;
}

/* Close the innermost call of the function, and all calls in it. */
static void leave_call(struct query_data *d, struct query_tree *t, const struct query_event *x)
{
	uint32_t at = t->nr_open;

	while (at && d->calls[t->open[at - 1]].function != x->function)
		at--;
	if (!at) {
		d->nr_odd++;
		return;
	}
	while (t->nr_open > at)
		close_call(d, t, x->time_ns, CALL_UNWOUND);
	close_call(d, t, x->time_ns, x->kind);
}

/* Follow an event; nr: how many calls are unwound, or a function. */
static void follow_call(struct query_data *d, const struct query_event *x, uint32_t nr)
{
	struct query_tree *t = &d->trees[x->tree];

	if (t->nr_open)
		d->calls[t->open[t->nr_open - 1]].base += x->delta;
	switch (x->kind) {
	case CALL_ENTERED:
		open_call(d, t, x);
		break;
	case CALL_UNWOUND:
		for (; nr && t->nr_open; nr--)
			close_call(d, t, x->time_ns, CALL_UNWOUND);
		break;
	case CALL_OPEN:
		if (nr)
			open_call(d, t, x);
		else
			while (t->nr_open)
				close_call(d, t, 0, CALL_ENTERED);
		break;
	default:
		leave_call(d, t, x);
	}
}

static int query_events_take_event(void *ctx, const struct timeline_event *x)
{
	struct event_pass *p = ctx;
	struct query_data *d = p->d;
	bool is_call = x->kind < CALL_EVENT_NR;
	uint64_t bytes = sizeof(struct query_event);
	struct query_event e = { .time_ns = x->time_ns, .delta = is_call ? x->delta[0] : 0, .tree = x->tree,
		.cpu = x->cpu, .kind = x->kind, .state = x->state };

	if (x->kind == CALL_ENTERED || x->kind == CALL_OPEN)
		bytes += sizeof(struct query_call);
	p->failed = query_data_charge(d, bytes, p->e);
	if (!p->failed && d->nr_events == UINT32_MAX - 1)
		p->failed = err_set(p->e, ENOMEM, "more than 4 G events");
	if (p->failed)
		return -ENOMEM;
	if (is_call && x->kind != CALL_UNWOUND && x->function)
		e.function = query_data_function(d, calls_consumer(p->c, x->function));
	e.thread = is_call ? (x->tree < d->nr_trees ? d->trees[x->tree].thread : 0) : x->thread;
	if (is_call && x->tree < d->nr_trees)
		follow_call(d, &e, x->function);
	if (x->kind == CALL_OPEN && !x->function)
		return 0;
	if (x->time_ns < p->window.reset_ns || !window_has(&p->window, x->time_ns))
		return 0;
	*VEC_ADD(d->events, d->nr_events, d->alloc_events) = e;
	return 0;
}

static void list_trees(struct query_data *d, struct calls *c)
{
	uint32_t i, process;

	d->nr_trees = c->nr_trees;
	d->trees = xcalloc(d->nr_trees + 1, sizeof(*d->trees));
	for (i = 0; i < d->nr_trees; i++) {
		d->trees[i].thread = c->trees[i].flags & CALL_TREE_VIRTUAL ? 0 : c->trees[i].thread;
		calls_thread(c, i, &process, &d->trees[i].consumer);
		d->trees[i].consumer = query_data_function(d, d->trees[i].consumer);
	}
}

static uint32_t map_parent(uint32_t parent, uint32_t nr_gone)
{
	return parent < nr_gone ? MAP_NONE : parent - nr_gone;
}

/* Calls that began before the window are not in it. */
static void close_open_calls(struct query_data *d, const struct window *w)
{
	uint32_t i, from = 0;

	for (i = 0; i < d->nr_trees; i++)
		while (d->trees[i].nr_open)
			close_call(d, &d->trees[i], 0, CALL_ENTERED);
	while (from < d->nr_calls && d->calls[from].start_ns < MAX(w->from_ns, w->reset_ns))
		from++;
	if (!from)
		return;
	for (i = from; i < d->nr_calls; i++) {
		d->calls[i - from] = d->calls[i];
		if (d->calls[i - from].parent != MAP_NONE)
			d->calls[i - from].parent = map_parent(d->calls[i].parent, from);
	}
	d->nr_calls -= from;
}

static int query_events_read_events(struct query_data *d, struct event_pass *p, struct err *e)
{
	static const struct timeline_sink sink = {
		.needs = query_events_needs, .event = query_events_take_event
	};
	struct timeline l = { .c = NULL };
	int r = names_window(&d->names, d->profile->select, &p->window, e);

	if (!r)
		r = timeline_init(&l, p->c, d->t, e);
	if (!r) {
		list_trees(d, p->c);
		r = timeline_read(&l, d->t, &sink, p, e);
	}
	timeline_release(&l);
	if (!r && p->failed)
		r = -ENOMEM;
	if (!r)
		close_open_calls(d, &p->window);
	return r;
}

static int load_events(struct query_data *d, struct err *e)
{
	struct event_pass p = { .d = d, .e = e };
	struct calls c;
	int r = query_data_model(d, e);

	if (r)
		return r;
	if (!d->has_events) {
		calls_init(&c, &d->names);
		p.c = &c;
		r = query_events_read_events(d, &p, e);
		calls_release(&c);
		d->has_events = !r;
		if (r)
			release_calls(d);
	}
	return r;
}

enum {
	EVENT_ID, EVENT_TIME, EVENT_KIND, EVENT_TREE, EVENT_THREAD, EVENT_THREAD_NAME, EVENT_FUNCTION,
	EVENT_NAME, EVENT_CPU, EVENT_STATE, EVENT_CONSUMED
};

static const struct query_column event_columns[] = {
	[EVENT_ID] = { "id", COLUMN_ROW1 | COLUMN_UNIQUE, "number in order of time" },
	[EVENT_TIME] = { "time", COLUMN_ASCENDS, "ns since the start" },
	[EVENT_KIND] = { "kind", COLUMN_TEXT, "entry, exit, exception, unwound; open: entered before the trace; off, on: it loses, gets a CPU" },
	[EVENT_TREE] = { "tree", 0, "whose calls they are: a thread, or a virtual one; NULL: off, on" },
	[EVENT_THREAD] = { "thread", COLUMN_INDEX, "its number in threads; NULL: a virtual thread" },
	[EVENT_THREAD_NAME] = { "thread_name", COLUMN_TEXT, "of virtual threads, too" },
	[EVENT_FUNCTION] = { "function", COLUMN_INDEX, "what is called or left" },
	[EVENT_NAME] = { "name", COLUMN_TEXT, "its name" },
	[EVENT_CPU] = { "cpu", 0, "of off and on" },
	[EVENT_STATE] = { "state", COLUMN_TEXT, "of off, why: R runnable, S asleep, D disk sleep, T stopped, X ended" },
	[EVENT_CONSUMED] = { "consumed", 0, "of the first metric, by the tree since its event before" },
};

static bool is_dispatch(const struct query_event *x)
{
	return x->kind >= CALL_EVENT_NR;
}

static bool event_number(const struct query_data *d, const struct query_cell *c, uint64_t *v)
{
	const struct query_event *x = &d->events[c->row];

	switch (c->column) {
	case EVENT_ID:
		*v = c->row + 1;
		return true;
	case EVENT_TIME:
		*v = x->time_ns > d->start_ns ? x->time_ns - d->start_ns : 0;
		return true;
	case EVENT_TREE:
		*v = x->tree;
		return !is_dispatch(x);
	case EVENT_THREAD:
		return query_data_id(x->thread, v);
	case EVENT_FUNCTION:
		return query_data_id(x->function, v);
	case EVENT_CPU:
		*v = x->cpu;
		return is_dispatch(x);
	default:
		*v = x->delta;
		return !is_dispatch(x);
	}
}

static const char *query_events_thread_name(struct query_data *d, uint32_t tree, uint32_t thread)
{
	uint32_t at;

	if (tree < d->nr_trees)
		return query_data_name(d, d->trees[tree].consumer);
	at = map_get(&d->names.thread_of, thread);
	return at == MAP_NONE ? NULL : query_data_name(d, d->threads[at].function);
}

static const char *event_text(struct query_data *d, const struct query_cell *c)
{
	const struct query_event *x = &d->events[c->row];

	switch (c->column) {
	case EVENT_KIND:
		return timeline_kind_name(x->kind);
	case EVENT_THREAD_NAME:
		return query_events_thread_name(d, x->tree, x->thread);
	case EVENT_NAME:
		return query_data_name(d, x->function);
	default:
		return x->kind == TIMELINE_OFF ? sched_state_letter(x->state) : NULL;
	}
}

static uint32_t nr_events(const struct query_data *d)
{
	return d->nr_events;
}

const struct query_table query_events = {
	.name = "events", .what = "calls and returns of a call trace, and its threads' dispatches",
	QUERY_COLUMNS(event_columns),
	.load = load_events, .nr_rows = nr_events, .number = event_number, .text = event_text,
};

/* ---- calls ---- */

enum {
	CALL_ID, CALL_TIME, CALL_DURATION, CALL_TREE, CALL_THREAD, CALL_THREAD_NAME, CALL_FUNCTION, CALL_NAME,
	CALL_PARENT, CALL_LEVEL, CALL_HOW, CALL_BASE, CALL_CUM
};

static const struct query_column call_columns[] = {
	[CALL_ID] = { "id", COLUMN_ROW1 | COLUMN_UNIQUE, "number in order of its start" },
	[CALL_TIME] = { "time", COLUMN_ASCENDS, "ns since the start: when it began" },
	[CALL_DURATION] = { "duration", 0, "ns until it ended; NULL: it did not, or began before the trace" },
	[CALL_TREE] = { "tree", 0, "as in events" },
	[CALL_THREAD] = { "thread", COLUMN_INDEX, "its number in threads; NULL: a virtual thread" },
	[CALL_THREAD_NAME] = { "thread_name", COLUMN_TEXT, "of virtual threads, too" },
	[CALL_FUNCTION] = { "function", COLUMN_INDEX, "what was called" },
	[CALL_NAME] = { "name", COLUMN_TEXT, "its name" },
	[CALL_PARENT] = { "parent", COLUMN_INDEX, "the call that called it; NULL: none is known" },
	[CALL_LEVEL] = { "level", 0, "how many calls it is in" },
	[CALL_HOW] = { "how", COLUMN_TEXT, "it ended: exit, exception, unwound; NULL: it did not" },
	[CALL_BASE] = { "base", 0, "of the first metric, in the call itself; costs of counting included" },
	[CALL_CUM] = { "cum", 0, "and in what it called" },
};

static bool call_number(const struct query_data *d, const struct query_cell *c, uint64_t *v)
{
	const struct query_call *x = &d->calls[c->row];

	switch (c->column) {
	case CALL_ID:
		*v = c->row + 1;
		return true;
	case CALL_TIME:
		*v = x->start_ns > d->start_ns ? x->start_ns - d->start_ns : 0;
		return true;
	case CALL_DURATION:
		*v = x->end_ns - x->start_ns;
		return x->end_ns && !x->open;
	case CALL_TREE:
		*v = x->tree;
		return true;
	case CALL_THREAD:
		return query_data_id(d->trees[x->tree].thread, v);
	case CALL_FUNCTION:
		return query_data_id(x->function, v);
	case CALL_PARENT:
		*v = (uint64_t)x->parent + 1;
		return x->parent != MAP_NONE;
	case CALL_LEVEL:
		*v = x->level;
		return true;
	default:
		*v = c->column == CALL_BASE ? x->base : x->cum;
		return true;
	}
}

static const char *call_text(struct query_data *d, const struct query_cell *c)
{
	static const char *const ends[CALL_EVENT_NR] = { NULL, "exit", "exception", "unwound", NULL };
	const struct query_call *x = &d->calls[c->row];

	if (c->column == CALL_HOW)
		return ends[x->how];
	return c->column == CALL_NAME ? query_data_name(d, x->function) :
					query_events_thread_name(d, x->tree, 0);
}

static uint32_t nr_calls(const struct query_data *d)
{
	return d->nr_calls;
}

const struct query_table query_calls = {
	.name = "calls", .what = "each call of a call trace, from its events", QUERY_COLUMNS(call_columns),
	.load = load_events, .nr_rows = nr_calls, .number = call_number, .text = call_text,
};

/* ---- dispatches ---- */

struct dispatch_pass {
	struct query_data *d;
	uint64_t refused;
	struct err *e;
};

static uint32_t query_events_number_of(const struct sched_thread *t)
{
	return t && t->tid ? t->number : 0;
}

static void take_line(void *ctx, const struct sched_line *l)
{
	struct dispatch_pass *p = ctx;
	struct query_data *d = p->d;

	if (p->refused || d->nr_dispatches == UINT32_MAX - 1 ||
	    query_data_charge(d, sizeof(*d->dispatches), p->e)) {
		p->refused++;
		return;
	}
	*VEC_ADD(d->dispatches, d->nr_dispatches, d->alloc_dispatches) = (struct query_dispatch){
		.time_ns = l->time_ns, .ran_ns = l->ran_ns, .waited_ns = l->waited_ns,
		.blocked_ns = l->blocked_ns, .out = query_events_number_of(l->out),
		.in = query_events_number_of(l->in), .cpu = l->cpu,
		.intr = l->intr, .is_intr = l->is_intr, .ran_known = l->ran_known,
		.waited_known = l->waited_known, .out_known = l->out && l->out->tid, .state = l->state,
	};
}

static int by_time(const void *a, const void *b)
{
	const struct query_dispatch *x = a, *y = b;

	return COMPARE(x->time_ns, y->time_ns) ?: COMPARE(x->cpu, y->cpu);
}

static int load_dispatches(struct query_data *d, struct err *e)
{
	struct dispatch_pass p = { .d = d, .e = e };
	const struct sched_opts o = { .select = d->profile->select,
		.line = take_line, .line_ctx = &p };
	struct sched_model m;
	int r = query_data_model(d, e);

	if (r || d->has_dispatches)
		return r;
	r = sched_read(&m, d->t, &o, e);
	sched_release(&m);
	if (!r && p.refused)
		return -ENOMEM;
	if (!r && d->nr_dispatches)
		qsort(d->dispatches, d->nr_dispatches, sizeof(*d->dispatches), by_time);
	d->has_dispatches = !r;
	return r;
}

enum {
	DISPATCH_ID, DISPATCH_TIME, DISPATCH_CPU, DISPATCH_KIND, DISPATCH_OUT, DISPATCH_STATE, DISPATCH_RAN,
	DISPATCH_IN, DISPATCH_WAITED, DISPATCH_BLOCKED, DISPATCH_CLASS, DISPATCH_NUMBER
};

static const struct query_column dispatch_columns[] = {
	[DISPATCH_ID] = { "id", COLUMN_ROW1 | COLUMN_UNIQUE, "number in order of time" },
	[DISPATCH_TIME] = { "time", COLUMN_ASCENDS, "ns since the start: when the CPU went on, or the interrupt ended" },
	[DISPATCH_CPU] = { "cpu", 0, "which CPU" },
	[DISPATCH_KIND] = { "kind", COLUMN_TEXT, "dispatch, interrupt" },
	[DISPATCH_OUT] = { "out", COLUMN_INDEX, "the thread that lost the CPU, or was interrupted; NULL: idle, or another" },
	[DISPATCH_STATE] = { "state", COLUMN_TEXT, "why it lost it: as events.state" },
	[DISPATCH_RAN] = { "ran", 0, "ns it had been on the CPU, or the interrupt took; NULL: not known" },
	[DISPATCH_IN] = { "next", COLUMN_INDEX, "the thread that got the CPU; NULL: idle, or another" },
	[DISPATCH_WAITED] = { "waited", 0, "ns it had waited for a CPU; NULL: not known" },
	[DISPATCH_BLOCKED] = { "blocked", 0, "ns it had been blocked before that" },
	[DISPATCH_CLASS] = { "class", COLUMN_TEXT, "of interrupts: device, soft, vector, ipi" },
	[DISPATCH_NUMBER] = { "number", 0, "of interrupts: its line, or its number" },
};

static bool dispatch_number(const struct query_data *d, const struct query_cell *c, uint64_t *v)
{
	const struct query_dispatch *x = &d->dispatches[c->row];

	switch (c->column) {
	case DISPATCH_ID:
		*v = c->row + 1;
		return true;
	case DISPATCH_TIME:
		*v = x->time_ns > d->start_ns ? x->time_ns - d->start_ns : 0;
		return true;
	case DISPATCH_CPU:
		*v = x->cpu;
		return true;
	case DISPATCH_OUT:
		return query_data_id(x->out, v);
	case DISPATCH_RAN:
		*v = x->ran_ns;
		return x->ran_known;
	case DISPATCH_IN:
		return query_data_id(x->in, v);
	case DISPATCH_WAITED:
	case DISPATCH_BLOCKED:
		*v = c->column == DISPATCH_WAITED ? x->waited_ns : x->blocked_ns;
		return x->waited_known && !x->is_intr;
	default:
		*v = x->intr & 0xffffff;
		return x->is_intr;
	}
}

static const char *dispatch_text(struct query_data *d, const struct query_cell *c)
{
	static const char *const classes[SCHED_INTR_NR] = { "device", "soft", "vector", "ipi" };
	const struct query_dispatch *x = &d->dispatches[c->row];

	switch (c->column) {
	case DISPATCH_KIND:
		return x->is_intr ? "interrupt" : "dispatch";
	case DISPATCH_STATE:
		return x->is_intr || !x->out_known ? NULL : sched_state_letter(x->state);
	default:
		return x->is_intr && x->intr >> 24 < SCHED_INTR_NR ? classes[x->intr >> 24] : NULL;
	}
}

static uint32_t nr_dispatches(const struct query_data *d)
{
	return d->nr_dispatches;
}

const struct query_table query_dispatches = {
	.name = "dispatches", .what = "who got which CPU when, and interrupts",
	QUERY_COLUMNS(dispatch_columns),
	.load = load_dispatches, .nr_rows = nr_dispatches, .number = dispatch_number, .text = dispatch_text,
};
