// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leaks.c - what keeps more and more objects, by class and by the method that allocates them: a table, a
 * sentence for each row, and how old all objects are that are left. Blocks of native memory: unfreed.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "model/leaks.h"
#include "report/events.h"
#include "report/leaks.h"
#include "report/report.h"
#include "report/sheet.h"

struct shown {
	struct leaks m;
	const struct report_opts *o;
	bool by_class;
	size_t nr;			/* of the rows that grow */
};

static const char *leaks_report_class_of(const struct shown *s, const struct leak_row *r)
{
	return r->class_name ? consumer_name(&s->m.strings.consumers, r->class_name) : "[unknown class]";
}

/* Return the site of the row, or NULL. */
static const char *site_of(const struct shown *s, const struct leak_row *r)
{
	return r->site ? consumer_name(&s->m.strings.consumers, r->site) : NULL;
}

/* Return percent, rounded down and never 100 %. */
static double percent(double confidence)
{
	return MIN(floor(confidence * 1000) / 10, 99.9);
}

/* ---- rows ---- */

static bool is_exact(const struct shown *s)
{
	return !s->m.interval;
}

static void put_sentence(const struct shown *s, const struct leak_row *r, struct buf *b)
{
	const char *site = site_of(s, r);

	buf_str(b, r->grows == LEAK_MAYBE ? "? " : "");
	quote_add(b, site ? site : leaks_report_class_of(s, r));
	buf_str(b, site ? " keeps " : " grows by ");
	leaks_put_bytes(b, r->a_second);
	buf_str(b, "/s");
	if (site) {
		buf_str(b, " more of ");
		quote_add(b, leaks_report_class_of(s, r));
	}
	buf_str(b, " since ");
	report_put_duration(b, r->since_ns);
	buf_str(b, "; ");
	leaks_put_bytes(b, r->bytes);
	if (r->range.high > r->range.low) {
		buf_str(b, " (");
		leaks_put_bytes(b, r->range.low);
		buf_str(b, " to ");
		leaks_put_bytes(b, r->range.high);
		buf_putc(b, ')');
	}
	buf_str(b, " are left, the oldest for ");
	report_put_duration(b, r->oldest_ns);
	if (r->oldest_pauses != LEAK_PAUSES_UNKNOWN)
		buf_fmt(b, " and %" PRIu32 " pauses", r->oldest_pauses);
	if (r->grows == LEAK_MAYBE)
		buf_str(b, "; no collection has looked at all of them");
}

/* Return a cell, absent in text for NaN. */
static struct cell cell_known(const struct sheet *sheet, double v)
{
	return isnan(v) && sheet_is_text(sheet) ? cell_absent : cell_real(v);
}

static void add_row(const struct shown *s, const struct leak_row *r, struct sheet *sheet)
{
	bool text = sheet_is_text(sheet);
	const char *site = site_of(s, r);
	struct buf name = BUF_INIT;
	char sure[24];

	snprintf(sure, sizeof(sure), "%.1f%c", percent(r->confidence), r->grows == LEAK_MAYBE ? '?' : ' ');
	quote_add(&name, leaks_report_class_of(s, r));
	buf_str(&name, site ? " in " : "");
	quote_add(&name, site ? site : "");
	sheet_row(sheet, NULL, (const struct cell[]){
		cell_text(leaks_report_class_of(s, r)), cell_text(site), cell_u64(r->pid),
		text ? cell_label(sure) : cell_real(r->confidence), cell_bool(r->grows == LEAK_YES),
		cell_real(r->a_second), cell_real(r->a_second_range.low), cell_real(r->a_second_range.high),
		cell_known(sheet, r->a_collection), cell_real(r->bytes), cell_real(r->range.low),
		cell_real(r->range.high), cell_label(r->scaled ? "=" : ""), cell_known(sheet, r->class_bytes),
		cell_bool(r->scaled), cell_u64(r->n), cell_u64(r->came), cell_u64(r->went),
		cell_u64(r->since_ns), cell_u64(r->oldest_ns), cell_u64(r->median_ns),
		r->oldest_pauses == LEAK_PAUSES_UNKNOWN ? cell_known(sheet, NAN) : cell_u64(r->oldest_pauses),
		cell_real(r->unknown), cell_text(name.data),
	});
	buf_release(&name);
}

static void add_rows(const struct shown *s, struct sheet *sheet)
{
	const struct sheet_column columns[] = {
		{ "class" }, { "site" }, { "pid" },
		{ "confidence", "%Sure", 6 },
		{ "looked_at" },
		{ "growth", "kB/s", 9, 1, .unit = UNIT_KB },
		{ "growth_low", "at least", 9, 1, .unit = UNIT_KB },
		{ "growth_high", "at most", 9, 1, .unit = UNIT_KB },
		{ "growth_pause", "kB/pause", 9, 1, .unit = UNIT_KB },
		{ "bytes", "kB left", 10, 1, .unit = UNIT_KB },
		{ "bytes_low", "at least", 10, 1, .unit = UNIT_KB },
		{ "bytes_high", "at most", 10, 1, .unit = UNIT_KB },
		{ NULL, "", 1, .before = "" },
		{ "class_bytes", "Class kB", 10, 1, .unit = UNIT_KB },
		{ "scaled" },
		{ "samples", "Samples", 7 },
		{ "came" }, { "went" }, { "since_ns" },
		{ "oldest_ns", "Oldest s", 8, 1, .unit = UNIT_S },
		{ "median_ns" },
		{ "oldest_pauses", "Pauses", 7 },
		{ "unknown_bytes" },
		{ NULL, s->by_class ? "Class" : "Class, and who allocates", .before = "  " },
	};
	size_t i;

	sheet->table = "leaks";
	sheet_columns(sheet, columns, ARRAY_SIZE(columns));
	for (i = 0; i < s->nr; i++)
		add_row(s, &s->m.rows[i], sheet);
	sheet_end_rows(sheet);
}

/* Print the rows, in sentences unless columns were chosen. */
static void print_rows(const struct shown *s, struct sheet *sheet)
{
	struct buf b = BUF_INIT;
	size_t i;

	fputc('\n', sheet->out);
	add_rows(s, sheet);
	if (!sheet->chosen)
		fputc('\n', sheet->out);
	for (i = 0; i < s->nr && !sheet->chosen; i++) {
		buf_reset(&b);
		put_sentence(s, &s->m.rows[i], &b);
		fprintf(sheet->out, " %s\n", b.data);
	}
	buf_release(&b);
}

/* Print what limits the findings. */
static void print_notes(const struct shown *s, FILE *out)
{
	const struct leaks *m = &s->m;
	struct buf b = BUF_INIT;

	if (m->whole_ns)
		report_put_duration(&b, m->whole_ns);
	if (!m->compared_ns)
		fprintf(out, " n/a: no collection%s has told which objects live: record with --live-gc, or for longer\n",
			m->pauses || !m->n ? "" : " in the time of this trace");
	else if (!m->whole_ns)
		fprintf(out, " ?: no collection of old objects was noticed: garbage among them counts as left; "
			"record for longer, or with --live-gc\n");
	else
		fprintf(out, " Old objects were looked at until %s after the start%s\n", b.data,
			m->nr_maybe ? "; what grows since (?) may be garbage" : "");
	buf_reset(&b);
	if (m->totals_ns) {
		report_put_duration(&b, m->totals_ns);
		fprintf(out, " Class kB is exact, counted by the JVM after %s; what is scaled to it has an =\n", b.data);
	}
	if (names_find_event(&m->names, "native-live") != UINT32_MAX)
		fprintf(out, " Native memory that is not freed: report --leaks=native\n");
	if (leaks_lack(m) == LEAKS_LACK_SAMPLES)
		fprintf(out, " Samples are too few to tell what grows: record more of them (-e live=16k), or for longer\n");
	if (m->nr_unpaired)
		fprintf(out, " %" PRIu64 " records of freed objects are missing\n", m->nr_unpaired);
	buf_release(&b);
}

static void put_range(const struct shown *s, struct buf *b)
{
	if (s->m.range.high <= s->m.range.low)
		return;
	buf_str(b, " (");
	leaks_put_bytes(b, s->m.range.low);
	buf_str(b, " to ");
	leaks_put_bytes(b, s->m.range.high);
	buf_putc(b, ')');
}

/* Print how much is unknown: the estimate is of the last collection, not of the end. */
static void print_unknown(const struct shown *s, FILE *out)
{
	struct buf b = BUF_INIT;

	if (s->m.unknown <= 0)
		return;
	leaks_put_bytes(&b, s->m.bytes);
	buf_str(&b, " are known to be live, as of the last collection; ");
	leaks_put_bytes(&b, s->m.unknown);
	fprintf(out, "%s were allocated since, of which nothing is known yet: \"at most\" includes them; record --live-gc collects in the end\n",
		b.data);
	buf_release(&b);
}

static void print_text(const struct shown *s, FILE *out)
{
	const struct leaks *m = &s->m;
	size_t all = m->nr_growing + m->nr_maybe, nr_hidden;
	struct buf b = BUF_INIT;
	struct sheet sheet;

	leaks_put_bytes(&b, m->bytes);
	put_range(s, &b);
	buf_fmt(&b, " of %" PRIu64 " sampled objects are left after %" PRIu32 " pauses of the collector, ", m->n,
		m->pauses);
	report_put_lost_of(&m->names, &b);
	buf_str(&b, "; ");
	buf_fmt(&b, "%zu of %zu %s keep%s growing", all, m->nr_rows, s->by_class ? "classes" : "places",
		all == 1 ? "s" : "");
	fprintf(out, "%s\n", b.data);
	print_unknown(s, out);
	report_print_filter(s->o->select.filter, m->nr_left_out, "object", out);
	event_put_refused(&m->names, out);
	buf_reset(&b);
	if (!is_exact(s)) {
		leaks_put_bytes(&b, (double)m->interval);
		fprintf(out, " Estimated from a sample every %s; at least, at most: 95 %% intervals\n",
			b.data);
	}
	print_notes(s, out);
	sheet_init(&sheet, FORMAT_TEXT, out);
	sheet_choose(&sheet, &s->o->choice);
	if (s->nr)
		print_rows(s, &sheet);
	nr_hidden = all - s->nr + sheet_nr_hidden(&sheet);
	report_print_hidden(nr_hidden, out);
	if (m->n)
		leaks_add_ages(m->ages, m->bytes, &sheet);
	sheet_end(&sheet);
	buf_release(&b);
}

/* ---- the other formats ---- */

static void leaks_report_json_head(const struct shown *s, struct json *j)
{
	const struct leaks *m = &s->m;

	report_json_source(j, "leaks", &m->names);
	report_json_lost_of(&m->names, j);
	report_json_filter(s->o->select.filter, m->nr_left_out, j);
	json_u64(j, "unpaired", m->nr_unpaired);
	json_u64(j, "interval", m->interval);
	json_u64(j, "samples", m->n);
	json_double(j, "bytes", m->bytes);
	json_double(j, "bytes_low", m->range.low);
	json_double(j, "bytes_high", m->range.high);
	json_double(j, "unknown_bytes", m->unknown);
	json_u64(j, "pauses", m->pauses);
	json_u64(j, "places", m->nr_rows);
	json_u64_known(j, "compared_ns", m->compared_ns, m->compared_ns);
	json_u64_known(j, "counted_ns", m->totals_ns, m->totals_ns);
	json_u64_known(j, "looked_at_ns", m->whole_ns, m->whole_ns);
	json_end(j);
}

static void print_data(const struct shown *s, FILE *out)
{
	struct sheet sheet;
	struct json *j = &sheet.json;
	uint64_t nr_hidden;

	sheet_init(&sheet, s->o->format, out);
	sheet_choose(&sheet, &s->o->choice);
	leaks_report_json_head(s, j);
	json_array(j, "leaks");
	add_rows(s, &sheet);
	json_end(j);
	nr_hidden = s->m.nr_growing + s->m.nr_maybe - s->nr + sheet_nr_hidden(&sheet);
	if (s->o->format == FORMAT_JSON)	/* CSV is one table */
		leaks_add_ages(s->m.ages, s->m.bytes, &sheet);
	report_json_hidden(j, nr_hidden);
	json_end(j);
	sheet_end(&sheet);
}

static const char *argument_of(const struct report_opts *o)
{
	return o->argument ? o->argument : "";
}

static int print_objects(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	struct shown s = { .o = o, .by_class = *argument_of(o) };
	const struct leaks_own *own = o->own;
	const struct leaks_opts lo = { s.by_class, &own->library };
	int r = leaks_read(&s.m, t, &o->select, &lo, e);

	if (!r) {
		s.nr = s.m.nr_growing + s.m.nr_maybe;
		s.nr = o->limit && s.nr > o->limit ? o->limit : s.nr;
		if (o->format == FORMAT_TEXT)
			print_text(&s, out);
		else
			print_data(&s, out);
	}
	leaks_release(&s.m);
	return r;
}

static int leaks_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	int r;

	if (!strcmp(argument_of(o), "native"))
		return unfreed_print(t, o, out, e);
	r = print_objects(t, o, out, e);
	if (r != -ENODATA || *argument_of(o))
		return r;
	r = unfreed_print(t, o, out, e);
	if (r == -ENODATA) {
		err_set(e, ENODATA, "neither live objects nor native memory were recorded");
		err_hint(e, "arcprof record -e live, or arcprof record -e native-memory");
	}
	return r;
}

static int check(const struct report_opts *o, struct err *e)
{
	const char *argument = argument_of(o);

	if (*argument && strcmp(argument, "class") && strcmp(argument, "native"))
		return err_set(e, EINVAL, "invalid value '%s' of --leaks (expected one of: class, native)",
			       argument);
	return 0;
}

#define O struct leaks_own
static const struct opt opts[] = {
	OPT_LIST(0, "library", O, library, "function",
		 "blame the callers of these functions, as for the JDK: org.example.cache.*"),
	OPT_END
};
#undef O

static const struct report_reason reasons[] = {
	{ "module symbol", "it has a row for each place" },
	{ "cpu " FOLLOWS_TIMES, "it needs the whole recording" },
	{ NULL, NULL },
};

const struct report report_leaks = {
	.name = "leaks",
	.help = "show what keeps more and more Java objects, or what native memory is not freed",
	.argument = "class|native",
	.argument_optional = true,
	.formats = FORMATS_TABLE,
	.legend = "\n How they are reached: report --metric live --xarc --symbol METHOD (of native memory: --metric native-live)\n",
	.opts_title = "For --leaks",
	.opts = opts,
	.opts_size = sizeof(struct leaks_own),
	.check = check,
	.filters = RULES_ALL & ~RULE_BIT(RULE_LENGTH),
	.has_functions = true,
	.needs = "a trace with live objects or native memory",
	.follows = FOLLOWS_THREADS FOLLOWS_CHOICE "limit",
	.reasons = reasons,
	.print_trace = leaks_print,
};
