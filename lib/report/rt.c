// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rt.c - the call tree as in JProf's log-rt: a row per context, with the calls to it and the calls
 * from it, in the order of first calls. Threads are at level 0; a line names their process.
 */
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "report/measures.h"

static const struct measure measures[] = {
	{ MEASURE_COUNT },	/* of JSON */
	{ MEASURE_VALUE, OF_BASE, "BASE", 7, "base" },
	{ MEASURE_VALUE, OF_CUM, .key = "cum" },
	{ MEASURE_DELTA, OF_BASE, "DELTA", 7, "delta" },
};

enum { AT_LEVEL, AT_CALLEES, AT_N, AT_CEE, AT_DS, AT_IN, AT_MARGIN, AT_NAME, NR_CELLS };

static const struct sheet_column columns[NR_CELLS] = {
	[AT_LEVEL] = { "level", "LV", 2, .before = " " },
	[AT_CALLEES] = { .json = "callees" },
	[AT_N] = { "n", .width = 5, .json = "" },
	[AT_CEE] = { "cee", "CEE", 5, .json = "" },
	[AT_DS] = { "ds", "DS", 2 },
	[AT_IN] = { "in", "IN", 2 },
	[AT_MARGIN] = { .head = "", .before = "" },
	[AT_NAME] = { .head = " NAME", .before = "", .cut = true },
};

/* Return the cell of DS or IN, if that is a metric. */
static struct cell metric_cell(const struct measures *t, const uint64_t *base, const char *name)
{
	const struct model *m = t->v->m;
	unsigned int i;

	for (i = 0; i < m->flow.nr_metrics; i++)
		if (!strcmp(model_str(m, m->metrics[i].name), name))
			return cell_u64(base[i]);
	return t->v->o->format == FORMAT_JSON ? cell_none : cell_absent;
}

static void print_process(const struct view *v, uint32_t consumer, FILE *out)
{
	struct buf name = BUF_INIT;

	view_name(v, consumer, &name);
	fputs(" Process :: ", out);
	quote_print(name.data, out);
	putc('\n', out);
	buf_release(&name);
}

/*
 * Append the name: threads as hexadecimal number and name, functions with the kind of their code before them.
 */
static void rt_put_name(const struct view *v, uint32_t consumer, struct buf *b)
{
	const struct consumer *c = &v->m->consumers.items[consumer];

	buf_reset(b);
	if (c->kind == CONSUMER_THREAD) {
		buf_fmt(b, "%08x_%s", (unsigned int)c->key, model_str(v->m, c->name));
		return;
	}
	if (kind_is(c->kind, KIND_JAVA))
		buf_str(b, c->kind == CONSUMER_JAVA ? "M:" : c->kind == CONSUMER_JAVA_INTERPRETED ? "I:" : "J:");
	else if (kind_is(c->kind, KIND_NATIVE))
		buf_str(b, "N:");
	view_name(v, consumer, b);
}

static const char legend[] =
	"\n"
	" : LV    = Level of nesting       (Call Depth)\n"
	" : CALLS = Calls to this method   (Callers)\n"
	" : CEE   = Calls from this method (Callees)\n"
	" : BASE  = Metrics observed, without DELTA (~: may be off by 5 % or more)\n"
	" : DELTA = What counting the calls cost, by calibration (-: not calibrated)\n"
	" : DS    = Dispatches observed      (-: record with --metric dispatches)\n"
	" : IN    = Interrupts observed      (-: record with --calltrace --irq, report with --replay)\n"
	" : NAME  = Name of Method or Thread (M: Java method, N: native function)\n";

static uint64_t nr_callees(const struct flow *f, uint32_t node)
{
	uint64_t n = 0;
	uint32_t c;

	for (c = f->nodes[node].child; c; c = f->nodes[c].sibling)
		n += f->nodes[c].n;
	return n;
}

/* Print the row; level NULL: of a process, which has none. */
static void rt_print_row(struct measures *t, uint32_t i, const uint32_t *level, struct buf *name)
{
	const struct flow *f = &t->v->m->flow;
	const struct flow_node *node = &f->nodes[i];
	const uint64_t *base = flow_base(f, i);
	uint64_t callees = nr_callees(f, i);

	rt_put_name(t->v, node->consumer, name);
	measures_row(t, NULL, (const struct cell[NR_CELLS]){
		[AT_LEVEL] = level ? cell_u64(*level) : cell_none,
		[AT_CALLEES] = cell_u64(callees), [AT_N] = cell_u64(node->n), [AT_CEE] = cell_u64(callees),
		[AT_DS] = metric_cell(t, base, "dispatches"), [AT_IN] = metric_cell(t, base, "interrupts"),
		[AT_MARGIN] = cell_text(" "), [AT_NAME] = cell_text(name->data) },
		&(struct measured){ node->consumer, node->n, { base, flow_cum(f, i) } });
}

static void rt_print_rows(struct measures *t, struct contexts *walk)
{
	const struct view *v = t->v;
	bool in_process = false;	/* the root is a process; text has none */
	struct buf name = BUF_INIT;

	while (contexts_next(walk)) {
		uint32_t consumer = v->m->flow.nodes[walk->node].consumer, level;
		bool process = v->m->consumers.items[consumer].kind == CONSUMER_PROCESS;

		if (!walk->level)
			in_process = process;
		level = walk->level - in_process;
		if (process && sheet_is_text(&t->sheet))
			print_process(v, consumer, t->sheet.out);
		else
			rt_print_row(t, walk->node, process ? NULL : &level, &name);
	}
	buf_release(&name);
}

static int rt_print(struct view *v, FILE *out, struct err *e)
{
	bool json = v->o->format == FORMAT_JSON;
	struct sheet_column own[NR_CELLS];
	struct contexts walk = { .v = v };
	struct measures t;

	memcpy(own, columns, sizeof(own));
	own[AT_N].head = measures_head_n(v->m->flow.n_means, "CALLS");
	own[AT_N].width = measures_width_n(v, MAX(own[AT_N].width, (int)strlen(own[AT_N].head)));
	own[AT_CEE].width = measures_width_n(v, own[AT_CEE].width);
	measures_init(&t, v, out);
	measures_own(&t, own, AT_CALLEES);
	if (json)
		measures_consumer(&t);
	measures_own(&t, own + AT_CALLEES, AT_DS - AT_CALLEES);
	measures_add(&t, measures, ARRAY_SIZE(measures));
	measures_own(&t, own + AT_DS, AT_MARGIN - AT_DS);
	if (!json)
		measures_consumer(&t);
	measures_own(&t, own + AT_MARGIN, NR_CELLS - AT_MARGIN);
	measures_begin(&t, "rows");
	rt_print_rows(&t, &walk);
	json_end(&t.sheet.json);
	measures_end(&t, contexts_hidden(&walk));
	return 0;
}

const struct report report_rt = {
	.name = "rt",
	.help = "show the call tree as log-rt: calls to and from each context",
	.formats = FORMATS_TABLE | FORMATS_OF_TREE,
	.no_samples = true,
	.needs_deltas = true,
	.legend = legend,
	.print = rt_print,
};
