// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * xprof.c - the flat profile: a row a consumer.  Calls and base are sums over all its nodes,
 * cum over those of recursion level 1; cum of the others has a column of its own.
 */
#include "base/mem.h"
#include "flow/arcs.h"
#include "report/table.h"

static const struct column calls = { "Calls", "n", COLUMN_N, 7, false, cell_n };
static const struct column pbase = { "%Base", "pbase", COLUMN_PERCENT, 7, true, cell_pbase };
static const struct column pcum = { "%Cum", "pcum", COLUMN_PERCENT, 7, true, cell_pcum };
static const struct column pcum2 = { "%Cum2", "pcum2", COLUMN_PERCENT, 5, true, cell_pcum2 };
static const struct column base = { "Base", "base", COLUMN_VALUE, 6, true, cell_base };
static const struct column cum = { "Cum", "cum", COLUMN_VALUE, 5, true, cell_cum };
static const struct column ind = { "Ind", "index", COLUMN_OTHER, 4, false, cell_index };
static const struct column *const columns[] = { &calls, &column_samples, &column_count, &pbase, &pcum, &pcum2,
	&base, &cum, &ind, NULL };

static const struct column c_index = { "", "index", COLUMN_OTHER, 0, false, cell_index };
static const struct column c_name = { "", "name", COLUMN_OTHER, 0, false, cell_name };
static const struct column c_kind = { "", "kind", COLUMN_OTHER, 0, false, cell_kind };
static const struct column c_module = { "", "module", COLUMN_OTHER, 0, false, cell_module };
static const struct column c_n = { "", "n", COLUMN_OTHER, 0, false, cell_n };
static const struct column c_base = { "", "base", COLUMN_OTHER, 0, true, cell_raw_base };
static const struct column c_cum = { "", "cum", COLUMN_OTHER, 0, true, cell_raw_cum };
static const struct column c_cum2 = { "", "cum_recursive", COLUMN_OTHER, 0, true, cell_raw_cum2 };
static const struct column *const csv_columns[] = { &c_index, &c_name,	       &c_kind,	      &c_module,
						    &c_n,     &column_samples, &column_count, &c_base,
						    &c_cum,   &c_cum2,	       NULL };

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

	return flow_compare(&v->order, a->consumer, a->n, a->sums, a->sums + nr, b->consumer, b->n, b->sums,
			    b->sums + nr, false);
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
		r->n += f->nodes[i].n;
		for (m = 0; m < w; m++) {
			s[m] += flow_base(f, i)[m];
			s[(f->nodes[i].rl > 1 ? 2 : 1) * w + m] += flow_cum(f, i)[m];
		}
	}
	for (c = 0; c < nr_consumers; c++)
		if (rows[c].consumer)
			rows[used++] = rows[c];
	qsort_r(rows, used, sizeof(*rows), compare, (void *)v);
	*nr = used;
	return rows;
}

static struct row as_row(const struct view *v, const struct flat *x, uint64_t index)
{
	unsigned int w = v->m->flow.nr_metrics;

	return (struct row){ .index = index, .n = x->n, .base = x->sums, .cum = x->sums + w,
			     .cum2 = x->sums + 2 * w, .consumer = x->consumer };
}

static void print_text(struct view *v, const struct flat *rows, size_t nr, FILE *out)
{
	struct buf name = BUF_INIT;
	struct table t;
	struct row r;
	size_t i;

	head_text(v, out);
	table_init(&t, v, out, columns);
	table_units(&t);
	putc('\n', out);
	table_head(&t, "  Name");
	for (i = 0; i < nr; i++) {
		r = as_row(v, &rows[i], i);
		table_cells(&t, &r);
		buf_reset(&name);
		buf_str(&name, "  ");
		view_name(v, r.consumer, &name);
		table_end(&t, name.data);
	}
	fprintf(out, "   =====\n%8llu\n", (unsigned long long)v->total_n);
	buf_release(&name);
	table_release(&t);
}

static void print_json(struct view *v, const struct flat *rows, size_t nr, FILE *out)
{
	unsigned int m;
	struct json j;
	struct row r;
	size_t i;

	json_init(&j, out);
	head_json(v, &j, "xprof");
	json_array(&j, "rows");
	for (i = 0; i < nr; i++) {
		r = as_row(v, &rows[i], i);
		json_object(&j, NULL);
		json_u64(&j, "index", i);
		json_consumer(&j, v, r.consumer, true);
		json_sums(&j, v, r.n, r.base, r.cum);
		json_array(&j, "cum_recursive");
		for (m = 0; m < v->m->flow.nr_metrics; m++)
			json_u64(&j, NULL, r.cum2[m]);
		json_end(&j);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}

static void print_csv(struct view *v, const struct flat *rows, size_t nr, FILE *out)
{
	struct table t;
	struct row r;
	size_t i;

	table_init(&t, v, out, csv_columns);
	table_csv_head(&t);
	for (i = 0; i < nr; i++) {
		r = as_row(v, &rows[i], i);
		table_csv(&t, &r);
	}
	table_release(&t);
}

static int xprof_print(struct view *v, FILE *out, struct err *e)
{
	uint64_t *sums;
	size_t nr;
	struct flat *rows = make_rows(v, &nr, &sums);

	if (v->o->limit)
		nr = MIN(nr, v->o->limit);
	if (v->o->format == FORMAT_JSON)
		print_json(v, rows, nr, out);
	else if (v->o->format == FORMAT_CSV)
		print_csv(v, rows, nr, out);
	else
		print_text(v, rows, nr, out);
	free(rows);
	free(sums);
	return 0;
}

const struct report report_xprof = {
	.name = "xprof",
	.help = "show a flat profile",
	.formats = FORMATS_TABLE | FORMATS_OF_TREE,
	.print = xprof_print,
};
