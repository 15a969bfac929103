// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * replay.c - the tree of a call trace, built from its events by the model's own rules: what the
 * measured process should have built.
 *
 * Dispatches and interrupts of the same trace are metrics of it: the thread's totals at each event.
 *
 * In a window of time the tree has the calls that were entered in it, and what was consumed in it: of what an
 * event says of the time since the one before, the part of that time that lies in the window.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "flow/events.h"
#include "model/calltree.h"

/* The moments when a thread got a CPU, and when it was interrupted; in order. */
struct moments {
	struct moment_list {
		uint64_t *times;
		size_t nr, alloc;
	} list[CALLS_NR_EXTRA];
};

struct replay {
	struct calls *c;
	const struct call_columns *columns;
	struct calltree_seen *seen;
	struct window window;		/* from_ns is not before reset_ns */
	struct moments *moments;	/* [thread as in calls.thread_of] */
	struct flow f;
	struct flow_events events;
	struct replayed {
		bool begun, has_events;
		uint64_t last[FLOW_MAX_METRICS];	/* values of its last event */
		/* the same as the trace has them, and what of them was in the window */
		uint64_t last_ns, charged[CALL_MAX_METRICS], in_window[CALL_MAX_METRICS];
		uint32_t moments;	/* of its thread, index + 1; 0: none */
		size_t at[CALLS_NR_EXTRA], nr[CALLS_NR_EXTRA];	/* not passed yet; passed, in the window */
	} *trees;			/* [index as in calls] */
	size_t nr_trees, alloc_trees;
	uint64_t nr_events;
};

/* ---- dispatches and interrupts ---- */

static void replay_note(struct replay *x, uint32_t thread, unsigned int which, uint64_t time_ns)
{
	uint32_t at = map_get(&x->c->thread_of, thread);
	struct moment_list *l;

	if (at == MAP_NONE)
		return;
	l = &x->moments[at].list[which];
	*VEC_ADD(l->times, l->nr, l->alloc) = time_ns;
}

static int replay_take_sched(void *ctx, const struct rec_sched *r, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (r[i].kind == SCHED_SWITCH)
			replay_note(ctx, r[i].arg, 0, r[i].time_ns);
		else if (r[i].kind == SCHED_INTR && r[i].arg >> 24 != SCHED_INTR_SOFT)
			replay_note(ctx, r[i].thread, 1, r[i].time_ns);
	return 0;
}

/* Begin a tree; dispatches before it do not count. */
static void replay_begin(const struct replay *x, struct replayed *t, const struct rec_call_tree *r)
{
	unsigned int k;

	t->begun = true;
	t->last_ns = r->start_ns;
	if (!x->moments || r->flags & CALL_TREE_VIRTUAL)
		return;
	t->moments = map_get(&x->c->thread_of, r->thread) + 1;	/* MAP_NONE + 1 is 0 */
	for (k = 0; t->moments && k < CALLS_NR_EXTRA; k++) {
		const struct moment_list *l = &x->moments[t->moments - 1].list[k];

		while (t->at[k] < l->nr && l->times[t->at[k]] < r->start_ns)
			t->at[k]++;
	}
}

/* Count those in the window that there were in the tree by then. */
static void count_moments(const struct replay *x, struct replayed *t, uint64_t time_ns, uint64_t *values)
{
	unsigned int k;

	for (k = 0; k < x->columns->nr_extra; k++) {
		const struct moment_list *l = t->moments ? &x->moments[t->moments - 1].list[k] : NULL;

		while (l && t->at[k] < l->nr && l->times[t->at[k]] <= time_ns)
			t->nr[k] += window_has(&x->window, l->times[t->at[k]++]);
		values[k] = t->nr[k];
	}
}

/* ---- events ---- */

static bool has_window(const struct replay *x)
{
	return x->window.from_ns || x->window.to_ns != UINT64_MAX;
}

/* Return what of that was consumed by at_ns, if it was consumed evenly from from_ns to to_ns. */
static uint64_t share_by(uint64_t all, uint64_t from_ns, uint64_t to_ns, uint64_t at_ns)
{
	if (at_ns >= to_ns)
		return all;
	return at_ns <= from_ns ? 0 :
	       (uint64_t)((unsigned __int128)all * (at_ns - from_ns) / (to_ns - from_ns));
}

/* Compute what the tree has consumed by that event, in the window. */
static void values_at(const struct replay *x, struct replayed *t, const struct call_event *e,
		      uint64_t *values)
{
	unsigned int m;

	for (m = 0; m < x->columns->nr_metrics; m++) {
		uint64_t delta = e->charged[m] > t->charged[m] ? e->charged[m] - t->charged[m] : 0;

		t->in_window[m] += share_by(delta, t->last_ns, e->time_ns, x->window.to_ns) -
				   share_by(delta, t->last_ns, e->time_ns, x->window.from_ns);
		t->charged[m] = e->charged[m];
		values[m] = has_window(x) ? t->in_window[m] : e->charged[m];
	}
	count_moments(x, t, e->time_ns, values + m);
	t->last_ns = MAX(e->time_ns, t->last_ns);
}

static void replay_enter(struct replay *x, const struct call_event *e, const uint64_t *values)
{
	uint32_t consumer = calls_consumer(x->c, e->consumer);

	if (window_has(&x->window, e->time_ns)) {
		flow_events_enter(&x->events, consumer, values);
	} else {
		flow_events_charge(&x->events, values);
		flow_events_open(&x->events, consumer);
	}
}

/*
 * Leave a call. One that was open before the first event was entered before a window that begins later than
 * the trace.
 */
static void replay_leave(struct replay *x, const struct call_event *e, const uint64_t *values)
{
	uint64_t inserted = x->f.repairs.inserted;
	uint32_t root = x->events.root;

	flow_events_leave(&x->events, calls_consumer(x->c, e->consumer), values);
	if (x->f.repairs.inserted != inserted && x->window.from_ns)
		x->f.nodes[root].n = 0;
}

static struct replayed *get_tree(struct replay *x, uint32_t tree)
{
	while (tree >= x->nr_trees)
		*VEC_ADD(x->trees, x->nr_trees, x->alloc_trees) = (struct replayed){ .begun = false };
	if (!x->trees[tree].begun)
		replay_begin(x, &x->trees[tree], &x->c->trees[tree]);
	return &x->trees[tree];
}

/* Until all is read a tree stands for its thread, by a number no consumer has. */
enum { STAND_IN = 1 << 30 };

static int replay_take_events(void *ctx, uint32_t tree, const struct rec_call_events *r)
{
	struct replay *x = ctx;
	struct replayed *t = get_tree(x, tree);
	struct flow_events *b = &x->events;
	uint64_t v[FLOW_MAX_METRICS] = { 0 };
	uint32_t i;

	flow_events_switch(b, STAND_IN + tree, t->last);
	if (!t->has_events && !window_has(&x->window, MAX(t->last_ns, (uint64_t)1)))
		x->f.nodes[b->root].n = 0;	/* the thread began at another time */
	for (i = 0; i < r->nr; i++) {
		const struct call_event *e = &r->events[i];

		values_at(x, t, e, v);
		switch (e->kind) {
		case CALL_ENTERED:
			replay_enter(x, e, v);
			break;
		case CALL_UNWOUND:
			flow_events_unwind(b, e->consumer, v);
			break;
		case CALL_OPEN:
			if (e->consumer)
				flow_events_open(b, calls_consumer(x->c, e->consumer));
			else
				flow_events_resume(b, v, !t->has_events && x->f.nodes[b->root].n);
			break;
		default:
			replay_leave(x, e, v);
		}
		t->has_events = true;
		x->seen->last_ns = MAX(x->seen->last_ns, e->time_ns);
	}
	memcpy(t->last, b->last, sizeof(b->last));
	x->nr_events += r->nr;
	return 0;
}

/* Hang the forest of threads below their processes in the model. */
static void graft(struct replay *x)
{
	struct flow *f = &x->f, *out = &x->c->names->m->flow;
	uint32_t *to = xcalloc(f->nr_nodes, sizeof(*to)), i = FLOW_NONE;

	while ((i = flow_next(f, i))) {
		const struct flow_node *n = &f->nodes[i];

		if (n->parent == FLOW_NONE)
			to[i] = calls_root(x->c, n->consumer - STAND_IN);
		else
			to[i] = flow_child(out, to[n->parent], n->consumer);
		call_columns_add(x->columns, out, to[i], n->n, flow_base(f, i));
	}
	out->repairs = f->repairs;
	free(to);
}

static void replay_release(struct replay *x)
{
	size_t i;

	flow_events_release(&x->events);
	flow_release(&x->f);
	free(x->trees);
	for (i = 0; x->moments && i < x->c->nr_threads; i++) {
		free(x->moments[i].list[0].times);
		free(x->moments[i].list[1].times);
	}
	free(x->moments);
}

int replay_read(struct calls *c, struct trace_reader *t, const struct calltree_opts *o,
		struct calltree_seen *seen, struct err *e)
{
	const struct call_columns *k = o->columns;
	struct replay x = { .c = c, .columns = k, .seen = seen, .window = *o->window };
	int r;

	x.window.from_ns = MAX(x.window.from_ns, x.window.reset_ns);
	r = calls_read(c, t, NULL, NULL, e);
	if (!r && names_label(c->names, "call.trace"))
		r = err_set(e, ENOTSUP, "--replay needs all calls, and the trace has those of record --trace only");
	if (!r && k->nr_extra) {
		x.moments = xcalloc(c->nr_threads + 1, sizeof(*x.moments));
		r = calls_read(c, t, &(struct calls_sink){ .sched = replay_take_sched }, &x, e);
	}
	flow_init(&x.f, MAX(k->nr_metrics + k->nr_extra, 1u), FLOW_CALLS);
	flow_events_init(&x.events, &x.f);
	x.events.own_clock = true;
	if (!r)
		r = calls_read(c, t, &(struct calls_sink){ .events = replay_take_events }, &x, e);
	if (!r && !x.nr_events)
		r = err_set(e, ENODATA, "the trace has no events: record it with --calltrace");
	flow_events_finish(&x.events);
	if (!r) {
		flow_link(&x.f);	/* the stand-ins' numbers are too large for more */
		graft(&x);
		if (has_window(&x) && !k->with_samples)
			calltree_drop_empty(c->names->m);
	}
	replay_release(&x);
	return r;
}
