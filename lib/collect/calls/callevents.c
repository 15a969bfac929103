// SPDX-License-Identifier: GPL-2.0-or-later
/* callevents.c - writes the events of call trees from the rings of processes to the trace. */
#include <string.h>

#include "base/atomic.h"
#include "base/mem.h"
#include "collect/calls/calldump.h"

static struct callflow_ring *ring_at(const struct callflow_proc *p, uint32_t i)
{
	return (void *)((uint8_t *)p->area + p->own.rings_off +
			i * callflow_ring_bytes(p->own.ring_events, p->own.nr_metrics));
}

/* Write the events. What does not fit into this file is lost; the next event then says what is open. */
static void flush_events(struct dump *d)
{
	struct rec_call_events r = {
		.tree = d->tree ? d->tree->number : 0, .nr_metrics = d->p->own.nr_metrics,
		.nr = d->nr_events, .events = d->events,
	};

	if (trace_write_call_events(d->f->w, &r))
		d->f->res->nr_events += d->nr_events;
	else
		d->f->res->lost_events += d->nr_events;
	d->nr_events = 0;
}

static void callevents_put_event(struct dump *d, const struct call_event *e)
{
	if (d->nr_events == CALL_RECORD_EVENTS)
		flush_events(d);
	d->events[d->nr_events] = *e;
	if (e->kind != CALL_UNWOUND)
		d->events[d->nr_events].consumer = dump_consumer(d, e->consumer);
	d->nr_events++;
}

/* ---- in several files ---- */

/* Follow the open calls as readers do: a return closes all calls inside, too, and one without a call none. */
static void follow_open(struct tree *t, const struct call_event *e)
{
	size_t at;

	switch (e->kind) {
	case CALL_ENTERED:
		*VEC_ADD(t->open, t->nr_open, t->alloc_open) = e->consumer;
		break;
	case CALL_UNWOUND:
		t->nr_open -= MIN(t->nr_open, (size_t)e->consumer);
		break;
	default:
		for (at = t->nr_open; at && t->open[at - 1] != e->consumer; at--)
			;
		t->nr_open = at ? at - 1 : t->nr_open;
	}
}

/* Begin the tree in this file with the calls that are open. */
static void begin_file(struct dump *d, uint64_t time_ns)
{
	struct tree *t = d->tree;
	struct call_event e = { .time_ns = MIN(time_ns, d->f->file_ns), .kind = CALL_OPEN };
	bool begun = t->events_file;
	size_t i;

	t->events_file = t->file = d->f->file;
	if (!begun)
		return;
	dump_name_tree(d);
	memcpy(e.charged, t->stored, sizeof(t->stored));
	e.consumer = CALLFLOW_CONSUMER_THREAD;
	callevents_put_event(d, &e);
	for (i = 0; i < t->nr_open; i++) {
		e.consumer = t->open[i];
		callevents_put_event(d, &e);
	}
}

static void store_event(void *ctx, const struct call_event *e)
{
	struct dump *d = ctx;

	if (callflows_has_files(d->f)) {
		if (d->tree->events_file != d->f->file)
			begin_file(d, e->time_ns);
		follow_open(d->tree, e);
		memcpy(d->tree->stored, e->charged, sizeof(d->tree->stored));
	}
	callevents_put_event(d, e);
}

/* Pass an event to the trace, or only what is slow of it. */
static void pass_event(struct dump *d, const struct call_event *e)
{
	const struct slow_sink sink = { d, d->p->own.nr_metrics, dump_slow_rule, store_event };

	if (d->f->o->slow)
		slow_take(d->f->o->slow, &d->tree->slow, e, &sink);
	else
		store_event(d, e);
}

static void callevents_take_event(struct dump *d, const struct callflow_event *x, const uint64_t *charged)
{
	uint32_t slot = x->what >> CALLFLOW_EVENT_THREAD & (CALLFLOW_EVENT_THREADS - 1), m;
	struct call_event e = { .kind = x->what >> CALLFLOW_EVENT_KIND & 3, .consumer = x->what };

	if (slot >= d->p->own.nr_threads) {
		d->f->res->nr_damaged++;
		return;
	}
	if (!d->tree || slot != d->slot) {
		flush_events(d);
		d->slot = slot;
		d->tree = &d->p->trees[slot];
		d->p->nr_slots = MAX(d->p->nr_slots, slot + 1);
		if (!d->tree->number)
			dump_begin_tree(d, slot);
	}
	/*
	 * time must not step back, neither for a thread that moves between rings nor because a process lies
	 */
	e.time_ns = d->tree->last_ns = MAX(dump_time(d, x->tsc), d->tree->last_ns);
	for (m = 0; m < d->p->own.nr_metrics; m++) {
		uint64_t before = d->p->own.metrics[m].kind == CALLFLOW_WALL ? d->tree->before_tsc : 0;

		e.charged[m] = dump_value(d, m, charged[m] + before);
		d->tree->charged[m] = MAX(e.charged[m], d->tree->charged[m]);
		e.charged[m] = MAX(d->tree->charged[m], d->tree->told[m]);
	}
	pass_event(d, &e);
}

void dump_drain_ring(struct dump *d, uint32_t i)
{
	const struct callflow_proc *p = d->p;
	struct callflow_ring *r = ring_at(p, i);
	uint32_t size = p->own.ring_events, bytes = callflow_event_bytes(p->own.nr_metrics);
	uint64_t tail = p->tails[i], charged[CALLFLOW_MAX_METRICS];

	for (;; tail++) {
		const struct callflow_event *x =
			(const void *)((uint8_t *)r + CALLFLOW_PAGE + (tail & (size - 1)) * bytes);
		struct callflow_event copy;

		copy.what = load_acquire(&x->what);
		if (copy.what >> CALLFLOW_EVENT_LAP != callflow_event_lap(tail, size))
			break;
		copy.tsc = load_relaxed(&x->tsc);
		memcpy(charged, x->charged, p->own.nr_metrics * sizeof(*charged));
		callevents_take_event(d, &copy, charged);
		if (!(tail & 1023))
			store_release(&r->tail, tail + 1);
	}
	d->p->tails[i] = tail;
	store_release(&r->tail, tail);
	flush_events(d);
}

/*
 * Return whether all events of the current tree were taken, and none came since it was read: else what is
 * open continues in the next file, with the event that ends it.
 */
static bool is_settled(struct dump *d, const struct callflow_thread *t)
{
	const uint32_t slot = d->slot;

	dump_drain_ring(d, slot & (d->p->own.nr_rings - 1));
	d->slot = slot;
	d->tree = &d->p->trees[slot];
	return dump_stands(d, t);
}

/* Return whether the file that ends has open calls, which such an event would report. */
static bool goes_on(const struct dump *d)
{
	if (d->f->o->slow)
		return d->tree->slow.passing;
	return d->tree->nr_open || d->tree->events_file == d->f->file;
}

void dump_tell_open(struct dump *d, const struct callflow_thread *t)
{
	struct call_event e = { .kind = CALL_UNWOUND };
	uint32_t m;

	if (!callflows_have_events(d->f) || !d->open_ref || (!d->last && !d->ends_file))
		return;
	if (d->last ? t->top <= t->stack : !is_settled(d, t) || !goes_on(d))
		return;
	e.time_ns = d->tree->last_ns = MAX(d->time_ns, d->tree->last_ns);
	for (m = 0; m < d->p->own.nr_metrics; m++) {
		uint64_t by_now = d->tree->charged[m] + dump_value(d, m, d->open_base[m]);

		e.charged[m] = d->tree->told[m] = MAX(by_now, d->tree->told[m]);
	}
	pass_event(d, &e);
	flush_events(d);
}
