// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * timeline.c - sorts events by time. Each thread writes its events independently, so a later record may
 * go back in time. The first pass finds out how far: for each record, the earliest time of all that
 * follow it. The second keeps only events not older than that, however long the trace is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/timeline.h"

enum { SORT_EVENTS = 1 << 16 };	/* so many at a time */

const char *timeline_kind_name(uint32_t kind)
{
	static const char *const names[TIMELINE_NR_KINDS] = {
		"entry", "exit", "exception", "unwound", "open", "off", "on",
	};

	return kind < TIMELINE_NR_KINDS ? names[kind] : NULL;
}

/* ---- the first pass ---- */

static void add_start(struct timeline *l, uint64_t time_ns)
{
	*VEC_ADD(l->starts, l->nr_starts, l->alloc_starts) = time_ns;
}

static int count_events(void *ctx, uint32_t tree, const struct rec_call_events *r)
{
	struct timeline *l = ctx;
	uint64_t first = UINT64_MAX;
	uint32_t i;

	for (i = 0; i < r->nr; i++)
		first = MIN(first, r->events[i].time_ns);
	add_start(l, first);
	l->nr_calls += r->nr;
	return 0;
}

/* Return whether the trace has calls of the thread. */
static bool timeline_is_ours(const struct timeline *l, uint32_t thread)
{
	return thread && map_get(&l->c->thread_of, thread) != MAP_NONE;
}

static int count_sched(void *ctx, const struct rec_sched *r, size_t nr)
{
	struct timeline *l = ctx;
	uint64_t first = UINT64_MAX;
	size_t i;

	for (i = 0; i < nr; i++) {
		first = MIN(first, r[i].time_ns);
		l->nr_dispatches += r[i].kind == SCHED_SWITCH && timeline_is_ours(l, r[i].arg);
	}
	add_start(l, first);
	return 0;
}

static void look_behind(struct timeline *l)
{
	uint64_t first = UINT64_MAX, mine;
	size_t i;

	for (i = l->nr_starts; i-- > 0;) {
		mine = l->starts[i];
		l->starts[i] = first;
		first = MIN(first, mine);
	}
}

static const char *why_none(const struct names *x)
{
	const char *what = names_label(x, "callflow"), *name;
	uint32_t i;

	for (i = 0; !what && (name = names_event(x, i, "")); i++)
		if (!strncmp(name, "uprobe", strlen("uprobe")))
			return "the trace has no calls: record both entries and returns of a function, all of them (uprobe:FILE:FUNCTION,uprobe-return:FILE:FUNCTION)";
	if (names_label(x, "call.trace"))
		return "no call was as slow as record --trace asked for";
	if (what && strstr(what, "events"))
		return "no call began or ended, and none was open";
	return "the trace has no events: record it with --calltrace";
}

int timeline_init(struct timeline *l, struct calls *c, struct trace_reader *t, struct err *e)
{
	static const struct calls_sink count = { .events = count_events, .sched = count_sched };
	int r;

	*l = (struct timeline){ .c = c };
	r = calls_read(c, t, NULL, NULL, e);
	if (!r)
		r = calls_read(c, t, &count, l, e);
	if (!r && !l->nr_calls)
		r = err_set(e, ENODATA, "%s", why_none(c->names));
	look_behind(l);
	return r;
}

void timeline_release(struct timeline *l)
{
	free(l->starts);
}

/* ---- the second pass ---- */

struct ordering {
	const struct timeline *l;
	const struct timeline_sink *sink;
	void *ctx;
	struct timeline_event *events;	/* not given yet */
	size_t nr_events, alloc_events, sort_at;
	uint64_t seq;			/* of the event read next */
	size_t nr_batches;		/* that were read */
	struct charged {		/* by the tree's last event */
		uint64_t last[CALL_MAX_METRICS];
		uint32_t kind, function;
	} *charged;			/* [index in calls.trees] */
	size_t nr_charged, alloc_charged;
	bool probed;			/* the events are samples, some of which may be missing */
	struct map probed_open;		/* (tree, function) -> entries without a return */
	int ended;			/* by the sink */
};

static struct charged *last_of(struct ordering *o, uint32_t tree)
{
	while (tree >= o->nr_charged) {
		*VEC_ADD(o->charged, o->nr_charged, o->alloc_charged) =
			(struct charged){ .kind = CALL_EVENT_NR };
	}
	return &o->charged[tree];
}

static void timeline_keep(struct ordering *o, const struct timeline_event *x)
{
	if (!o->probed && !o->sink->needs(o->ctx, x))
		return;
	VEC_GROW(o->events, o->nr_events, o->alloc_events);
	o->events[o->nr_events] = *x;
	o->events[o->nr_events++].seq = o->seq++;
}

static int timeline_by_time(const void *a, const void *b)
{
	const struct timeline_event *x = a, *y = b;

	return COMPARE(x->time_ns, y->time_ns) ?: COMPARE(x->seq, y->seq);
}

/* Return false for a return whose entry has no sample: that was lost, or the call had begun before. */
static bool has_entry(struct ordering *o, const struct timeline_event *x)
{
	uint32_t *nr;

	if (x->kind != CALL_ENTERED && x->kind != CALL_LEFT)
		return true;
	nr = map_put(&o->probed_open, (uint64_t)x->tree << 32 | x->function);
	if (*nr == MAP_NONE)
		*nr = 0;
	if (x->kind == CALL_LEFT && !*nr)
		return false;
	*nr += x->kind == CALL_ENTERED ? 1 : -1;
	return true;
}

static void timeline_give(struct ordering *o, const struct timeline_event *x)
{
	if (o->probed && (!has_entry(o, x) || !o->sink->needs(o->ctx, x)))
		return;
	o->ended = o->sink->event(o->ctx, x);
}

/* Gives in order what is not later than until_ns, before which nothing comes any more. */
static void give_until(struct ordering *o, uint64_t until_ns)
{
	size_t i;

	if (o->nr_events)
		qsort(o->events, o->nr_events, sizeof(*o->events), timeline_by_time);
	for (i = 0; i < o->nr_events && o->events[i].time_ns <= until_ns && !o->ended; i++)
		timeline_give(o, &o->events[i]);
	o->nr_events -= i;
	if (i)
		memmove(o->events, o->events + i, o->nr_events * sizeof(*o->events));
	o->sort_at = MAX(2 * o->nr_events, (size_t)SORT_EVENTS);
}

static int batch_end(struct ordering *o)
{
	uint64_t until_ns = o->nr_batches < o->l->nr_starts ? o->l->starts[o->nr_batches++] : 0;

	if (o->nr_events >= o->sort_at)
		give_until(o, until_ns);
	return o->ended;
}

static int timeline_take_events(void *ctx, uint32_t tree, const struct rec_call_events *r)
{
	struct ordering *o = ctx;
	struct charged *last = last_of(o, tree);
	uint32_t i, m;

	for (i = 0; i < r->nr; i++) {
		const struct call_event *e = &r->events[i];
		struct timeline_event x = { .time_ns = e->time_ns, .kind = e->kind, .tree = tree,
			.function = e->consumer, .before = last->kind, .function_before = last->function };

		for (m = 0; m < r->nr_metrics && m < CALL_MAX_METRICS; m++) {
			x.delta[m] = e->kind == CALL_OPEN ? 0 : e->charged[m] - last->last[m];
			last->last[m] = e->charged[m];
		}
		last->kind = e->kind;
		last->function = e->consumer;
		timeline_keep(o, &x);
	}
	return batch_end(o);
}

static int timeline_take_sched(void *ctx, const struct rec_sched *r, size_t nr)
{
	struct ordering *o = ctx;
	struct timeline_event x = { .tree = MAP_NONE };
	size_t i;

	for (i = 0; i < nr; i++) {
		if (r[i].kind != SCHED_SWITCH)
			continue;
		x.time_ns = r[i].time_ns;
		x.cpu = r[i].cpu;
		x.kind = TIMELINE_OFF;
		x.thread = r[i].thread;
		x.state = r[i].state;
		if (timeline_is_ours(o->l, x.thread))
			timeline_keep(o, &x);
		x.kind = TIMELINE_ON;
		x.thread = r[i].arg;
		x.state = 0;
		if (timeline_is_ours(o->l, x.thread))
			timeline_keep(o, &x);
	}
	return batch_end(o);
}

int timeline_read(struct timeline *l, struct trace_reader *t, const struct timeline_sink *sink, void *ctx,
		  struct err *e)
{
	static const struct calls_sink records = {
		.events = timeline_take_events, .sched = timeline_take_sched
	};
	struct ordering o = {
		.l = l, .sink = sink, .ctx = ctx, .sort_at = SORT_EVENTS, .probed = l->c->probed.nr_functions,
		.probed_open = MAP_INIT,
	};
	int r = calls_read(l->c, t, &records, &o, e);

	if (r >= 0)
		give_until(&o, UINT64_MAX);
	free(o.events);
	free(o.charged);
	map_release(&o.probed_open);
	return r < 0 ? r : 0;
}
