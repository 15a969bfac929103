// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gen.c - the event trace as JProf's log-gen had it, a line an event: what its thread consumed
 * since its event before, > entry or < exit or ! exit by an exception, function, thread; and, where
 * they were recorded, when those threads lost and got a CPU.
 *
 * Threads leave their events in a file each for itself, so a later record may go back in time. A
 * first pass finds out how far: behind each record the earliest time of all that follow. The second keeps
 * no more than what that time has not passed yet, however long the trace is.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "report/gensel.h"
#include "report/sched.h"

enum { SORT_EVENTS = 1 << 16 };	/* so many at a time */

struct gen {
	struct calls c;
	struct gen_select select;
	struct gen_event *events;	/* not printed yet */
	size_t nr_events, alloc_events, sort_at;
	uint64_t seq;			/* of the event read next */
	uint64_t *starts;		/* of each batch: its earliest time, then that of all behind it */
	size_t nr_starts, alloc_starts, at;
	bool any;
	FILE *out;
	uint64_t limit, nr_printed;
	uint64_t nr_calls, nr_dispatches;	/* in the trace */
	struct buf line;
	struct map index_of;		/* tree -> index in last */
	uint64_t (*last)[FLOW_MAX_METRICS];	/* what the tree was charged by its last event */
	size_t nr_last, alloc_last;
};

static uint64_t *last_of(struct gen *g, uint32_t tree)
{
	uint32_t *at = map_put(&g->index_of, tree);

	if (*at == MAP_NONE) {
		*at = g->nr_last;
		VEC_GROW(g->last, g->nr_last, g->alloc_last);
		memset(g->last[g->nr_last++], 0, sizeof(*g->last));
	}
	return g->last[*at];
}

static void keep(struct gen *g, const struct gen_event *x)
{
	if (!gen_select_needs(&g->select, x))
		return;
	VEC_GROW(g->events, g->nr_events, g->alloc_events);
	g->events[g->nr_events] = *x;
	g->events[g->nr_events++].seq = g->seq++;
}

static int batch_end(struct gen *g);

static void add_start(struct gen *g, uint64_t time_ns)
{
	VEC_GROW(g->starts, g->nr_starts, g->alloc_starts);
	g->starts[g->nr_starts++] = time_ns;
}

static int count_events(void *ctx, const struct rec_call_events *r)
{
	struct gen *g = ctx;
	uint64_t first = UINT64_MAX;
	uint32_t i;

	for (i = 0; i < r->nr; i++)
		first = MIN(first, r->events[i].time_ns);
	add_start(g, first);
	g->nr_calls += r->nr;
	g->any = true;
	return 0;
}

/* Of the threads whose calls are in the trace. */
static bool is_ours(const struct gen *g, uint32_t thread)
{
	return thread && map_get(&g->select.thread_of, thread) != MAP_NONE;
}

static int count_sched(void *ctx, const struct rec_sched *r, size_t nr)
{
	struct gen *g = ctx;
	uint64_t first = UINT64_MAX;
	size_t i;

	for (i = 0; i < nr; i++) {
		first = MIN(first, r[i].time_ns);
		g->nr_dispatches += r[i].kind == SCHED_SWITCH && is_ours(g, r[i].arg);
	}
	add_start(g, first);
	return 0;
}

static void look_behind(struct gen *g)
{
	uint64_t first = UINT64_MAX, mine;
	size_t i;

	for (i = g->nr_starts; i-- > 0;) {
		mine = g->starts[i];
		g->starts[i] = first;
		first = MIN(first, mine);
	}
}

static int take_events(void *ctx, const struct rec_call_events *r)
{
	struct gen *g = ctx;
	uint64_t *last = last_of(g, r->tree);
	uint32_t i, m;

	for (i = 0; i < r->nr; i++) {
		const struct call_event *e = &r->events[i];
		struct gen_event x = { .time_ns = e->time_ns, .tree = r->tree, .kind = e->kind,
			.consumer = e->consumer };

		for (m = 0; m < r->nr_metrics && m < FLOW_MAX_METRICS; m++) {
			x.delta[m] = e->charged[m] - last[m];
			last[m] = e->charged[m];
		}
		keep(g, &x);
	}
	return batch_end(g);
}

static void keep_dispatch(struct gen *g, const struct rec_sched *r, uint32_t kind, uint32_t thread,
			  uint8_t state)
{
	struct gen_event x = { .time_ns = r->time_ns, .tree = thread, .kind = kind,
			       .consumer = gen_dispatch(r->cpu, state) };

	if (is_ours(g, thread))
		keep(g, &x);
}

static int take_sched(void *ctx, const struct rec_sched *r, size_t nr)
{
	struct gen *g = ctx;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (r[i].kind != SCHED_SWITCH)
			continue;
		keep_dispatch(g, &r[i], GEN_OFF, r[i].thread, r[i].state);
		keep_dispatch(g, &r[i], GEN_ON, r[i].arg, 0);
	}
	return batch_end(g);
}

static int by_time(const void *a, const void *b)
{
	const struct gen_event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static const char *prefix(uint32_t kind)
{
	return kind == CONSUMER_JAVA ? "M:" : kind == CONSUMER_NATIVE ? "N:" : "";
}

static void print_head(struct gen *g, FILE *out)
{
	const struct model *m = g->c.p->m;
	struct buf *b = &g->line;
	unsigned int i;

	buf_fmt(b, "%" PRIu64 " events", g->nr_calls);
	if (g->nr_dispatches)
		buf_fmt(b, " and %" PRIu64 " dispatches", g->nr_dispatches);
	buf_fmt(b, " of %zu threads, %" PRIu64 " lost;", g->c.nr_trees, g->c.p->names.lost);
	for (i = 0; i < g->c.nr_metrics; i++) {
		buf_str(b, i ? ", " : " ");
		quote_add(b, model_str(m, m->metrics[i].name));
		buf_str(b, " in ");
		quote_add(b, model_str(m, m->metrics[i].unit));
	}
	fprintf(out, "%s%s\n", b->data, g->c.nr_metrics ? " since the thread's event before" : " no metrics");
}

static void put_event(struct gen *g, const struct gen_event *x)
{
	struct model *m = g->c.p->m;
	uint32_t consumer;

	switch (x->kind) {
	case GEN_ON:
		buf_fmt(&g->line, " + [gets CPU %u] ", x->consumer & UINT16_MAX);
		break;
	case GEN_OFF:
		buf_fmt(&g->line, " - [loses CPU %u: %s] ", x->consumer & UINT16_MAX,
			sched_state_letter(x->consumer >> 16));
		break;
	case CALL_UNWOUND:
		buf_fmt(&g->line, " ? ev_%" PRIu32 "_UNWOUND ", x->consumer);
		break;
	default:
		consumer = calls_consumer(&g->c, x->consumer);
		buf_fmt(&g->line, " %c %s", "><!"[x->kind], prefix(m->consumers.items[consumer].kind));
		quote_add(&g->line, consumer_name(&m->consumers, consumer));
		buf_putc(&g->line, ' ');
	}
}

static void print_event(struct gen *g, const struct gen_event *x, FILE *out)
{
	const struct gen_thread *thread = gen_select_thread(&g->select, x);
	bool is_call = x->kind < CALL_EVENT_NR;
	unsigned int i;

	buf_reset(&g->line);
	for (i = 0; i < g->c.nr_metrics; i++)
		if (is_call)
			buf_fmt(&g->line, "%s%8" PRIu64, i ? " " : "", x->delta[i]);
		else
			buf_fmt(&g->line, "%s%8s", i ? " " : "", "-");
	put_event(g, x);
	/* calls_consumer() may have made strings: names are asked last. */
	quote_add(&g->line, consumer_name(&g->c.p->m->consumers, thread->thread));
	fprintf(out, "%s\n", g->line.data);
}

static bool is_done(const struct gen *g)
{
	return (g->limit && g->nr_printed == g->limit) || ferror(g->out);
}

/* Prints in order what is not later than until_ns, before which nothing comes any more. */
static void print_until(struct gen *g, uint64_t until_ns)
{
	size_t i;

	if (g->nr_events)
		qsort(g->events, g->nr_events, sizeof(*g->events), by_time);
	for (i = 0; i < g->nr_events && g->events[i].time_ns <= until_ns && !is_done(g); i++) {
		if (!gen_select_shows(&g->select, &g->events[i]))
			continue;
		print_event(g, &g->events[i], g->out);
		g->nr_printed++;
	}
	g->nr_events -= i;
	if (i)
		memmove(g->events, g->events + i, g->nr_events * sizeof(*g->events));
	g->sort_at = MAX(2 * g->nr_events, (size_t)SORT_EVENTS);
}

/* 1: no more events are wanted. */
static int batch_end(struct gen *g)
{
	uint64_t until_ns = g->at < g->nr_starts ? g->starts[g->at++] : 0;

	if (g->nr_events >= g->sort_at)
		print_until(g, until_ns);
	return is_done(g);
}

static int gen_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	const struct trace_sink count = { .call_events = count_events, .sched = count_sched };
	const struct trace_sink sink = { .call_events = take_events, .sched = take_sched };
	struct gen g = { .out = out, .limit = o->limit, .sort_at = SORT_EVENTS };
	struct profile_opts po = *o->profile;
	struct profile p;
	struct model m;
	int r;

	po.names.by_kind = true;
	po.metrics = NULL;
	po.no_samples = true;
	profile_init(&p, &m, &po);
	r = profile_names(&p, t, e);
	if (!r)
		r = calls_init(&g.c, &p, e);
	if (!r)
		r = trace_read(t, &calls_sink, &g.c, e);
	if (!r)
		r = gen_select_init(&g.select, &g.c, o, e);
	if (!r)
		r = trace_read(t, &count, &g, e);
	if (!r && !g.any)
		r = err_set(e, ENODATA, "the trace has no events: record it with --calltrace");
	if (!r) {
		look_behind(&g);
		print_head(&g, out);
		r = trace_read(t, &sink, &g, e);
	}
	if (r >= 0 && g.any) {
		print_until(&g, UINT64_MAX);
		r = !g.nr_printed;
	}
	gen_select_release(&g.select);
	calls_release(&g.c);
	map_release(&g.index_of);
	buf_release(&g.line);
	free(g.last);
	free(g.events);
	free(g.starts);
	profile_release(&p);
	model_release(&m);
	return r;
}

static int check(const struct report_opts *o, struct err *e)
{
	if (o->profile->cpus && o->profile->cpus->nr_items)
		return err_set(e, EINVAL, "--cpu: calls do not say on which CPU they were");
	return 0;
}

static const struct opt opts[] = {
	OPT_LIST(0, "event", struct gen_opts, events, "kind",
		 "only these events: entry, exit, exception, unwound, dispatch"),
	OPT_END
};

const struct report report_gen = {
	.name = "gen",
	.help = "list every call and return of a call trace",
	.formats = FORMAT_BIT(FORMAT_TEXT),
	.opts_title = "For --gen",
	.opts = opts,
	.opts_size = sizeof(struct gen_opts),
	.opts_select = true,
	.check = check,
	.needs = "a call trace",
	.print_trace = gen_print,
};
