// SPDX-License-Identifier: GPL-2.0-or-later
/* callevents.c - writes the events of call trees from the rings of processes to the trace. */
#include <string.h>

#include "base/atomic.h"
#include "base/mem.h"
#include "collect/calldump.h"

static struct callflow_ring *ring_at(const struct callflow_proc *p, uint32_t i)
{
	return (void *)((uint8_t *)p->area + p->own.rings_off +
			i * callflow_ring_bytes(p->own.ring_events, p->own.nr_metrics));
}

static void flush_events(struct dump *d)
{
	struct rec_call_events r = {
		.tree = d->tree ? d->tree->number : 0, .nr_metrics = d->p->own.nr_metrics,
		.nr = d->nr_events, .events = d->events,
	};

	trace_write_call_events(d->f->w, &r);
	d->f->res->nr_events += d->nr_events;
	d->nr_events = 0;
}

static void store_event(void *ctx, const struct call_event *e)
{
	struct dump *d = ctx;

	if (d->nr_events == CALL_RECORD_EVENTS)
		flush_events(d);
	d->events[d->nr_events] = *e;
	if (e->kind != CALL_UNWOUND)
		d->events[d->nr_events].consumer = dump_consumer(d, e->consumer);
	d->nr_events++;
}

/* To the trace, or what is slow of it. */
static void pass_event(struct dump *d, const struct call_event *e)
{
	const struct slow_sink sink = { d, d->p->own.nr_metrics, dump_slow_rule, store_event };

	if (d->f->o->slow)
		slow_take(d->f->o->slow, &d->tree->slow, e, &sink);
	else
		store_event(d, e);
}

static void take_event(struct dump *d, const struct callflow_event *x, const uint64_t *charged)
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
		if (!d->tree->number)
			dump_begin_tree(d, slot);
	}
	/* Never back: neither a thread that moves between rings nor harm may do that. */
	e.time_ns = d->tree->last_ns = MAX(dump_time(d, x->tsc), d->tree->last_ns);
	for (m = 0; m < d->p->own.nr_metrics; m++) {
		uint64_t before = d->p->own.metrics[m].kind == CALLFLOW_WALL ? d->tree->before_tsc : 0;

		e.charged[m] = dump_value(d, m, charged[m] + before);
		e.charged[m] = d->tree->charged[m] = MAX(e.charged[m], d->tree->charged[m]);
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
		take_event(d, &copy, charged);
		if (!(tail & 1023))
			store_release(&r->tail, tail + 1);
	}
	d->p->tails[i] = tail;
	store_release(&r->tail, tail);
	flush_events(d);
}

void dump_tell_open(struct dump *d, const struct callflow_thread *t)
{
	struct call_event e = { .time_ns = MAX(d->time_ns, d->tree->last_ns), .kind = CALL_UNWOUND };
	uint32_t m;

	if (!d->last || !callflows_have_events(d->f) || !d->open_ref || t->top <= t->stack)
		return;
	for (m = 0; m < d->p->own.nr_metrics; m++)
		e.charged[m] = d->tree->charged[m] + dump_value(d, m, d->open_base[m]);
	pass_event(d, &e);
	flush_events(d);
}
