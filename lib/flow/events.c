// SPDX-License-Identifier: GPL-2.0-or-later
/* events.c - builds a tree from enter and leave events, repairing bad nesting (events.h). */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "flow/events.h"

void flow_events_init(struct flow_events *b, struct flow *f)
{
	memset(b, 0, sizeof(*b));
	b->f = f;
}

void flow_events_release(struct flow_events *b)
{
	free(b->threads);
	map_release(&b->by_consumer);
	memset(b, 0, sizeof(*b));
}

void flow_events_charge_slow(struct flow_events *b, const uint64_t *values)
{
	uint64_t *base = flow_base(b->f, b->open);
	unsigned int m;

	for (m = 0; m < b->f->nr_metrics; m++) {
		if (values[m] >= b->last[m])
			base[m] += values[m] - b->last[m];
		else
			b->f->repairs.backwards++;
		b->last[m] = values[m];
	}
}

static void save_thread(struct flow_events *b)
{
	struct flow_thread *t = &b->threads[b->thread];

	t->root = b->root;
	t->open = b->open;
	memcpy(t->last, b->last, sizeof(t->last));
}

void flow_events_switch(struct flow_events *b, uint32_t consumer, const uint64_t *values)
{
	size_t nr_before = b->nr_threads;
	struct flow_thread *t;
	uint32_t *at;

	if (b->nr_threads) {
		if (!b->own_clock)
			flow_events_charge(b, values);
		save_thread(b);
	}
	at = map_put(&b->by_consumer, consumer);
	if (*at == MAP_NONE) {
		*at = b->nr_threads;
		t = VEC_ADD(b->threads, b->nr_threads, b->alloc_threads);
		t->root = t->open = flow_child(b->f, FLOW_NONE, consumer);
		b->f->nodes[t->root].n++;
	}
	b->thread = *at;
	b->root = b->threads[*at].root;
	b->open = b->threads[*at].open;
	if (b->own_clock && *at < nr_before) {
		memcpy(b->last, b->threads[*at].last, sizeof(b->last));
		flow_events_charge(b, values);
	}
	memcpy(b->last, values, b->f->nr_metrics * sizeof(*values));
}

/*
 * The thread's node becomes the consumer's, with all its children and what was charged to
 * it, and a new node for the thread goes above: so no child has to be moved.  The new node's
 * index is higher than its child's; flow_finish() puts that right.
 */
static void insert_above(struct flow_events *b, uint32_t consumer)
{
	struct flow *f = b->f;
	uint32_t old = b->root, root = flow_insert_above(f, old, consumer);

	f->nodes[root].n = f->nodes[old].n;
	f->nodes[old].n = 1;
	b->root = b->open = root;
	f->repairs.inserted++;
}

void flow_events_leave_slow(struct flow_events *b, uint32_t consumer)
{
	const struct flow *f = b->f;
	uint64_t popped = 0;
	uint32_t i;

	assert(b->nr_threads);
	for (i = b->open; i != b->root && f->nodes[i].consumer != consumer; i = f->nodes[i].parent)
		popped++;
	b->f->repairs.popped += popped;
	if (i != b->root)
		b->open = f->nodes[i].parent;
	else
		insert_above(b, consumer);
}

void flow_events_resume(struct flow_events *b, const uint64_t *values, bool first)
{
	b->f->nodes[b->root].n -= first;
	b->open = b->root;
	memcpy(b->last, values, b->f->nr_metrics * sizeof(*values));
}

void flow_events_open(struct flow_events *b, uint32_t consumer)
{
	b->open = flow_child(b->f, b->open, consumer);
}

void flow_events_unwind(struct flow_events *b, uint64_t nr, const uint64_t *values)
{
	flow_events_charge(b, values);
	for (; nr && b->open != b->root; nr--) {
		b->open = b->f->nodes[b->open].parent;
		b->f->repairs.popped++;
	}
}

void flow_events_finish(struct flow_events *b)
{
	size_t t;

	if (b->nr_threads)
		save_thread(b);
	for (t = 0; t < b->nr_threads; t++) {
		for (; b->threads[t].open != b->threads[t].root; b->f->repairs.closed++)
			b->threads[t].open = b->f->nodes[b->threads[t].open].parent;
	}
	b->open = b->root;
}
