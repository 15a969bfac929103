// SPDX-License-Identifier: GPL-2.0-or-later
/* xtree.c - the tree itself: a row per context, with its level and recursion level. */
#include "base/mem.h"
#include "report/list.h"

static const struct column level = { "Lv", "level", COLUMN_OTHER, 2, false, cell_level };
static const struct column rl = { "RL", "rl", COLUMN_OTHER, 2, false, cell_rl };
static const struct column base = { "Base", "base", COLUMN_VALUE, 10, true, cell_base };
static const struct column cum = { "Cum", "cum", COLUMN_VALUE, 10, true, cell_cum };
static const struct column *const columns[] = {
	&level, &rl, &column_count, &column_pbase, &column_pcum, &base, &cum, &column_base_call,
	&column_base_margin, &column_cum_call, &column_cum_margin, NULL
};

static const struct column c_id = { "", "id", COLUMN_OTHER, 0, false, cell_id };
static const struct column c_parent = { "", "parent", COLUMN_OTHER, 0, false, cell_parent };
static const struct column *const csv_columns[] = {
	&c_id, &c_parent, &level, &rl, &csv_name, &csv_kind, &csv_module, &column_count, &csv_base, &csv_cum,
	&csv_base_call, &csv_cum_call, NULL
};

enum { INDENT_MAX = 50 };

/* The first level columns of "----+----+...". */
static void put_indent(const struct row *r, struct buf *b)
{
	static const char pattern[] = "----+----+----+----+----+----+----+----+----+----+";

	buf_putc(b, ' ');
	buf_add(b, pattern, MIN(r->level, (uint32_t)INDENT_MAX));
	buf_putc(b, ' ');
}

struct tree_rows {
	struct contexts walk;
	uint32_t *ids;		/* [node]: its rank in the output */
};

static bool next_row(void *rows, struct row *r)
{
	struct tree_rows *x = rows;
	const struct flow *f = &x->walk.v->m->flow;
	const struct flow_node *node;

	if (!contexts_next(&x->walk))
		return false;
	node = &f->nodes[x->walk.node];
	x->ids[x->walk.node] = x->walk.nr - 1;
	*r = (struct row){
		.id = x->walk.nr - 1, .parent = node->parent ? (int64_t)x->ids[node->parent] : -1,
		.level = x->walk.level, .rl = f->rl[x->walk.node], .n = node->n,
		.base = flow_base(f, x->walk.node), .cum = flow_cum(f, x->walk.node),
		.consumer = node->consumer,
	};
	return true;
}

static void put_name(const struct view *v, const struct row *r, struct buf *b)
{
	view_name(v, r->consumer, b);
}

static void json_row(const struct view *v, const struct row *r, struct json *j)
{
	json_u64(j, "id", r->id);
	json_u64_known(j, "parent", r->parent >= 0, r->parent);
	json_u64(j, "level", r->level);
	json_u64(j, "rl", r->rl);
	json_consumer(j, v, r->consumer, true);
	json_sums(j, v, r->n, r->base, r->cum);
}

static uint64_t nr_hidden(const struct view *v, void *rows)
{
	const struct tree_rows *x = rows;

	return v->m->flow.nr_nodes - 1 - x->walk.nr;
}

static const struct list list = {
	.columns = columns,
	.csv_columns = csv_columns,
	.name_head = " Indent HkKey_HkName",
	.json_rows = "nodes",
	.next = next_row,
	.indent = put_indent,
	.name = put_name,
	.json = json_row,
	.hidden = nr_hidden,
};

static int xtree_print(struct view *v, FILE *out, struct err *e)
{
	struct tree_rows rows = { .walk.v = v, .ids = xcalloc(v->m->flow.nr_nodes, sizeof(*rows.ids)) };
	int r = list_print(&list, v, &rows, out);

	free(rows.ids);
	return r;
}

const struct report report_xtree = {
	.name = "xtree",
	.help = "show the call tree",
	.formats = FORMATS_TABLE | FORMATS_OF_TREE,
	.sorts_children = true,
	.print = xtree_print,
};
