// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * replay.c - the tree of a call trace, built from its events by the model's own rules: what the
 * measured process should have built.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "flow/events.h"
#include "report/calls.h"

struct replay {
	struct calls *c;
	struct flow f;
	struct flow_events events;
	struct map root_of;		/* tree -> index in last */
	uint64_t (*last)[FLOW_MAX_METRICS];	/* values of its last event */
	uint32_t *tree;			/* [index]: number */
	size_t nr_last, alloc_last, alloc_tree;
	uint64_t nr_events;
};

static uint64_t *last_of(struct replay *x, uint32_t tree)
{
	uint32_t *at = map_put(&x->root_of, tree);

	if (*at == MAP_NONE) {
		*at = x->nr_last;
		VEC_GROW(x->last, x->nr_last, x->alloc_last);
		VEC_GROW(x->tree, x->nr_last, x->alloc_tree);
		x->tree[x->nr_last] = tree;
		memset(x->last[x->nr_last++], 0, sizeof(*x->last));
	}
	return x->last[*at];
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
	uint64_t *last = last_of(x, r->tree), calls_only = 0;
	uint32_t i;

	if (r->tree >> 30)
		return 0;
	flow_events_switch(b, stand_in(x, r->tree), last);
	for (i = 0; i < r->nr; i++) {
		const struct call_event *e = &r->events[i];
		const uint64_t *v = x->c->nr_metrics ? e->charged : &calls_only;

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
	memcpy(last, b->last, sizeof(b->last));
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
	int r;

	r = trace_read(t, &calls_sink, c, e);
	flow_init(&x.f, MAX(c->nr_metrics, 1u), FLOW_CALLS);
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
	return r;
}
