// SPDX-License-Identifier: GPL-2.0-or-later
/* xtree.c - the tree itself: a row a context, with its level and recursion level. */
#include "base/mem.h"
#include "report/table.h"

static const struct column level = { "Lv", "level", COLUMN_OTHER, 2, false, cell_level };
static const struct column rl = { "RL", "rl", COLUMN_OTHER, 2, false, cell_rl };
static const struct column calls = { "Calls", "n", COLUMN_N, 7, false, cell_n };
static const struct column pbase = { "%Base", "pbase", COLUMN_PERCENT, 7, true, cell_pbase };
static const struct column pcum = { "%Cum", "pcum", COLUMN_PERCENT, 7, true, cell_pcum };
static const struct column base = { "Base", "base", COLUMN_VALUE, 10, true, cell_base };
static const struct column cum = { "Cum", "cum", COLUMN_VALUE, 10, true, cell_cum };
static const struct column *const columns[] = { &level, &rl, &calls, &column_samples, &column_count, &pbase,
	&pcum, &base, &cum, NULL };

static const struct column c_id = { "", "id", COLUMN_OTHER, 0, false, cell_id };
static const struct column c_parent = { "", "parent", COLUMN_OTHER, 0, false, cell_parent };
static const struct column c_name = { "", "name", COLUMN_OTHER, 0, false, cell_name };
static const struct column c_kind = { "", "kind", COLUMN_OTHER, 0, false, cell_kind };
static const struct column c_module = { "", "module", COLUMN_OTHER, 0, false, cell_module };
static const struct column c_n = { "", "n", COLUMN_OTHER, 0, false, cell_n };
static const struct column c_base = { "", "base", COLUMN_OTHER, 0, true, cell_raw_base };
static const struct column c_cum = { "", "cum", COLUMN_OTHER, 0, true, cell_raw_cum };
static const struct column *const csv_columns[] = {
	&c_id, &c_parent,	&level,	       &rl,	&c_name, &c_kind, &c_module,
	&c_n,  &column_samples, &column_count, &c_base, &c_cum,	 NULL
};

enum { INDENT_MAX = 50 };

/* The first level columns of "----+----+...". */
static void put_indent(struct buf *b, uint32_t nr)
{
	static const char pattern[] = "----+----+----+----+----+----+----+----+----+----+";

	buf_putc(b, ' ');
	buf_add(b, pattern, MIN(nr, (uint32_t)INDENT_MAX));
	buf_putc(b, ' ');
}

struct walk {
	struct view *v;
	uint32_t node, lv;
	uint64_t id;		/* of the node: its rank in the output */
	uint32_t *ids;		/* [node] */
};

static bool walk_next(struct walk *w)
{
	const struct flow *f = &w->v->m->flow;
	uint32_t next = flow_next(f, w->node), i = w->node;

	if (!next || (w->v->o->limit && w->id + 1 >= w->v->o->limit))
		return false;
	if (f->nodes[next].parent == i)
		w->lv += i != FLOW_NONE;
	else
		for (; f->nodes[i].parent != f->nodes[next].parent; i = f->nodes[i].parent)
			w->lv--;
	w->id += w->node != FLOW_NONE;
	w->node = next;
	if (w->ids)
		w->ids[next] = w->id;
	return true;
}

static struct row walk_row(const struct walk *w)
{
	const struct flow *f = &w->v->m->flow;
	const struct flow_node *x = &f->nodes[w->node];

	return (struct row){ .id = w->id, .parent = x->parent && w->ids ? (int64_t)w->ids[x->parent] : -1,
			     .level = w->lv, .rl = x->rl, .n = x->n, .base = flow_base(f, w->node),
			     .cum = flow_cum(f, w->node), .consumer = x->consumer };
}

static void print_text(struct walk *w, FILE *out)
{
	struct buf name = BUF_INIT;
	struct table t;
	struct row r;

	head_text(w->v, out);
	table_init(&t, w->v, out, columns);
	table_units(&t);
	putc('\n', out);
	table_head(&t, " Indent HkKey_HkName");
	while (walk_next(w)) {
		r = walk_row(w);
		table_cells(&t, &r);
		put_indent(&t.line, w->lv);
		buf_reset(&name);
		view_name(w->v, r.consumer, &name);
		table_end(&t, name.data);
	}
	buf_release(&name);
	table_release(&t);
}

static void print_json(struct walk *w, FILE *out)
{
	struct json j;
	struct row r;

	json_init(&j, out);
	head_json(w->v, &j, "xtree");
	json_array(&j, "nodes");
	while (walk_next(w)) {
		r = walk_row(w);
		json_object(&j, NULL);
		json_u64(&j, "id", r.id);
		if (r.parent < 0)
			json_null(&j, "parent");
		else
			json_u64(&j, "parent", r.parent);
		json_u64(&j, "level", r.level);
		json_u64(&j, "rl", r.rl);
		json_consumer(&j, w->v, r.consumer, true);
		json_sums(&j, w->v, r.n, r.base, r.cum);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}

static void print_csv(struct walk *w, FILE *out)
{
	struct table t;
	struct row r;

	table_init(&t, w->v, out, csv_columns);
	table_csv_head(&t);
	while (walk_next(w)) {
		r = walk_row(w);
		table_csv(&t, &r);
	}
	table_release(&t);
}

static int xtree_print(struct view *v, FILE *out, struct err *e)
{
	struct walk w = { .v = v };

	if (v->o->format != FORMAT_TEXT)
		w.ids = xcalloc(v->m->flow.nr_nodes, sizeof(*w.ids));
	if (v->o->format == FORMAT_JSON)
		print_json(&w, out);
	else if (v->o->format == FORMAT_CSV)
		print_csv(&w, out);
	else
		print_text(&w, out);
	free(w.ids);
	return 0;
}

const struct report report_xtree = {
	.name = "xtree",
	.help = "show the call tree",
	.formats = FORMATS_TABLE | FORMATS_OF_TREE,
	.sorts_children = true,
	.print = xtree_print,
};
