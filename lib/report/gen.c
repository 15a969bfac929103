// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gen.c - the event trace as JProf's log-gen had it, a line an event: what its thread consumed
 * since its event before, > entry or < exit or ! exit by an exception, function, thread; and, where
 * they were recorded, when those threads lost and got a CPU.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "report/gensel.h"
#include "report/sched.h"

struct gen {
	struct calls c;
	struct gen_select select;
	struct gen_event *events;
	size_t nr_events, alloc_events;
	uint64_t nr_calls, nr_dispatches;	/* read */
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
	g->events[g->nr_events].seq = g->nr_events;
	g->nr_events++;
}

static int take_events(void *ctx, const struct rec_call_events *r)
{
	struct gen *g = ctx;
	uint64_t *last = last_of(g, r->tree);
	uint32_t i, m;

	for (i = 0; i < r->nr; i++) {
		const struct call_event *e = &r->events[i];
		struct gen_event x = { .time_ns = e->time_ns, .tree = r->tree, .kind = e->kind, .consumer = e->consumer };

		for (m = 0; m < r->nr_metrics && m < FLOW_MAX_METRICS; m++) {
			x.delta[m] = e->charged[m] - last[m];
			last[m] = e->charged[m];
		}
		keep(g, &x);
	}
	g->nr_calls += r->nr;
	return 0;
}

/* Of the threads whose calls are in the trace. */
static void keep_dispatch(struct gen *g, const struct rec_sched *r, uint32_t kind, uint32_t thread, uint8_t state)
{
	struct gen_event x = { .time_ns = r->time_ns, .tree = thread, .kind = kind,
			       .consumer = gen_dispatch(r->cpu, state) };

	if (!thread || map_get(&g->select.thread_of, thread) == MAP_NONE)
		return;
	g->nr_dispatches += kind == GEN_ON;
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
	return 0;
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

static uint64_t print_events(struct gen *g, FILE *out, uint64_t limit)
{
	uint64_t nr = 0;
	size_t i;

	if (g->nr_events)
		qsort(g->events, g->nr_events, sizeof(*g->events), by_time);
	for (i = 0; i < g->nr_events && (!limit || nr < limit) && !ferror(out); i++) {
		if (!gen_select_shows(&g->select, &g->events[i]))
			continue;
		print_event(g, &g->events[i], out);
		nr++;
	}
	return nr;
}

int gen_print(struct profile *p, struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	struct trace_sink sink = { .call_events = take_events, .sched = take_sched };
	struct gen g = { .events = NULL };
	int r;

	r = calls_init(&g.c, p, e);
	if (!r)
		r = trace_read(t, &calls_sink, &g.c, e);
	if (!r)
		r = gen_select_init(&g.select, &g.c, o, e);
	if (!r)
		r = trace_read(t, &sink, &g, e);
	if (!r && !g.nr_last)
		r = err_set(e, ENODATA, "the trace has no events: record it with --calltrace");
	if (!r) {
		print_head(&g, out);
		r = !print_events(&g, out, o->limit);
	}
	gen_select_release(&g.select);
	calls_release(&g.c);
	map_release(&g.index_of);
	buf_release(&g.line);
	free(g.last);
	free(g.events);
	return r;
}
