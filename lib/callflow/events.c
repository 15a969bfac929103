// SPDX-License-Identifier: MIT
/*
 * events.c - the event trace: each step of a thread into its ring. A full ring makes the thread wait
 * for the recorder, as what is lost cannot be had again; but not for one that does not read.
 */

#include "callflow/process.h"

enum { WAIT_NS = 100000, MAX_WAITS = 5000 };

static struct callflow_ring *ring_of(uint32_t slot)
{
	const struct callflow_area *a = cf.area;
	uint64_t stride = callflow_ring_bytes(a->ring_events, cf.nr_metrics);

	return (void *)((uint8_t *)cf.area + a->rings_off + (slot & (a->nr_rings - 1)) * stride);
}

static void sleep_a_little(void)
{
	const int64_t wait[2] = { 0, WAIT_NS };

	sys(__NR_nanosleep, wait, 0);
}

/* False: the recorder has not read for half a second; threads do not wait again until it has. */
static bool wait_for_room(struct callflow_ring *r, uint32_t size)
{
	uint64_t tail = load_acquire(&r->tail);
	int i;

	if (load_relaxed(&r->stalled) == tail + 1)
		return false;
	for (i = 0; i < MAX_WAITS; i++) {
		sleep_a_little();
		if (load_relaxed(&r->head) - load_acquire(&r->tail) < size)
			return true;
		if (load_acquire(&r->tail) != tail) {
			tail = load_acquire(&r->tail);
			i = 0;
		}
	}
	store_relaxed(&r->stalled, tail + 1);
	return false;
}

void callflow_event(struct callflow_thread *t, enum callflow_event_kind kind, uint32_t consumer)
{
	uint32_t slot = t - cf.threads, size = cf.area->ring_events, m;
	struct callflow_ring *r = ring_of(slot);
	uint64_t head = load_relaxed(&r->head);
	struct callflow_event *e;

	do {
		while (head - load_acquire(&r->tail) >= size) {
			if (!wait_for_room(r, size)) {
				t->lost_events++;
				return;
			}
			head = load_relaxed(&r->head);
		}
	} while (!__atomic_compare_exchange_n(&r->head, &head, head + 1, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_RELAXED));
	e = (void *)((uint8_t *)r + CALLFLOW_PAGE +
		     (head & (size - 1)) * callflow_event_bytes(cf.nr_metrics));
	e->tsc = cpu_tsc();
	for (m = 0; m < cf.nr_metrics; m++)
		e->charged[m] = t->charged[m];
	store_release(&e->what, consumer | (uint64_t)kind << CALLFLOW_EVENT_KIND |
				(uint64_t)slot << CALLFLOW_EVENT_THREAD |
				callflow_event_lap(head, size) << CALLFLOW_EVENT_LAP);
}
