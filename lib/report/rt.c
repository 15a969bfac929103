// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rt.c - the call tree as JProf's log-rt had it: a row a context, with the calls to it and the calls
 * from it, in the order of first calls. Threads are at level 0; a line names their process.
 */
#include <inttypes.h>
#include <string.h>

#include "base/quote.h"
#include "report/table.h"

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

/* DS is a metric of its own where it was recorded. */
static void cell_ds(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	const struct model *model = t->v->m;
	unsigned int i;

	for (i = 0; i < model->flow.nr_metrics; i++)
		if (!strcmp(model_str(model, model->metrics[i].name), "dispatches")) {
			put_u64(b, r->base[i]);
			return;
		}
	buf_putc(b, '-');
}

static void cell_in(const struct table *t, const struct row *r, unsigned int m, struct buf *b)
{
	buf_putc(b, '-');
}

static const struct column level = { "LV", "level", COLUMN_OTHER, 2, false, cell_level };
static const struct column calls = { "CALLS", "n", COLUMN_N, 5, false, cell_n };
static const struct column cee = { "CEE", "cee", COLUMN_N, 5, false, cell_cee };
static const struct column base = { "BASE", "base", COLUMN_VALUE, 7, true, cell_base };
static const struct column delta = { "DELTA", "delta", COLUMN_OTHER, 7, true, cell_delta };
static const struct column ds = { "DS", "ds", COLUMN_OTHER, 2, false, cell_ds };
static const struct column in = { "IN", "in", COLUMN_OTHER, 2, false, cell_in };
static const struct column *const columns[] = { &level, &calls, &cee, &base, &delta, &ds, &in, NULL };

static const struct column c_kind = { "", "kind", COLUMN_OTHER, 0, false, cell_kind };
static const struct column c_module = { "", "module", COLUMN_OTHER, 0, false, cell_module };
static const struct column c_name = { "", "name", COLUMN_OTHER, 0, false, cell_name };
static const struct column c_base = { "", "base", COLUMN_OTHER, 0, true, cell_raw_base };
static const struct column c_delta = { "", "delta", COLUMN_OTHER, 0, true, cell_raw_delta };
static const struct column *const csv_columns[] = { &level, &calls, &cee, &c_base, &c_delta, &ds,
						    &c_name, &c_kind, &c_module, NULL };

struct walk {
	const struct view *v;
	uint32_t node;
	uint32_t lv;		/* the process is 0 */
	uint64_t nr;
};

static bool walk_next(struct walk *w)
{
	const struct flow *f = &w->v->m->flow;
	uint32_t next = flow_next(f, w->node), i = w->node;

	if (!next || (w->v->o->limit && w->nr >= w->v->o->limit))
		return false;
	if (f->nodes[next].parent == i)
		w->lv += i != FLOW_NONE;
	else
		for (; f->nodes[i].parent != f->nodes[next].parent; i = f->nodes[i].parent)
			w->lv--;
	w->nr++;
	w->node = next;
	return true;
}

static bool is_process(const struct walk *w)
{
	return w->v->m->consumers.items[w->v->m->flow.nodes[w->node].consumer].kind == CONSUMER_PROCESS;
}

static struct row walk_row(const struct walk *w)
{
	const struct flow *f = &w->v->m->flow;
	const struct flow_node *x = &f->nodes[w->node];
	struct row r = { .level = w->lv, .rl = x->rl, .n = x->n, .base = flow_base(f, w->node),
			 .cum = flow_cum(f, w->node), .consumer = x->consumer, .parent = -1 };
	uint32_t c;

	for (c = x->child; c; c = f->nodes[c].sibling)
		r.cee += f->nodes[c].n;
	return r;
}

/* Threads as hexadecimal number and name, functions with the kind of their code before them. */
static void put_name(const struct view *v, uint32_t consumer, struct buf *b)
{
	const struct consumer *c = &v->m->consumers.items[consumer];

	switch (c->kind) {
	case CONSUMER_THREAD:
		buf_fmt(b, "%08x_%s", (unsigned int)c->key, model_str(v->m, c->name));
		return;
	case CONSUMER_JAVA:
		buf_str(b, "M:");
		break;
	case CONSUMER_JAVA_INTERPRETED:
		buf_str(b, "I:");
		break;
	case CONSUMER_JAVA_COMPILED:
	case CONSUMER_JAVA_C1:
	case CONSUMER_JAVA_C2:
	case CONSUMER_JAVA_INLINED:
		buf_str(b, "J:");
		break;
	case CONSUMER_NATIVE:
	case CONSUMER_NATIVE_INLINED:
		buf_str(b, "N:");
		break;
	}
	view_name(v, consumer, b);
}

static void put_legend(FILE *out)
{
	fputs("\n"
	      " : LV    = Level of nesting       (Call Depth)\n"
	      " : CALLS = Calls to this method   (Callers)\n"
	      " : CEE   = Calls from this method (Callees)\n"
	      " : BASE  = Metrics observed, without DELTA (~: DELTA is as much, or a quarter uncertain)\n"
	      " : DELTA = What counting the calls cost, by calibration (-: not calibrated)\n"
	      " : DS    = Dispatches observed      (-: record with --metric dispatches)\n"
	      " : IN    = Interrupts observed      (-: not recorded)\n"
	      " : NAME  = Name of Method or Thread (M: Java method, N: native function)\n", out);
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
	table_head(&t, " NAME");
	while (walk_next(w)) {
		r = walk_row(w);
		buf_reset(&name);
		if (is_process(w)) {
			view_name(w->v, r.consumer, &name);
			fputs(" Process :: ", out);
			quote_print(name.data, out);
			putc('\n', out);
			continue;
		}
		r.level -= r.level != 0;
		put_name(w->v, r.consumer, &name);
		table_cells(&t, &r);
		buf_putc(&t.line, ' ');
		table_end(&t, name.data);
	}
	put_legend(out);
	buf_release(&name);
	table_release(&t);
}

static void print_json(struct walk *w, FILE *out)
{
	struct json j;
	struct row r;

	json_init(&j, out);
	head_json(w->v, &j, "rt");
	json_array(&j, "rows");
	while (walk_next(w)) {
		r = walk_row(w);
		json_object(&j, NULL);
		json_u64(&j, "level", r.level);
		json_consumer(&j, w->v, r.consumer, true);
		json_u64(&j, "callees", r.cee);
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

int rt_print(struct view *v, FILE *out)
{
	struct walk w = { .v = v };

	if (v->o->format == FORMAT_JSON)
		print_json(&w, out);
	else if (v->o->format == FORMAT_CSV)
		print_csv(&w, out);
	else
		print_text(&w, out);
	return 0;
}
