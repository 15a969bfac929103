// SPDX-License-Identifier: GPL-2.0-or-later
/* report.c - the list of reports, and printing one of them. */
#include <stdlib.h>

#include "base/rules.h"
#include "report/export.h"
#include "report/head.h"
#include "report/report.h"

/* Of a report in a page. */
enum { PAGE_ROWS = 500 };

#define ROW(name) &report_##name,
const struct report *const reports[] = { REPORT_LIST(ROW) NULL };
#undef ROW

static void put_legend(const struct report_opts *o, FILE *out)
{
	/* it tells what the report's own columns are */
	if (o->format == FORMAT_TEXT && o->report->legend && !o->choice.columns.nr_items)
		fputs(o->report->legend, out);
}

int report_print(struct view *v, FILE *out, struct err *e)
{
	const struct report_opts *as_asked = v->o;
	struct report_opts o = *v->o;
	struct sheet_held h;
	int r;

	if (format_is_of_tree(v->o->format)) {
		const struct origin_account *a = head_short(v->origin);

		if (a && !v->o->profile->not_sampled)
			export_lacks(v, "%.0f %% of the %s, which has no samples (--not-sampled adds it)",
				     100. * (1 - (double)a->sampled / (double)a->counted), a->what);
		return format_get(v->o->format)->print_tree(v, out, e);
	}
	out = sheet_hold(&h, &o.choice, out);
	o.choice = h.choice;
	v->o = &o;
	r = sheet_let_go(&h, o.report->print(v, out, e), e);
	v->o = as_asked;
	if (!r)
		put_legend(v->o, h.out);
	return r;
}

int report_print_trace(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	struct report_opts held = *o;
	struct sheet_held h;
	int r;

	out = sheet_hold(&h, &o->choice, out);
	held.choice = h.choice;
	r = sheet_let_go(&h, o->report->print_trace(t, &held, out, e), e);
	if (r >= 0)
		put_legend(o, h.out);
	return r;
}

/* Reports differ in what selects their rows: of a part of the recording there are none. */
static bool selects_all(const struct selection *s)
{
	return !selection_wants(s) && !selection_has_window(s) && !s->cpus.nr_items &&
	       !(s->filter && s->filter->nr);
}

static void add_table(const struct report *r, struct trace_reader *t, const struct report_opts *o,
		      struct buf *b)
{
	struct report_opts own = *o;
	char *json = NULL;
	struct err e;
	size_t len;
	FILE *f;

	own.report = r;
	own.own = NULL;
	own.argument = NULL;
	own.format = FORMAT_JSON;
	own.sort = SORT_DEFAULT;
	own.choice = (struct sheet_choice){ .sort = NULL };
	own.limit = PAGE_ROWS;
	f = open_memstream(&json, &len);
	if (!f)
		return;
	if (r->print_trace(t, &own, f, &e))
		len = 0;
	fclose(f);
	if (len)
		buf_fmt(b, "%s{\"key\":\"%s\",\"title\":\"%s\",\"rows\":\"%s\",\"data\":%s}",
			b->len ? "," : "[", r->name, r->page_title, r->page_rows, json);
	free(json);
}

char *report_tables_json(struct trace_reader *t, const struct report_opts *o)
{
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; reports[i] && selects_all(&o->select); i++)
		if (reports[i]->page_title)
			add_table(reports[i], t, o, &b);
	if (!b.len)
		return NULL;
	buf_putc(&b, ']');
	return buf_take(&b);
}
