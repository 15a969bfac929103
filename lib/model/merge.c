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
	if (op == MERGE_SUBTRACT)
		union_init(&g->sum, &g->others, &g->opts);
	else
		model_init(&g->others, 1, FLOW_SAMPLES);
}

void merge_release(struct merge *g)
{
	union_release(&g->sum);
	model_release(&g->m);
	model_release(&g->others);
	free(g->parts);
	arena_release(&g->text);
	memset(g, 0, sizeof(*g));
}

static const char *merge_keep(struct merge *g, const char *s)
{
	return s ? arena_strndup(&g->text, s, strlen(s)) : NULL;
}

static void merge_add_part(struct merge *g, const struct recording *r)
{
	VEC_GROW(g->parts, g->nr_parts, g->alloc_parts);
	g->parts[g->nr_parts] = *r;
	g->parts[g->nr_parts].host = merge_keep(g, r->host);
	g->parts[g->nr_parts++].command = merge_keep(g, r->command);
}

static void add_parts(struct merge *g, const struct origin *o)
{
	const struct recording one = { o->start_ns, o->duration_ns, o->lost, o->host, o->command };
	size_t i;

	for (i = 0; i < o->nr_parts; i++)
		merge_add_part(g, &o->parts[i]);
	if (!o->nr_parts)
		merge_add_part(g, &one);
}

/* ---- two models become one ---- */

/* The values of one model in the rows of the union of two: n of each source, then each metric. */
struct rows {
	uint64_t *values;		/* [node][width] */
	unsigned int width;
};

static bool same_string(const struct model *a, uint32_t s, const struct model *b, uint32_t t)
{
	return !strcmp(model_str(a, s), model_str(b, t));
}

static unsigned int merge_find_source(const struct model *m, const struct model *of, unsigned int source)
{
	const struct model_source *s = &of->sources[source];
	unsigned int i;

	for (i = 0; i < m->nr_sources; i++)
		if (m->sources[i].kind == s->kind && same_string(m, m->sources[i].name, of, s->name))
			break;
	return i;
}

static unsigned int merge_find_metric(const struct model *m, const struct model *of, unsigned int metric)
{
	const struct model_metric *x = &of->metrics[metric];
	unsigned int i;

	for (i = 0; i < m->nr_shown; i++)
		if (same_string(m, m->metrics[i].name, of, x->name) &&
		    same_string(m, m->metrics[i].unit, of, x->unit) &&
		    m->metrics[i].source == merge_find_source(m, of, x->source))
			break;
	return i;
}

/* Fill the rows; where: the node of m for each of "of". */
static void fill_rows(struct rows *r, const struct model *m, const struct model *of, const uint32_t *where)
{
	unsigned int source_to[FLOW_MAX_METRICS], metric_to[FLOW_MAX_METRICS], k;
	size_t i;

	r->width = m->nr_sources + m->nr_shown;
	r->values = xcalloc(m->flow.nr_nodes * r->width, sizeof(*r->values));
	for (k = 0; k < of->nr_sources; k++)
		source_to[k] = merge_find_source(m, of, k);
	for (k = 0; k < of->nr_shown; k++)
		metric_to[k] = m->nr_sources + merge_find_metric(m, of, k);
	for (i = 1; i < of->flow.nr_nodes; i++) {
		uint64_t *row = r->values + (size_t)where[i] * r->width;

		for (k = 0; k < of->nr_sources; k++)
			row[source_to[k]] += model_node_n(of, k, i);
		for (k = 0; k < of->nr_shown; k++)
			row[metric_to[k]] += flow_base(&of->flow, i)[k];
	}
}

static void set_value(struct model *m, size_t node, unsigned int k, uint64_t v)
{
	if (!k)
		m->flow.nodes[node].n = v;
	else if (k < m->nr_sources)
		flow_base(&m->flow, node)[model_counter(m, k)] = v;
	else
		flow_base(&m->flow, node)[k - m->nr_sources] = v;
}

static void set_minimum(struct model *m, const struct rows *a, const struct rows *b)
{
	unsigned int k;
	size_t i;

	for (i = 1; i < m->flow.nr_nodes; i++)
		for (k = 0; k < a->width; k++)
			set_value(m, i, k, MIN(a->values[i * a->width + k], b->values[i * b->width + k]));
}

/* Take m as the result so far, leaving it empty. */
static void merge_take(struct merge *g, struct model *m)
{
	model_finish(m);
	calltree_drop_empty(m);
	model_finish(m);
	model_release(&g->m);
	g->m = *m;
}

/* Make the result of the result so far and the next model. */
static int minimum_with(struct merge *g, const struct model *next, struct err *e)
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
		set_minimum(&m, &a, &b);
		merge_take(g, &m);
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

/* ---- subtract: what is below zero has metrics of its own ---- */

/* Names of sources and metrics, and what a source counts, as they were. */
struct plain {
	struct model_source sources[FLOW_MAX_METRICS];
	struct model_metric metrics[FLOW_MAX_METRICS];
	enum flow_n n_means;
};

static uint32_t minus(struct model *m, uint32_t name)
{
	struct buf b = BUF_INIT;
	uint32_t id;

	buf_fmt(&b, "minus-%s", model_str(m, name));
	id = strtab_adds(&m->consumers.names, b.data);
	buf_release(&b);
	return id;
}

/* Calls below zero are not calls: only the first source of a model counts those. */
static void rename_minus(struct model *m, struct plain *p)
{
	unsigned int k;

	memcpy(p->sources, m->sources, sizeof(p->sources));
	memcpy(p->metrics, m->metrics, sizeof(p->metrics));
	p->n_means = m->flow.n_means;
	for (k = 0; k < m->nr_sources; k++) {
		m->sources[k].name = minus(m, m->sources[k].name);
		m->sources[k].kind = FLOW_SAMPLES;
	}
	for (k = 0; k < m->nr_shown; k++)
		m->metrics[k].name = minus(m, m->metrics[k].name);
	m->flow.n_means = FLOW_SAMPLES;
}

static void rename_back(struct model *m, const struct plain *p)
{
	memcpy(m->sources, p->sources, sizeof(p->sources));
	memcpy(m->metrics, p->metrics, sizeof(p->metrics));
	m->flow.n_means = p->n_means;
}

/* Find in which column of m's rows each of the other's values is. */
static void find_columns(const struct model *m, const struct model *of, unsigned int *to)
{
	unsigned int k;

	for (k = 0; k < of->nr_sources; k++)
		to[k] = merge_find_source(m, of, k);
	for (k = 0; k < of->nr_shown; k++)
		to[of->nr_sources + k] = m->nr_sources + merge_find_metric(m, of, k);
}

/* The columns of a difference: those of the result, and those of its part below zero. */
struct columns {
	unsigned int nr, plain[2 * FLOW_MAX_METRICS], minus[2 * FLOW_MAX_METRICS];
	bool with_minus;
};

/* Set the difference of the rows a, which were there, and b, which are subtracted. */
static void set_difference(struct merge *g, struct model *m, const struct rows *a, const struct rows *b,
			   const struct columns *c)
{
	unsigned int k;
	size_t i;

	for (i = 1; i < m->flow.nr_nodes; i++) {
		const uint64_t *x = a->values + i * a->width, *y = b->values + i * b->width;

		for (k = 0; k < c->nr; k++) {
			uint64_t had = x[c->plain[k]], took = y[c->plain[k]];

			g->below_zero += had < took;
			set_value(m, i, c->plain[k], had > took ? had - took : 0);
			if (c->with_minus)
				set_value(m, i, c->minus[k], had < took ? took - had : 0);
		}
	}
}

/* Subtract; with_minus: the result has metrics for what is below zero. */
static int subtract(struct merge *g, bool with_minus, struct err *e)
{
	struct columns c = { .nr = g->others.nr_sources + g->others.nr_shown, .with_minus = with_minus };
	uint32_t *where_a = xcalloc(g->m.flow.nr_nodes, sizeof(*where_a));
	uint32_t *where_b = xcalloc(g->others.flow.nr_nodes, sizeof(*where_b));
	struct rows a = { 0 }, b = { 0 };
	struct model_union u;
	struct plain was;
	struct model m;
	int r;

	g->below_zero = 0;
	union_init(&u, &m, &g->opts);
	r = union_add(&u, &g->m, 0, where_a, e);
	if (!r)
		r = union_add(&u, &g->others, 0, where_b, e);
	rename_minus(&g->others, &was);
	if (!r && with_minus)
		r = union_add(&u, &g->others, 0, where_b, e);
	union_finish(&u);
	if (!r && with_minus)
		find_columns(&m, &g->others, c.minus);
	rename_back(&g->others, &was);
	if (!r) {
		find_columns(&m, &g->others, c.plain);
		fill_rows(&a, &m, &g->m, where_a);
		fill_rows(&b, &m, &g->others, where_b);
		set_difference(g, &m, &a, &b, &c);
	}
	if (!r && (with_minus || !g->below_zero))
		merge_take(g, &m);
	else
		model_release(&m);
	union_release(&u);
	free(where_a);
	free(where_b);
	free(a.values);
	free(b.values);
	return r;
}

static int finish_difference(struct merge *g, struct err *e)
{
	int r;

	if (g->nr_models < 2)
		return 0;
	union_finish(&g->sum);
	r = subtract(g, false, e);
	return !r && g->below_zero ? subtract(g, true, e) : r;
}

/* Take the first model as the union of itself, so that equal contexts become one. */
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

	if (g->op == MERGE_ADD || (g->op == MERGE_SUBTRACT && g->nr_models))
		r = union_add(&g->sum, m, 0, NULL, e);
	else if (!g->nr_models)
		r = take_first(g, m, e);
	else
		r = minimum_with(g, m, e);
	if (r)
		return r;
	g->nr_models++;
	add_parts(g, origin);
	return 0;
}

int merge_finish(struct merge *g, struct err *e)
{
	if (g->op == MERGE_ADD)
		union_finish(&g->sum);
	return g->op == MERGE_SUBTRACT ? finish_difference(g, e) : 0;
}
