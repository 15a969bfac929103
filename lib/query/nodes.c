// SPDX-License-Identifier: GPL-2.0-or-later
/* nodes.c - tables of the model: functions, nodes, and what the reports xprof and xarc make of them. */
#include "query/table.h"

void query_nodes_release(struct query_data *d)
{
	free(d->flat_consumers);
	free(d->flat_n);
	free(d->flat_sums);
	if (d->has_arcs)
		arcs_release(&d->arcs);
	free(d->arc_rows);
}

static const struct consumer *query_nodes_consumer_of(const struct query_data *d, uint32_t id)
{
	return &d->model.consumers.items[id];
}

static const char *query_nodes_kind_of(const struct query_data *d, uint32_t id)
{
	return consumer_kind_name(query_nodes_consumer_of(d, id)->kind);
}

/* Return n of the metric's source, of a node or of a sum over nodes. */
static uint64_t query_nodes_n_of(const struct query_data *d, unsigned int metric, uint64_t n,
				 const uint64_t *values)
{
	return model_n(&d->model, d->model.metrics[metric].source, n, values);
}

/* ---- functions ---- */

enum {
	FUNCTION_ID, FUNCTION_NAME, FUNCTION_KIND, FUNCTION_MODULE, FUNCTION_DETAIL, FUNCTION_PID,
	FUNCTION_TID
};

static const struct query_column function_columns[] = {
	[FUNCTION_ID] = { "id", COLUMN_ROW1 | COLUMN_UNIQUE, "number of the function" },
	[FUNCTION_NAME] = { "name", COLUMN_TEXT, "as reports show it" },
	[FUNCTION_KIND] = { "kind", COLUMN_TEXT, "native, kernel, java-compiled, ...; process, thread, mark" },
	[FUNCTION_MODULE] = { "module", COLUMN_TEXT, "path of its module; NULL: Java, or none" },
	[FUNCTION_DETAIL] = { "detail", COLUMN_TEXT, "signature, or file and line, where asked for" },
	[FUNCTION_PID] = { "pid", 0, "of processes and threads" },
	[FUNCTION_TID] = { "tid", 0, "of threads" },
};

static bool function_number(const struct query_data *d, const struct query_cell *c, uint64_t *v)
{
	const struct consumer *x = query_nodes_consumer_of(d, c->row + 1);
	bool is_thread = x->kind == CONSUMER_THREAD, is_process = x->kind == CONSUMER_PROCESS;

	switch (c->column) {
	case FUNCTION_ID:
		*v = c->row + 1;
		return true;
	case FUNCTION_PID:
		*v = x->key >> 32;
		return x->key && (is_process || is_thread);
	default:
		*v = x->key & UINT32_MAX;
		return *v && is_thread;
	}
}

static const char *function_text(struct query_data *d, const struct query_cell *c)
{
	const struct consumer *x = query_nodes_consumer_of(d, c->row + 1);

	switch (c->column) {
	case FUNCTION_NAME:
		return query_data_str(d, x->name);
	case FUNCTION_KIND:
		return consumer_kind_name(x->kind);
	case FUNCTION_MODULE:
		return query_data_str(d, x->module);
	default:
		return query_data_str(d, x->detail);
	}
}

static uint32_t nr_functions(const struct query_data *d)
{
	return d->nr_functions;
}

const struct query_table query_functions = {
	.name = "functions", .what = "what consumes: functions, and processes, threads and marks like them",
	QUERY_COLUMNS(function_columns),
	.load = query_data_model, .nr_rows = nr_functions, .number = function_number, .text = function_text,
};

/* ---- nodes ---- */

enum {
	NODE_ID, NODE_PARENT, NODE_LAST, NODE_LEVEL, NODE_RL, NODE_FUNCTION, NODE_NAME, NODE_PROCESS,
	NODE_THREAD, NODE_N, NODE_BASE, NODE_CUM
};

static const struct query_column node_columns[] = {
	[NODE_ID] = { "id", COLUMN_ROW | COLUMN_UNIQUE, "number in preorder, from 0, as in report --xtree --format json" },
	[NODE_PARENT] = { "parent", COLUMN_INDEX, "the node above; NULL: a root" },
	[NODE_LAST] = { "last", 0, "the last node of its subtree, which is the nodes from id to last" },
	[NODE_LEVEL] = { "level", 0, "how deep it is; 0: a process" },
	[NODE_RL] = { "rl", 0, "recursion level; 1: the outermost of its function" },
	[NODE_FUNCTION] = { "function", COLUMN_INDEX, "what consumes here" },
	[NODE_NAME] = { "name", COLUMN_TEXT, "its name" },
	[NODE_PROCESS] = { "process", 0, "the process it is in: its number in functions" },
	[NODE_THREAD] = { "thread", 0, "the thread it is in: its number in functions; NULL: a process itself" },
	[NODE_N] = { "n", COLUMN_OF_METRIC, "calls or samples, as metrics.counts says; NULL: the profile has no number of samples" },
	[NODE_BASE] = { "base", COLUMN_OF_METRIC, "consumed here" },
	[NODE_CUM] = { "cum", COLUMN_OF_METRIC, "consumed here and below" },
};

static bool node_number(const struct query_data *d, const struct query_cell *c, uint64_t *v)
{
	const struct flow *f = &d->model.flow;
	uint32_t node = d->order[c->row];
	const struct flow_node *n = &f->nodes[node];

	switch (c->column) {
	case NODE_ID:
		*v = c->row;
		return true;
	case NODE_PARENT:
		*v = d->rank[n->parent];
		return n->parent;
	case NODE_LAST:
		*v = d->last[c->row];
		return true;
	case NODE_LEVEL:
		*v = d->level[c->row];
		return true;
	case NODE_RL:
		*v = f->rl[node];
		return true;
	case NODE_FUNCTION:
		*v = n->consumer;
		return true;
	case NODE_PROCESS:
		return query_data_id(d->process[c->row], v);
	case NODE_THREAD:
		return query_data_id(d->thread[c->row], v);
	case NODE_N:
		return query_data_n(d, query_nodes_n_of(d, c->metric, n->n, flow_base(f, node)), v);
	case NODE_BASE:
		*v = flow_base(f, node)[c->metric];
		return true;
	default:
		*v = flow_cum(f, node)[c->metric];
		return true;
	}
}

static const char *node_text(struct query_data *d, const struct query_cell *c)
{
	return query_data_name(d, d->model.flow.nodes[d->order[c->row]].consumer);
}

static uint32_t nr_nodes(const struct query_data *d)
{
	return d->nr_nodes;
}

const struct query_table query_nodes = {
	.name = "nodes", .what = "contexts: each function in each chain of callers",
	QUERY_COLUMNS(node_columns),
	.load = query_data_model, .nr_rows = nr_nodes, .number = node_number, .text = node_text,
};

/* ---- xprof ---- */

enum {
	FLAT_FUNCTION, FLAT_NAME, FLAT_KIND, FLAT_MODULE, FLAT_N, FLAT_BASE, FLAT_CUM, FLAT_CUM_RECURSIVE
};

static const struct query_column flat_columns[] = {
	[FLAT_FUNCTION] = { "function", COLUMN_ASCENDS | COLUMN_UNIQUE, "its number" },
	[FLAT_NAME] = { "name", COLUMN_TEXT, "its name" },
	[FLAT_KIND] = { "kind", COLUMN_TEXT, "as in functions" },
	[FLAT_MODULE] = { "module", COLUMN_TEXT, "as in functions" },
	[FLAT_N] = { "n", COLUMN_OF_METRIC, "sum over its nodes" },
	[FLAT_BASE] = { "base", COLUMN_OF_METRIC, "sum over its nodes" },
	[FLAT_CUM] = { "cum", COLUMN_OF_METRIC, "sum over its outermost nodes: recursion counts once" },
	[FLAT_CUM_RECURSIVE] = { "cum_recursive", COLUMN_OF_METRIC, "sum over its other nodes" },
};

static uint64_t *flat_sums(const struct query_data *d, uint32_t consumer)
{
	return d->flat_sums + (size_t)consumer * 3 * d->model.flow.nr_metrics;
}

static int load_flat(struct query_data *d, struct err *e)
{
	const struct flow *f = &d->model.flow;
	uint32_t i, c, nr;
	int r = query_data_model(d, e);
	unsigned int m;

	if (r || d->has_flat)
		return r;
	d->has_flat = true;
	nr = flow_nr_consumers(f);
	d->flat_consumers = xcalloc(nr + 1, sizeof(*d->flat_consumers));
	d->flat_n = xcalloc(nr + 1, sizeof(*d->flat_n));
	d->flat_sums = xcalloc(((size_t)nr + 1) * 3 * f->nr_metrics, sizeof(*d->flat_sums));
	for (i = 1; i < f->nr_nodes; i++) {
		uint64_t *s = flat_sums(d, f->nodes[i].consumer);

		flow_sum(&d->flat_n[f->nodes[i].consumer], f->nodes[i].n);
		d->flat_consumers[f->nodes[i].consumer] = 1;
		for (m = 0; m < f->nr_metrics; m++) {
			flow_sum(&s[m], flow_base(f, i)[m]);
			flow_sum(&s[(f->rl[i] > 1 ? 2 : 1) * f->nr_metrics + m], flow_cum(f, i)[m]);
		}
	}
	for (c = 0; c < nr; c++)
		if (d->flat_consumers[c])
			d->flat_consumers[d->nr_flat++] = c;
	return 0;
}

static bool flat_number(const struct query_data *d, const struct query_cell *c, uint64_t *v)
{
	uint32_t consumer = d->flat_consumers[c->row];
	const uint64_t *s = flat_sums(d, consumer);

	if (c->column == FLAT_FUNCTION)
		*v = consumer;
	else if (c->column == FLAT_N)
		return query_data_n(d, query_nodes_n_of(d, c->metric, d->flat_n[consumer], s), v);
	else
		*v = s[(c->column - FLAT_BASE) * d->model.flow.nr_metrics + c->metric];
	return true;
}

static const char *flat_text(struct query_data *d, const struct query_cell *c)
{
	uint32_t consumer = d->flat_consumers[c->row];

	if (c->column == FLAT_NAME)
		return query_data_name(d, consumer);
	if (c->column == FLAT_KIND)
		return query_nodes_kind_of(d, consumer);
	return query_data_str(d, query_nodes_consumer_of(d, consumer)->module);
}

static uint32_t nr_flat(const struct query_data *d)
{
	return d->nr_flat;
}

const struct query_table query_xprof = {
	.name = "xprof", .what = "the flat profile: functions, as in report --xprof",
	QUERY_COLUMNS(flat_columns),
	.load = load_flat, .nr_rows = nr_flat, .number = flat_number, .text = flat_text,
};

/* ---- arcs ---- */

enum { ARC_FUNCTION, ARC_NAME, ARC_ROW, ARC_OTHER, ARC_OTHER_NAME, ARC_N, ARC_BASE, ARC_CUM };

static const struct query_column arc_columns[] = {
	[ARC_FUNCTION] = { "function", COLUMN_ASCENDS, "whose stanza it is" },
	[ARC_NAME] = { "name", COLUMN_TEXT, "its name" },
	[ARC_ROW] = { "row", COLUMN_TEXT, "self, parent, child; of recursion rself, rparent, rchild" },
	[ARC_OTHER] = { "other", COLUMN_INDEX, "the parent or child; NULL: self, and for a root" },
	[ARC_OTHER_NAME] = { "other_name", COLUMN_TEXT, "its name" },
	[ARC_N] = { "n", COLUMN_OF_METRIC, "of parents: what they called; of children: what was called" },
	[ARC_BASE] = { "base", COLUMN_OF_METRIC, "as in report --xarc" },
	[ARC_CUM] = { "cum", COLUMN_OF_METRIC, "as in report --xarc" },
};

static void add_arc_row(struct query_data *d, uint32_t stanza, uint8_t list, uint32_t row)
{
	*VEC_ADD(d->arc_rows, d->nr_arc_rows, d->alloc_arc_rows) = (struct query_arc){ stanza, row, list };
}

static int load_arcs(struct query_data *d, struct err *e)
{
	int r = query_data_model(d, e);
	uint32_t i, list, row;

	if (r || d->has_arcs)
		return r;
	d->has_arcs = true;
	arcs_init(&d->arcs, &d->model.flow);
	for (i = 0; i < d->arcs.nr_stanzas; i++) {
		const struct arc_stanza *s = &d->arcs.stanzas[i];

		if (s->nr_self)
			add_arc_row(d, i, QUERY_SELF, 0);
		if (s->nr_rself)
			add_arc_row(d, i, QUERY_RSELF, 0);
		for (list = 0; list < ARC_NR; list++)
			for (row = 0; row < s->nr_rows[list]; row++)
				add_arc_row(d, i, list, row);
	}
	return 0;
}

static const struct arc_sums *arc_sums(const struct query_data *d, const struct query_arc *x, uint32_t *other)
{
	const struct arc_stanza *s = &d->arcs.stanzas[x->stanza];

	*other = 0;
	if (x->list == QUERY_SELF)
		return &s->self;
	if (x->list == QUERY_RSELF)
		return &s->rself;
	*other = s->rows[x->list][x->row].consumer;
	return &s->rows[x->list][x->row].sums;
}

static bool arc_number(const struct query_data *d, const struct query_cell *c, uint64_t *v)
{
	const struct query_arc *x = &d->arc_rows[c->row];
	uint32_t other;
	const struct arc_sums *s = arc_sums(d, x, &other);

	switch (c->column) {
	case ARC_FUNCTION:
		*v = d->arcs.stanzas[x->stanza].consumer;
		return true;
	case ARC_OTHER:
		return query_data_id(other, v);
	case ARC_N:
		return query_data_n(d, query_nodes_n_of(d, c->metric, s->n, s->base), v);
	default:
		*v = (c->column == ARC_BASE ? s->base : s->cum)[c->metric];
		return true;
	}
}

static const char *arc_text(struct query_data *d, const struct query_cell *c)
{
	static const char *const rows[] = {
		[ARC_PARENTS] = "parent", [ARC_CHILDREN] = "child", [ARC_RPARENTS] = "rparent",
		[ARC_RCHILDREN] = "rchild", [QUERY_SELF] = "self", [QUERY_RSELF] = "rself",
	};
	const struct query_arc *x = &d->arc_rows[c->row];
	uint32_t other;

	if (c->column == ARC_ROW)
		return rows[x->list];
	if (c->column == ARC_NAME)
		return query_data_name(d, d->arcs.stanzas[x->stanza].consumer);
	arc_sums(d, x, &other);
	return query_data_name(d, other);
}

static uint32_t nr_arcs(const struct query_data *d)
{
	return d->nr_arc_rows;
}

const struct query_table query_arcs = {
	.name = "arcs", .what = "parents and children of functions, as in report --xarc",
	QUERY_COLUMNS(arc_columns),
	.load = load_arcs, .nr_rows = nr_arcs, .number = arc_number, .text = arc_text,
};
