// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * xarc.c - what each consumer used, for which parents, through which children: a stanza each, with parents
 * above self (largest next to it) and children below.
 */
#include <string.h>

#include "base/mem.h"
#include "flow/arcs.h"
#include "report/measures.h"

enum { AT_STANZA, AT_STANZA_NAME, AT_ROW, AT_INDEX, AT_NAME, AT_SOURCE, AT_FUNCTION, NR_CELLS };

static const struct sheet_column columns[NR_CELLS] = {
	[AT_STANZA] = { "stanza", .outer = true }, [AT_STANZA_NAME] = { "stanza_name", .outer = true },
	[AT_ROW] = { "row", .outer = true },
	[AT_INDEX] = { "index" }, [AT_NAME] = { "name" },
	[AT_SOURCE] = { .head = "Source", .width = 10, .before = " " },
	[AT_FUNCTION] = { .head = "   Function", .before = "", .cut = true },
};

static const struct measure measures[] = {
	MEASURES_COUNT, MEASURES_PBASE, MEASURES_PCUM,
	{ MEASURE_VALUE, OF_BASE, "Base", 5, "base" },
	{ MEASURE_VALUE, OF_CUM, "Cum", 4, "cum" },
};

/* The names of the six kinds of rows. */
enum { SELF = ARC_NR, RSELF, NR_ROWS };
static const struct {
	const char *text, *csv, *json;
} names[NR_ROWS] = {
	[ARC_PARENTS] = { "Parent", "parent", "parents" }, [SELF] = { "Self", "self", "self" },
	[ARC_CHILDREN] = { "Child", "child", "children" },
	[ARC_RPARENTS] = { "rParent", "rparent", "rparents" }, [RSELF] = { "rSelf", "rself", "rself" },
	[ARC_RCHILDREN] = { "rChild", "rchild", "rchildren" },
};

/* Stanzas have parents above self; objects of JSON begin with self. */
static const uint8_t order[] = { ARC_PARENTS, SELF, ARC_CHILDREN, ARC_RPARENTS, RSELF, ARC_RCHILDREN },
	json_order[] = { SELF, ARC_PARENTS, ARC_CHILDREN, RSELF, ARC_RPARENTS, ARC_RCHILDREN };

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
	const struct view *v;
	struct arcs a;
	struct measures t;
	struct buf stanza, name;	/* names of the stanza and of the row */
};

/* There are as many of these as rows, and printf() would take a tenth of the time. */
static void put_index(struct buf *b, const char *before, uint32_t v, size_t width, const char *after)
{
	char digits[24], *p = digits + sizeof(digits);

	*--p = '\0';
	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	while (p > digits && (size_t)(digits + sizeof(digits) - 1 - p) < width)
		*--p = ' ';
	buf_str(b, before);
	buf_str(b, p);
	buf_str(b, after);
}

static void put_function(struct xarc *x, int rows, uint32_t consumer)
{
	if (rows == SELF)
		put_index(&x->name, " [", x->a.stanza_of[consumer], 0, "]  ");
	else if (!consumer)
		buf_str(&x->name, "    -) ");
	else
		put_index(&x->name, " ", x->a.stanza_of[consumer], 4, ") ");
	view_name(x->v, consumer, &x->name);
}

/* Print a row; rows: enum arc_rows, SELF or RSELF. */
static void xarc_print_row(struct xarc *x, size_t stanza, int rows, uint32_t consumer,
			   const struct arc_sums *s)
{
	bool self = rows == SELF || rows == RSELF, json = x->v->o->format == FORMAT_JSON;
	struct cell cells[NR_CELLS] = {
		[AT_STANZA] = cell_u64(stanza), [AT_STANZA_NAME] = cell_text(x->stanza.data),
		[AT_ROW] = cell_text(names[rows].csv), [AT_SOURCE] = cell_text(names[rows].text),
		[AT_INDEX] = consumer ? cell_u64(x->a.stanza_of[consumer]) : cell_none,
	};

	if (json && self) {		/* the stanza's object has these */
		cells[AT_INDEX] = cells[AT_NAME] = cell_absent;
	} else if (sheet_is_text(&x->t.sheet)) {
		buf_reset(&x->name);
		buf_str(&x->name, "");
		if (rows != RSELF)
			put_function(x, rows, consumer);
		cells[AT_FUNCTION] = cell_text(x->name.data);
	} else {
		cells[AT_NAME] = measures_name(&x->t, consumer);
	}
	measures_row(&x->t, self ? names[rows].json : NULL, cells,
		     &(struct measured){ consumer, s->n, { s->base, s->cum }, .bold = self });
}

static void xarc_print_rows(struct xarc *x, size_t stanza, int rows)
{
	const struct arc_stanza *s = &x->a.stanzas[stanza];
	struct json *j = &x->t.sheet.json;
	uint32_t i;

	if (rows == SELF) {
		xarc_print_row(x, stanza, rows, s->consumer, &s->self);
	} else if (rows == RSELF && s->nr_rself) {
		xarc_print_row(x, stanza, rows, s->consumer, &s->rself);
	} else if (rows == RSELF) {
		json_null(j, names[rows].json);
	} else {
		json_array(j, names[rows].json);
		for (i = 0; i < s->nr_rows[rows]; i++)
			xarc_print_row(x, stanza, rows, s->rows[rows][i].consumer, &s->rows[rows][i].sums);
		json_end(j);
	}
}

static void print_stanza(struct xarc *x, size_t stanza)
{
	uint32_t consumer = x->a.stanzas[stanza].consumer;
	struct json *j = &x->t.sheet.json;
	size_t i;

	if (sheet_is_text(&x->t.sheet))
		fputs("=======\n", x->t.sheet.out);
	buf_reset(&x->stanza);
	view_name(x->v, consumer, &x->stanza);
	json_object(j, NULL);
	json_u64(j, "index", stanza);
	measures_json_consumer(&x->t, consumer);
	for (i = 0; i < NR_ROWS; i++)
		xarc_print_rows(x, stanza, x->v->o->format == FORMAT_JSON ? json_order[i] : order[i]);
	json_end(j);
}

static int xarc_print(struct view *v, FILE *out, struct err *e)
{
	struct xarc x = { .v = v };
	size_t nr, i;

	arcs_init(&x.a, &v->m->flow);
	arcs_sort(&x.a, &v->order);
	nr = v->o->limit ? MIN(x.a.nr_stanzas, v->o->limit) : x.a.nr_stanzas;
	measures_init(&x.t, v, out);
	measures_own(&x.t, columns, AT_FUNCTION);
	measures_add(&x.t, measures, ARRAY_SIZE(measures));
	measures_own(&x.t, columns + AT_FUNCTION, 1);
	measures_begin(&x.t, "stanzas");
	for (i = 0; i < nr; i++)
		print_stanza(&x, i);
	if (nr && sheet_is_text(&x.t.sheet))
		fputs("=======\n", out);
	json_end(&x.t.sheet.json);
	measures_end(&x.t, x.a.nr_stanzas - nr);
	buf_release(&x.stanza);
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
