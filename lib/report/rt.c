// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rt.c - the call tree as in JProf's log-rt: a row per context, with the calls to it and the calls
 * from it, in the order of first calls. Threads are at level 0; a line names their process.
 */
#include <inttypes.h>
#include <string.h>

#include "base/quote.h"
#include "report/list.h"

enum { NO_LEVEL = UINT32_MAX };

static void cell_cee(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	put_u64(b, r->cee);
}

static void cell_delta(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	unsigned int i = model_delta(t->v->m, m);

	if (i)
		cell_base(t, r, i, b);
	else
		buf_putc(b, '-');
}

static void cell_raw_delta(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	unsigned int i = model_delta(t->v->m, m);

	if (i)
		put_u64(b, r->base[i]);
}

/* DS and IN are metrics of their own where they are known. */
static bool find_metric(const struct model *model, const char *name, unsigned int *at)
{
	for (*at = 0; *at < model->flow.nr_metrics; ++*at)
		if (!strcmp(model_str(model, model->metrics[*at].name), name))
			return true;
	return false;
}

static void put_metric(const struct table *t, const struct row *r, const char *name, const char *none,
		       struct buf *b)
{
	unsigned int at;

	if (find_metric(t->v->m, name, &at))
		put_u64(b, r->base[at]);
	else
		buf_str(b, none);
}

static void cell_ds(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	put_metric(t, r, "dispatches", "-", b);
}

static void cell_in(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	put_metric(t, r, "interrupts", "-", b);
}

static void cell_raw_ds(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	put_metric(t, r, "dispatches", "", b);
}

static void cell_raw_in(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	put_metric(t, r, "interrupts", "", b);
}

/* Processes have none. */
static void cell_lv(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	if (r->level != NO_LEVEL)
		put_u64(b, r->level);
}

static const struct column level = { "LV", "level", COLUMN_OTHER, 2, false, cell_lv };
static const struct column calls = { "CALLS", "n", COLUMN_N, 5, false, cell_n };
static const struct column cee = { "CEE", "cee", COLUMN_N, 5, false, cell_cee };
static const struct column base = { "BASE", "base", COLUMN_VALUE, 7, true, cell_base };
static const struct column delta = { "DELTA", "delta", COLUMN_OTHER, 7, true, cell_delta };
static const struct column ds = { "DS", "ds", COLUMN_OTHER, 2, false, cell_ds };
static const struct column in = { "IN", "in", COLUMN_OTHER, 2, false, cell_in };
static const struct column *const columns[] = { &level, &calls, &cee, &base, &delta, &ds, &in, NULL };

static const struct column c_delta = { "", "delta", COLUMN_OTHER, 0, true, cell_raw_delta };
static const struct column c_ds = { "", "ds", COLUMN_OTHER, 0, false, cell_raw_ds };
static const struct column c_in = { "", "in", COLUMN_OTHER, 0, false, cell_raw_in };
static const struct column *const csv_columns[] = { &level, &calls, &cee, &csv_base, &csv_cum, &c_delta,
						    &c_ds, &c_in, &csv_name, &csv_kind, &csv_module, NULL };

struct rt_rows {
	struct contexts walk;
	bool in_process;	/* the root is a process; text has none */
};

static bool is_process(const struct view *v, uint32_t consumer)
{
	return v->m->consumers.items[consumer].kind == CONSUMER_PROCESS;
}

static bool next_row(void *rows, struct row *r)
{
	struct rt_rows *x = rows;
	const struct view *v = x->walk.v;
	const struct flow *f = &v->m->flow;
	const struct flow_node *node;
	uint32_t c;
	bool process;

	if (!contexts_next(&x->walk))
		return false;
	node = &f->nodes[x->walk.node];
	process = is_process(v, node->consumer);
	if (!x->walk.level)
		x->in_process = process;
	*r = (struct row){
		.level = process ? NO_LEVEL : x->walk.level - x->in_process, .rl = f->rl[x->walk.node],
		.n = node->n, .base = flow_base(f, x->walk.node), .cum = flow_cum(f, x->walk.node),
		.consumer = node->consumer, .parent = -1,
	};
	for (c = node->child; c; c = f->nodes[c].sibling)
		r->cee += f->nodes[c].n;
	return true;
}

static bool print_process(const struct view *v, const struct row *r, FILE *out)
{
	struct buf name = BUF_INIT;

	if (!is_process(v, r->consumer))
		return false;
	view_name(v, r->consumer, &name);
	fputs(" Process :: ", out);
	quote_print(name.data, out);
	putc('\n', out);
	buf_release(&name);
	return true;
}

static void put_indent(const struct row *r, struct buf *b)
{
	buf_putc(b, ' ');
}

/* Threads as hexadecimal number and name, functions with the kind of their code before them. */
static void put_name(const struct view *v, const struct row *r, struct buf *b)
{
	const struct consumer *c = &v->m->consumers.items[r->consumer];

	if (c->kind == CONSUMER_THREAD) {
		buf_fmt(b, "%08x_%s", (unsigned int)c->key, model_str(v->m, c->name));
		return;
	}
	if (kind_is(c->kind, KIND_JAVA))
		buf_str(b, c->kind == CONSUMER_JAVA ? "M:" : c->kind == CONSUMER_JAVA_INTERPRETED ? "I:" : "J:");
	else if (kind_is(c->kind, KIND_NATIVE))
		buf_str(b, "N:");
	view_name(v, r->consumer, b);
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

static void json_metric(struct json *j, const struct row *r, const struct model *m, const char *key,
			const char *name)
{
	unsigned int at;

	if (find_metric(m, name, &at))
		json_u64(j, key, r->base[at]);
	else
		json_null(j, key);
}

/* What the columns DELTA, DS and IN say. */
static void json_more(struct json *j, const struct row *r, const struct model *model)
{
	unsigned int m, at;

	json_array(j, "delta");
	for (m = 0; m < model->nr_shown; m++) {
		at = model_delta(model, m);
		json_u64_known(j, NULL, at, r->base[at]);
	}
	json_end(j);
	json_metric(j, r, model, "ds", "dispatches");
	json_metric(j, r, model, "in", "interrupts");
}

static void json_row(const struct view *v, const struct row *r, struct json *j)
{
	json_u64_known(j, "level", r->level != NO_LEVEL, r->level);
	json_consumer(j, v, r->consumer, true);
	json_u64(j, "callees", r->cee);
	json_sums(j, v, r->n, r->base, r->cum);
	json_more(j, r, v->m);
}

static uint64_t nr_hidden(const struct view *v, void *rows)
{
	const struct rt_rows *x = rows;

	return v->m->flow.nr_nodes - 1 - x->walk.nr;
}

static const struct list list = {
	.columns = columns,
	.csv_columns = csv_columns,
	.name_head = " NAME",
	.json_rows = "rows",
	.next = next_row,
	.heading = print_process,
	.indent = put_indent,
	.name = put_name,
	.json = json_row,
	.hidden = nr_hidden,
};

static int rt_print(struct view *v, FILE *out, struct err *e)
{
	struct rt_rows rows = { .walk.v = v };

	return list_print(&list, v, &rows, out);
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
