/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * events.h - builds a tree from enter and leave events of several threads.
 *
 * Each event carries the value of every metric at that moment; what was consumed since the
 * event before is charged to the context that was open.  Bad nesting is repaired and counted
 * in flow.repairs:
 *  - the leave of an outer frame closes the frames inside it (popped);
 *  - the leave of what is not open means that it was entered before the first event: all that
 *    is open is closed, and the consumer is put above everything its thread did so far (inserted);
 *  - what is open at the end is closed at the last value (closed).
 */
#ifndef FLOW_EVENTS_H
#define FLOW_EVENTS_H

#include "base/hash.h"
#include "flow/flow.h"

struct flow_thread {
	uint32_t root;		/* the thread's node */
	uint32_t open;		/* innermost open context, root when none */
	uint64_t last[FLOW_MAX_METRICS];	/* own_clock: value at its last event */
};

struct flow_events {
	struct flow *f;
	uint32_t open;		/* of the running thread */
	uint32_t root;
	uint64_t last[FLOW_MAX_METRICS];
	struct flow_thread *threads;
	size_t nr_threads, alloc_threads;
	size_t thread;		/* index of the running one */
	struct map by_consumer;
	bool own_clock;		/* each thread counts its own values: a switch charges no thread */
};

void flow_events_init(struct flow_events *b, struct flow *f);
void flow_events_release(struct flow_events *b);

/*
 * Charge further events to the thread of that consumer, a root of the tree with n = 1. What passed since
 * the last event is the earlier thread's, unless own_clock. Must come before the first event.
 */
void flow_events_switch(struct flow_events *b, uint32_t consumer, const uint64_t *values);
/*
 * Resume: no context is open, and what was consumed up to here is not of these events; nor has the thread
 * begun in them, if this is its first.
 */
void flow_events_resume(struct flow_events *b, const uint64_t *values, bool first);
/* Note that the context is open by now, and was entered before the events begin. */
void flow_events_open(struct flow_events *b, uint32_t consumer);
/* End the innermost nr open contexts, though nothing says that they were left (popped). */
void flow_events_unwind(struct flow_events *b, uint64_t nr, const uint64_t *values);
/* Closes what is open.  The indices of nodes may change in the flow_finish() that follows. */
void flow_events_finish(struct flow_events *b);

void flow_events_charge_slow(struct flow_events *b, const uint64_t *values);
void flow_events_leave_slow(struct flow_events *b, uint32_t consumer);

static inline void flow_events_charge(struct flow_events *b, const uint64_t *values)
{
	if (__builtin_expect(b->f->nr_metrics == 1 && values[0] >= b->last[0], 1)) {
		b->f->base[b->open] += values[0] - b->last[0];
		b->last[0] = values[0];
	} else {
		flow_events_charge_slow(b, values);
	}
}

static inline void flow_events_enter(struct flow_events *b, uint32_t consumer, const uint64_t *values)
{
	flow_events_charge(b, values);
	b->open = flow_child(b->f, b->open, consumer);
	b->f->nodes[b->open].n++;
}

static inline void flow_events_leave(struct flow_events *b, uint32_t consumer, const uint64_t *values)
{
	const struct flow_node *x;

	flow_events_charge(b, values);
	x = &b->f->nodes[b->open];
	if (__builtin_expect(x->consumer == consumer && b->open != b->root, 1))
		b->open = x->parent;
	else
		flow_events_leave_slow(b, consumer);
}

#endif
