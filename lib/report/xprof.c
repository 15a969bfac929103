// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * xprof.c - the flat profile: a row per consumer.  Calls and base are sums over all its nodes,
 * cum over those of recursion level 1; cum of the others has a column of its own.
 */
#include <inttypes.h>

#include "base/mem.h"
#include "report/list.h"

static const struct column pcum2 = { "%Cum2", "pcum2", COLUMN_PERCENT, 5, true, cell_pcum2 };
static const struct column base = { "Base", "base", COLUMN_VALUE, 6, true, cell_base };
static const struct column cum = { "Cum", "cum", COLUMN_VALUE, 5, true, cell_cum };
static const struct column ind = { "Ind", "index", COLUMN_OTHER, 4, false, cell_index };
static const struct column *const columns[] = {
	&column_count, &column_pbase, &column_pcum, &pcum2, &base, &cum, &column_base_call,
	&column_base_margin, &ind, NULL
};

static const struct column c_index = { "", "index", COLUMN_OTHER, 0, false, cell_index };
static const struct column c_cum2 = { "", "cum_recursive", COLUMN_OTHER, 0, true, cell_raw_cum2 };
static const struct column *const csv_columns[] = {
	&c_index, &csv_name, &csv_kind, &csv_module, &column_count, &csv_base, &csv_cum, &c_cum2,
	&csv_base_call, NULL
};

struct flat {
	uint32_t consumer;
	uint64_t n;
	uint64_t *sums;		/* base, cum, cum2: [3][nr_metrics] */
};

static int compare(const void *p, const void *q, void *ctx)
{
	const struct flat *a = p, *b = q;
	const struct view *v = ctx;
	unsigned int nr = v->m->flow.nr_metrics;

	return flow_compare(&v->order, &(struct flow_key){ a->consumer, a->n, a->sums, a->sums + nr },
			    &(struct flow_key){ b->consumer, b->n, b->sums, b->sums + nr }, false);
}

/* Rows in order; *nr of them; *sums holds what they point to. */
static struct flat *make_rows(const struct view *v, size_t *nr, uint64_t **sums)
{
	const struct flow *f = &v->m->flow;
	uint32_t nr_consumers = flow_nr_consumers(f), c;
	struct flat *rows = xcalloc(nr_consumers, sizeof(*rows));
	unsigned int m, w = f->nr_metrics;
	size_t i, used = 0;

	*sums = xcalloc((size_t)nr_consumers * 3 * w, sizeof(**sums));
	for (i = 1; i < f->nr_nodes; i++) {
		struct flat *r = &rows[f->nodes[i].consumer];
		uint64_t *s = *sums + (size_t)f->nodes[i].consumer * 3 * w;

		r->consumer = f->nodes[i].consumer;
		r->sums = s;
		flow_sum(&r->n, f->nodes[i].n);
		for (m = 0; m < w; m++) {
			flow_sum(&s[m], flow_base(f, i)[m]);
			flow_sum(&s[(f->rl[i] > 1 ? 2 : 1) * w + m], flow_cum(f, i)[m]);
		}
	}
	for (c = 0; c < nr_consumers; c++)
		if (rows[c].consumer)
			rows[used++] = rows[c];
	qsort_r(rows, used, sizeof(*rows), compare, (void *)v);
	*nr = used;
	return rows;
}

struct flat_rows {
	const struct view *v;
	struct flat *list;
	size_t nr, at;
	uint64_t nr_hidden;
};

static bool next_row(void *rows, struct row *r)
{
	struct flat_rows *x = rows;
	const struct flat *flat = &x->list[x->at];
	unsigned int w = x->v->m->flow.nr_metrics;

	if (x->at == x->nr)
		return false;
	*r = (struct row){ .index = x->at++, .n = flat->n, .base = flat->sums, .cum = flat->sums + w,
			   .cum2 = flat->sums + 2 * w, .consumer = flat->consumer };
	return true;
}

static void put_name(const struct view *v, const struct row *r, struct buf *b)
{
	buf_str(b, "  ");
	view_name(v, r->consumer, b);
}

static void put_total(const struct view *v, void *rows, FILE *out)
{
	const struct model *m = v->m;
	unsigned int first = model_has_metrics(m, 0) ? m->metrics[0].source : 0;

	fprintf(out, "   =====\n%8" PRIu64 "\n", model_n(m, first, v->total_n, v->total));
}

static void json_row(const struct view *v, const struct row *r, struct json *j)
{
	unsigned int m;

	json_u64(j, "index", r->index);
	json_consumer(j, v, r->consumer, true);
	json_sums(j, v, r->n, r->base, r->cum);
	json_array(j, "cum_recursive");
	for (m = 0; m < v->m->flow.nr_metrics; m++)
		json_u64(j, NULL, r->cum2[m]);
	json_end(j);
}

static uint64_t nr_hidden(const struct view *v, void *rows)
{
	const struct flat_rows *x = rows;

	return x->nr_hidden;
}

static const struct list list = {
	.columns = columns,
	.csv_columns = csv_columns,
	.name_head = "  Name",
	.json_rows = "rows",
	.next = next_row,
	.name = put_name,
	.foot = put_total,
	.json = json_row,
	.hidden = nr_hidden,
};

static int xprof_print(struct view *v, FILE *out, struct err *e)
{
	struct flat_rows rows = { .v = v };
	uint64_t *sums;
	int r;

	rows.list = make_rows(v, &rows.nr, &sums);
	if (v->o->limit && rows.nr > v->o->limit) {
		rows.nr_hidden = rows.nr - v->o->limit;
		rows.nr = v->o->limit;
	}
	r = list_print(&list, v, &rows, out);
	free(rows.list);
	free(sums);
	return r;
}

const struct report report_xprof = {
	.name = "xprof",
	.help = "show a flat profile",
	.formats = FORMATS_TABLE | FORMATS_OF_TREE,
	.print = xprof_print,
};
