// SPDX-License-Identifier: GPL-2.0-or-later
/* lifetimes.c - how long objects lived that died, by class and by the method that allocates them. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "model/lifetimes.h"
#include "report/report.h"
#include "report/sheet.h"

struct shown {
	struct lifetimes m;
	const struct report_opts *o;
	bool collections, classes;	/* rows are these */
	size_t nr;			/* of the rows */
};

static const char *lifetimes_report_name_of(const struct shown *s, uint32_t consumer)
{
	return consumer ? consumer_name(&s->m.strings.consumers, consumer) : NULL;
}

static double lifetimes_report_percent(uint64_t part, uint64_t whole)
{
	return 100.0 * (double)part / (double)MAX(whole, (uint64_t)1);
}

static void lifetimes_report_add_row(const struct shown *s, const struct lifetime_row *r, struct sheet *sheet)
{
	const char *class = lifetimes_report_name_of(s, r->class_name);
	const char *site = lifetimes_report_name_of(s, r->site);
	struct buf name = BUF_INIT;

	quote_add(&name, class ? class : "[unknown class]");
	buf_str(&name, site ? " in " : "");
	quote_add(&name, site ? site : "");
	sheet_row(sheet, NULL, (const struct cell[]){
		cell_text(class), cell_text(site), cell_u64(r->pid),
		cell_u64(r->died), cell_real(lifetimes_report_percent(r->young, r->died)), cell_u64(r->young),
		cell_real((double)r->ns / (double)MAX(r->died, (uint64_t)1)),
		cell_u64(r->p50_ns), cell_u64(r->p90_ns), cell_u64(r->samples), cell_text(name.data),
	});
	buf_release(&name);
}

static void lifetimes_report_add_rows(const struct shown *s, struct sheet *sheet)
{
	static const struct sheet_column columns[] = {
		{ "class" }, { "site" }, { "pid" },
		{ "died", "Died", 10 },
		{ "young_percent", "%Young", 6, 1 },
		{ "young" },
		{ "mean_ns", "Mean", 10, 1, .unit = UNIT_MS },
		{ "p50_ns", "p50", 10, 1, .unit = UNIT_MS },
		{ "p90_ns", "p90", 10, 1, .unit = UNIT_MS },
		{ "samples", "Samples", 8 },
		{ NULL, "Class, and who allocates", .before = "  " },
	};
	size_t i;

	sheet_columns(sheet, columns, ARRAY_SIZE(columns));
	for (i = 0; i < s->nr; i++)
		lifetimes_report_add_row(s, &s->m.rows[i], sheet);
	sheet_end_rows(sheet);
}

static void add_collections(const struct shown *s, struct sheet *sheet)
{
	static const struct sheet_column columns[] = {
		{ "time_ns", "Time", 9, 3, .unit = UNIT_S },
		{ "pid", "Process", 8 },
		{ "pauses", "Pauses", 7 },
		{ "died", "Died", 10 },
		{ "live", "Live", 10 },
	};
	size_t i;

	sheet_columns(sheet, columns, ARRAY_SIZE(columns));
	for (i = 0; i < s->nr; i++) {
		const struct lifetime_sweep *x = &s->m.sweeps[i];

		sheet_row(sheet, NULL, (const struct cell[]){
			cell_u64(x->time_ns - MIN(x->time_ns, s->m.start_ns)), cell_u64(x->pid),
			cell_u64(x->pauses), cell_u64(x->died), cell_u64(x->live),
		});
	}
	sheet_end_rows(sheet);
}

/* Print the classes: what was alive after each chosen collection is a column. */
static void add_classes(const struct shown *s, struct sheet *sheet)
{
	enum { BEFORE = 2 };
	struct sheet_column columns[BEFORE + LIFETIMES_POINTS + 1] = { { "class" }, { "pid" } };
	struct cell cells[ARRAY_SIZE(columns)];
	char times[LIFETIMES_POINTS][24];
	size_t nr = s->m.nr_points, i, k;
	struct buf name = BUF_INIT;

	for (k = 0; k < nr; k++) {
		snprintf(times[k], sizeof(times[k]), "%.3f",
			 (double)(s->m.points_ns[k] - MIN(s->m.points_ns[k], s->m.start_ns)) / 1e9);
		columns[BEFORE + k] = (struct sheet_column){ "live", "Live", 10, .of = times[k] };
	}
	columns[BEFORE + nr] = (struct sheet_column){ NULL, "Class", .before = "  " };
	sheet_columns(sheet, columns, BEFORE + nr + 1);
	for (i = 0; i < s->nr; i++) {
		const struct lifetime_class *x = &s->m.classes[i];
		const char *class = lifetimes_report_name_of(s, x->class_name);

		buf_reset(&name);
		quote_add(&name, class ? class : "[unknown class]");
		cells[0] = cell_text(class);
		cells[1] = cell_u64(x->pid);
		for (k = 0; k < nr; k++)
			cells[BEFORE + k] = cell_u64(x->live[k]);
		cells[BEFORE + nr] = cell_text(name.data);
		sheet_row(sheet, NULL, cells);
	}
	sheet_end_rows(sheet);
	buf_release(&name);
}

static void lifetimes_report_print_head(const struct shown *s, FILE *out)
{
	struct buf b = BUF_INIT;

	buf_fmt(&b, "%" PRIu64 " objects died, ", s->m.died);
	if (s->m.died)
		buf_fmt(&b, "%.1f %% of them young, ", lifetimes_report_percent(s->m.young, s->m.died));
	report_put_lost_of(&s->m.names, &b);
	buf_putc(&b, '\n');
	report_put_filter(s->o->select.filter, s->m.nr_left_out, "object", &b);
	if (s->classes)
		buf_fmt(&b, " Units :: objects (Live), after collections%s that ended so many seconds after the start\n\n",
			s->m.points_are_whole ? " of the whole heap" : "");
	else
		buf_str(&b, s->collections ? " Units :: s (Time), objects (Died, Live)\n\n" :
			" Units :: ms (Mean, p50, p90), until the next collection found them dead\n\n");
	fputs(b.data, out);
	buf_release(&b);
}

static void lifetimes_report_put_head(const struct shown *s, struct json *j)
{
	size_t i;

	report_json_source(j, "lifetimes", &s->m.names);
	report_json_lost_of(&s->m.names, j);
	report_json_filter(s->o->select.filter, s->m.nr_left_out, j);
	json_u64(j, "died", s->m.died);
	json_u64(j, "young", s->m.young);
	if (s->classes) {
		json_bool(j, "whole", s->m.points_are_whole);
		json_array(j, "times_ns");
		for (i = 0; i < s->m.nr_points; i++)
			json_u64(j, NULL, s->m.points_ns[i] - MIN(s->m.points_ns[i], s->m.start_ns));
		json_end(j);
	}
	json_end(j);
}

static size_t lifetimes_report_nr_rows(const struct shown *s)
{
	return s->collections ? s->m.nr_sweeps : s->classes ? s->m.nr_classes : s->m.nr_rows;
}

static void lifetimes_report_print(const struct shown *s, FILE *out)
{
	struct sheet sheet;
	uint64_t nr_hidden;

	sheet_init(&sheet, s->o->format, out);
	sheet_choose(&sheet, &s->o->choice);
	if (sheet_is_text(&sheet))
		lifetimes_report_print_head(s, out);
	lifetimes_report_put_head(s, &sheet.json);
	json_array(&sheet.json, s->collections ? "collections" : s->classes ? "classes" : "lifetimes");
	if (s->collections)
		add_collections(s, &sheet);
	else if (s->classes)
		add_classes(s, &sheet);
	else
		lifetimes_report_add_rows(s, &sheet);
	json_end(&sheet.json);
	nr_hidden = lifetimes_report_nr_rows(s) - s->nr + sheet_nr_hidden(&sheet);
	if (sheet_is_text(&sheet))
		report_print_hidden(nr_hidden, out);
	report_json_hidden(&sheet.json, nr_hidden);
	json_end(&sheet.json);
	sheet_end(&sheet);
}

static bool is_argument(const struct report_opts *o, const char *name)
{
	return o->argument && !strcmp(o->argument, name);
}

static int lifetimes_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	struct shown s = {
		.o = o, .collections = is_argument(o, "collections"), .classes = is_argument(o, "classes"),
	};
	int r = lifetimes_read(&s.m, t, &o->select, e);

	if (!r) {
		if (s.classes)
			lifetimes_by_class(&s.m);
		s.nr = o->limit ? MIN(lifetimes_report_nr_rows(&s), o->limit) : lifetimes_report_nr_rows(&s);
		lifetimes_report_print(&s, out);
		r = !lifetimes_report_nr_rows(&s);
	}
	lifetimes_release(&s.m);
	return r;
}

static int lifetimes_report_check(const struct report_opts *o, struct err *e)
{
	if (o->argument && *o->argument && !is_argument(o, "collections") && !is_argument(o, "classes"))
		return err_set(e, EINVAL, "invalid value '%s' of --lifetimes (expected: collections or classes)",
			       o->argument);
	return 0;
}

static const struct report_reason reasons[] = {
	{ "module symbol", "it has a row for each place" },
	{ "cpu " FOLLOWS_TIMES, "it needs the whole recording" },
	{ NULL, NULL },
};

const struct report report_lifetimes = {
	.name = "lifetimes",
	.help = "show how long Java objects lived, and which die young",
	.argument = "collections|classes",
	.argument_optional = true,
	.formats = FORMATS_TABLE,
	.legend = "\n %Young: dead at the first look at all objects after they were allocated\n",
	.check = lifetimes_report_check,
	.filters = RULES_ALL & ~RULE_BIT(RULE_LENGTH),
	.has_functions = true,
	.needs = "a trace with lifetimes of objects",
	.follows = FOLLOWS_THREADS FOLLOWS_CHOICE "limit",
	.reasons = reasons,
	.print_trace = lifetimes_print,
};
