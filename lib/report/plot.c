// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * plot.c - what the time of each call of functions went to: pauses of its JVM, waits for locks, and when its
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
	struct plot plot;		/* of one function */
	struct plot_rows *rows;		/* or of those with most time */
	struct total {			/* [consumer] */
		uint64_t ns, n;		/* of calls of which both ends are known */
		uint64_t first_ns, last_ns;	/* when they began */
		uint32_t consumer, row;	/* row: plus 1 */
	} *totals;
	size_t nr_totals, alloc_totals;
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
	*VEC_ADD(s->list, s->nr, s->alloc) =
		(struct plot_span){ .key = key, .part = part, .from_ns = from_ns, .to_ns = to_ns };
}

void plot_sum_add(struct plot_sum *s, const struct plot_call *c)
{
	uint64_t ns = c->end_ns - c->start_ns;
	unsigned int i;

	s->n++;
	s->sum_ns += ns;
	s->max_ns = MAX(s->max_ns, ns);
	for (i = 0; i < PLOT_NR_PARTS; i++)
		s->ns[i] += c->ns[i];
}

unsigned int plot_bin_of(uint64_t ns)
{
	unsigned int bin = 0;

	while (bin + 1 < SPREAD_BINS && spread_bin_start(bin + 1) <= ns)
		bin++;
	return bin;
}

/* ---- what was recorded ---- */

static struct plot_call call_of(const struct plotter *p, const struct completed_call *x)
{
	const struct rec_call_tree *t = &p->c.calls.trees[x->tree];

	return (struct plot_call){
		.start_ns = x->start_ns, .end_ns = MAX(x->end_ns, x->start_ns), .proc = t->proc,
		.thread = t->flags & CALL_TREE_VIRTUAL ? 0 : t->thread,
	};
}

static void plot_on_left(void *ctx, const struct completed_call *x)
{
	struct plotter *p = ctx;

	if (!x->selected || !selection_has(&p->function, &p->c.m, x->consumer))
		return;
	if (!x->whole) {
		p->plot.nr_open++;
		return;
	}
	*VEC_ADD(p->plot.calls, p->plot.nr_calls, p->plot.alloc_calls) = call_of(p, x);
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

static int plot_on_event(void *ctx, const struct rec_event *r)
{
	struct plotter *p = ctx;

	if (r->kind == EVENT_GC && r->duration_ns != EVENT_UNKNOWN)
		add_span(&p->of_procs, r->proc, PLOT_GC, r->time_ns,
			 r->time_ns + MIN(r->duration_ns, UINT64_MAX - r->time_ns));
	return 0;
}

/* Add waits for locks, whose records are written at their end and have their length. */
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

	return COMPARE(a->key, b->key) ?: COMPARE(a->from_ns, b->from_ns);
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

/* Return the first span of the key that may end after from_ns. */
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
	*VEC_ADD(p->edges, p->nr_edges, p->alloc_edges) = (struct edge){ time_ns, part, step };
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

	return COMPARE(a->time_ns, b->time_ns);
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

	return COMPARE(a->start_ns, b->start_ns);
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

static int read_others(struct plotter *p, struct trace_reader *t, struct err *e)
{
	static const struct trace_sink others = { .event = plot_on_event, .samples = on_samples };

	p->lock_event = find_lock_event(&p->c.names);
	return trace_read(t, &others, p, e);
}

static void find_known(const struct plotter *p, bool *known)
{
	known[PLOT_CPU] = true;
	known[PLOT_GC] = p->of_procs.nr;
	known[PLOT_LOCK] = p->lock_event >= 0;
	known[PLOT_IO] = known[PLOT_OFF] = p->c.timeline.nr_dispatches;
}

static void plot_release(struct plotter *p)
{
	spread_release(&p->plot.elapsed);
	free(p->plot.calls);
	free(p->totals);
	free(p->of_threads.list);
	free(p->of_procs.list);
	map_release(&p->off_since);
	free(p->offs);
	free(p->edges);
	completed_release(&p->c);
}

static int plot_read_all(struct plotter *p, struct trace_reader *t, const struct report_opts *o,
			 struct err *e)
{
	static const struct completed_sink calls = { .left = plot_on_left, .dispatch = on_dispatch };
	int r = completed_init(&p->c, t, o, e);

	if (!r)
		r = completed_read(&p->c, t, &calls, p, e);
	if (r)
		return r;
	if (!p->plot.nr_calls)
		return err_set(e, ENOENT, "--calls: no calls of '%s' whose beginning and end are known",
			       o->argument);
	return read_others(p, t, e);
}

int plot_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	struct plotter p = { .lock_event = -1 };
	char *name = (char *)o->argument;
	struct buf b = BUF_INIT;
	int r;

	p.function.symbols = (struct opt_list){ .items = &name, .nr_items = 1 };
	r = plot_read_all(&p, t, o, e);
	if (!r) {
		divide_all(&p);
		p.plot.function = o->argument;
		p.plot.of = names_label(&p.c.names, "command");
		p.plot.start_ns = names_label_u64(&p.c.names, "start.mono_ns");
		find_known(&p, p.plot.known);
		plot_put_svg(&p.plot, &b);
		fwrite(b.data, 1, b.len, out);
	}
	buf_release(&b);
	plot_release(&p);
	return r;
}

/* ---- for a page ---- */

static void add_total(void *ctx, const struct completed_call *x)
{
	struct plotter *p = ctx;
	struct total *t;

	if (!x->selected || !x->whole)
		return;
	while (p->nr_totals <= x->consumer) {
		VEC_GROW(p->totals, p->nr_totals, p->alloc_totals);
		p->totals[p->nr_totals] = (struct total){ .consumer = p->nr_totals, .first_ns = UINT64_MAX };
		p->nr_totals++;
	}
	t = &p->totals[x->consumer];
	t->n++;
	t->ns += x->elapsed;
	t->first_ns = MIN(t->first_ns, x->start_ns);
	t->last_ns = MAX(t->last_ns, x->start_ns);
}

static void add_to_row(void *ctx, const struct completed_call *x)
{
	struct plotter *p = ctx;
	struct plot_call c = call_of(p, x);
	struct plot_row *row;
	uint64_t at;

	if (!x->selected || !x->whole || x->consumer >= p->nr_totals || !p->totals[x->consumer].row)
		return;
	row = &p->rows->rows[p->totals[x->consumer].row - 1];
	divide(p, &c);
	at = (unsigned __int128)(c.start_ns - row->start_ns) * PLOT_CELLS / row->span_ns;
	plot_sum_add(&row->cells[MIN(at, (uint64_t)PLOT_CELLS - 1)], &c);
	plot_sum_add(&row->bins[plot_bin_of(c.end_ns - c.start_ns)], &c);
}

static int compare_totals(const void *a, const void *b, void *ctx)
{
	const struct total *x = *(struct total *const *)a, *y = *(struct total *const *)b;
	const struct plotter *p = ctx;

	return COMPARE(y->ns, x->ns) ?:
	       strcmp(completed_name(&p->c, x->consumer), completed_name(&p->c, y->consumer)) ?:
	       COMPARE(x->consumer, y->consumer);
}

static void choose_rows(struct plotter *p)
{
	struct total **order = xcalloc(p->nr_totals + 1, sizeof(*order));
	size_t nr = 0, i;

	for (i = 0; i < p->nr_totals; i++)
		if (p->totals[i].n)
			order[nr++] = &p->totals[i];
	if (nr)
		qsort_r(order, nr, sizeof(*order), compare_totals, p);
	p->rows->nr = MIN(nr, (size_t)PLOT_MOST_ROWS);
	p->rows->rows = xcalloc(p->rows->nr + 1, sizeof(*p->rows->rows));
	for (i = 0; i < p->rows->nr; i++) {
		p->rows->rows[i].name = xstrdup(completed_name(&p->c, order[i]->consumer));
		p->rows->rows[i].start_ns = order[i]->first_ns;
		/* times are the trace's: they may be all there are */
		p->rows->rows[i].span_ns = MIN(order[i]->last_ns - order[i]->first_ns, UINT64_MAX - 1) + 1;
		order[i]->row = i + 1;
	}
	free(order);
}

/* Read first what a call may overlap, then the calls, as there may be too many of them to keep. */
static int read_rows(struct plotter *p, struct trace_reader *t, const struct report_opts *o, struct err *e)
{
	static const struct completed_sink before = { .left = add_total, .dispatch = on_dispatch };
	static const struct completed_sink calls = { .left = add_to_row };
	int r = completed_init(&p->c, t, o, e);

	if (!r)
		r = completed_read(&p->c, t, &before, p, e);
	if (!r)
		r = read_others(p, t, e);
	if (r)
		return r;
	sort_spans(&p->of_threads);
	sort_spans(&p->of_procs);
	choose_rows(p);
	find_known(p, p->rows->known);
	return completed_read(&p->c, t, &calls, p, e);
}

void plot_rows_read(struct plot_rows *rows, struct trace_reader *t, const struct report_opts *o)
{
	struct plotter p = { .lock_event = -1, .rows = rows };
	struct profile_opts profile = *o->profile;
	struct report_opts own = *o;
	struct err e;

	*rows = (struct plot_rows){ 0 };
	if (!calls_have_events(t))
		return;
	profile.metrics = (struct opt_list){ 0 };
	profile.names.by_kind = false;
	own.report = &report_calls;
	own.profile = &profile;
	if (read_rows(&p, t, &own, &e))
		plot_rows_release(rows);
	plot_release(&p);
}

void plot_rows_release(struct plot_rows *p)
{
	size_t i;

	for (i = 0; i < p->nr; i++)
		free(p->rows[i].name);
	free(p->rows);
	*p = (struct plot_rows){ 0 };
}
