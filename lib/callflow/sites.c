// SPDX-License-Identifier: MIT
/*
 * sites.c - calls with the place that they are made from: a context of its own between caller and callee,
 * which is entered before the callee and left after it.
 *
 * A function that the compiler put inside another has that one's frame, and its hooks get the address that
 * that one returns to: such a call has no site.
 */
#include "callflow/process.h"

static bool is_inlined(const struct callflow_thread *t, uint64_t frame)
{
	return t->top != t->stack && top_of(t)->frame == frame;
}

void callflow_enter_from(struct callflow_kthread *k, uint64_t site, uint32_t consumer, uint64_t frame)
{
	if (k->cur && frame && !is_inlined(k->cur, frame))
		callflow_enter_frame(k, callflow_function(site | CALLFLOW_SITE), frame);
	callflow_enter_frame(k, consumer, frame);
}

void callflow_leave_from(struct callflow_kthread *k, uint64_t site, uint32_t consumer, uint64_t frame)
{
	uint32_t from;

	callflow_leave_frame(k, consumer, frame);
	if (!k->cur || !frame || k->cur->top == k->cur->stack)
		return;
	from = callflow_function(site | CALLFLOW_SITE);
	if (callflow_is_call_of(top_of(k->cur), from))
		callflow_leave_frame(k, from, frame);
}
