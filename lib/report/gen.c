// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gen.c - the event trace as JProf's log-gen had it, a line an event: what its thread consumed
 * since its event before, > entry or < exit or ! exit by an exception, function, thread.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/calls.h"

struct gen_event {
	uint64_t time_ns, seq;
	uint64_t delta[FLOW_MAX_METRICS];
	uint32_t tree, kind, consumer;
};

struct gen {
	struct calls c;
	struct gen_event *events;
	size_t nr_events, alloc_events;
	struct map index_of;		/* tree -> index in last */
	uint64_t (*last)[FLOW_MAX_METRICS];	/* what the tree was charged by its last event */
	size_t nr_last, alloc_last;
};

static bool in_window(const struct profile *p, uint64_t time_ns)
{
	return time_ns >= p->reset_ns && (!p->o.from_ns || time_ns >= p->start_ns + p->o.from_ns) &&
	       (!p->o.to_ns || time_ns < p->start_ns + p->o.to_ns);
}

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

static int take_events(void *ctx, const struct rec_call_events *r)
{
	struct gen *g = ctx;
	uint64_t *last = last_of(g, r->tree);
	uint32_t i, m;

	for (i = 0; i < r->nr; i++) {
		const struct call_event *e = &r->events[i];
		struct gen_event x = { .time_ns = e->time_ns, .seq = g->nr_events, .tree = r->tree,
				       .kind = e->kind, .consumer = e->consumer };

		for (m = 0; m < r->nr_metrics && m < FLOW_MAX_METRICS; m++) {
			x.delta[m] = e->charged[m] - last[m];
			last[m] = e->charged[m];
		}
		if (!in_window(g->c.p, e->time_ns))
			continue;
		VEC_GROW(g->events, g->nr_events, g->alloc_events);
		g->events[g->nr_events++] = x;
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

static void print_head(const struct gen *g, FILE *out)
{
	const struct model *m = g->c.p->m;
	unsigned int i;

	fprintf(out, "%zu events of %zu threads, %" PRIu64 " lost;", g->nr_events, g->c.nr_trees, g->c.p->names.lost);
	for (i = 0; i < g->c.nr_metrics; i++)
		fprintf(out, "%s %s in %s", i ? "," : "", model_str(m, m->metrics[i].name),
			model_str(m, m->metrics[i].unit));
	fputs(g->c.nr_metrics ? " since the thread's event before\n" : " no metrics\n", out);
}

static void print_event(struct gen *g, const struct gen_event *x, FILE *out)
{
	struct model *m = g->c.p->m;
	uint32_t process, thread, consumer;
	unsigned int i;

	calls_thread(&g->c, x->tree, &process, &thread);
	for (i = 0; i < g->c.nr_metrics; i++)
		fprintf(out, "%s%8" PRIu64, i ? " " : "", x->delta[i]);
	if (x->kind == CALL_UNWOUND) {
		fprintf(out, " ? ev_%" PRIu32 "_UNWOUND %s\n", x->consumer, consumer_name(&m->consumers, thread));
		return;
	}
	consumer = calls_consumer(&g->c, x->consumer);
	/* calls_consumer() may have made strings: names are asked last. */
	fprintf(out, " %c %s%s %s\n", "><!"[x->kind], prefix(m->consumers.items[consumer].kind),
		consumer_name(&m->consumers, consumer), consumer_name(&m->consumers, thread));
}

int gen_print(struct profile *p, struct trace_reader *t, FILE *out, uint64_t limit, struct err *e)
{
	struct trace_sink sink = { .call_events = take_events };
	struct gen g = { .events = NULL };
	size_t i;
	int r;

	r = calls_init(&g.c, p, e);
	if (!r)
		r = trace_read(t, &calls_sink, &g.c, e);
	if (!r)
		r = trace_read(t, &sink, &g, e);
	if (!r && !g.nr_last)
		r = err_set(e, ENODATA, "the trace has no events: record it with --calltrace");
	if (!r) {
		print_head(&g, out);
		if (g.nr_events)
			qsort(g.events, g.nr_events, sizeof(*g.events), by_time);
		for (i = 0; i < g.nr_events && (!limit || i < limit) && !ferror(out); i++)
			print_event(&g, &g.events[i], out);
	}
	calls_release(&g.c);
	map_release(&g.index_of);
	free(g.last);
	free(g.events);
	return r;
}
