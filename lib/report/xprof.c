// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * xprof.c - the flat profile: a row per consumer.  Calls and base are sums over all its nodes,
 * cum over those of recursion level 1; cum of the others has a column of its own.
 */
#include <inttypes.h>

#include "base/mem.h"
#include "report/measures.h"

static const struct measure measures[] = {
	MEASURES_COUNT, MEASURES_PBASE, MEASURES_PCUM,
	{ MEASURE_PERCENT, OF_CUM2, "%Cum2", 5 },
	{ MEASURE_VALUE, OF_BASE, "Base", 6, "base" },
	{ MEASURE_VALUE, OF_CUM, "Cum", 5, "cum" },
	{ MEASURE_VALUE, OF_CUM2, .key = "cum_recursive" },
	MEASURES_BASE_CALL,
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

static void print_rows(struct measures *t, const struct flat *list, size_t nr)
{
	unsigned int w = t->v->m->flow.nr_metrics;
	struct buf name = BUF_INIT;
	size_t i;

	for (i = 0; i < nr; i++) {
		const struct flat *r = &list[i];
		const uint64_t *sums = r->sums;

		buf_reset(&name);
		buf_str(&name, "  ");
		view_name(t->v, r->consumer, &name);
		measures_row(t, NULL, (const struct cell[]){ cell_u64(i), cell_u64(i), cell_text(name.data) },
			     &(struct measured){ r->consumer, r->n, { sums, sums + w, sums + 2 * w } });
	}
	buf_release(&name);
}

static void print_total(const struct view *v, FILE *out)
{
	const struct model *m = v->m;
	unsigned int first = model_has_metrics(m, 0) ? m->metrics[0].source : 0;

	fprintf(out, "   =====\n%8" PRIu64 "\n", model_n(m, first, v->total_n, v->total));
}

static int xprof_print(struct view *v, FILE *out, struct err *e)
{
	static const struct sheet_column index = { "index" }, names[] = {
		{ .head = "Ind", .width = 4, .before = " " }, { .head = "  Name", .before = "", .cut = true },
	};
	struct measures t;
	uint64_t *sums;
	size_t nr, shown;
	struct flat *list = make_rows(v, &nr, &sums);

	shown = v->o->limit ? MIN(nr, v->o->limit) : nr;
	measures_init(&t, v, out);
	measures_own(&t, &index, 1);
	measures_consumer(&t);
	measures_add(&t, measures, ARRAY_SIZE(measures));
	measures_own(&t, names, ARRAY_SIZE(names));
	measures_begin(&t, "rows");
	print_rows(&t, list, shown);
	sheet_end_rows(&t.sheet);
	if (sheet_is_text(&t.sheet) && !v->o->choice.columns.nr_items)
		print_total(v, out);
	json_end(&t.sheet.json);
	measures_end(&t, nr - shown);
	free(list);
	free(sums);
	return 0;
}

const struct report report_xprof = {
	.name = "xprof",
	.help = "show a flat profile",
	.formats = FORMATS_TABLE | FORMATS_OF_TREE,
	.follows = "sort=column",
	.print = xprof_print,
};
