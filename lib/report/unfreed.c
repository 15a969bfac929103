// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unfreed.c - native memory that was not freed, by the function that allocates and by who calls it, how old
 * it is, and how fast it grows.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/quote.h"
#include "model/unfreed.h"
#include "report/events.h"
#include "report/leaks.h"
#include "report/sheet.h"

void leaks_put_bytes(struct buf *b, double bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	size_t i;

	for (i = 0; fabs(bytes) >= 1000 && i + 1 < ARRAY_SIZE(units); i++)
		bytes /= 1000;
	buf_fmt(b, "%.*f %s", i && fabs(bytes) < 10 ? 2 : i && fabs(bytes) < 100 ? 1 : 0, bytes, units[i]);
}

void leaks_add_ages(const struct growth_age ages[GROWTH_AGES], double bytes, struct sheet *s)
{
	static const struct sheet_column columns[] = {
		{ "upto_ns", "up to", 10 },
		{ "samples" },
		{ "bytes", "kB", 10, 1, .unit = UNIT_KB },
		{ NULL, "Samples", 10 },
		{ NULL, "%", 6, 2 },
	};
	bool text = sheet_is_text(s);
	int i;

	if (text)
		fputs("\n Age of what is left, in s\n\n", s->out);
	s->table = "ages";
	sheet_columns(s, columns, ARRAY_SIZE(columns));
	json_array(&s->json, "ages");
	for (i = 0; i < GROWTH_AGES; i++) {
		bool older = ages[i].upto_ns == UINT64_MAX;
		char upto[24] = "older";

		if (text && !ages[i].n)
			continue;
		if (!older)
			snprintf(upto, sizeof(upto), "%g", ages[i].upto_ns / 1e9);
		sheet_row(s, NULL, (const struct cell[]){
			text ? cell_label(upto) : older ? cell_none : cell_u64(ages[i].upto_ns),
			cell_u64(ages[i].n), cell_real(ages[i].bytes), cell_u64(ages[i].n),
			cell_real(bytes > 0 ? 100 * ages[i].bytes / bytes : 0),
		});
	}
	sheet_end_rows(s);
	json_end(&s->json);
}

struct shown {
	struct unfreed u;
	const struct report_opts *o;
	size_t nr;			/* rows */
};

/* Return the name, or NULL if the consumer is not known. */
static const char *unfreed_name_of(const struct shown *s, uint32_t consumer)
{
	return consumer ? consumer_name(&s->u.strings.consumers, consumer) : NULL;
}

/*
 * Return how many percent were freed; NAN: not known, as samples were lost, or none was followed. Weights are
 * rounded at random, so numbers of samples are compared first.
 */
static double freed_percent(const struct unfreed_row *r)
{
	if (r->nr_allocated <= r->nr_unknown || r->n > r->nr_allocated - r->nr_unknown)
		return NAN;
	if (r->n == r->nr_allocated - r->nr_unknown || r->allocated <= r->unknown)
		return 0;
	return MAX(0., 100 - 100 * r->bytes / (r->allocated - r->unknown));
}

static const struct sheet_column columns[] = {
	{ "bytes", "kB left", 10, 1, .unit = UNIT_KB },
	{ "bytes_low", "at least", 10, 1, .unit = UNIT_KB },
	{ "bytes_high", "at most", 10, 1, .unit = UNIT_KB },
	{ "samples", "Samples", 8 },
	{ "freed_percent", "%Freed", 6, 1 },
	{ "oldest_ns", "Oldest s", 9, 2, .unit = UNIT_S },
	{ "median_ns", "Median s", 9, 2, .unit = UNIT_S },
	{ "newest_ns", "Newest s", 9, 2, .unit = UNIT_S },
	{ "bytes_per_s_low", "kB/s from", 9, 1, .unit = UNIT_KB },
	{ "bytes_per_s_high", "to", 9, 1, .unit = UNIT_KB },
	{ "pid", "PID", 8 },
	{ "unknown_bytes" },
	{ "call" }, { "site" }, { NULL, "Function, and who calls it", -1 },
};

static struct cell age_cell(const struct unfreed_row *r, uint64_t ns)
{
	return r->n ? cell_u64(ns) : cell_none;
}

static void unfreed_add_rows(const struct shown *s, struct sheet *sheet)
{
	struct buf b = BUF_INIT;
	size_t i;

	sheet->table = "places";
	sheet_columns(sheet, columns, ARRAY_SIZE(columns));
	for (i = 0; i < s->nr; i++) {
		const struct unfreed_row *r = &s->u.rows[i];
		const char *call = unfreed_name_of(s, r->call), *site = unfreed_name_of(s, r->site);

		buf_reset(&b);
		quote_add(&b, call ? call : "[unknown]");
		buf_str(&b, site ? " in " : "");
		quote_add(&b, site ? site : "");
		sheet_row(sheet, NULL, (const struct cell[]){
			cell_real(r->bytes), cell_real(r->range.low), cell_real(r->range.high),
			cell_u64(r->n), cell_real(freed_percent(r)), age_cell(r, r->oldest_ns),
			age_cell(r, r->median_ns), age_cell(r, r->newest_ns), cell_real(r->a_second.low),
			cell_real(r->a_second.high),
			cell_u64(r->pid), cell_real(r->unknown), cell_text(call), cell_text(site),
			cell_text(b.data),
		});
	}
	sheet_end_rows(sheet);
	buf_release(&b);
}

static void unfreed_print_head(const struct shown *s, FILE *out)
{
	const struct unfreed *u = &s->u;
	struct buf b = BUF_INIT;

	leaks_put_bytes(&b, u->bytes);
	buf_str(&b, " of native memory are not freed, of ");
	leaks_put_bytes(&b, u->allocated);
	buf_fmt(&b, " that were allocated; %" PRIu64 " sample%s, ", u->n, plural(u->n));
	report_put_lost_of(&u->names, &b);
	buf_fmt(&b, "; %zu place%s", u->nr_rows, plural(u->nr_rows));
	fprintf(out, "%s\n", b.data);
	if (u->unknown > 0) {
		buf_reset(&b);
		leaks_put_bytes(&b, u->unknown);
		fprintf(out, "of %s more it is not known, as the table of live blocks was full: \"at most\" includes them\n",
			b.data);
	}
	report_print_filter(s->o->select.filter, u->nr_left_out, "sample", out);
	event_put_refused(&u->names, out);
	if (u->interval) {
		buf_reset(&b);
		leaks_put_bytes(&b, (double)u->interval);
		fprintf(out, " Estimated from a sample every %s; at least, at most: 95 %% intervals\n",
			b.data);
	}
	fprintf(out, " Ages are those when the process ended, or the recording\n"
		" kB/s: growth in the second half of the time; from: n/a where so much was freed that it may have shrunk\n");
	buf_release(&b);
}

static void unfreed_print_text(const struct shown *s, struct sheet *sheet)
{
	unfreed_print_head(s, sheet->out);
	if (!s->u.nr_rows)
		return;
	fputc('\n', sheet->out);
	unfreed_add_rows(s, sheet);
	report_print_hidden(s->u.nr_rows - s->nr + sheet_nr_hidden(sheet), sheet->out);
	leaks_add_ages(s->u.ages, s->u.bytes, sheet);
}

static void unfreed_print_json(const struct shown *s, struct sheet *sheet)
{
	const struct unfreed *u = &s->u;
	struct json *j = &sheet->json;
	uint64_t nr_hidden;

	report_json_source(j, "leaks", &u->names);
	report_json_lost_of(&u->names, j);
	report_json_filter(s->o->select.filter, u->nr_left_out, j);
	json_u64(j, "interval", u->interval);
	json_u64(j, "samples", u->n);
	json_double(j, "bytes", u->bytes);
	json_double(j, "allocated_bytes", u->allocated);
	json_double(j, "unknown_bytes", u->unknown);
	json_u64(j, "places", u->nr_rows);
	json_end(j);
	json_array(j, "not_freed");
	unfreed_add_rows(s, sheet);
	json_end(j);
	nr_hidden = u->nr_rows - s->nr + sheet_nr_hidden(sheet);
	leaks_add_ages(u->ages, u->bytes, sheet);
	report_json_hidden(j, nr_hidden);
	json_end(j);
}

int unfreed_print(struct trace_reader *t, const struct report_opts *o, FILE *out, struct err *e)
{
	struct shown s = { .o = o };
	struct sheet sheet;
	const struct leaks_own *own = o->own;
	int r = unfreed_read(&s.u, t, &o->select, &own->library, e);

	if (!r) {
		s.nr = o->limit && s.u.nr_rows > o->limit ? o->limit : s.u.nr_rows;
		sheet_init(&sheet, o->format, out);
		sheet_choose(&sheet, &o->choice);
		if (o->format == FORMAT_TEXT)
			unfreed_print_text(&s, &sheet);
		else if (o->format == FORMAT_JSON)
			unfreed_print_json(&s, &sheet);
		else
			unfreed_add_rows(&s, &sheet);
		sheet_end(&sheet);
	}
	unfreed_release(&s.u);
	return r;
}
