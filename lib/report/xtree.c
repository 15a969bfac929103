// SPDX-License-Identifier: GPL-2.0-or-later
/* xtree.c - the tree itself: a row per context, with its level and recursion level. */
#include "base/mem.h"
#include "report/measures.h"

static const struct measure measures[] = {
	MEASURES_COUNT, MEASURES_PBASE, MEASURES_PCUM,
	{ MEASURE_VALUE, OF_BASE, "Base", 10, "base" },
	{ MEASURE_VALUE, OF_CUM, "Cum", 10, "cum" },
	MEASURES_BASE_CALL, MEASURES_CUM_CALL,
};

static const struct sheet_column before[] = {
	{ "id" }, { "parent" }, { "level", "Lv", 2, .before = " " }, { "rl", "RL", 2 },
}, after[] = {
	{ .head = "", .before = "" }, { .head = " Indent HkKey_HkName", .before = "", .cut = true },
};

enum { INDENT_MAX = 50 };

/* Write the first level columns of "----+----+...". */
static void put_indent(uint32_t level, struct buf *b)
{
	static const char pattern[] = "----+----+----+----+----+----+----+----+----+----+";

	buf_reset(b);
	buf_putc(b, ' ');
	buf_add(b, pattern, MIN(level, (uint32_t)INDENT_MAX));
	buf_putc(b, ' ');
}

static void xtree_print_rows(struct measures *t, struct contexts *walk)
{
	const struct flow *f = &t->v->m->flow;
	uint32_t *ids = xcalloc(f->nr_nodes, sizeof(*ids));	/* [node]: its rank in the output */
	struct buf indent = BUF_INIT, name = BUF_INIT;

	while (contexts_next(walk)) {
		const struct flow_node *node = &f->nodes[walk->node];

		ids[walk->node] = walk->nr - 1;
		if (sheet_is_text(&t->sheet)) {
			put_indent(walk->level, &indent);
			buf_reset(&name);
			view_name(t->v, node->consumer, &name);
		}
		measures_row(t, NULL, (const struct cell[]){
			cell_u64(walk->nr - 1), node->parent ? cell_u64(ids[node->parent]) : cell_none,
			cell_u64(walk->level), cell_u64(f->rl[walk->node]),
			cell_text(indent.data), cell_text(name.data) },
			&(struct measured){ node->consumer, node->n,
					    { flow_base(f, walk->node), flow_cum(f, walk->node) } });
	}
	buf_release(&name);
	buf_release(&indent);
	free(ids);
}

static int xtree_print(struct view *v, FILE *out, struct err *e)
{
	struct contexts walk = { .v = v };
	struct measures t;

	measures_init(&t, v, out);
	measures_own(&t, before, ARRAY_SIZE(before));
	measures_consumer(&t);
	measures_add(&t, measures, ARRAY_SIZE(measures));
	measures_own(&t, after, ARRAY_SIZE(after));
	measures_begin(&t, "nodes");
	xtree_print_rows(&t, &walk);
	json_end(&t.sheet.json);
	measures_end(&t, contexts_hidden(&walk));
	return 0;
}

const struct report report_xtree = {
	.name = "xtree",
	.help = "show the call tree",
	.formats = FORMATS_TABLE | FORMATS_OF_TREE,
	.sorts_children = true,
	.print = xtree_print,
};
