// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * account.c - a row per thread of the kernel: what it has of an event by the count of who knows it all, such
 * as the CPU time charged to it, and what samples have of that.
 */
#include <stdlib.h>
#include <string.h>

#include "base/chance.h"
#include "base/mem.h"
#include "base/quote.h"
#include "model/account.h"
#include "report/report.h"
#include "report/sheet.h"

struct rows {
	const struct account *a;
	const struct report_opts *o;
	const struct account_thread **list;
	size_t nr, nr_hidden;		/* shown; left out by --limit */
	struct account_thread sum;	/* of all that were selected */
	bool selects;			/* some may not have been */
};

static bool account_report_is_time(const struct rows *r)
{
	return !strcmp(r->a->unit, "ns");
}

static bool is_cpu(const struct rows *r)
{
	return account_is_cpu(r->a->names, r->a->event);
}

static bool is_listed(const struct selection *s, const struct account_thread *t)
{
	return (t->counted || t->sampled) && selection_has_names(s, t->pid, t->tid, t->process, t->name);
}

static uint64_t account_report_key_of(const struct account_thread *t, int sort)
{
	if (sort == SORT_BASE)
		return t->sampled;
	return sort == SORT_N ? t->nr_samples : MAX(t->counted, t->sampled);
}

static int account_report_compare(const void *p, const void *q, void *ctx)
{
	const struct account_thread *a = *(const struct account_thread *const *)p,
				    *b = *(const struct account_thread *const *)q;
	const struct rows *r = ctx;
	uint64_t ka = account_report_key_of(a, r->o->sort), kb = account_report_key_of(b, r->o->sort);
	int c = r->o->sort == SORT_NAME ? strcmp(a->name, b->name) : 0;

	if (c || (r->o->sort != SORT_NAME && ka != kb))
		return c ? c : ka > kb ? -1 : 1;
	return COMPARE(a, b);
}

static void make_rows(struct rows *r)
{
	size_t i;

	r->list = xcalloc(r->a->nr + 1, sizeof(*r->list));
	for (i = 0; i < r->a->nr; i++) {
		const struct account_thread *t = &r->a->threads[i];

		if (!is_listed(&r->o->select, t)) {
			r->selects |= t->counted || t->sampled;
			continue;
		}
		r->sum.counted += t->counted;
		r->sum.sampled += t->sampled;
		r->sum.nr_samples += t->nr_samples;
		r->list[r->nr++] = t;
	}
	if (!r->selects) {
		r->sum.counted = r->a->counted;
		r->sum.sampled = r->a->sampled;
	}
	r->sum.known = true;
	qsort_r(r->list, r->nr, sizeof(*r->list), account_report_compare, r);
	if (r->o->limit && r->nr > r->o->limit) {
		r->nr_hidden = r->nr - r->o->limit;
		r->nr = r->o->limit;
	}
}

/* Return what text prints after the name of a thread with less than nine tenths of its samples, or NULL. */
static const char *why(const struct rows *r, const struct account_thread *t)
{
	uint64_t weight = r->sum.nr_samples ? r->sum.sampled / r->sum.nr_samples : 0;

	if (!t->known && r->a->rows == ACCOUNT_GROUPS)
		return "of processes that were not in these groups when they were found";
	if (!t->tid && t->nr_samples && r->a->rows == ACCOUNT_THREADS)
		return is_cpu(r) ? "charged to the threads that carried them" :
				   "counted for the threads that carried them";
	if (!t->known)
		return is_cpu(r) ? "it ended, and nobody said what it was charged" : "nobody said how much it was";
	if ((double)t->sampled >= .9 * (double)t->counted)
		return NULL;
	if (!chance_is_too_few(t->counted, t->sampled, weight))
		return NULL;
	return t->carries ? "virtual threads that it carried may have the rest" : "too few to be chance";
}

static const char *nouns(const struct rows *r)
{
	static const char *const of[] = {
		[ACCOUNT_THREADS] = "threads", [ACCOUNT_CPUS] = "CPUs", [ACCOUNT_GROUPS] = "control groups",
	};

	return of[r->a->rows];
}

static void add_row(struct sheet *s, const struct rows *r, const struct account_thread *t, const char *key)
{
	const char *note = key ? NULL : why(r, t);
	bool no_thread = key || r->a->rows != ACCOUNT_THREADS;
	struct buf b = BUF_INIT;

	quote_add(&b, key ? "=====" : t->name);
	if (!key && *t->process && strcmp(t->name, t->process)) {
		buf_str(&b, " (");
		quote_add(&b, t->process);
		buf_putc(&b, ')');
	}
	if (key && r->nr_hidden)
		buf_fmt(&b, " of all %zu %s; %zu are not shown", r->nr + r->nr_hidden, nouns(r),
			r->nr_hidden);
	if (note && sheet_is_text(s))
		buf_fmt(&b, ": %s", note);
	sheet_row(s, key, (const struct cell[]){
		key ? cell_absent : cell_text(t->name), key ? cell_absent : cell_text(t->process),
		no_thread ? cell_label("") : cell_u64(t->pid), no_thread ? cell_label("") : cell_u64(t->tid),
		t->known ? cell_u64(t->counted) : cell_none, cell_u64(t->sampled), cell_u64(t->nr_samples),
		t->known && t->counted ? cell_real((double)t->sampled / (double)t->counted) : cell_none,
		note ? cell_text(note) : cell_absent, cell_text(b.data),
	});
	buf_release(&b);
}

static void add_all(struct sheet *s, const struct rows *r)
{
	const struct sheet_column columns[] = {
		{ "name" },
		{ "process" },
		{ "pid", "PID", 7 },
		{ "tid", "TID", 7 },
		is_cpu(r) ? (struct sheet_column){ "cpu_ns", "CPU", 12, 3, .unit = UNIT_MS } :
		account_report_is_time(r) ? (struct sheet_column){ "counted_ns", "Counted", 12, 3,
		.unit = UNIT_MS } :
			     (struct sheet_column){ "counted", "Counted", 15 },
		account_report_is_time(r) ? (struct sheet_column){ "sampled_ns", "Sampled", 12, 3,
		.unit = UNIT_MS } :
			     (struct sheet_column){ "sampled", "Sampled", 15 },
		{ "samples", "Samples", 8 },
		{ "share", "Share", 8, 2, .unit = .01 },
		{ "why" },
		{ NULL, "Name", .before = "  " },
	};
	const struct account_thread rest = {
		.name = "[not known]", .process = "", .counted = r->a->nobodys, .known = true,
	};
	size_t i;

	sheet_columns(s, columns, ARRAY_SIZE(columns));
	if (r->o->format == FORMAT_JSON)
		add_row(s, r, &r->sum, "totals");
	json_array(&s->json, "threads");
	for (i = 0; i < r->nr; i++)
		add_row(s, r, r->list[i], NULL);
	if (rest.counted && !r->selects)
		add_row(s, r, &rest, NULL);
	sheet_end_rows(s);
	json_end(&s->json);
	if (sheet_is_text(s))
		add_row(s, r, &r->sum, "totals");
}

static void account_report_put_head(const struct rows *r, FILE *out)
{
	const struct account *a = r->a;
	struct buf b = BUF_INIT;

	report_put_counted(&b, a->unit, a->counted, a->what);
	buf_fmt(&b, " %s, ", a->by);
	report_put_counted(&b, a->unit, a->sampled, NULL);
	buf_fmt(&b, " in samples (%.1f %%)", a->counted ? 100. * (double)a->sampled / (double)a->counted : 0);
	if (is_cpu(r) && names_label(a->names, "clock")) {
		buf_str(&b, ", clock: ");
		quote_add(&b, names_label(a->names, "clock"));
	}
	buf_putc(&b, '\n');
	if (a->why && chance_is_too_few(a->counted, a->sampled, r->sum.nr_samples ?
				       r->sum.sampled / r->sum.nr_samples : MAX(a->weight, 1u))) {
		buf_str(&b, "not sampled: ");
		quote_add(&b, a->why);
		buf_putc(&b, '\n');
	}
	if (account_report_is_time(r)) {
		buf_str(&b, " Units :: ms; Share :: %\n\n");
	} else {
		buf_str(&b, " Units :: ");
		quote_add(&b, a->unit);
		buf_str(&b, "; Share :: %\n\n");
	}
	fputs(b.data, out);
	buf_release(&b);
}

static void print_rows(const struct rows *r, FILE *out)
{
	struct sheet s;

	sheet_init(&s, r->o->format, out);
	sheet_choose(&s, &r->o->choice);
	if (sheet_is_text(&s))
		account_report_put_head(r, out);
	report_json_begin(&s.json, "account");
	json_str(&s.json, "metric", names_event(r->a->names, r->a->event, ""));
	json_str(&s.json, "what", r->a->what);
	json_str(&s.json, "unit", r->a->unit);
	json_str(&s.json, "clock", is_cpu(r) ? names_label(r->a->names, "clock") : NULL);
	json_str(&s.json, "why", r->a->why);
	add_all(&s, r);
	report_json_hidden(&s.json, r->nr_hidden + sheet_nr_hidden(&s));
	json_end(&s.json);
	sheet_end(&s);
}

static int account_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	struct account a;
	struct rows r = { .a = &a, .o = o };
	const struct opt_list *metrics = &o->profile->metrics;
	int ret = account_read(&a, t, metrics && metrics->nr_items ? metrics->items[0] : NULL, e);

	if (!ret) {
		make_rows(&r);
		print_rows(&r, out);
		ret = !r.nr;
	}
	free(r.list);
	account_release(&a);
	return ret;
}

static const struct report_reason whole[] = {
	{ "cpu " FOLLOWS_TIMES, "the kernel's account is of the whole recording" },
	{ NULL, NULL },
};

const struct report report_account = {
	.name = "account",
	.help = "show how much of the CPU time of each thread was sampled, or of another --metric",
	.formats = FORMATS_TABLE,
	.needs = "a trace of a clock that sampled programs or processes",
	.follows = FOLLOWS_THREADS FOLLOWS_CHOICE "metric limit sort",
	.reasons = whole,
	.print_trace = account_print,
	.page_title = "Account",
	.page_rows = "threads",
};
