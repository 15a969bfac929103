// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * eventsum.c - events summed up: collections and safepoints by cause, compilations by tier and reason,
 * classes by loader, exceptions by class and method, marks and phases by name.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fields.h"
#include "base/labels.h"
#include "base/mem.h"
#include "base/quote.h"
#include "base/span.h"
#include "model/threadlabels.h"
#include "report/events.h"

struct part {			/* what is one row: equal in all of them */
	uint32_t kind, what, cause;
	uint32_t label;		/* "key=value" of marks and phases, where such rows are asked for */
};

struct item {			/* an event, and its row */
	struct part part;
	const struct event *event;
};

struct sum {
	struct part part;
	const struct item *items;
	size_t nr;
	/* of the durations; max_ns EVENT_UNKNOWN: there are none */
	uint64_t total_ns, max_ns, p50_ns, p95_ns, p99_ns;
	size_t nr_known;
	uint64_t reach_ns;		/* EVENT_UNKNOWN: not of this kind */
	uint64_t freed;			/* bytes; negative as two's complement */
	bool has_freed;
	uint64_t first_ns, last_ns;
};

struct sums {
	struct events v;
	struct events_opts eo;
	const char *label;		/* the key by which rows are separated; NULL: none */
	struct item *items;
	struct sum *list;
	size_t nr, alloc;
	uint64_t nr_of_kind[EVENT_NR];
	struct tallies tallies;
};

/* ---- from events to rows ---- */

static uint32_t eventsum_text(struct sums *s, const char *t)
{
	return strtab_adds(&s->v.strings.consumers.names, t);
}

static uint32_t tier(struct sums *s, const struct event *x)
{
	uint64_t v = event_value(x, VALUE_TIER);
	char name[32];

	if (v == EVENT_UNKNOWN)
		return eventsum_text(s, "");
	snprintf(name, sizeof(name), "tier %" PRIu64, v);
	return eventsum_text(s, name);
}

/* Append the value of a field, formatted as in labels; return false if x lacks the field. */
static bool field_value(const struct sums *s, const struct event *x, struct buf *b)
{
	struct span fields = span_init(x->fields_len ? events_fields(&s->v, x) : "", x->fields_len);
	struct field f;

	while (fields_next(&fields, &f)) {
		if (f.name_len != strlen(s->label) || memcmp(f.name, s->label, f.name_len))
			continue;
		if (f.type == FIELD_TEXT)
			buf_add(b, f.text, f.text_len);
		else if (f.type == FIELD_I64)
			buf_fmt(b, "%" PRId64, f.i64);
		else
			buf_fmt(b, "%.15g", f.f64);
		return true;
	}
	return false;
}

/* "key=value": of its own fields first, then of its thread, then of its process. */
static uint32_t label_of(struct sums *s, const struct event *x)
{
	const char *all = events_str(&s->v, s->v.strings.consumers.items[x->process].detail);
	bool unknown = x->labels == THREADLABELS_UNKNOWN;
	const char *own = unknown ? "" : events_str(&s->v, x->labels);
	struct buf b = BUF_INIT;
	uint32_t id;

	buf_fmt(&b, "%s=", s->label);
	if (!field_value(s, x, &b) && !labels_value(own, s->label, &b) &&
	    (unknown || !labels_value(all, s->label, &b))) {
		buf_reset(&b);
		buf_fmt(&b, unknown ? "[%s unknown]" : "[no %s]", s->label);
	}
	id = strtab_add(&s->v.strings.consumers.names, b.data, b.len);
	buf_release(&b);
	return id;
}

static struct part part_of(struct sums *s, const struct event *x)
{
	struct part p = { x->kind, x->what, x->cause, s->label ? label_of(s, x) : 0 };

	switch (x->kind) {
	case EVENT_COMPILE:
		p.what = tier(s, x);
		break;
	case EVENT_NOT_COMPILED:
	case EVENT_INVALIDATE:
	case EVENT_DEOPT:
		p.what = tier(s, x);
		break;
	case EVENT_SAFEPOINT:
		p.cause = eventsum_text(s, "");	/* who was last */
		break;
	case EVENT_CLASS_LOAD:
	case EVENT_CLASS_UNLOAD:
	case EVENT_CLASS_PRESENT:
		p.what = eventsum_text(s, "");
		break;
	default:
		break;
	}
	return p;
}

static int compare_parts(const struct part *a, const struct part *b)
{
	return COMPARE(a->kind, b->kind) ?: COMPARE(a->what, b->what) ?: COMPARE(a->cause, b->cause) ?:
	       COMPARE(a->label, b->label);
}

static int by_part(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int r = compare_parts(&x->part, &y->part);

	if (r)
		return r;
	return COMPARE(x->event->duration_ns, y->event->duration_ns) ?: COMPARE(x->event, y->event);
}

/* Return the percentile of the ascending durations, by nearest rank. */
static uint64_t percentile(const struct sum *x, unsigned int percent)
{
	size_t rank = (x->nr_known * percent + 99) / 100;

	return x->items[rank ? rank - 1 : 0].event->duration_ns;
}

static void add_up(struct sum *x)
{
	size_t i;

	x->max_ns = x->p50_ns = x->p95_ns = x->p99_ns = x->reach_ns = EVENT_UNKNOWN;
	x->first_ns = UINT64_MAX;
	for (i = 0; i < x->nr; i++) {
		const struct event *e = x->items[i].event;
		uint64_t before = event_value(e, VALUE_BEFORE), after = event_value(e, VALUE_AFTER);
		uint64_t reach = event_value(e, VALUE_REACH);

		x->first_ns = MIN(x->first_ns, e->time_ns);
		x->last_ns = MAX(x->last_ns, e->time_ns);
		if (e->duration_ns != EVENT_UNKNOWN) {
			x->total_ns += event_own_ns(e);
			x->nr_known++;		/* they come first */
		}
		if (reach != EVENT_UNKNOWN)
			x->reach_ns = reach + (x->reach_ns == EVENT_UNKNOWN ? 0 : x->reach_ns);
		if (before != EVENT_UNKNOWN && after != EVENT_UNKNOWN) {
			x->freed += before - after;
			x->has_freed = true;
		}
	}
	if (!x->nr_known)
		return;
	x->max_ns = x->items[x->nr_known - 1].event->duration_ns;
	x->p50_ns = percentile(x, 50);
	x->p95_ns = percentile(x, 95);
	x->p99_ns = percentile(x, 99);
}

static int in_order(const void *a, const void *b, void *ctx)
{
	const struct sum *x = a, *y = b;
	const struct sums *s = ctx;

	return COMPARE(x->part.kind, y->part.kind) ?: COMPARE(y->total_ns, x->total_ns) ?:
	       COMPARE(y->nr, x->nr) ?:
	       strcmp(events_str(&s->v, x->part.what), events_str(&s->v, y->part.what)) ?:
	       strcmp(events_str(&s->v, x->part.cause), events_str(&s->v, y->part.cause)) ?:
	       strcmp(events_str(&s->v, x->part.label), events_str(&s->v, y->part.label));
}

static void make_sums(struct sums *s)
{
	size_t i;

	s->items = xcalloc(s->v.nr, sizeof(*s->items));
	for (i = 0; i < s->v.nr; i++) {
		s->items[i] = (struct item){ part_of(s, &s->v.list[i]), &s->v.list[i] };
		s->nr_of_kind[s->v.list[i].kind]++;
	}
	qsort(s->items, s->v.nr, sizeof(*s->items), by_part);
	for (i = 0; i < s->v.nr; i++) {
		if (!i || compare_parts(&s->items[i].part, &s->items[i - 1].part)) {
			*VEC_ADD(s->list, s->nr, s->alloc) =
				(struct sum){ .part = s->items[i].part, .items = &s->items[i] };
		}
		s->list[s->nr - 1].nr++;
	}
	for (i = 0; i < s->nr; i++)
		add_up(&s->list[i]);
	qsort_r(s->list, s->nr, sizeof(*s->list), in_order, s);
}

/* ---- rows ---- */

static struct cell known(uint64_t v)
{
	return v == EVENT_UNKNOWN ? cell_absent : cell_u64(v);
}

static struct cell name_cell(const struct events *v, uint32_t string)
{
	const char *s = events_str(v, string);

	return *s ? cell_text(s) : cell_absent;
}

static struct cell time_cell(const struct sums *s, uint64_t time_ns)
{
	return cell_u64(time_ns - MIN(time_ns, s->v.trace_start_ns));
}

/* cells of a sum: when it was first and last, its kind, and what it is of */
#define WHEN_AND_WHAT(s, x) \
	time_cell(s, (x)->first_ns), time_cell(s, (x)->last_ns), \
	cell_text(event_kinds[(x)->part.kind].name), name_cell(&(s)->v, (x)->part.what)

/* columns for what has a duration */
static const struct sheet_column lasting[] = {
	{ "n", "n", 7 },
	{ "total_ns", "Total", 11, 6, .unit = UNIT_S },
	{ "mean_ns", "Mean", 10, 6, .unit = UNIT_S },
	{ "p50_ns", "p50", 10, 6, .unit = UNIT_S },
	{ "p99_ns", "p99", 10, 6, .unit = UNIT_S },
	{ "max_ns", "Max", 10, 6, .unit = UNIT_S },
	{ "run_percent", "%Run", 6, 2 },
	{ "reach_ns", "Reaching", 10, 6, .unit = UNIT_S },
	{ "freed_bytes", "Freed", 13 },
	{ "kind", "Kind", -10 },
	{ "what", "What", -32 },
	{ "cause", "Cause", -1 },
};

static void lasting_row(const struct sums *s, const struct sum *x, struct sheet *sheet)
{
	uint64_t elapsed = s->v.end_ns - s->v.start_ns;
	bool has = x->nr_known;

	sheet_row(sheet, NULL, (const struct cell[]){
		cell_u64(x->nr),
		has ? cell_u64(x->total_ns) : cell_absent,
		has ? cell_u64(x->total_ns / x->nr_known) : cell_absent,
		known(x->p50_ns),
		known(x->p99_ns),
		known(x->max_ns),
		has && elapsed ? cell_real(100.0 * x->total_ns / elapsed) : cell_absent,
		known(x->reach_ns),
		x->has_freed ? cell_i64((int64_t)x->freed) : cell_absent,
		cell_text(event_kinds[x->part.kind].name),
		name_cell(&s->v, x->part.what),
		name_cell(&s->v, x->part.cause),
	});
}

/* Phases of programs, and their marks. The last column is as wide as it is long. */
#define MARKED(what_width) \
	{ "n", "n", 9 }, \
	{ "total_ns", "Total", 11, 6, .unit = UNIT_S }, \
	{ "mean_ns", "Mean", 10, 6, .unit = UNIT_S }, \
	{ "p50_ns", "p50", 10, 6, .unit = UNIT_S }, \
	{ "p95_ns", "p95", 10, 6, .unit = UNIT_S }, \
	{ "p99_ns", "p99", 10, 6, .unit = UNIT_S }, \
	{ "max_ns", "Max", 10, 6, .unit = UNIT_S }, \
	{ "first_ns", "First", 11, 6, .unit = UNIT_S }, \
	{ "last_ns", "Last", 11, 6, .unit = UNIT_S }, \
	{ "kind", "Kind", -6 }, \
	{ "what", "What", what_width }

static const struct sheet_column marked[] = { MARKED(-1) };
/* The same by label. */
static const struct sheet_column labelled[] = { MARKED(-20), { "label", "Label", -1 } };

static void marked_row(const struct sums *s, const struct sum *x, struct sheet *sheet)
{
	bool has = x->max_ns != EVENT_UNKNOWN;

	sheet_row(sheet, NULL, (const struct cell[]){
		cell_u64(x->nr),
		has ? cell_u64(x->total_ns) : cell_absent,
		has ? cell_u64(x->total_ns / x->nr) : cell_absent,
		known(x->p50_ns),
		known(x->p95_ns),
		known(x->p99_ns),
		known(x->max_ns),
		WHEN_AND_WHAT(s, x),
		name_cell(&s->v, x->part.label),
	});
}

/* columns for what has none */
static const struct sheet_column happening[] = {
	{ "n", "n", 9 },
	{ "kind_percent", "%Kind", 6, 2 },
	{ "first_ns", "First", 11, 6, .unit = UNIT_S },
	{ "last_ns", "Last", 11, 6, .unit = UNIT_S },
	{ "kind", "Kind", -12 },
	{ "what", "What", -32 },
	{ "cause", "Cause", -1 },
};

static void happening_row(const struct sums *s, const struct sum *x, struct sheet *sheet)
{
	sheet_row(sheet, NULL, (const struct cell[]){
		cell_u64(x->nr),
		cell_real(100.0 * x->nr / s->nr_of_kind[x->part.kind]),
		WHEN_AND_WHAT(s, x),
		name_cell(&s->v, x->part.cause),
	});
}

/* columns for what has one and is listed by name as well */
static const struct sheet_column compiling[] = {
	{ "n", "n", 9 },
	{ "kind_percent", "%Kind", 6, 2 },
	{ "total_ns", "Total", 11, 6, .unit = UNIT_S },
	{ "mean_ns", "Mean", 10, 6, .unit = UNIT_S },
	{ "p50_ns", NULL },
	{ "p99_ns", "p99", 10, 6, .unit = UNIT_S },
	{ "max_ns", "Max", 10, 6, .unit = UNIT_S },
	{ "first_ns", "First", 11, 6, .unit = UNIT_S },
	{ "last_ns", "Last", 11, 6, .unit = UNIT_S },
	{ "kind", "Kind", -12 },
	{ "what", "What", -8 },
	{ "cause", "Cause", -1 },
};

static void compiling_row(const struct sums *s, const struct sum *x, struct sheet *sheet)
{
	bool has = x->nr_known;

	sheet_row(sheet, NULL, (const struct cell[]){
		cell_u64(x->nr),
		cell_real(100.0 * x->nr / s->nr_of_kind[x->part.kind]),
		has ? cell_u64(x->total_ns) : cell_absent,
		has ? cell_u64(x->total_ns / x->nr_known) : cell_absent,
		known(x->p50_ns),
		known(x->p99_ns),
		known(x->max_ns),
		WHEN_AND_WHAT(s, x),
		name_cell(&s->v, x->part.cause),
	});
}

static const struct sheet_column slow_columns[] = {
	{ "time_ns", "Time", 13, 6, .unit = UNIT_S },
	{ "duration_ns", "Duration", 10, 6, .unit = UNIT_S },
	{ "tier", "Tier", 4 },
	{ "bytecode_bytes", "Bytes", 7 },
	{ "compile_id", "Id", 6 },
	{ "osr", NULL },
	{ "what", NULL },
	{ NULL, "Method", -1 },
};

enum { NR_SLOW = 10 };

static int slowest_first(const void *a, const void *b)
{
	const struct event *x = *(const struct event *const *)a, *y = *(const struct event *const *)b;

	return COMPARE(y->duration_ns, x->duration_ns) ?: COMPARE(x, y);
}

static void slow_row(const struct sums *s, const struct event *x, struct sheet *sheet)
{
	const char *what = events_str(&s->v, x->what);
	bool osr = !strcmp(events_str(&s->v, x->cause), "OSR");
	struct buf b = BUF_INIT;

	buf_fmt(&b, "%s%s", what, osr ? ", OSR" : "");
	sheet_row(sheet, NULL, (const struct cell[]){
		cell_u64(x->time_ns - MIN(x->time_ns, s->v.trace_start_ns)),
		cell_u64(x->duration_ns),
		known(event_value(x, VALUE_TIER)),
		known(event_value(x, VALUE_BYTECODE)),
		known(event_value(x, VALUE_COMPILE_ID)),
		cell_bool(osr),
		cell_text(what),
		cell_text(b.data),
	});
	buf_release(&b);
}

/* Write the slowest compilations, in text and JSON. */
static void put_slow_compilations(const struct sums *s, struct sheet *sheet)
{
	const struct event **list = xcalloc(s->v.nr, sizeof(*list));
	bool is_text = sheet_is_text(sheet);
	size_t nr = 0, i;

	for (i = 0; i < s->v.nr; i++)
		if (s->v.list[i].kind == EVENT_COMPILE && s->v.list[i].duration_ns != EVENT_UNKNOWN)
			list[nr++] = &s->v.list[i];
	qsort(list, nr, sizeof(*list), slowest_first);
	if (is_text && nr)
		fputs("\nCompilations that took most time:\n\n", sheet->out);
	if (!is_text)
		json_array(&sheet->json, "slowest");
	if (nr)
		sheet_columns(sheet, slow_columns, ARRAY_SIZE(slow_columns));
	for (i = 0; i < MIN(nr, (size_t)NR_SLOW); i++)
		slow_row(s, list[i], sheet);
	if (!is_text)
		json_end(&sheet->json);
	free(list);
}

/* Print the sums of each kind, in text. */
static void put_totals(const struct sums *s, FILE *out)
{
	struct buf b = BUF_INIT;
	uint32_t kind;
	size_t i;

	for (kind = 0; kind < EVENT_NR; kind++) {
		uint64_t total = 0, nr_known = 0;

		if (!s->nr_of_kind[kind])
			continue;
		for (i = 0; i < s->nr; i++) {
			total += s->list[i].part.kind == kind ? s->list[i].total_ns : 0;
			nr_known += s->list[i].part.kind == kind ? s->list[i].nr_known : 0;
		}
		buf_fmt(&b, "%s%" PRIu64 " %s", b.len ? "; " : "", s->nr_of_kind[kind],
			event_kinds[kind].name);
		if (!nr_known)
			continue;
		buf_str(&b, " in ");
		report_put_duration(&b, total);
		if (nr_known < s->nr_of_kind[kind])
			buf_fmt(&b, " (%" PRIu64 " of them not timed)", s->nr_of_kind[kind] - nr_known);
	}
	if (b.len)
		fprintf(out, "\nAll: %s\n", b.data);
	buf_release(&b);
}

/* how a report shows its rows */
struct table {
	uint32_t kinds;
	const char *units;
	const struct sheet_column *columns;
	size_t nr_columns;
	void (*row)(const struct sums *s, const struct sum *x, struct sheet *sheet);
	void (*more)(const struct sums *s, struct sheet *sheet);	/* of text and JSON; or NULL */
	bool tallies;			/* the head has what JVMs count themselves */
	bool by_label;			/* rows are separated by the label that --by-label names */
};

static void put_sums(struct sums *s, const struct report_opts *o, const struct table *table, FILE *out)
{
	size_t nr = o->limit ? MIN(s->nr, (size_t)o->limit) : s->nr, i;
	uint64_t nr_hidden;
	struct sheet sheet;

	sheet_init(&sheet, o->format, out);
	sheet_choose(&sheet, &o->choice);
	if (o->format == FORMAT_JSON) {
		event_report_json(&s->v, &sheet.json, o->report->name);
		if (table->tallies)
			tallies_json(&s->tallies, TALLY_PAUSES, s->eo.select, &sheet.json);
		json_array(&sheet.json, "rows");
	} else if (o->format == FORMAT_TEXT) {
		event_report_head(&s->v, out);
		if (table->tallies)
			tallies_put(&s->tallies, TALLY_PAUSES, s->eo.select, out);
		fprintf(out, " Units :: %s\n\n", table->units);
	}
	sheet_columns(&sheet, table->columns, table->nr_columns);
	for (i = 0; i < nr; i++)
		table->row(s, &s->list[i], &sheet);
	sheet_end_rows(&sheet);
	nr_hidden = s->nr - nr + sheet_nr_hidden(&sheet);
	sheet_end(&sheet);	/* other tables are as they are */
	if (o->format == FORMAT_JSON) {
		json_end(&sheet.json);
		if (table->more)
			table->more(s, &sheet);
		report_json_hidden(&sheet.json, nr_hidden);
		json_end(&sheet.json);
	} else if (o->format == FORMAT_TEXT) {
		if (nr_hidden)
			fprintf(out, "... %" PRIu64 " more\n", nr_hidden);
		put_totals(s, out);
		if (table->more)
			table->more(s, &sheet);
	}
}

static int eventsum_print(struct trace_reader *t, const struct report_opts *o, const struct table *table,
			  FILE *out, struct err *e)
{
	struct sums s = { .label = table->by_label ? o->profile->by_label : NULL };
	int r = event_report_read(&s.v, &s.eo, table->kinds, t, o, e);

	if (r)
		return r;
	make_sums(&s);
	if (table->tallies)
		r = tallies_read(&s.tallies, &s.v.names, t, e);
	if (!r)
		put_sums(&s, o, table, out);
	r = r ? r : !s.nr;
	tallies_release(&s.tallies);
	free(s.items);
	free(s.list);
	events_release(&s.v);
	return r;
}

#define KIND(k) (1u << EVENT_##k)

static void put_lasts(const struct sums *s, struct sheet *sheet)
{
	lasts_put(&s->v, sheet);
}

static void put_loads(const struct sums *s, struct sheet *sheet)
{
	loads_put(&s->v, sheet);
}

static const struct table gc = {
	KIND(GC) | KIND(GC_CONCURRENT) | KIND(SAFEPOINT), "s; Freed :: bytes", lasting, ARRAY_SIZE(lasting),
	lasting_row, put_lasts, true,
};
static const struct table jit = {
	KIND(COMPILE) | KIND(NOT_COMPILED) | KIND(INVALIDATE) | KIND(DEOPT), "s", compiling,
	ARRAY_SIZE(compiling), compiling_row, put_slow_compilations,
};
static const struct table classes = {
	KIND(CLASS_LOAD) | KIND(CLASS_UNLOAD) | KIND(CLASS_PRESENT), "s", compiling, ARRAY_SIZE(compiling),
	compiling_row, put_loads,
};
static const struct table exceptions = {
	KIND(EXCEPTION), "s", happening, ARRAY_SIZE(happening), happening_row,
};
static const struct table marks = { KIND(MARK) | KIND(PHASE), "s", marked, ARRAY_SIZE(marked), marked_row };
static const struct table marks_by_label = {
	KIND(MARK) | KIND(PHASE), "s", labelled, ARRAY_SIZE(labelled), marked_row, .by_label = true,
};

static int marks_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	bool by_label = o->profile && o->profile->by_label;

	return eventsum_print(t, o, by_label ? &marks_by_label : &marks, out, e);
}

/* title: in the page for a browser, or NULL. */
#define REPORT_ROW(id, shows, of, also, title) \
	const struct report report_##id = { \
		.name = #id, .help = shows, .formats = FORMATS_TABLE, .needs = of, \
		.follows = FOLLOWS_EVENTS FOLLOWS_CHOICE also "limit", .reasons = event_reasons, \
		.print_trace = id##_print, .filters = RULES_ALL, .page_title = title, .page_rows = "rows", \
	}

#define REPORT(id, shows, title) \
	static int id##_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e) \
	{ \
		return eventsum_print(t, o, &id, out, e); \
	} \
	REPORT_ROW(id, shows, "a trace with events of JVMs", "", title)

REPORT(gc, "show garbage collections and safepoints by cause", "GC");
REPORT(jit, "show compilations by tier with their time, and deoptimisations by reason", NULL);
REPORT(classes, "show loaded classes by loader, with their time and what they were loaded for", NULL);
REPORT(exceptions, "show thrown exceptions by class and method", "Exceptions");
REPORT_ROW(marks, "show marks and phases of programs by name, and how long phases took",
	   "a trace with marks (arcprof record -e mark)", "by-label ", "Marks");
