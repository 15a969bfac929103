// SPDX-License-Identifier: GPL-2.0-or-later
/* merge.c - adds models, subtracts them, or takes their minimum. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/calltree.h"
#include "model/merge.h"

static const char *const ops[] = { "add", "subtract", "minimum" };

const char *merge_op_name(enum merge_op op)
{
	return ops[op];
}

void merge_init(struct merge *g, enum merge_op op, const struct same_opts *same)
{
	memset(g, 0, sizeof(*g));
	g->op = op;
	g->same = *same;
	g->opts = (struct union_opts){ .identify = same_identify, .ctx = &g->same };
	if (op == MERGE_ADD)
		union_init(&g->sum, &g->m, &g->opts);
	else
		model_init(&g->m, 1, FLOW_SAMPLES);
}

void merge_release(struct merge *g)
{
	union_release(&g->sum);
	model_release(&g->m);
	free(g->parts);
	arena_release(&g->text);
	memset(g, 0, sizeof(*g));
}

static const char *keep(struct merge *g, const char *s)
{
	return s ? arena_strndup(&g->text, s, strlen(s)) : NULL;
}

static void add_part(struct merge *g, const struct recording *r)
{
	VEC_GROW(g->parts, g->nr_parts, g->alloc_parts);
	g->parts[g->nr_parts] = *r;
	g->parts[g->nr_parts].host = keep(g, r->host);
	g->parts[g->nr_parts++].command = keep(g, r->command);
}

static void add_parts(struct merge *g, const struct origin *o)
{
	const struct recording one = { o->start_ns, o->duration_ns, o->lost, o->host, o->command };
	size_t i;

	for (i = 0; i < o->nr_parts; i++)
		add_part(g, &o->parts[i]);
	if (!o->nr_parts)
		add_part(g, &one);
}

/* ---- subtract and minimum: two models at a time ---- */

/* The values of one model in the rows of the union of two: n of each source, then each metric. */
struct rows {
	uint64_t *values;		/* [node][width] */
	unsigned int width;
};

static bool same_string(const struct model *a, uint32_t s, const struct model *b, uint32_t t)
{
	return !strcmp(model_str(a, s), model_str(b, t));
}

static unsigned int find_source(const struct model *m, const struct model *of, unsigned int source)
{
	const struct model_source *s = &of->sources[source];
	unsigned int i;

	for (i = 0; i < m->nr_sources; i++)
		if (m->sources[i].kind == s->kind && same_string(m, m->sources[i].name, of, s->name))
			break;
	return i;
}

static unsigned int find_metric(const struct model *m, const struct model *of, unsigned int metric)
{
	const struct model_metric *x = &of->metrics[metric];
	unsigned int i;

	for (i = 0; i < m->nr_shown; i++)
		if (same_string(m, m->metrics[i].name, of, x->name) &&
		    same_string(m, m->metrics[i].unit, of, x->unit) &&
		    m->metrics[i].source == find_source(m, of, x->source))
			break;
	return i;
}

/* where: the node of m for each of "of". */
static void fill_rows(struct rows *r, const struct model *m, const struct model *of, const uint32_t *where)
{
	unsigned int source_to[FLOW_MAX_METRICS], metric_to[FLOW_MAX_METRICS], k;
	size_t i;

	r->width = m->nr_sources + m->nr_shown;
	r->values = xcalloc(m->flow.nr_nodes * r->width, sizeof(*r->values));
	for (k = 0; k < of->nr_sources; k++)
		source_to[k] = find_source(m, of, k);
	for (k = 0; k < of->nr_shown; k++)
		metric_to[k] = m->nr_sources + find_metric(m, of, k);
	for (i = 1; i < of->flow.nr_nodes; i++) {
		uint64_t *row = r->values + (size_t)where[i] * r->width;

		for (k = 0; k < of->nr_sources; k++)
			row[source_to[k]] += model_node_n(of, k, i);
		for (k = 0; k < of->nr_shown; k++)
			row[metric_to[k]] += flow_base(&of->flow, i)[k];
	}
}

static uint64_t combine(struct merge *g, uint64_t a, uint64_t b)
{
	if (g->op == MERGE_MINIMUM)
		return MIN(a, b);
	g->below_zero += a < b;
	return a > b ? a - b : 0;
}

static void set_rows(struct merge *g, struct model *m, const struct rows *a, const struct rows *b)
{
	unsigned int k;
	size_t i;

	for (i = 1; i < m->flow.nr_nodes; i++) {
		const uint64_t *x = a->values + i * a->width, *y = b->values + i * b->width;

		m->flow.nodes[i].n = combine(g, x[0], y[0]);
		for (k = 1; k < m->nr_sources; k++)
			flow_base(&m->flow, i)[model_counter(m, k)] = combine(g, x[k], y[k]);
		for (; k < a->width; k++)
			flow_base(&m->flow, i)[k - m->nr_sources] = combine(g, x[k], y[k]);
	}
}

/* The result so far and the next model become the result. */
static int combine_with(struct merge *g, const struct model *next, struct err *e)
{
	uint32_t *where_a = xcalloc(g->m.flow.nr_nodes, sizeof(*where_a));
	uint32_t *where_b = xcalloc(next->flow.nr_nodes, sizeof(*where_b));
	struct rows a = { 0 }, b = { 0 };
	struct model_union u;
	struct model m;
	int r;

	union_init(&u, &m, &g->opts);
	r = union_add(&u, &g->m, 0, where_a, e);
	if (!r)
		r = union_add(&u, next, 0, where_b, e);
	union_finish(&u);
	if (!r) {
		fill_rows(&a, &m, &g->m, where_a);
		fill_rows(&b, &m, next, where_b);
		set_rows(g, &m, &a, &b);
		model_finish(&m);
		calltree_drop_empty(&m);
		model_finish(&m);
		model_release(&g->m);
		g->m = m;
	} else {
		model_release(&m);
	}
	union_release(&u);
	free(where_a);
	free(where_b);
	free(a.values);
	free(b.values);
	return r;
}

/* The first model, as the union of itself: contexts that are the same are one. */
static int take_first(struct merge *g, const struct model *first, struct err *e)
{
	struct model_union u;
	int r;

	model_release(&g->m);
	union_init(&u, &g->m, &g->opts);
	r = union_add(&u, first, 0, NULL, e);
	union_finish(&u);
	union_release(&u);
	return r;
}

int merge_add(struct merge *g, const struct model *m, const struct origin *origin, struct err *e)
{
	int r;

	if (g->op == MERGE_ADD)
		r = union_add(&g->sum, m, 0, NULL, e);
	else if (!g->nr_models)
		r = take_first(g, m, e);
	else
		r = combine_with(g, m, e);
	if (r)
		return r;
	g->nr_models++;
	add_parts(g, origin);
	return 0;
}

void merge_finish(struct merge *g)
{
	if (g->op == MERGE_ADD)
		union_finish(&g->sum);
}
