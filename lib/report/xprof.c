// SPDX-License-Identifier: GPL-2.0-or-later
/* xprof.c - the flat profile (flow/flat.h): a row per consumer. */
#include <errno.h>
#include <inttypes.h>

#include "base/mem.h"
#include "flow/flat.h"
#include "report/means.h"
#include "report/measures.h"

static const struct measure measures[] = {
	MEASURES_COUNT, MEASURES_PBASE, MEASURES_PCUM,
	{ MEASURE_PERCENT, OF_CUM2, "%Cum2", 5 },
	{ MEASURE_VALUE, OF_BASE, "Base", 6, "base" },
	{ MEASURE_VALUE, OF_CUM, "Cum", 5, "cum" },
	{ MEASURE_VALUE, OF_CUM2, .key = "cum_recursive" },
	MEASURES_BASE_CALL,
};

static void xprof_print_rows(struct measures *t, const struct flat *list, size_t nr)
{
	struct buf name = BUF_INIT;
	size_t i;

	for (i = 0; i < nr; i++) {
		const struct flat_row *r = &list->rows[i];

		buf_reset(&name);
		buf_str(&name, "  ");
		view_name(t->v, r->consumer, &name);
		measures_row(t, NULL, (const struct cell[]){ cell_u64(i), cell_u64(i), cell_text(name.data) },
			     &(struct measured){ r->consumer, r->n, { r->base, r->cum, r->cum2 } });
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
	struct flat list;
	size_t shown;

	if (v->o->format == FORMAT_SVG && v->m->flow.n_means != FLOW_CALLS)
		return err_set(e, ENODATA, "--format=svg draws the mean of calls, and these are not counted (record --callflow)");
	if (v->o->format == FORMAT_SVG)
		return means_print(v, out, e);
	flat_init(&list, &v->m->flow);
	flat_sort(&list, &v->order);
	shown = v->o->limit ? MIN(list.nr, v->o->limit) : list.nr;
	measures_init(&t, v, out);
	measures_own(&t, &index, 1);
	measures_consumer(&t);
	measures_add(&t, measures, ARRAY_SIZE(measures));
	measures_own(&t, names, ARRAY_SIZE(names));
	measures_begin(&t, "rows");
	xprof_print_rows(&t, &list, shown);
	sheet_end_rows(&t.sheet);
	if (sheet_is_text(&t.sheet) && !v->o->choice.columns.nr_items)
		print_total(v, out);
	json_end(&t.sheet.json);
	measures_end(&t, list.nr - shown);
	flat_release(&list);
	return 0;
}

static int xprof_check(const struct report_opts *o, struct err *e)
{
	if (o->format == FORMAT_SVG && !o->profile->by_label)
		return err_set(e, EINVAL, "--format=svg of --xprof draws means against a label: --by-label=KEY");
	return 0;
}

const struct report report_xprof = {
	.name = "xprof",
	.help = "show a flat profile",
	.formats = FORMATS_TABLE | FORMAT_BIT(FORMAT_SVG) | FORMATS_OF_TREE,
	.check = xprof_check,
	.follows = "sort=column",
	.print = xprof_print,
};
