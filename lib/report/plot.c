// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * plot.c - what the time of each call of a function went to: pauses of its JVM, waits for locks, and when its
 * thread had no CPU, as far as that was recorded. The rest was on a CPU.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/callstats.h"
#include "report/plot.h"

/* A part of the time of a thread, or of all threads of a process. */
struct plot_span {
	uint32_t key;			/* number of the thread or process */
	enum plot_part part;
	uint64_t from_ns, to_ns;
	uint64_t latest_ns;		/* to_ns of it and of those of the key before it */
};

struct plot_spans {
	struct plot_span *list;
	size_t nr, alloc;
};

struct edge {			/* where spans begin and end within a call */
	uint64_t time_ns;
	enum plot_part part;
	int step;
};

struct plotter {
	struct completed c;
	struct selection function;
	struct plot plot;
	struct plot_spans of_threads, of_procs;
	struct map off_since;		/* thread -> index in offs */
	struct off { uint64_t since_ns; uint8_t state; } *offs;
	size_t nr_offs, alloc_offs;
	int lock_event;			/* its number in samples; -1: there is none */
	struct edge *edges;
	size_t nr_edges, alloc_edges;
};

static void add_span(struct plot_spans *s, uint32_t key, enum plot_part part, uint64_t from_ns,
		     uint64_t to_ns)
{
	if (!key || from_ns >= to_ns)
		return;
	VEC_GROW(s->list, s->nr, s->alloc);
	s->list[s->nr++] = (struct plot_span){ .key = key, .part = part, .from_ns = from_ns, .to_ns = to_ns };
}

/* ---- what was recorded ---- */

static void on_left(void *ctx, const struct completed_call *x)
{
	struct plotter *p = ctx;
	const struct rec_call_tree *t = &p->c.calls.trees[x->tree];

	if (!x->selected || !selection_has(&p->function, &p->c.m, x->consumer))
		return;
	if (!x->whole) {
		p->plot.nr_open++;
		return;
	}
	VEC_GROW(p->plot.calls, p->plot.nr_calls, p->plot.alloc_calls);
	p->plot.calls[p->plot.nr_calls++] = (struct plot_call){
		.start_ns = x->start_ns, .end_ns = MAX(x->end_ns, x->start_ns), .proc = t->proc,
		.thread = t->flags & CALL_TREE_VIRTUAL ? 0 : t->thread,
	};
	spread_add(&p->plot.elapsed, x->end_ns - x->start_ns);
}

static void on_dispatch(void *ctx, const struct timeline_event *x)
{
	struct plotter *p = ctx;
	uint32_t *at = map_put(&p->off_since, x->thread);
	struct off *off;

	if (*at == MAP_NONE) {
		VEC_GROW(p->offs, p->nr_offs, p->alloc_offs);
		*at = p->nr_offs;
		p->offs[p->nr_offs++] = (struct off){ 0 };
	}
	off = &p->offs[*at];
	if (x->kind == TIMELINE_ON && off->since_ns)
		add_span(&p->of_threads, x->thread, off->state == SCHED_DISK ? PLOT_IO : PLOT_OFF,
			 off->since_ns, x->time_ns);
	*off = (struct off){ x->kind == TIMELINE_OFF ? x->time_ns : 0, x->state };
}

static int on_event(void *ctx, const struct rec_event *r)
{
	struct plotter *p = ctx;

	if (r->kind == EVENT_GC && r->duration_ns != EVENT_UNKNOWN)
		add_span(&p->of_procs, r->proc, PLOT_GC, r->time_ns,
			 r->time_ns + MIN(r->duration_ns, UINT64_MAX - r->time_ns));
	return 0;
}

/* A wait for a lock is written when it ends, and has its length. */
static int on_samples(void *ctx, const struct rec_sample *s, size_t nr, const struct stack_epoch *ep)
{
	struct plotter *p = ctx;
	size_t i;

	for (i = 0; i < nr; i++)
		if (s[i].event == p->lock_event)
			add_span(&p->of_threads, s[i].thread, PLOT_LOCK,
				 s[i].time_ns - MIN(s[i].time_ns, s[i].weight), s[i].time_ns);
	return 0;
}

static int find_lock_event(const struct names *x)
{
	const char *name;
	int i;

	for (i = 0; i < 64 && (name = names_event(x, i, "")); i++)
		if (!strcmp(name, "lock") && names_lasting_events(x) >> i & 1)
			return i;
	return -1;
}

/* ---- what a call's time went to ---- */

static int compare_spans(const void *p, const void *q)
{
	const struct plot_span *a = p, *b = q;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
}

static void sort_spans(struct plot_spans *s)
{
	size_t i;

	if (s->nr)
		qsort(s->list, s->nr, sizeof(*s->list), compare_spans);
	for (i = 0; i < s->nr; i++) {
		bool follows = i && s->list[i - 1].key == s->list[i].key;

		s->list[i].latest_ns = follows ? MAX(s->list[i - 1].latest_ns, s->list[i].to_ns) :
						 s->list[i].to_ns;
	}
}

/* The first span of the key that can last longer than until from_ns. */
static size_t first_span(const struct plot_spans *s, uint32_t key, uint64_t from_ns)
{
	size_t low = 0, high = s->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct plot_span *x = &s->list[middle];

		if (x->key < key || (x->key == key && x->latest_ns <= from_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void put_edge(struct plotter *p, uint64_t time_ns, enum plot_part part, int step)
{
	VEC_GROW(p->edges, p->nr_edges, p->alloc_edges);
	p->edges[p->nr_edges++] = (struct edge){ time_ns, part, step };
}

static void put_edges(struct plotter *p, const struct plot_spans *s, uint32_t key, const struct plot_call *c)
{
	size_t i;

	for (i = first_span(s, key, c->start_ns);
	     key && i < s->nr && s->list[i].key == key && s->list[i].from_ns < c->end_ns; i++) {
		const struct plot_span *x = &s->list[i];

		if (x->to_ns <= c->start_ns)
			continue;
		put_edge(p, MAX(x->from_ns, c->start_ns), x->part, 1);
		put_edge(p, MIN(x->to_ns, c->end_ns), x->part, -1);
	}
}

static int compare_edges(const void *p, const void *q)
{
	const struct edge *a = p, *b = q;

	return (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

static void divide(struct plotter *p, struct plot_call *c)
{
	int open[PLOT_NR_PARTS] = { 0 };
	uint64_t since_ns = c->start_ns;
	unsigned int part;
	size_t i;

	p->nr_edges = 0;
	put_edges(p, &p->of_procs, c->proc, c);
	put_edges(p, &p->of_threads, c->thread, c);
	put_edge(p, c->end_ns, PLOT_CPU, 0);
	qsort(p->edges, p->nr_edges, sizeof(*p->edges), compare_edges);
	for (i = 0; i < p->nr_edges; i++) {
		for (part = 0; part < PLOT_CPU && !open[part]; part++)
			;
		c->ns[part] += p->edges[i].time_ns - since_ns;
		since_ns = p->edges[i].time_ns;
		open[p->edges[i].part] += p->edges[i].step;
	}
}

static int compare_calls(const void *p, const void *q)
{
	const struct plot_call *a = p, *b = q;

	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static void divide_all(struct plotter *p)
{
	size_t i;

	sort_spans(&p->of_threads);
	sort_spans(&p->of_procs);
	qsort(p->plot.calls, p->plot.nr_calls, sizeof(*p->plot.calls), compare_calls);
	for (i = 0; i < p->plot.nr_calls; i++)
		divide(p, &p->plot.calls[i]);
}

/* ---- the whole ---- */

static int read_all(struct plotter *p, struct trace_reader *t, const struct report_opts *o, struct err *e)
{
	static const struct completed_sink calls = { .left = on_left, .dispatch = on_dispatch };
	static const struct trace_sink others = { .event = on_event, .samples = on_samples };
	int r = completed_init(&p->c, t, o, e);

	if (!r)
		r = completed_read(&p->c, t, &calls, p, e);
	if (r)
		return r;
	if (!p->plot.nr_calls)
		return err_set(e, ENOENT, "--calls: no calls of '%s' whose beginning and end are known",
			       o->argument);
	p->lock_event = find_lock_event(&p->c.names);
	return trace_read(t, &others, p, e);
}

int plot_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	struct plotter p = { .lock_event = -1 };
	char *name = (char *)o->argument;
	struct buf b = BUF_INIT;
	int r;

	p.function.symbols = (struct opt_list){ .items = &name, .nr_items = 1 };
	r = read_all(&p, t, o, e);
	if (!r) {
		divide_all(&p);
		p.plot.function = o->argument;
		p.plot.of = names_label(&p.c.names, "command");
		p.plot.start_ns = names_label_u64(&p.c.names, "start.mono_ns");
		p.plot.known[PLOT_GC] = p.of_procs.nr;
		p.plot.known[PLOT_LOCK] = p.lock_event >= 0;
		p.plot.known[PLOT_IO] = p.plot.known[PLOT_OFF] = p.c.timeline.nr_dispatches;
		plot_put_svg(&p.plot, &b);
		fwrite(b.data, 1, b.len, out);
	}
	buf_release(&b);
	spread_release(&p.plot.elapsed);
	free(p.plot.calls);
	free(p.of_threads.list);
	free(p.of_procs.list);
	map_release(&p.off_since);
	free(p.offs);
	free(p.edges);
	completed_release(&p.c);
	return r;
}
