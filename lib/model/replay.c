// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * replay.c - the tree of a call trace, built from its events by the model's own rules: what the
 * measured process should have built.
 *
 * Dispatches and interrupts of the same trace are metrics of it: what the thread had by each event.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "flow/events.h"
#include "model/calls.h"

/* When a thread got a CPU, and when it was interrupted; in order. */
struct moments {
	struct moment_list {
		uint64_t *times;
		size_t nr, alloc;
	} list[CALLS_NR_EXTRA];
};

struct replay {
	struct calls *c;
	struct map moments_of;		/* thread -> index */
	struct moments *moments;
	size_t nr_moments, alloc_moments;
	struct flow f;
	struct flow_events events;
	struct map root_of;		/* tree -> index in last */
	uint64_t (*last)[FLOW_MAX_METRICS];	/* values of its last event */
	uint32_t *tree;			/* [index]: number */
	struct cursor {
		uint32_t moments;	/* of its thread, index + 1; 0: none */
		size_t first[CALLS_NR_EXTRA], at[CALLS_NR_EXTRA];	/* since it began; not passed yet */
	} *cursors;			/* [index] */
	size_t nr_last, alloc_last, alloc_tree, alloc_cursors;
	uint64_t nr_events;
};

/* --- dispatches and interrupts --- */

/* Of the threads that trees belong to; virtual ones have none of their own. */
static void list_threads(struct replay *x)
{
	size_t i;

	for (i = 0; i < x->c->nr_trees; i++) {
		const struct rec_call_tree *r = &x->c->trees[i].r;
		uint32_t *at;

		if (!r->thread || r->flags & CALL_TREE_VIRTUAL)
			continue;
		at = map_put(&x->moments_of, r->thread);
		if (*at != MAP_NONE)
			continue;
		*at = x->nr_moments;
		VEC_GROW(x->moments, x->nr_moments, x->alloc_moments);
		x->moments[x->nr_moments++] = (struct moments){ 0 };
	}
}

static void note(struct replay *x, uint32_t thread, unsigned int which, uint64_t time_ns)
{
	uint32_t at = map_get(&x->moments_of, thread);
	struct moment_list *l;

	if (at == MAP_NONE)
		return;
	l = &x->moments[at].list[which];
	VEC_GROW(l->times, l->nr, l->alloc);
	l->times[l->nr++] = time_ns;
}

static int take_sched(void *ctx, const struct rec_sched *r, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (r[i].kind == SCHED_SWITCH)
			note(ctx, r[i].arg, 0, r[i].time_ns);
		else if (r[i].kind == SCHED_INTR && r[i].arg >> 24 != SCHED_INTR_SOFT)
			note(ctx, r[i].thread, 1, r[i].time_ns);
	return 0;
}

static struct cursor new_cursor(const struct replay *x, uint32_t tree)
{
	uint32_t at = map_get(&x->c->tree_of, tree);
	const struct rec_call_tree *r = at == MAP_NONE ? NULL : &x->c->trees[at].r;
	struct cursor c = { 0 };
	unsigned int k;

	if (!r || r->flags & CALL_TREE_VIRTUAL)
		return c;
	c.moments = map_get(&x->moments_of, r->thread) + 1;	/* MAP_NONE + 1 is 0 */
	for (k = 0; c.moments && k < CALLS_NR_EXTRA; k++) {
		const struct moment_list *l = &x->moments[c.moments - 1].list[k];

		while (c.at[k] < l->nr && l->times[c.at[k]] < r->start_ns)
			c.at[k]++;
		c.first[k] = c.at[k];
	}
	return c;
}

/* How many there were in the tree by then. */
static void count_moments(const struct replay *x, struct cursor *c, uint64_t time_ns, uint64_t *values)
{
	unsigned int k;

	for (k = 0; k < x->c->nr_extra; k++) {
		const struct moment_list *l = c->moments ? &x->moments[c->moments - 1].list[k] : NULL;

		while (l && c->at[k] < l->nr && l->times[c->at[k]] <= time_ns)
			c->at[k]++;
		values[k] = c->at[k] - c->first[k];
	}
}

/* --- events --- */

static size_t index_of(struct replay *x, uint32_t tree)
{
	uint32_t *at = map_put(&x->root_of, tree);

	if (*at == MAP_NONE) {
		*at = x->nr_last;
		VEC_GROW(x->last, x->nr_last, x->alloc_last);
		VEC_GROW(x->tree, x->nr_last, x->alloc_tree);
		VEC_GROW(x->cursors, x->nr_last, x->alloc_cursors);
		x->tree[x->nr_last] = tree;
		x->cursors[x->nr_last] = new_cursor(x, tree);
		memset(x->last[x->nr_last++], 0, sizeof(*x->last));
	}
	return *at;
}

/* Until all is read a tree stands for its thread, by a number no consumer has. */
static uint32_t stand_in(const struct replay *x, uint32_t tree)
{
	return (1u << 31) + tree;
}

static int take_events(void *ctx, const struct rec_call_events *r)
{
	struct replay *x = ctx;
	struct flow_events *b = &x->events;
	uint64_t v[FLOW_MAX_METRICS] = { 0 };
	uint32_t i;
	size_t at;

	if (r->tree >> 30)
		return 0;
	at = index_of(x, r->tree);
	flow_events_switch(b, stand_in(x, r->tree), x->last[at]);
	for (i = 0; i < r->nr; i++) {
		const struct call_event *e = &r->events[i];

		memcpy(v, e->charged, x->c->nr_metrics * sizeof(*v));
		count_moments(x, &x->cursors[at], e->time_ns, v + x->c->nr_metrics);

		switch (e->kind) {
		case CALL_ENTERED:
			flow_events_enter(b, calls_consumer(x->c, e->consumer), v);
			break;
		case CALL_UNWOUND:
			flow_events_unwind(b, e->consumer, v);
			break;
		default:
			flow_events_leave(b, calls_consumer(x->c, e->consumer), v);
		}
		x->c->p->last_ns = MAX(x->c->p->last_ns, e->time_ns);
	}
	memcpy(x->last[at], b->last, sizeof(b->last));
	x->nr_events += r->nr;
	return 0;
}

/* The forest of threads, hung below their processes in the model. */
static void graft(struct replay *x)
{
	struct flow *f = &x->f, *out = &x->c->p->m->flow;
	uint32_t *to = xcalloc(f->nr_nodes, sizeof(*to)), i = FLOW_NONE, process, thread;

	while ((i = flow_next(f, i))) {
		const struct flow_node *n = &f->nodes[i];

		if (n->parent == FLOW_NONE) {
			calls_thread(x->c, n->consumer - (1u << 31), &process, &thread);
			to[i] = flow_child(out, flow_child(out, FLOW_NONE, process), thread);
		} else {
			to[i] = flow_child(out, to[n->parent], n->consumer);
		}
		calls_add(x->c, to[i], n->n, flow_base(f, i));
	}
	out->repairs = f->repairs;
	free(to);
}

int replay_read(struct calls *c, struct trace_reader *t, struct err *e)
{
	struct trace_sink sink = { .call_events = take_events };
	struct replay x = { .c = c };
	size_t i;
	int r;

	r = trace_read(t, &calls_sink, c, e);
	if (!r && c->nr_extra) {
		list_threads(&x);
		r = trace_read(t, &(struct trace_sink){ .sched = take_sched }, &x, e);
	}
	flow_init(&x.f, MAX(c->nr_metrics + c->nr_extra, 1u), FLOW_CALLS);
	flow_events_init(&x.events, &x.f);
	x.events.own_clock = true;
	if (!r)
		r = trace_read(t, &sink, &x, e);
	if (!r && !x.nr_events)
		r = err_set(e, ENODATA, "the trace has no events: record it with --calltrace");
	flow_events_finish(&x.events);
	if (!r) {
		flow_link(&x.f);	/* the stand-ins' numbers are too large for more */
		graft(&x);
	}
	flow_events_release(&x.events);
	flow_release(&x.f);
	map_release(&x.root_of);
	free(x.last);
	free(x.tree);
	free(x.cursors);
	for (i = 0; i < x.nr_moments; i++) {
		free(x.moments[i].list[0].times);
		free(x.moments[i].list[1].times);
	}
	free(x.moments);
	map_release(&x.moments_of);
	return r;
}
