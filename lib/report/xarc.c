// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * xarc.c - what each consumer used, for which parents, through which children: a stanza each, with parents
 * above self (largest next to it) and children below.
 */
#include <string.h>

#include "base/mem.h"
#include "flow/arcs.h"
#include "report/table.h"

static const struct column source = { "Source", "source", COLUMN_OTHER, 10, false, cell_source };
static const struct column base = { "Base", "base", COLUMN_VALUE, 5, true, cell_base };
static const struct column cum = { "Cum", "cum", COLUMN_VALUE, 4, true, cell_cum };
static const struct column *const columns[] = {
	&source, &column_count, &column_pbase, &column_pcum, &base, &cum, NULL
};

static const struct column c_stanza = { "", "stanza", COLUMN_OTHER, 0, false, cell_id };
static const struct column c_stanza_name = { "", "stanza_name", COLUMN_OTHER, 0, false, cell_stanza };
static const struct column c_row = { "", "row", COLUMN_OTHER, 0, false, cell_source };
static const struct column c_index = { "", "index", COLUMN_OTHER, 0, false, cell_parent };
static const struct column *const csv_columns[] = {
	&c_stanza, &c_stanza_name, &c_row, &c_index, &csv_name, &column_count, &csv_base, &csv_cum, NULL
};

/* The names of the eight kinds of rows; also the order of a stanza. */
enum { SELF = ARC_NR, RSELF };
static const struct {
	int rows;		/* enum arc_rows, SELF or RSELF */
	const char *text, *csv;
} order[] = {
	{ ARC_PARENTS, "Parent", "parent" }, { SELF, "Self", "self" }, { ARC_CHILDREN, "Child", "child" },
	{ ARC_RPARENTS, "rParent", "rparent" }, { RSELF, "rSelf", "rself" }, { ARC_RCHILDREN, "rChild", "rchild" },
};

static const char legend[] =
	"\n"
	" Base - Units directly in function\n"
	" Cum  - Units directly & indirectly in function\n"
	"\n"
	" Rows without r: contexts that do not already have the function above them (recursion level 1)\n"
	" Rows with r: those that do (recursion level 2 and above)\n"
	"\n"
	" 1. Sum(Parent(Calls))  = Self(Calls)\n"
	" 2. Sum(Parent(Base))   = Self(Base)\n"
	" 3. Sum(Parent(Cum))    = Self(Cum)\n"
	" 4. Sum(Child(Cum))     = Self(Cum) - Self(Base)\n"
	" 5. Sum(rParent(Calls)) = rSelf(Calls)\n"
	" 6. Sum(rParent(Base))  = rSelf(Base)\n"
	" 7. Sum(rParent(Cum))   = rSelf(Cum)\n"
	" 8. Sum(rChild(Cum))    = rSelf(Cum) - rSelf(Base)\n";

struct xarc {
	struct view *v;
	struct arcs a;
	struct table t;
	struct buf name;
	FILE *out;
};

static struct row make_row(const char *src, uint32_t consumer, const struct arc_sums *s)
{
	return (struct row){ .source = src, .n = s->n, .base = s->base, .cum = s->cum, .consumer = consumer };
}

static void text_row(struct xarc *x, const char *src, uint32_t consumer, const struct arc_sums *sums)
{
	struct row r = make_row(src, consumer, sums);

	table_cells(&x->t, &r);
	buf_reset(&x->name);
	if (!strcmp(src, "Self"))
		buf_fmt(&x->name, " [%u]  ", x->a.stanza_of[consumer]);
	else if (!consumer)
		buf_str(&x->name, "    -) ");
	else if (strcmp(src, "rSelf") != 0)
		buf_fmt(&x->name, " %4u) ", x->a.stanza_of[consumer]);
	if (strcmp(src, "rSelf") != 0)
		view_name(x->v, consumer, &x->name);
	table_end(&x->t, x->name.data ? x->name.data : "");
}

static void text_stanza(struct xarc *x, const struct arc_stanza *s)
{
	size_t i, k;

	fputs("=======\n", x->out);
	for (i = 0; i < ARRAY_SIZE(order); i++) {
		if (order[i].rows == SELF)
			text_row(x, order[i].text, s->consumer, &s->self);
		else if (order[i].rows == RSELF && s->nr_rself)
			text_row(x, order[i].text, s->consumer, &s->rself);
		else if (order[i].rows < ARC_NR)
			for (k = 0; k < s->nr_rows[order[i].rows]; k++)
				text_row(x, order[i].text, s->rows[order[i].rows][k].consumer,
					 &s->rows[order[i].rows][k].sums);
	}
}

static void print_text(struct xarc *x, size_t nr)
{
	size_t i;

	head_text(x->v, x->out);
	table_init(&x->t, x->v, x->out, columns);
	table_units(&x->t);
	putc('\n', x->out);
	table_head(&x->t, "   Function");
	for (i = 0; i < nr; i++)
		text_stanza(x, &x->a.stanzas[i]);
	if (nr)
		fputs("=======\n", x->out);
	table_release(&x->t);
}

static void json_rows(struct xarc *x, struct json *j, const char *key, const struct arc_stanza *s,
		      enum arc_rows kind)
{
	uint32_t i;

	json_array(j, key);
	for (i = 0; i < s->nr_rows[kind]; i++) {
		const struct arc *r = &s->rows[kind][i];

		json_object(j, NULL);
		if (r->consumer)
			json_u64(j, "index", x->a.stanza_of[r->consumer]);
		else
			json_null(j, "index");
		json_consumer(j, x->v, r->consumer, false);
		json_sums(j, x->v, r->sums.n, r->sums.base, r->sums.cum);
		json_end(j);
	}
	json_end(j);
}

static void json_stanza(struct xarc *x, struct json *j, size_t i)
{
	const struct arc_stanza *s = &x->a.stanzas[i];

	json_object(j, NULL);
	json_u64(j, "index", i);
	json_consumer(j, x->v, s->consumer, true);
	json_object(j, "self");
	json_sums(j, x->v, s->self.n, s->self.base, s->self.cum);
	json_end(j);
	json_rows(x, j, "parents", s, ARC_PARENTS);
	json_rows(x, j, "children", s, ARC_CHILDREN);
	if (s->nr_rself) {
		json_object(j, "rself");
		json_sums(j, x->v, s->rself.n, s->rself.base, s->rself.cum);
		json_end(j);
	} else {
		json_null(j, "rself");
	}
	json_rows(x, j, "rparents", s, ARC_RPARENTS);
	json_rows(x, j, "rchildren", s, ARC_RCHILDREN);
	json_end(j);
}

static void print_json(struct xarc *x, size_t nr)
{
	struct json j;
	size_t i;

	json_init(&j, x->out);
	head_json(x->v, &j);
	json_array(&j, "stanzas");
	for (i = 0; i < nr; i++)
		json_stanza(x, &j, i);
	json_end(&j);
	report_json_hidden(&j, x->a.nr_stanzas - nr);
	json_end(&j);
}

static void csv_row(struct xarc *x, size_t stanza, const char *src, uint32_t consumer,
		    const struct arc_sums *sums)
{
	struct row r = make_row(src, consumer, sums);

	r.id = stanza;
	r.stanza = x->name.data;
	r.parent = consumer ? (int64_t)x->a.stanza_of[consumer] : -1;
	table_csv(&x->t, &r);
}

static void print_csv(struct xarc *x, size_t nr)
{
	size_t i, k, n;

	table_init(&x->t, x->v, x->out, csv_columns);
	table_csv_head(&x->t);
	for (n = 0; n < nr; n++) {
		const struct arc_stanza *s = &x->a.stanzas[n];

		buf_reset(&x->name);
		view_name(x->v, s->consumer, &x->name);
		for (i = 0; i < ARRAY_SIZE(order); i++) {
			if (order[i].rows == SELF)
				csv_row(x, n, order[i].csv, s->consumer, &s->self);
			else if (order[i].rows == RSELF && s->nr_rself)
				csv_row(x, n, order[i].csv, s->consumer, &s->rself);
			else if (order[i].rows < ARC_NR)
				for (k = 0; k < s->nr_rows[order[i].rows]; k++)
					csv_row(x, n, order[i].csv, s->rows[order[i].rows][k].consumer,
						&s->rows[order[i].rows][k].sums);
		}
	}
	table_release(&x->t);
}

static int xarc_print(struct view *v, FILE *out, struct err *e)
{
	struct xarc x = { .v = v, .out = out };
	size_t nr;

	arcs_init(&x.a, &v->m->flow);
	arcs_sort(&x.a, &v->order);
	nr = v->o->limit ? MIN(x.a.nr_stanzas, v->o->limit) : x.a.nr_stanzas;
	if (v->o->format == FORMAT_JSON)
		print_json(&x, nr);
	else if (v->o->format == FORMAT_CSV)
		print_csv(&x, nr);
	else
		print_text(&x, nr);
	buf_release(&x.name);
	arcs_release(&x.a);
	return 0;
}

const struct report report_xarc = {
	.name = "xarc",
	.help = "show callers and callees of each function (the default)",
	.formats = FORMATS_TABLE | FORMATS_OF_TREE,
	.legend = legend,
	.print = xarc_print,
};
