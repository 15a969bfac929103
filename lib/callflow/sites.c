// SPDX-License-Identifier: MIT
/*
 * sites.c - calls with the place that they are made from: a context of its own between caller and callee,
 * which is entered before the callee and left after it.
 *
 * Native functions know where they return to. A function that the compiler put inside another has that one's
 * frame, and its hooks get the address that that one returns to: such a call has no site.
 *
 * Java methods do not, but the code of the caller tells its place before it calls. That is kept with the
 * caller's open call, so it is still there when a callee is back, and it is the caller's, however many
 * methods without probes are in between.
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

/* Return whether a call of such a consumer is the innermost open one. */
static bool callflow_sites_is_in(const struct callflow_thread *t, enum callflow_consumer kind)
{
	return t->top != t->stack && !t->beyond && (consumer_of(top_of(t)) & CALLFLOW_KIND) == (uint32_t)kind;
}

void callflow_at(struct callflow_kthread *k, uint32_t place)
{
	struct callflow_thread *t = k->cur;
	uint64_t method;
	uint32_t site = 0;

	if (!t || !callflow_sites_is_in(t, CALLFLOW_METHOD))
		return;
	method = consumer_of(top_of(t)) & CALLFLOW_NUMBER;
	if (place)
		site = callflow_function(CALLFLOW_SITE | CALLFLOW_SITE_JAVA | method << CALLFLOW_PLACE_BITS |
					 place);
	*site_of_top(t) = site == CALLFLOW_CONSUMER_PRUNED ? 0 : site;
}

void callflow_enter_at(struct callflow_kthread *k, uint32_t consumer)
{
	struct callflow_thread *t = k->cur;
	uint32_t site = t && callflow_sites_is_in(t, CALLFLOW_METHOD) ? *site_of_top(t) : 0;

	if (site) {
		callflow_enter(k, site);
		callflow_enter_more(k, consumer);
	} else {
		callflow_enter(k, consumer);
	}
	if (t)
		*site_of_top(t) = 0;
}

/* Leave the site of a call that has ended: it is the innermost open one now. */
static void leave_site(struct callflow_kthread *k)
{
	const struct callflow_thread *t = k->cur;
	uint32_t consumer;

	if (!t || !callflow_sites_is_in(t, CALLFLOW_NATIVE))
		return;
	consumer = consumer_of(top_of(t));
	if (load_relaxed(&cf.functions[consumer & CALLFLOW_VALUE]) & CALLFLOW_SITE)
		callflow_leave_more(k, consumer);
}

void callflow_leave_at(struct callflow_kthread *k, uint32_t consumer)
{
	callflow_leave(k, consumer);
	leave_site(k);
}

void callflow_thrown_at(struct callflow_kthread *k, uint32_t consumer)
{
	callflow_thrown(k, consumer);
	leave_site(k);
}
