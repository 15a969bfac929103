// SPDX-License-Identifier: GPL-2.0-or-later
/* memory_trace.c - "arcprof memory" of a trace: where the resident memory of its processes was. */
#include <inttypes.h>

#include "base/mem.h"
#include "base/quote.h"
#include "report/events.h"
#include "report/format.h"
#include "show/memory.h"

/* ---- readings as rows ---- */

static const struct sheet_column reading_columns[] = {
	{ .key = "time_ns", .head = "Time s", .width = 9, .decimals = 1, .unit = UNIT_S },
	{ .key = "pid", .head = "PID", .width = 8 },
	{ .key = "resident", .head = "Resident", .width = 12 },
	{ .key = "swapped", .head = "Swapped", .width = 10 },
	{ .key = "committed", .head = "Committed", .width = 12 },
	{ .key = "mapped", .head = "Mapped", .width = 14 },
	{ .key = "part" }, { .head = "Part", .width = -1 },
};

static void reading_rows(struct sheet *s, const struct footprint *f)
{
	size_t i;

	for (i = 0; i < RESIDENT_NR_PARTS; i++) {
		const struct resident_sum *p = &f->r.parts[i];
		const struct cell cells[] = {
			cell_u64(f->time_ns), cell_u64(f->r.pid), memory_amount(s, p->rss),
			memory_amount(s, p->swap), memory_amount(s, p->usable), memory_amount(s, p->mapped),
			cell_text(resident_keys[i]), cell_text(resident_names[i]),
		};

		if (p->mapped || p->rss)
			sheet_row(s, NULL, cells);
	}
}

/* ---- who has native memory ---- */

enum { MOST_PLACES = 10 };		/* in text */

static const struct sheet_column place_columns[] = {
	{ .key = "bytes", .head = "Not freed", .width = 12 },
	{ .key = "bytes_low", .head = "at least", .width = 12 },
	{ .key = "bytes_high", .head = "at most", .width = 12 },
	{ .key = "samples", .head = "Samples", .width = 10 },
	{ .key = "call" }, { .key = "site" }, { .head = "Function, and who calls it", .width = -1 },
};

static void place_row(struct sheet *s, const struct unfreed *u, const struct unfreed_row *r)
{
	const char *call = r->call ? consumer_name(&u->strings.consumers, r->call) : NULL;
	const char *site = r->site ? consumer_name(&u->strings.consumers, r->site) : NULL;
	struct buf name = BUF_INIT;

	quote_add(&name, call ? call : "[unknown]");
	buf_str(&name, site ? " in " : "");
	quote_add(&name, site ? site : "");
	sheet_row(s, NULL, (const struct cell[]){
		memory_amount(s, (uint64_t)r->bytes), memory_amount(s, (uint64_t)r->range.low),
		memory_amount(s, (uint64_t)r->range.high), cell_u64(r->n),
		cell_text(call), cell_text(site), cell_text(name.data),
	});
	buf_release(&name);
}

/* Print the places of one process, the largest first; return how many there are. */
static size_t print_places(struct sheet *s, const struct unfreed *u, uint32_t proc, size_t most)
{
	size_t i, nr = 0;

	s->table = "places";
	sheet_columns(s, place_columns, ARRAY_SIZE(place_columns));
	for (i = 0; i < u->nr_rows; i++)
		if (u->rows[i].proc == proc && nr++ < most)
			place_row(s, u, &u->rows[i]);
	sheet_end_rows(s);
	return nr;
}

static void text_places(struct sheet *s, const struct unfreed *u, uint32_t proc)
{
	size_t nr;

	fprintf(s->out, "\nNative memory that was allocated while it was recorded, and not freed, resident or not%s\n\n",
		u->interval ? "; estimates, with 95 % intervals" : "");
	nr = print_places(s, u, proc, MOST_PLACES);
	if (nr > MOST_PLACES)
		fprintf(s->out, "\n%zu row%s not shown: arcprof report --leaks=native\n", nr - MOST_PLACES,
			nr - MOST_PLACES == 1 ? " is" : "s are");
}

static void json_places(struct sheet *s, const struct unfreed *u, uint32_t proc)
{
	if (!u) {
		json_null(&s->json, "native_memory");
		return;
	}
	json_array(&s->json, "native_memory");
	print_places(s, u, proc, SIZE_MAX);
	json_end(&s->json);
}

/* ---- the report ---- */

/* Return whether the same is known of both: the JVM was asked, or it was not. */
static bool are_alike(const struct resident *a, const struct resident *b)
{
	return a->is_jvm == b->is_jvm && !*a->not_asked == !*b->not_asked && a->not_read == b->not_read;
}

/* Return the first reading that can be compared with the last; NULL: there is none. */
static const struct footprint *first_like(const struct footprint *f, const struct footprint *last)
{
	while (f < last && !are_alike(&f->r, &last->r))
		f++;
	return f < last ? f : NULL;
}

/* Print the last reading of a process, beside the first. u: NULL: native memory was not recorded. */
static void print_process(struct sheet *s, const struct footprint *f, size_t nr, const struct unfreed *u)
{
	const struct footprint *last = &f[nr - 1], *first = first_like(f, last);
	char when[120];

	snprintf(when, sizeof(when), ", %.1f s after the start", last->time_ns / 1e9);
	if (first)
		snprintf(when + strlen(when), sizeof(when) - strlen(when), "; growth since %.1f s, %zu readings",
			 first->time_ns / 1e9, nr);
	memory_text_head(&last->r, when, s->out);
	memory_print_parts(s, &last->r, true, first ? &first->r : NULL);
	memory_text_nmt(s, &last->r);
	if (u)
		text_places(s, u, last->proc);
}

static void json_reading(struct sheet *s, const struct footprint *f, size_t nr, const struct footprint *first,
			 const struct unfreed *u)
{
	struct json *j = &s->json;

	json_object(j, NULL);
	json_u64(j, "time_ns", f->time_ns);
	json_u64(j, "readings", nr);
	json_u64_known(j, "growth_since_ns", first, first ? first->time_ns : 0);
	memory_json_head(j, &f->r);
	json_array(j, "parts");
	memory_print_parts(s, &f->r, true, first ? &first->r : NULL);
	json_end(j);
	memory_json_nmt(s, &f->r);
	json_places(s, u, f->proc);
	json_end(j);
}

static void print_one(struct sheet *s, const struct footprint *f, size_t nr, const struct unfreed *u,
		      bool readings, bool more)
{
	size_t i = readings ? 0 : nr - 1;

	if (s->format == format_get(FORMAT_JSON)) {
		for (; i < nr; i++)
			json_reading(s, &f[i], nr, first_like(f, &f[i]), u);
	} else if (readings || !sheet_is_text(s)) {
		for (; i < nr; i++)
			reading_rows(s, &f[i]);
	} else {
		print_process(s, f, nr, u);
		if (more)
			fputc('\n', s->out);
	}
}

void memory_print_trace(const struct footprints_read *f, const struct unfreed *u, const struct memory_show *o,
			FILE *out)
{
	size_t i, first = 0;
	struct sheet s;

	sheet_init(&s, o->format, out);
	sheet_choose(&s, &o->choice);
	if (sheet_is_text(&s))
		event_put_refused(&f->names, out);
	json_object(&s.json, NULL);
	json_object(&s.json, "source");
	json_str(&s.json, "command", names_label(&f->names, "command"));
	json_str(&s.json, "host", names_label(&f->names, "host"));
	json_end(&s.json);
	json_array(&s.json, "processes");
	if (o->format != FORMAT_JSON && (o->readings || !sheet_is_text(&s))) {
		if (sheet_is_text(&s))
			fprintf(out, "resident memory of processes, sizes in KiB\n\n");
		sheet_columns(&s, reading_columns, ARRAY_SIZE(reading_columns));
	}
	for (i = 1; i <= f->nr; i++) {
		if (i < f->nr && f->list[i].proc == f->list[first].proc)
			continue;
		print_one(&s, &f->list[first], i - first, u, o->readings, i < f->nr);
		first = i;
	}
	sheet_end(&s);
	json_end(&s.json);
	json_end(&s.json);
}
