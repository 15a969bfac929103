// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * data.c - the tree, its names and its samples by columns, which a compressor likes: nodes in
 * preorder, each with the number of levels to go up first.  js/data.mjs reads it.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/mem.h"
#include "model/roles.h"
#include "page/page.h"
#include "page/states.h"
#include "report/head.h"
#include "report/plot.h"
#include "version.h"

#define MAGIC "ARCPAGE1"
enum {
	MAX_PLANES = 10, MAX_TICKS = 60000, TICK_STEP_NS = 1000,
	MAX_METRICS = 2 * PAGE_MAX_RUNS,	/* those of one recording are fewer: FLOW_MAX_METRICS */
	MAX_COLUMNS = 24 + MAX_METRICS + 4 * FLOW_MAX_METRICS,
};

/*
 * A column stores numbers by digit, in base 128: all lowest digits, then the next one of those that have it,
 * and so on. Low digits look like noise, high ones hardly differ.
 */
struct page_column {
	char name[24];
	size_t off, len[MAX_PLANES];
	unsigned int nr_planes;
};

struct page_data {
	struct view *v;
	const struct page_difference *difference;	/* NULL: it is a page of one recording */
	uint32_t *order;		/* [preorder] -> node; [0] is the invisible root */
	uint32_t *rank;			/* [node] -> preorder */
	uint32_t nr_nodes;
	/* [consumer of the model] -> consumer of the page; 0: it has no node */
	uint32_t *consumer_of;
	uint32_t *consumers;		/* the other way */
	uint32_t nr_consumers;
	struct buf columns;
	struct buf planes[MAX_PLANES];	/* of the column that is being made */
	struct page_column column[MAX_COLUMNS];
	unsigned int nr_columns;
	uint64_t scale[MAX_METRICS];
	uint64_t tick_ns, ticks;
	struct page_source {
		unsigned int metric;
		uint64_t scale;		/* of the weights; 0: they are all the scale of the metric */
	} sources[FLOW_MAX_METRICS];
	unsigned int nr_sources;
	struct page_states states;
	struct plot_rows plots;
};

static void begin_column(struct page_data *d, const char *fmt, unsigned int i)
{
	struct page_column *c = &d->column[d->nr_columns++];

	assert(d->nr_columns <= MAX_COLUMNS);
	snprintf(c->name, sizeof(c->name), fmt, i);
}

static void put_number(struct page_data *d, uint64_t v)
{
	struct buf *plane = d->planes;

	for (; v >= 0x80; v >>= 7)
		buf_u8(plane++, v | 0x80);
	buf_u8(plane, v);
}

static void end_column(struct page_data *d)
{
	struct page_column *c = &d->column[d->nr_columns - 1];
	unsigned int i;

	c->off = d->columns.len;
	for (i = 0; i < MAX_PLANES && d->planes[i].len; i++) {
		c->len[i] = d->planes[i].len;
		buf_add(&d->columns, d->planes[i].data, d->planes[i].len);
		buf_reset(&d->planes[i]);
	}
	c->nr_planes = i;
}

/* --- nodes --- */

static void number_nodes(struct page_data *d)
{
	const struct flow *f = &d->v->m->flow;
	uint32_t i, nr = 1;

	d->order = xcalloc(f->nr_nodes, sizeof(*d->order));
	d->rank = xcalloc(f->nr_nodes, sizeof(*d->rank));
	for (i = flow_next(f, FLOW_NONE); i; i = flow_next(f, i)) {
		d->order[nr] = i;
		d->rank[i] = nr++;
	}
	d->nr_nodes = nr;
}

static void put_shape(struct page_data *d)
{
	const struct flow *f = &d->v->m->flow;
	uint32_t i, before = FLOW_NONE;

	begin_column(d, "up", 0);
	for (i = 1; i < d->nr_nodes; i++) {
		uint32_t parent = f->nodes[d->order[i]].parent, up = 0;

		while (before != parent) {
			before = f->nodes[before].parent;
			up++;
		}
		put_number(d, up);
		before = d->order[i];
	}
	end_column(d);
}

static void number_consumers(struct page_data *d)
{
	const struct model *m = d->v->m;
	uint32_t i;

	d->consumer_of = xcalloc(m->consumers.nr_items, sizeof(*d->consumer_of));
	d->consumers = xcalloc(m->consumers.nr_items + 1, sizeof(*d->consumers));
	d->nr_consumers = 1;
	for (i = 1; i < d->nr_nodes; i++) {
		uint32_t c = m->flow.nodes[d->order[i]].consumer;

		if (d->consumer_of[c])
			continue;
		d->consumer_of[c] = d->nr_consumers;
		d->consumers[d->nr_consumers++] = c;
	}
}

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Return the number of metrics; in a difference each run is one, and its n another, which is not shown. */
static unsigned int nr_metrics(const struct page_data *d)
{
	return d->difference ? 2 * d->difference->d->nr_runs : d->v->m->flow.nr_metrics;
}

static uint64_t value_of(const struct page_data *d, uint32_t node, unsigned int m)
{
	return d->difference ? page_difference_value(d->difference, node, m) :
			       flow_base(&d->v->m->flow, node)[m];
}

/* Return what all values of a metric are divided by: their greatest divisor, as a double has 53 bits. */
static uint64_t scale_of(const struct page_data *d, unsigned int m)
{
	uint64_t scale = 0;
	uint32_t i;

	for (i = 1; i < d->nr_nodes && scale != 1; i++)
		scale = greatest_divisor(value_of(d, d->order[i], m), scale);
	return scale ? scale : 1;
}

static bool is_n(const struct page_data *d, unsigned int m)
{
	const struct flow *f = &d->v->m->flow;
	uint32_t i;

	for (i = 1; i < d->nr_nodes; i++)
		if (value_of(d, d->order[i], m) != f->nodes[d->order[i]].n * d->scale[m])
			return false;
	return true;
}

static void put_nodes(struct page_data *d)
{
	const struct flow *f = &d->v->m->flow;
	unsigned int m;
	uint32_t i;

	put_shape(d);
	begin_column(d, "consumer", 0);
	for (i = 1; i < d->nr_nodes; i++)
		put_number(d, d->consumer_of[f->nodes[d->order[i]].consumer]);
	end_column(d);
	begin_column(d, "n", 0);
	for (i = 1; i < d->nr_nodes; i++)
		put_number(d, f->nodes[d->order[i]].n);
	end_column(d);
	for (m = 0; m < nr_metrics(d); m++) {
		d->scale[m] = scale_of(d, m);
		if (is_n(d, m))
			continue;
		begin_column(d, "base.%u", m);
		for (i = 1; i < d->nr_nodes; i++)
			put_number(d, value_of(d, d->order[i], m) / d->scale[m]);
		end_column(d);
	}
}

/* --- samples --- */

static void choose_tick(struct page_data *d)
{
	const struct flow_times *t = &d->v->m->times;
	uint64_t last = t->start_ns + d->v->origin->duration_ns, span;
	size_t i;

	for (i = 0; i < t->nr_list; i++)
		last = MAX(last, t->list[i].time_ns);
	span = last > t->start_ns ? last - t->start_ns : 1;
	d->tick_ns = (span / MAX_TICKS / TICK_STEP_NS + 1) * TICK_STEP_NS;
	d->ticks = span / d->tick_ns + 1;
}

static uint64_t tick_of(const struct page_data *d, const struct flow_time *x)
{
	uint64_t start = d->v->m->times.start_ns;

	return x->time_ns > start ? (x->time_ns - start) / d->tick_ns : 0;
}

/* Drop the latest column, whose content is known from elsewhere. */
static void drop_column(struct page_data *d)
{
	unsigned int i;

	d->nr_columns--;
	for (i = 0; i < MAX_PLANES; i++)
		buf_reset(&d->planes[i]);
}

/* Write how many of the samples list[nr] of one metric, in order of their nodes, each node has. */
static void put_counts(struct page_data *d, unsigned int source, const struct flow_time *list, size_t nr)
{
	const struct flow *f = &d->v->m->flow;
	size_t at = 0, first;
	bool as_n = true;
	uint32_t i;

	begin_column(d, "s%u.count", source);
	for (i = 1; i < d->nr_nodes; i++) {
		first = at;
		while (at < nr && d->rank[list[at].node] == i)
			at++;
		put_number(d, at - first);
		as_n &= at - first == f->nodes[d->order[i]].n;
	}
	if (as_n)
		drop_column(d);
	else
		end_column(d);
}

static void put_ticks(struct page_data *d, unsigned int source, const struct flow_time *list, size_t nr)
{
	uint64_t before = 0;
	size_t i;

	begin_column(d, "s%u.ticks", source);
	for (i = 0; i < nr; i++) {
		if (!i || list[i].node != list[i - 1].node)
			before = 0;
		put_number(d, tick_of(d, &list[i]) - before);
		before = tick_of(d, &list[i]);
	}
	end_column(d);
}

/* Write where waits and calls end within their tick: with the weight, they can be cut exactly. */
static void put_rests(struct page_data *d, unsigned int source, const struct flow_time *list, size_t nr)
{
	uint64_t start = d->v->m->times.start_ns;
	size_t i;

	if (!d->v->m->metrics[list[0].metric].lasts)
		return;
	begin_column(d, "s%u.rests", source);
	for (i = 0; i < nr; i++)
		put_number(d, list[i].time_ns > start ? (list[i].time_ns - start) % d->tick_ns : 0);
	end_column(d);
}

static void put_weights(struct page_data *d, unsigned int source, const struct flow_time *list, size_t nr)
{
	uint64_t scale = d->scale[list[0].metric];
	size_t i;

	for (i = 0; i < nr && list[i].weight == scale; i++)
		;
	if (i == nr)
		return;
	begin_column(d, "s%u.weights", source);
	for (i = 0; i < nr; i++)
		put_number(d, list[i].weight / scale);
	end_column(d);
}

static void page_put_samples(struct page_data *d)
{
	struct flow_times *t = &d->v->m->times;
	size_t begin, end;

	flow_times_sort(t, d->rank);
	for (begin = 0; begin < t->nr_list; begin = end) {
		unsigned int source = d->nr_sources++;

		for (end = begin; end < t->nr_list && t->list[end].metric == t->list[begin].metric; end++)
			;
		d->sources[source].metric = t->list[begin].metric;
		put_counts(d, source, t->list + begin, end - begin);
		put_ticks(d, source, t->list + begin, end - begin);
		put_rests(d, source, t->list + begin, end - begin);
		put_weights(d, source, t->list + begin, end - begin);
	}
}

/* --- names --- */

struct page_strings {
	const struct model *m;
	uint32_t *number_of;	/* [strtab id] -> number + 1 */
	uint32_t *ids;
	uint32_t nr_ids, alloc_ids;
};

static void put_string(struct page_data *d, struct page_strings *s, uint32_t id)
{
	if (!s->number_of[id]) {
		*VEC_ADD(s->ids, s->nr_ids, s->alloc_ids) = id;
		s->number_of[id] = s->nr_ids;
	}
	put_number(d, s->number_of[id] - 1);
}

static void put_texts(struct page_data *d, struct page_strings *s, const char *column, size_t member)
{
	uint32_t i;

	begin_column(d, column, 0);
	for (i = 0; i < d->nr_consumers; i++) {
		const char *c = (const char *)&s->m->consumers.items[d->consumers[i]];
		uint32_t id = 0;

		if (i)
			memcpy(&id, c + member, sizeof(id));
		put_string(d, s, id);
	}
	end_column(d);
}

static void put_string_list(struct page_data *d, const struct page_strings *s)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	struct json j;
	uint32_t i;

	if (!out)
		abort();
	json_init(&j, out);
	json_array(&j, NULL);
	for (i = 0; i < s->nr_ids; i++)
		json_str(&j, NULL, s->ids[i] ? model_str(s->m, s->ids[i]) : "");
	json_end(&j);
	fclose(out);
	begin_column(d, "strings", 0);
	buf_add(&d->planes[0], text, len);
	end_column(d);
	free(text);
}

static void put_numbers(struct page_data *d, const char *column, uint32_t (*of)(const struct consumer *c))
{
	uint32_t i;

	begin_column(d, column, 0);
	for (i = 0; i < d->nr_consumers; i++)
		put_number(d, i ? of(&d->v->m->consumers.items[d->consumers[i]]) : 0);
	end_column(d);
}

static uint32_t kind_of(const struct consumer *c)
{
	return c->kind;
}

static uint32_t pid_of(const struct consumer *c)
{
	return c->kind == CONSUMER_PROCESS || c->kind == CONSUMER_THREAD ? c->key >> 32 : 0;
}

static uint32_t tid_of(const struct consumer *c)
{
	return c->kind == CONSUMER_THREAD ? c->key : 0;
}

static void put_changed(struct page_data *d)
{
	uint32_t i;

	begin_column(d, "consumer.changed", 0);
	for (i = 0; i < d->nr_consumers; i++)
		put_number(d, i && d->difference->changed[d->consumers[i]]);
	end_column(d);
}

static void put_names(struct page_data *d)
{
	struct page_strings s = { .m = d->v->m };

	s.number_of = xcalloc(d->v->m->consumers.names.nr_entries, sizeof(*s.number_of));
	put_texts(d, &s, "consumer.name", offsetof(struct consumer, name));
	put_texts(d, &s, "consumer.module", offsetof(struct consumer, module));
	put_texts(d, &s, "consumer.detail", offsetof(struct consumer, detail));
	put_numbers(d, "consumer.kind", kind_of);
	put_numbers(d, "consumer.pid", pid_of);
	put_numbers(d, "consumer.tid", tid_of);
	if (d->difference && d->difference->changed)
		put_changed(d);
	put_string_list(d, &s);
	free(s.number_of);
	free(s.ids);
}

/* --- what they are there for --- */

static void put_roles(struct page_data *d)
{
	const struct model *m = d->v->m;
	bool *mine = xcalloc(m->consumers.nr_items, sizeof(*mine));
	uint32_t i;

	roles_mark_mine(m, NULL, mine);
	begin_column(d, "consumer.role", 0);
	for (i = 0; i < d->nr_consumers; i++)
		put_number(d, i ? roles_of(m, d->consumers[i], mine) : 0);
	end_column(d);
	begin_column(d, "consumer.spent", 0);
	for (i = 0; i < d->nr_consumers; i++)
		put_number(d, i ? role_spent(m, d->consumers[i]) : SPENT_NONE);
	end_column(d);
	free(mine);
}

/* Write which contexts are waits of threads that have nothing to do. */
static void put_idle(struct page_data *d)
{
	bool *idle = xcalloc(d->v->m->flow.nr_nodes, sizeof(*idle)), any = false;
	uint32_t i;

	roles_mark_idle(d->v->m, idle);
	begin_column(d, "idle", 0);
	for (i = 1; i < d->nr_nodes; i++) {
		put_number(d, idle[d->order[i]]);
		any |= idle[d->order[i]];
	}
	if (any)
		end_column(d);
	else
		drop_column(d);
	free(idle);
}

/* --- what the numbers are --- */

static void json_metric(const struct page_data *d, struct json *j, unsigned int i)
{
	const struct model *m = d->v->m;

	if (d->difference) {
		page_difference_metric(d->difference, i, j);
		return;
	}
	json_str(j, "name", model_str(m, m->metrics[i].name));
	json_str(j, "unit", model_str(m, m->metrics[i].unit));
	json_bool(j, "shown", i < m->nr_shown);
}

static void json_metrics(const struct page_data *d, struct json *j)
{
	unsigned int i;

	json_array(j, "metrics");
	for (i = 0; i < nr_metrics(d); i++) {
		json_object(j, NULL);
		json_metric(d, j, i);
		json_u64(j, "scale", d->scale[i]);
		json_end(j);
	}
	json_end(j);
}

static void json_sources(const struct page_data *d, struct json *j)
{
	const struct model *m = d->v->m;
	char name[16];
	unsigned int i;

	json_array(j, "sources");
	for (i = 0; i < d->nr_sources; i++) {
		unsigned int counter = model_counter(m, m->metrics[d->sources[i].metric].source);

		snprintf(name, sizeof(name), "s%u", i);
		json_object(j, NULL);
		json_str(j, "name", name);
		json_u64(j, "metric", d->sources[i].metric);
		json_bool(j, "counts_in_n", !counter);
		if (counter)
			json_u64(j, "count_metric", counter);
		else
			json_null(j, "count_metric");
		json_bool(j, "timed", true);
		json_bool(j, "lasts", m->metrics[d->sources[i].metric].lasts);
		json_end(j);
	}
	json_end(j);
}

/* Write the first lines of a text report. */
static void json_head(const struct page_data *d, struct json *j)
{
	char *text = NULL, *line, *at = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		abort();
	head_text(d->v, out);
	fclose(out);
	json_array(j, "head");
	for (line = strtok_r(text, "\n", &at); line; line = strtok_r(NULL, "\n", &at))
		json_str(j, NULL, line);
	json_end(j);
	free(text);
}

static void json_start(const struct page_data *d, struct json *j)
{
	time_t t = d->v->origin->start_ns / 1000000000;
	char text[40] = "";
	struct tm tm;

	if (d->v->origin->start_ns && gmtime_r(&t, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm);
	json_str(j, "start", text);
}

/* --- dispatches --- */

/* Write the states; the unknown one is the rest. */
static void put_states(struct page_data *d)
{
	const struct sched_model *m = &d->states.sched;
	unsigned int cell, b;
	size_t i;

	if (!m->nr_threads)
		return;
	begin_column(d, "states", 0);
	for (i = 0; i < m->nr_threads; i++)
		for (b = 0; b < SCHED_UNKNOWN && m->threads[i].seen && m->threads[i].tid; b++)
			for (cell = 0; cell < STATES_CELLS; cell++)
				put_number(d, page_states_share(&d->states, i, cell, b));
	end_column(d);
}

static void json_states(const struct page_data *d, struct json *j)
{
	const struct sched_model *m = &d->states.sched;
	unsigned int b;
	size_t i;

	json_object(j, "states");
	json_u64(j, "cells", STATES_CELLS);
	json_u64(j, "whole", STATES_WHOLE);
	json_array(j, "threads");
	for (i = 0; i < m->nr_threads; i++) {
		const struct sched_thread *t = &m->threads[i];

		if (!t->seen || !t->tid)
			continue;
		json_object(j, NULL);
		json_str(j, "name", t->name);
		json_u64(j, "pid", t->pid);
		json_u64(j, "tid", t->tid);
		json_array(j, "ns");
		for (b = 0; b < SCHED_NR_BUCKETS; b++)
			json_u64(j, NULL, t->times[b]);
		json_end(j);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

/* --- single calls --- */

/* Return a cell: those of the time come first, then the bins of durations. */
static const struct plot_sum *plot_sum_at(const struct plot_row *r, unsigned int i)
{
	return i < PLOT_CELLS ? &r->cells[i] : &r->bins[i - PLOT_CELLS];
}

static void put_plots(struct page_data *d)
{
	enum { NR_SUMS = PLOT_CELLS + SPREAD_BINS };
	const struct plot_rows *p = &d->plots;
	unsigned int part;
	size_t i;

	if (!p->nr)
		return;
	begin_column(d, "plots.n", 0);
	for (i = 0; i < p->nr * NR_SUMS; i++)
		put_number(d, plot_sum_at(&p->rows[i / NR_SUMS], i % NR_SUMS)->n);
	end_column(d);
	begin_column(d, "plots.max", 0);
	for (i = 0; i < p->nr * NR_SUMS; i++)
		put_number(d, plot_sum_at(&p->rows[i / NR_SUMS], i % NR_SUMS)->max_ns);
	end_column(d);
	for (part = 0; part < PLOT_NR_PARTS; part++) {
		if (!p->known[part])
			continue;
		begin_column(d, "plots.%u", part);
		for (i = 0; i < p->nr * NR_SUMS; i++)
			put_number(d, plot_sum_at(&p->rows[i / NR_SUMS], i % NR_SUMS)->ns[part]);
		end_column(d);
	}
}

static void json_plots(const struct page_data *d, struct json *j)
{
	unsigned int part;
	size_t i;

	json_object(j, "plots");
	json_u64(j, "cells", PLOT_CELLS);
	json_u64(j, "bins", SPREAD_BINS);
	json_array(j, "parts");
	for (part = 0; part < PLOT_NR_PARTS; part++) {
		json_object(j, NULL);
		json_str(j, "name", plot_part_name(part));
		json_bool(j, "known", d->plots.known[part]);
		json_end(j);
	}
	json_end(j);
	json_array(j, "functions");
	for (i = 0; i < d->plots.nr; i++) {
		const struct plot_row *r = &d->plots.rows[i];

		json_object(j, NULL);
		json_str(j, "name", r->name);
		json_u64(j, "start_ns", r->start_ns - MIN(r->start_ns, d->v->m->times.start_ns));
		json_u64(j, "span_ns", r->span_ns);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void put_meta(const struct page_data *d, FILE *out)
{
	const struct origin *origin = d->v->origin;
	unsigned int i, k;
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_str(&j, "version", ARCPROF_VERSION);
	json_str(&j, "command", origin->command);
	json_str(&j, "host", origin->host);
	json_str(&j, "machine", origin->machine);
	json_start(d, &j);
	if (!d->difference)
		json_head(d, &j);
	json_str(&j, "n_means", model_kind_name(d->v->m->flow.n_means));
	json_u64(&j, "nr_nodes", d->nr_nodes);
	json_u64(&j, "nr_consumers", d->nr_consumers);
	json_u64(&j, "tick_ns", d->tick_ns);
	json_u64(&j, "ticks", d->ticks);
	if (d->difference)
		page_difference_json(d->difference, &j);
	json_array(&j, "kinds");
	for (i = 0; i < CONSUMER_NR; i++)
		json_str(&j, NULL, consumer_kind_name(i));
	json_end(&j);
	json_array(&j, "families");
	for (i = 0; i < CONSUMER_NR; i++)
		json_str(&j, NULL, consumer_kind_family(i));
	json_end(&j);
	json_array(&j, "spent");
	for (i = 0; i < SPENT_NR; i++)
		json_str(&j, NULL, role_spent_name(i));
	json_end(&j);
	json_metrics(d, &j);
	if (!d->difference)
		json_sources(d, &j);
	if (d->states.sched.nr_threads)
		json_states(d, &j);
	if (d->plots.nr)
		json_plots(d, &j);
	if (!d->difference)
		page_pauses_json(d->v, d->v->m->times.start_ns, &j);
	json_object(&j, "columns");
	for (i = 0; i < d->nr_columns; i++) {
		json_array(&j, d->column[i].name);
		json_u64(&j, NULL, d->column[i].off);
		for (k = 0; k < d->column[i].nr_planes; k++)
			json_u64(&j, NULL, d->column[i].len[k]);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}

static void page_put_all(struct page_data *d, struct buf *out)
{
	char *meta = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&meta, &len);

	if (!to)
		abort();
	put_meta(d, to);
	fclose(to);
	buf_add(out, MAGIC, strlen(MAGIC));
	buf_u32(out, len);
	buf_add(out, meta, len);
	buf_add(out, d->columns.data, d->columns.len);
	free(meta);
}

static void release(struct page_data *d)
{
	unsigned int i;

	page_states_release(&d->states);
	plot_rows_release(&d->plots);
	free(d->order);
	free(d->rank);
	free(d->consumer_of);
	free(d->consumers);
	buf_release(&d->columns);
	for (i = 0; i < MAX_PLANES; i++)
		buf_release(&d->planes[i]);
}

void page_data(struct view *v, struct buf *out)
{
	struct page_data d = { .v = v };

	flow_sort_children(&v->m->flow, &v->order);
	number_nodes(&d);
	number_consumers(&d);
	put_nodes(&d);
	choose_tick(&d);
	page_put_samples(&d);
	put_names(&d);
	put_roles(&d);
	put_idle(&d);
	page_states_read(&d.states, v, v->m->times.start_ns, d.ticks * d.tick_ns);
	put_states(&d);
	if (v->trace)
		plot_rows_read(&d.plots, v->trace, v->o);
	put_plots(&d);
	page_put_all(&d, out);
	release(&d);
}

/* Write the data without times, as runs have no common clock. */
void page_difference_data(const struct page_difference *p, struct buf *out)
{
	static const struct origin none;
	struct model m = p->d->m;
	struct view v = { .m = &m, .origin = &none };
	struct page_data d = { .v = &v, .difference = p, .tick_ns = 1, .ticks = 1 };

	number_nodes(&d);
	number_consumers(&d);
	put_nodes(&d);
	put_names(&d);
	page_put_all(&d, out);
	release(&d);
}
