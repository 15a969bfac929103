// SPDX-License-Identifier: GPL-2.0-or-later
/* report.c - the list of reports, and printing one of them. */
#include <stdlib.h>
#include <string.h>

#include "report/export.h"
#include "report/head.h"
#include "report/report.h"

/* rows of a report in a page */
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

static bool has_build_ids(const struct origin *origin)
{
	size_t i;

	for (i = 0; i < origin->nr_modules && !origin->modules[i].build_id_len; i++)
		;
	return i < origin->nr_modules;
}

static bool has_code(const struct model *m)
{
	size_t i;

	for (i = 1; i < m->consumers.nr_items && !kind_is(m->consumers.items[i].kind, KIND_CODE); i++)
		;
	return i < m->consumers.nr_items;
}

/*
 * Return whether the names, separated by commas, have events of JVMs and programs other than marks and
 * labels.
 */
static bool has_jvm_events(const char *names)
{
	size_t len;

	for (; names && *names; names += len + (names[len] == ',')) {
		len = strcspn(names, ",");
		if (strncmp(names, "mark", len) && strncmp(names, "label", len))
			return true;
	}
	return false;
}

static bool has_fact(const struct view *v, enum format_fact fact)
{
	const struct origin *origin = v->origin;

	switch (fact) {
	case FACT_TIMES:
		return origin->is_trace && v->m->flow.n_means == FLOW_SAMPLES && origin_knows(origin, "times");
	case FACT_CALLS:
		return v->m->flow.n_means == FLOW_CALLS;
	case FACT_JVM:
		return has_jvm_events(origin->jvm_events);
	case FACT_MARKS:
		return origin->jvm_events && strstr(origin->jvm_events, "mark");
	case FACT_LABELS:
		return origin->has_labels && !v->o->profile->by_label;
	case FACT_LINES:
		return origin->is_trace && has_code(v->m);
	case FACT_BUILD_IDS:
		return has_build_ids(origin);
	case FACT_DISPATCHES:
		return origin->has_dispatches;
	default:
		return false;		/* metrics: the message names them */
	}
}

/* Report what the trace has and the format, by its table, has no place for. */
static void put_lacks(struct view *v, const struct format *f)
{
	enum format_fact fact;

	/* hprof.c says it itself, of the tables that it has */
	if (f->lacks && v->origin->not_shown && v->o->format != FORMAT_HPROF)
		export_lacks(v, "%s", v->origin->not_shown);
	for (fact = 0; fact < FACT_NR; fact++)
		if (f->lacks & FACT_BIT(fact) && has_fact(v, fact))
			export_lacks(v, "%s", format_fact_name(fact));
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
		put_lacks(v, format_get(v->o->format));
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
	int ret;

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
	ret = r->print_trace(t, &own, f, &e);
	fclose(f);
	if (!ret && len)
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
