// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * union.c - while inputs come, rows of the tree are in the order in which metrics and sources turned up;
 * union_finish() gives them that of a model. Consumers are identities until then.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "flow/union.h"

void union_init(struct model_union *u, struct model *m, const struct union_opts *o)
{
	memset(u, 0, sizeof(*u));
	u->m = m;
	u->o = *o;
	model_init(m, 1, FLOW_SAMPLES);
}

void union_release(struct model_union *u)
{
	flow_release(&u->flow);
	free(u->shown);
	free(u->has);
	memset(u, 0, sizeof(*u));
}

/* The destination of an input's values: [source], [metric of the input]; UINT_MAX: none. */
struct places {
	unsigned int sources[FLOW_MAX_METRICS];
	unsigned int columns[FLOW_MAX_METRICS];
};

static unsigned int place_source(struct model_union *u, const struct union_source *s)
{
	unsigned int i;

	for (i = 0; i < u->nr_sources; i++)
		if (u->sources[i].name == s->name && u->sources[i].kind == s->kind &&
		    u->sources[i].side == s->side)
			return i;
	if (i < ARRAY_SIZE(u->sources))
		u->sources[u->nr_sources++] = *s;
	return i;
}

static unsigned int place_column(struct model_union *u, const struct union_column *c)
{
	unsigned int i;

	for (i = 0; i < u->nr_columns; i++)
		if (u->columns[i].name == c->name && u->columns[i].unit == c->unit &&
		    u->columns[i].source == c->source && u->columns[i].is_n == c->is_n)
			return i;
	if (i < ARRAY_SIZE(u->columns))
		u->columns[u->nr_columns++] = *c;
	return i;
}

static uint32_t same_string(struct model_union *u, const struct model *from, uint32_t id)
{
	return strtab_adds(&u->m->consumers.names, model_str(from, id));
}

/* Place the inputs; return false if there is no room, and leave the union unchanged. */
static bool union_place(struct model_union *u, const struct model *from, unsigned int side, struct places *p)
{
	unsigned int nr_sources = u->nr_sources, nr_columns = u->nr_columns, i, at = 0;

	for (i = 0; i < from->nr_sources && at < FLOW_MAX_METRICS; i++) {
		const struct model_source *s = &from->sources[i];
		const struct union_source is = { same_string(u, from, s->name), s->kind, side };

		at = p->sources[i] = place_source(u, &is);
		if (at && at < FLOW_MAX_METRICS) {
			const struct union_column n = { .source = at, .is_n = true };

			at = place_column(u, &n);
		}
	}
	for (i = 0; i < from->nr_shown && at < FLOW_MAX_METRICS; i++) {
		const struct model_metric *m = &from->metrics[i];
		const struct union_column is = { same_string(u, from, m->name), same_string(u, from, m->unit),
						 p->sources[m->source], false };

		at = p->columns[i] = place_column(u, &is);
	}
	if (at < FLOW_MAX_METRICS)
		return true;
	u->nr_sources = nr_sources;
	u->nr_columns = nr_columns;
	return false;
}

/* Return the column with the n of a source that is not the first. */
static unsigned int column_of_n(const struct model_union *u, unsigned int source)
{
	unsigned int i;

	for (i = 0; !u->columns[i].is_n || u->columns[i].source != source; i++)
		assert(i < u->nr_columns);
	return i;
}

static void widen(struct model_union *u)
{
	unsigned int from[FLOW_MAX_METRICS], i;

	if (!u->flow.nodes) {
		flow_init(&u->flow, u->nr_columns, FLOW_SAMPLES);
		return;
	}
	if (u->flow.nr_metrics == u->nr_columns)
		return;
	for (i = 0; i < u->nr_columns; i++)
		from[i] = i < u->flow.nr_metrics ? i : FLOW_NO_METRIC;
	flow_arrange(&u->flow, from, u->nr_columns);
}

static void identify(const struct model_union *u, const struct model *from, uint32_t id, struct consumer *x)
{
	struct strtab *names = &u->m->consumers.names;
	const struct consumer *c = &from->consumers.items[id];

	*x = *c;
	if (u->o.identify) {
		u->o.identify(u->o.ctx, from, id, names, x);
		return;
	}
	x->name = strtab_adds(names, model_str(from, c->name));
	x->module = c->module ? strtab_adds(names, model_str(from, c->module)) : 0;
	x->detail = c->detail ? strtab_adds(names, model_str(from, c->detail)) : 0;
}

/* Join a member: where members differ, the value of their identity is shown. */
static void union_join(struct consumer *shown, const struct consumer *with, const struct consumer *identity)
{
	if (shown->name != with->name)
		shown->name = identity->name;
	if (shown->module != with->module)
		shown->module = identity->module;
	if (shown->detail != with->detail)
		shown->detail = identity->detail;
	if (shown->kind != with->kind)
		shown->kind = identity->kind;
	if (shown->key != with->key)
		shown->key = identity->key;
}

static uint32_t add_consumer(struct model_union *u, const struct model *from, uint32_t id)
{
	struct strtab *names = &u->m->consumers.names;
	struct consumer x, shown = from->consumers.items[id];
	uint32_t to;

	identify(u, from, id, &x);
	shown.name = same_string(u, from, shown.name);
	shown.module = shown.module ? strtab_adds(names, model_str(from, shown.module)) : 0;
	shown.detail = shown.detail ? strtab_adds(names, model_str(from, shown.detail)) : 0;
	to = consumer_add(&u->m->consumers, &x);
	if (to < u->nr_shown) {
		union_join(&u->shown[to], &shown, &x);
		return to;
	}
	for (; u->nr_shown <= to; u->nr_shown++) {
		VEC_GROW(u->shown, u->nr_shown, u->alloc_shown);
		u->shown[u->nr_shown] = shown;
	}
	return to;
}

static void mark(struct model_union *u, uint32_t node, unsigned int side)
{
	size_t had = u->alloc_has;

	if (node >= u->alloc_has) {
		u->alloc_has = u->flow.alloc_nodes;
		u->has = xrealloc(u->has, u->alloc_has);
		memset(u->has + had, 0, u->alloc_has - had);
	}
	u->has[node] |= 1u << side;
}

static void add_values(struct model_union *u, uint32_t to, const struct model *from, uint32_t node,
		       const struct places *p)
{
	uint64_t *row = flow_base(&u->flow, to), n;
	unsigned int i;

	for (i = 0; i < from->nr_shown; i++)
		flow_sum(&row[p->columns[i]], flow_base(&from->flow, node)[i]);
	for (i = 0; i < from->nr_sources; i++) {
		n = model_node_n(from, i, node);
		if (p->sources[i])
			row[column_of_n(u, p->sources[i])] += n;
		else
			u->flow.nodes[to].n += n;
	}
}

static void add_repairs(struct flow_repairs *to, const struct flow_repairs *from)
{
	to->inserted += from->inserted;
	to->popped += from->popped;
	to->closed += from->closed;
	to->backwards += from->backwards;
}

static void add_tree(struct model_union *u, const struct model *from, unsigned int side,
		     const struct places *p, uint32_t *at)
{
	uint32_t *to = xcalloc(from->consumers.nr_items, sizeof(*to));
	const struct flow_node *nodes = from->flow.nodes;
	size_t i;

	at[FLOW_NONE] = FLOW_NONE;
	for (i = 1; i < from->flow.nr_nodes; i++) {
		uint32_t c = nodes[i].consumer;

		if (!to[c])
			to[c] = add_consumer(u, from, c);
		at[i] = flow_child(&u->flow, at[nodes[i].parent], to[c]);
		mark(u, at[i], side);
		add_values(u, at[i], from, i, p);
	}
	if (from->own && !u->m->own)
		u->m->own = to[from->own];
	free(to);
}

int union_add(struct model_union *u, const struct model *from, unsigned int side, uint32_t *where,
	      struct err *e)
{
	uint32_t *at = where;
	struct places p;

	assert(side < UNION_MAX_SIDES);
	if (!union_place(u, from, u->o.sides ? side : 0, &p))
		return err_set(e, E2BIG, "more than %d metrics, and n of their sources, in one tree",
			       FLOW_MAX_METRICS);
	widen(u);
	if (!at)
		at = xmalloc(from->flow.nr_nodes * sizeof(*at));
	add_tree(u, from, side, &p, at);
	add_repairs(&u->flow.repairs, &from->flow.repairs);
	u->nr_inputs++;
	if (!where)
		free(at);
	return 0;
}

/* ---- the model of it ---- */

/* Calls come first; returns the number in the model by that here. */
static void order_sources(const struct model_union *u, unsigned int *to)
{
	unsigned int first, i, nr = 1;

	for (first = u->nr_sources; --first > 0;)
		if (u->sources[first].kind == FLOW_CALLS && u->sources[0].kind != FLOW_CALLS)
			break;
	to[first] = 0;
	for (i = 0; i < u->nr_sources; i++)
		if (i != first)
			to[i] = nr++;
}

static const char *with_side(const struct model_union *u, uint32_t name, unsigned int side, struct buf *b)
{
	buf_reset(b);
	buf_str(b, model_str(u->m, name));
	if (u->o.sides)
		buf_fmt(b, ".%s", u->o.sides[side]);
	return b->data;
}

static void add_sources(struct model_union *u, const unsigned int *to)
{
	struct buf b = BUF_INIT;
	unsigned int i, k;

	for (k = 0; k < u->nr_sources; k++) {
		for (i = 0; to[i] != k; i++)
			;
		model_add_source(u->m, u->sources[i].kind,
				 with_side(u, u->sources[i].name, u->sources[i].side, &b));
	}
	buf_release(&b);
}

/* Add metrics, with those of the same name together. */
static void add_metrics(struct model_union *u, const unsigned int *to, unsigned int *column)
{
	bool done[FLOW_MAX_METRICS] = { false };
	struct buf b = BUF_INIT;
	unsigned int i, k, nr = 0;

	for (i = 0; i < u->nr_columns; i++)
		for (k = i; k < u->nr_columns && !u->columns[i].is_n; k++) {
			const struct union_column *c = &u->columns[k];

			if (done[k] || c->is_n || c->name != u->columns[i].name)
				continue;
			done[k] = true;
			column[nr++] = k;
			with_side(u, c->name, u->sources[c->source].side, &b);
			model_add_metric(u->m, to[c->source], b.data, model_str(u->m, c->unit));
		}
	buf_release(&b);
}

/* Move the n that comes first into the nodes. */
static void swap_n(struct model_union *u, unsigned int column)
{
	size_t i;

	for (i = 1; i < u->flow.nr_nodes; i++) {
		uint64_t *value = &flow_base(&u->flow, i)[column], n = u->flow.nodes[i].n;

		u->flow.nodes[i].n = *value;
		*value = n;
	}
}

static void arrange(struct model_union *u)
{
	unsigned int to[FLOW_MAX_METRICS], column[FLOW_MAX_METRICS], i, first, place_of_n;

	order_sources(u, to);
	model_clear(u->m);
	add_sources(u, to);
	add_metrics(u, to, column);
	model_begin(u->m);
	for (first = 0; to[first]; first++)
		;
	if (first)
		swap_n(u, column_of_n(u, first));
	for (i = 0; i < u->nr_sources; i++) {
		if (i == first)
			continue;
		place_of_n = i ? column_of_n(u, i) : column_of_n(u, first);
		column[model_counter(u->m, to[i])] = place_of_n;
	}
	flow_arrange(&u->flow, column, u->m->flow.nr_metrics);
	u->flow.n_means = u->m->flow.n_means;
}

void union_finish(struct model_union *u)
{
	if (!u->nr_inputs) {
		model_finish(u->m);
		return;
	}
	arrange(u);
	if (u->nr_shown > 1)
		memcpy(u->m->consumers.items + 1, u->shown + 1, (u->nr_shown - 1) * sizeof(*u->shown));
	consumers_rehash(&u->m->consumers);
	model_take_flow(u->m, &u->flow, NULL);
	model_finish(u->m);
}

unsigned int union_column(const struct model_union *u, unsigned int side, const char *metric)
{
	struct buf b = BUF_INIT;
	unsigned int i;

	buf_str(&b, metric);
	if (u->o.sides)
		buf_fmt(&b, ".%s", u->o.sides[side]);
	for (i = 0; i < u->m->nr_shown && strcmp(model_str(u->m, u->m->metrics[i].name), b.data); i++)
		;
	buf_release(&b);
	return i;
}
