// SPDX-License-Identifier: MIT
/*
 * timed.c - calls that are timed one by one, for a recorder that waits for a slow one (CALLFLOW_TIMED).
 *
 * A context has one open call at most, which is why a node has room for its beginning: the recorder sees
 * which calls are open and since when, and nothing is written anywhere for a call that ends in time. Where
 * contexts are merged that is not so, and calls in them are not timed. Neither is one whose beginning
 * was not seen.
 */
#include "callflow/process.h"

enum { FROM_OUTER = 1 };		/* as tree.c has it */

/* Return whether its node has this call alone. Merged ones are stored with an inverted consumer. */
static bool is_timed(const struct callflow_open *o)
{
	uint32_t consumer = node_at(o->node)->consumer;

	return consumer < CALLFLOW_MARK &&
	       (o->consumer == consumer || (o->consumer == ~consumer && o->frame == FROM_OUTER));
}

static void end_one(struct callflow_node *n, uint64_t tsc)
{
	uint64_t since = n->base[CALLFLOW_SINCE];

	if (!since)
		return;
	store_relaxed(&n->base[CALLFLOW_SINCE], 0);
	if (tsc - since <= load_relaxed(&n->base[CALLFLOW_LONGEST]) || tsc < since)
		return;
	store_relaxed(&n->base[CALLFLOW_LONGEST_SINCE], since);
	store_release(&n->base[CALLFLOW_LONGEST], tsc - since);
}

void callflow_end_timed(const struct callflow_open *was, const struct callflow_open *o, uint64_t tsc)
{
	for (; was > o; was--)
		if (is_timed(was))
			end_one(node_at(was->node), tsc);
}

void callflow_enter_timed(struct callflow_kthread *k, uint32_t consumer)
{
	struct callflow_thread *t = k->cur;
	const struct callflow_open *o;

	callflow_enter(k, consumer);
	if (unlikely(!t || t->beyond))
		return;
	o = (const void *)(uintptr_t)t->top;
	if (likely(is_timed(o)))
		store_relaxed(&node_at(o->node)->base[CALLFLOW_SINCE], cpu_tsc());
}

static inline __attribute__((always_inline)) void
callflow_timed_leave(struct callflow_kthread *k, uint32_t consumer,
		     void (*step)(struct callflow_kthread *, uint32_t))
{
	struct callflow_thread *t = k->cur;
	const struct callflow_open *was;
	uint64_t tsc;

	if (unlikely(!t))
		return;
	was = (const void *)(uintptr_t)t->top;
	tsc = cpu_tsc();
	step(k, consumer);
	callflow_end_timed(was, (const void *)(uintptr_t)t->top, tsc);
}

void callflow_leave_timed(struct callflow_kthread *k, uint32_t consumer)
{
	callflow_timed_leave(k, consumer, callflow_leave);
}

void callflow_thrown_timed(struct callflow_kthread *k, uint32_t consumer)
{
	callflow_timed_leave(k, consumer, callflow_thrown);
}
