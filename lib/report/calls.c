// SPDX-License-Identifier: GPL-2.0-or-later
/* calls.c - how long the calls of each function took: a row each; --calls=FUNCTION: slowest.c. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/callstats.h"

/* JSON begins with the name. */
enum { AT_JSON_NAME, AT_STATS, AT_OTHERS = 9, AT_OPEN, AT_EXACT, AT_BINS, AT_HISTOGRAM, AT_NAME, NR_CELLS };

struct stats {
	struct completed c;
	struct call_stats *rows;	/* [consumer]; those without n are none */
	size_t nr_rows, alloc_rows;
	uint32_t *order;		/* consumers */
	size_t nr_order;
	uint64_t nr_calls;
	unsigned int first_bin, last_bin;	/* of the histograms of all rows */
	bool exact;			/* all quantiles are */
};

void call_stats_add(struct call_stats *s, const struct completed_call *x)
{
	s->n += !x->open;
	s->self += x->self;
	if (x->whole) {
		spread_add(&s->elapsed, x->elapsed);
		s->others += x->others;
	} else {
		s->nr_open += !x->open;
	}
}

static void calls_report_on_left(void *ctx, const struct completed_call *x)
{
	struct stats *s = ctx;

	if (!x->selected)
		return;
	while (s->nr_rows <= x->consumer)
		*VEC_ADD(s->rows, s->nr_rows, s->alloc_rows) = (struct call_stats){ .n = 0 };
	call_stats_add(&s->rows[x->consumer], x);
	s->nr_calls += !x->open;
}

/* ---- rows ---- */

static int calls_report_compare(const void *p, const void *q, void *ctx)
{
	const struct stats *s = ctx;
	uint32_t a = *(const uint32_t *)p, b = *(const uint32_t *)q;
	uint64_t x = s->rows[a].elapsed.total, y = s->rows[b].elapsed.total;
	int r = strcmp(completed_name(&s->c, a), completed_name(&s->c, b));

	if (x != y)
		return x > y ? -1 : 1;
	return r ?: COMPARE(a, b);
}

static void make_order(struct stats *s)
{
	uint32_t i;

	s->order = xcalloc(s->nr_rows + 1, sizeof(*s->order));
	s->exact = true;
	s->first_bin = SPREAD_BINS;
	for (i = 0; i < s->nr_rows; i++) {
		const struct spread *d = &s->rows[i].elapsed;
		unsigned int bin;

		if (!s->rows[i].n && !s->rows[i].self)
			continue;
		s->order[s->nr_order++] = i;
		s->exact &= spread_is_exact(d);
		for (bin = 0; bin < SPREAD_BINS; bin++) {
			if (!d->bins[bin])
				continue;
			s->first_bin = MIN(s->first_bin, bin);
			s->last_bin = MAX(s->last_bin, bin);
		}
	}
	s->first_bin = MIN(s->first_bin, s->last_bin);
	qsort_r(s->order, s->nr_order, sizeof(*s->order), calls_report_compare, s);
}

static char shade(uint64_t n, uint64_t most)
{
	static const char shades[] = ".:-=+*#%@";
	const size_t nr = sizeof(shades) - 1;

	if (!n)
		return ' ';
	return shades[MIN((size_t)((double)n / (double)most * (double)nr), nr - 1)];
}

static void put_histogram(const struct stats *s, const struct spread *d, char *text)
{
	uint64_t most = 1;
	unsigned int bin;

	for (bin = s->first_bin; bin <= s->last_bin; bin++)
		most = MAX(most, d->bins[bin]);
	*text++ = '|';
	for (bin = s->first_bin; bin <= s->last_bin; bin++)
		*text++ = shade(d->bins[bin], most);
	*text++ = '|';
	*text = '\0';
}

static const struct sheet_column columns[NR_CELLS] = {
	[AT_JSON_NAME] = { .json = "name" },
	[AT_STATS] = { "n", "n", 9 },
	{ "total", "Total", 13, 3, .unit = UNIT_US },
	{ "self", "Self", 13, 3, .unit = UNIT_US },
	{ "mean", "Mean", 11, 3, .unit = UNIT_US },
	{ "p50", "p50", 11, 3, .unit = UNIT_US },
	{ "p90", "p90", 11, 3, .unit = UNIT_US },
	{ "p99", "p99", 11, 3, .unit = UNIT_US },
	{ "max", "Max", 11, 3, .unit = UNIT_US },
	[AT_OTHERS] = { "others", "Others", 13, 3, .unit = UNIT_US },
	[AT_OPEN] = { "open", "Open", 5 },
	[AT_EXACT] = { .json = "exact" },
	[AT_BINS] = { .json = "histogram" },
	[AT_HISTOGRAM] = { NULL, "Histogram", -9 },
	[AT_NAME] = { "name", "Name", -1, .json = "" },
};

static void json_bins(struct json *j, const char *key, const void *of, uint64_t at)
{
	const struct spread *d = of;
	unsigned int i;

	json_array(j, key);
	for (i = 0; i < SPREAD_BINS; i++) {
		if (!d->bins[i])
			continue;
		json_object(j, NULL);
		json_u64(j, "from", spread_bin_start(i));
		json_u64_known(j, "to", i + 1 < SPREAD_BINS, spread_bin_start(i + 1));
		json_u64(j, "n", d->bins[i]);
		json_end(j);
	}
	json_end(j);
}

/* Set the cells from AT_STATS to AT_BINS. */
static void set_cells(const struct completed *of, struct call_stats *x, struct cell none, struct cell *c)
{
	struct spread *d = &x->elapsed;
	bool has = d->nr;

	c[AT_STATS] = cell_u64(x->n);
	c[2] = has ? cell_u64(d->total) : none;
	c[3] = cell_u64(x->self);
	c[4] = has ? cell_u64(d->total / d->nr) : none;
	c[5] = has ? cell_u64(spread_quantile(d, 50)) : none;
	c[6] = has ? cell_u64(spread_quantile(d, 90)) : none;
	c[7] = has ? cell_u64(spread_quantile(d, 99)) : none;
	c[8] = has ? cell_u64(d->max) : none;
	c[AT_OTHERS] = !completed_has_others(of) ? cell_absent : has ? cell_u64(x->others) : none;
	c[AT_OPEN] = cell_u64(x->nr_open);
	c[AT_EXACT] = cell_bool(spread_is_exact(d));
	c[AT_BINS] = cell_made(json_bins, d, 0);
}

void call_stats_columns(const struct completed *c, const struct sheet_column *from, size_t nr,
			struct sheet_column *to)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		to[i] = from[i];
		if (to[i].key && !strcmp(to[i].key, "others") && !completed_has_others(c))
			to[i] = (struct sheet_column){ .width = 0 };
		if (to[i].unit == UNIT_US && !completed_in_ns(c))
			to[i].unit = 0;
	}
}

/* Append the name; with --by-kind a method may have a row for each kind of its code. */
static void calls_report_put_name(const struct stats *s, uint32_t consumer, struct buf *b)
{
	uint32_t kind = s->c.m.consumers.items[consumer].kind;

	buf_str(b, completed_name(&s->c, consumer));
	if (s->c.opts.profile->names.by_kind && kind_is(kind, KIND_JAVA))
		buf_fmt(b, " [%s]", consumer_kind_name(kind));
}

static void calls_report_put_row(struct stats *s, uint32_t consumer, struct sheet *sheet)
{
	struct buf b = BUF_INIT;
	struct cell name;
	char histogram[SPREAD_BINS + 3];
	struct cell c[NR_CELLS] = { 0 };

	calls_report_put_name(s, consumer, &b);
	name = cell_text(b.data);
	c[AT_JSON_NAME] = c[AT_NAME] = name;
	set_cells(&s->c, &s->rows[consumer], sheet_is_text(sheet) ? cell_absent : cell_none, c);
	put_histogram(s, &s->rows[consumer].elapsed, histogram);
	c[AT_HISTOGRAM] = cell_text(histogram);
	sheet_row(sheet, NULL, c);
	buf_release(&b);
}

void call_stats_members(const struct completed *c, struct call_stats *x, struct sheet *sheet)
{
	struct cell cells[NR_CELLS];
	size_t i;

	set_cells(c, x, cell_none, cells);
	for (i = AT_STATS; i <= AT_BINS; i++)
		sheet_member(sheet, sheet_json_key(&columns[i]), &cells[i]);
}

/* ---- the three formats ---- */

void call_stats_put_bound(const struct completed *c, unsigned int bin, struct buf *b)
{
	if (completed_in_ns(c))
		report_put_duration(b, spread_bin_start(bin));
	else
		buf_fmt(b, "%" PRIu64, spread_bin_start(bin));
}

static void calls_report_print_head(const struct stats *s, FILE *out)
{
	struct buf b = BUF_INIT;

	buf_fmt(&b, "%" PRIu64 " calls: ", s->nr_calls);
	completed_head(&s->c, &b);
	buf_fmt(&b, "\n Units :: %s; Histogram :: ", completed_in_ns(&s->c) ? "us" : completed_unit(&s->c));
	call_stats_put_bound(&s->c, s->first_bin, &b);
	buf_str(&b, " to ");
	call_stats_put_bound(&s->c, s->last_bin + 1, &b);
	buf_str(&b, " in steps of 1, 2, 5");
	if (!s->exact)
		buf_fmt(&b, "; p50, p90, p99 of more than %d calls are within %.1f %%", SPREAD_FEW,
			SPREAD_ERROR_PERCENT);
	fprintf(out, "%s\n\n", b.data);
	buf_release(&b);
}

static void print_table(struct stats *s, FILE *out)
{
	const struct report_opts *o = &s->c.opts;
	size_t nr = o->limit ? MIN(s->nr_order, (size_t)o->limit) : s->nr_order, i;
	struct sheet_column own[NR_CELLS];
	struct sheet sheet;

	call_stats_columns(&s->c, columns, NR_CELLS, own);
	own[AT_HISTOGRAM].width = -(int)MAX(s->last_bin - s->first_bin + 3, 9u);
	sheet_init(&sheet, o->format, out);
	sheet_choose(&sheet, &o->choice);
	if (sheet_is_text(&sheet))
		calls_report_print_head(s, out);
	completed_json(&s->c, &sheet.json);
	json_u64(&sheet.json, "calls", s->nr_calls);
	json_array(&sheet.json, "rows");
	sheet_columns(&sheet, own, NR_CELLS);
	for (i = 0; i < nr; i++)
		calls_report_put_row(s, s->order[i], &sheet);
	sheet_end_rows(&sheet);
	json_end(&sheet.json);
	nr = s->nr_order - nr + sheet_nr_hidden(&sheet);
	report_json_hidden(&sheet.json, nr);
	json_end(&sheet.json);
	if (sheet_is_text(&sheet) && nr)
		fprintf(out, "... %zu more\n", nr);
	sheet_end(&sheet);
}

static void calls_report_release(struct stats *s)
{
	size_t i;

	for (i = 0; i < s->nr_rows; i++)
		spread_release(&s->rows[i].elapsed);
	free(s->rows);
	free(s->order);
	completed_release(&s->c);
}

static int calls_report_print_all(struct trace_reader *t, const struct report_opts *o, FILE *out,
				  struct err *e)
{
	static const struct completed_sink sink = { .left = calls_report_on_left };
	struct stats s = { .nr_rows = 0 };
	int r = completed_init(&s.c, t, o, e);

	if (!r)
		r = completed_read(&s.c, t, &sink, &s, e);
	if (!r) {
		make_order(&s);
		print_table(&s, out);
		r = !s.nr_order;
	}
	calls_report_release(&s);
	return r;
}

static int calls_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	if (o->format == FORMAT_SVG)
		return plot_print(t, o, out, e);
	return *o->argument ? slowest_print(t, o, out, e) : calls_report_print_all(t, o, out, e);
}

static int calls_report_check(const struct report_opts *o, struct err *e)
{
	if (o->format == FORMAT_SVG && !*o->argument)
		return err_set(e, EINVAL, "--format=svg draws the calls of one function: --calls=FUNCTION");
	if (o->format == FORMAT_SVG && o->profile->metrics.nr_items)
		return err_set(e, EINVAL, "--format=svg draws how long calls took, and no --metric");
	if (*o->argument && o->profile->names.by_kind)
		return err_set(e, EINVAL, "--by-kind: --calls=FUNCTION does not separate kinds of code");
	if (*o->argument && o->choice.sort)
		return err_set(e, EINVAL, "--sort=%s: --calls=FUNCTION has the slowest calls first",
			       o->choice.sort);
	return completed_check(o, e);
}

/* ---- for a page ---- */

static int calls_report_stop(void *ctx, const struct rec_call_events *r)
{
	*(bool *)ctx = true;
	return 1;
}

bool calls_have_events(struct trace_reader *t)
{
	static const struct trace_sink sink = { .call_events = calls_report_stop };
	bool has_calls = false;
	struct err e;

	trace_read(t, &sink, &has_calls, &e);
	return has_calls;
}

char *report_calls_json(struct trace_reader *t, const struct report_opts *o)
{
	enum { MOST_ROWS = 500 };
	struct profile_opts profile = *o->profile;
	struct report_opts of_calls = *o;
	char *json = NULL;
	struct err e;
	size_t len;
	FILE *f = calls_have_events(t) ? open_memstream(&json, &len) : NULL;

	if (!f)
		return NULL;
	profile.metrics = (struct opt_list){ 0 };
	profile.names.by_kind = false;		/* the page folds kinds of code, too */
	of_calls.report = &report_calls;
	of_calls.argument = "";
	of_calls.format = FORMAT_JSON;
	of_calls.sort = SORT_DEFAULT;
	of_calls.limit = MOST_ROWS;
	of_calls.profile = &profile;
	of_calls.choice = (struct sheet_choice){ 0 };
	if (calls_report_print_all(t, &of_calls, f, &e)) {
		fclose(f);
		free(json);
		return NULL;
	}
	fclose(f);
	return json;
}

const struct report report_calls = {
	.name = "calls",
	.help = "show how long the calls of each function took; for one function, the slowest and what was in them",
	.argument = "function",
	.argument_optional = true,
	.formats = FORMATS_TABLE | FORMAT_BIT(FORMAT_SVG),
	.check = calls_report_check,
	.filters = FILTERS_OF_CALLS,
	.has_functions = true,
	.needs = "a call trace",
	.follows = FOLLOWS_OF_CALLS "by-kind",
	.reasons = calls_have_no_cpu,
	.print_trace = calls_print,
};
