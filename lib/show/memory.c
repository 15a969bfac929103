// SPDX-License-Identifier: GPL-2.0-or-later
/* memory.c - where the resident memory of a process is; memory_trace.c: or was. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/quote.h"
#include "report/format.h"
#include "show/memory.h"

struct cell memory_amount(const struct sheet *s, uint64_t bytes)
{
	return cell_u64(sheet_is_text(s) ? bytes >> 10 : bytes);
}

static double memory_percent(uint64_t part, uint64_t all)
{
	return all ? 100. * part / all : NAN;
}

/* Columns of a part of memory; the arguments are further ones, such as the growth since the first reading. */
#define PART_COLUMNS(...)                                                  \
	{ .key = "resident", .head = "Resident", .width = 12 },            \
	{ .key = "percent", .head = "%", .width = 6, .decimals = 2 },      \
	__VA_ARGS__                                                        \
	{ .key = "swapped", .head = "Swapped", .width = 10 },              \
	{ .key = "committed", .head = "Committed", .width = 12 },          \
	{ .key = "mapped", .head = "Mapped", .width = 14 },                \
	{ .key = "part" }, { .head = "Part", .width = -1 }

static const struct sheet_column part_columns[] = { PART_COLUMNS() };
static const struct sheet_column growing_columns[] = {
	PART_COLUMNS({ .key = "growth", .head = "Growth", .width = 12 },)
};

/* Return the growth since that reading; NULL: there is none before. */
static struct cell growth(const struct sheet *s, const struct resident_sum *now,
			  const struct resident_sum *first)
{
	int64_t bytes;

	if (!first)
		return cell_none;
	bytes = (int64_t)(now->rss - first->rss);
	return cell_i64(sheet_is_text(s) ? bytes / 1024 : bytes);
}

/* Print the row of a part, or of the sum: part is RESIDENT_NR_PARTS. */
static void part_row(struct sheet *s, const struct resident *r, const struct resident *first, bool grows,
		     size_t part)
{
	const bool is_sum = part == RESIDENT_NR_PARTS;
	const struct resident_sum *p = is_sum ? &r->total : &r->parts[part];
	const struct resident_sum *was = !first ? NULL : is_sum ? &first->total : &first->parts[part];
	struct cell cells[] = {
		memory_amount(s, p->rss), cell_real(memory_percent(p->rss, r->total.rss)),
		growth(s, p, was), memory_amount(s, p->swap), memory_amount(s, p->usable),
		memory_amount(s, p->mapped), cell_text(is_sum ? "" : resident_keys[part]),
		cell_text(is_sum ? "all" : resident_names[part]),
	};

	if (!grows)
		memmove(&cells[2], &cells[3], sizeof(cells) - 3 * sizeof(cells[0]));
	sheet_row(s, is_sum ? "all" : NULL, cells);
}

static int by_rss(const void *a, const void *b)
{
	const struct resident_sum *x = *(const struct resident_sum *const *)a;
	const struct resident_sum *y = *(const struct resident_sum *const *)b;

	return COMPARE(y->rss, x->rss) ?: COMPARE(x, y);
}

static void memory_order(const struct resident *r, const struct resident_sum *order[RESIDENT_NR_PARTS])
{
	size_t i;

	for (i = 0; i < RESIDENT_NR_PARTS; i++)
		order[i] = &r->parts[i];
	qsort(order, RESIDENT_NR_PARTS, sizeof(*order), by_rss);
}

void memory_print_parts(struct sheet *s, const struct resident *r, bool grows, const struct resident *first)
{
	const struct resident_sum *order[RESIDENT_NR_PARTS];
	size_t i;

	memory_order(r, order);
	s->table = "parts";
	if (grows)
		sheet_columns(s, growing_columns, ARRAY_SIZE(growing_columns));
	else
		sheet_columns(s, part_columns, ARRAY_SIZE(part_columns));
	for (i = 0; i < RESIDENT_NR_PARTS; i++) {
		size_t part = order[i] - r->parts;
		const struct resident_sum *was = first ? &first->parts[part] : NULL;

		if (order[i]->mapped || order[i]->rss || (was && was->rss))
			part_row(s, r, first, grows, part);
	}
	sheet_end_rows(s);
	if (sheet_is_text(s))
		part_row(s, r, first, grows, RESIDENT_NR_PARTS);
}

/* --- mappings --- */

static const struct sheet_column mapping_columns[] = {
	{ .key = "resident", .head = "Resident", .width = 12 },
	{ .key = "swapped", .head = "Swapped", .width = 10 },
	{ .key = "mapped", .head = "Mapped", .width = 14 },
	{ .key = "start", .head = "Start", .width = 16 },
	{ .key = "end", .head = "End", .width = 16 },
	{ .key = "access", .head = "", .width = 4 },
	{ .key = "part", .head = "Part", .width = -16 },
	{ .key = "name", .head = "Name", .width = -1 },
};

static void mapping_row(struct sheet *s, const struct resident_piece *p)
{
	struct buf name = BUF_INIT;
	char start[20], end[20];

	snprintf(start, sizeof(start), "%" PRIx64, p->start);
	snprintf(end, sizeof(end), "%" PRIx64, p->end);
	buf_str(&name, "");
	if (sheet_is_text(s))
		quote_add(&name, p->name);
	{
		const struct cell cells[] = {
			memory_amount(s, p->sum.rss), memory_amount(s, p->sum.swap),
			memory_amount(s, p->sum.mapped),
			cell_text(start), cell_text(end), cell_text(p->perms),
			cell_text(resident_keys[p->part]),
			cell_text(sheet_is_text(s) ? name.data : p->name),
		};

		sheet_row(s, NULL, cells);
	}
	buf_release(&name);
}

static void print_mappings(struct sheet *s, const struct resident *r)
{
	size_t i;

	s->table = "mappings";
	sheet_columns(s, mapping_columns, ARRAY_SIZE(mapping_columns));
	for (i = 0; i < r->nr_pieces; i++)
		mapping_row(s, &r->pieces[i]);
	sheet_end_rows(s);
}

/* --- the JVM's own account --- */

static const struct sheet_column nmt_columns[] = {
	{ .key = "category" }, { .key = "malloc", .head = "Malloc", .width = 12 },
	{ .key = "committed", .head = "Committed", .width = 12 },
	{ .key = "part" }, { .key = "measured", .head = "Measured", .width = 12 },
	{ .key = "difference_percent", .head = "Diff %", .width = 8, .decimals = 2 },
	{ .head = "Category", .width = -1 },
};

static void print_nmt(struct sheet *s, const struct resident *r)
{
	size_t i;

	s->table = "categories";
	sheet_columns(s, nmt_columns, ARRAY_SIZE(nmt_columns));
	for (i = 0; i < r->nmt.nr; i++) {
		const struct hotspot_category *c = &r->nmt.items[i];
		uint64_t ours = 0;
		enum resident_part part = resident_part_of(c->name, r, &ours);
		bool known = part < RESIDENT_NR_PARTS && (ours || c->mapped);
		double diff = known && c->mapped ? 100 * ((double)ours - c->mapped) / c->mapped : NAN;
		const struct cell cells[] = {
			cell_text(c->name), memory_amount(s, c->malloc), memory_amount(s, c->mapped),
			known ? cell_text(resident_keys[part]) : cell_absent,
			known ? memory_amount(s, ours) : cell_absent,
			known ? cell_real(diff) : cell_absent, cell_text(c->name),
		};

		sheet_row(s, NULL, cells);
	}
	sheet_end_rows(s);
}

static uint64_t nmt_malloc(const struct resident *r)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < r->nmt.nr; i++)
		sum += r->nmt.items[i].malloc;
	return sum;
}

/* --- the report --- */

void memory_text_head(const struct resident *r, const char *when, FILE *out)
{
	struct buf name = BUF_INIT;

	quote_add(&name, r->name);
	fprintf(out, "process %d (%s), %zu thread%s", r->pid, name.data, r->nr_threads,
		plural(r->nr_threads));
	fprintf(out, ": %" PRIu64 " KiB resident", r->total.rss >> 10);
	if (r->total.swap)
		fprintf(out, ", %" PRIu64 " KiB swapped out", r->total.swap >> 10);
	fprintf(out, "%s%s%s\n", when, *r->jvm ? "\n" : "", r->jvm);
	if (*r->not_asked)
		fprintf(out, "what is the JVM's is not known: %s\n", r->not_asked);
	if (r->not_read)
		fprintf(out, "what malloc() has outside of [heap] is not known: the process's memory may not be read (kernel.yama.ptrace_scope)\n");
	if (r->malloc_unknown)
		fprintf(out, "what is free of %" PRIu64 " KiB of malloc's arenas is not known: they changed too fast\n",
			r->malloc_unknown >> 10);
	fprintf(out, "sizes in KiB\n\n");
	buf_release(&name);
}

static void text_buffers(const struct resident *r, FILE *out)
{
	const struct buffers *b = &r->buffers;

	if (!*b->why)
		fprintf(out, "\nof malloc, %" PRIu64 " KiB are %" PRIu64 " direct buffer%s of Java, resident or swapped out\n",
			b->bytes >> 10, b->nr, plural(b->nr));
	else
		fprintf(out, "\nwhat direct buffers of Java have of malloc: n/a (%s)\n", b->why);
}

void memory_text_nmt(struct sheet *s, const struct resident *r)
{
	if (r->is_jvm)
		text_buffers(r, s->out);
	if (!r->is_jvm || *r->not_asked)
		return;
	if (!r->nmt.nr) {
		fprintf(s->out, "\nwhat malloc has for which part of the JVM: start it with -XX:NativeMemoryTracking=summary\n");
		return;
	}
	fprintf(s->out, "\nThe JVM's own account (native memory tracking): what it has committed, and asked malloc for, resident\n"
		"or not. Measured is what is committed, but of stacks what is resident, which is what the JVM says, too.\n\n");
	print_nmt(s, r);
	fprintf(s->out, "\n%12" PRIu64 " in all of malloc by the JVM's own account; the rest is of other libraries, and of malloc itself\n",
		nmt_malloc(r) >> 10);
}

static void memory_print_text(struct sheet *s, const struct resident *r, bool mappings)
{
	memory_text_head(r, "", s->out);
	if (mappings) {
		print_mappings(s, r);
		return;
	}
	memory_print_parts(s, r, false, NULL);
	memory_text_nmt(s, r);
}

void memory_json_head(struct json *j, const struct resident *r)
{
	json_u64(j, "pid", r->pid);
	json_str(j, "name", r->name);
	json_bool(j, "is_jvm", r->is_jvm);
	json_str(j, "jvm", *r->jvm ? r->jvm : NULL);
	json_str(j, "jvm_not_asked", *r->not_asked ? r->not_asked : NULL);
	json_bool(j, "malloc_known", !r->not_read);
	json_u64(j, "malloc_unknown", r->malloc_unknown);
	json_u64_known(j, "direct_buffers", r->is_jvm && !*r->buffers.why, r->buffers.nr);
	json_u64_known(j, "direct_buffer_bytes", r->is_jvm && !*r->buffers.why, r->buffers.bytes);
	json_str(j, "direct_buffers_not_read", r->is_jvm && *r->buffers.why ? r->buffers.why : NULL);
	json_u64(j, "threads", r->nr_threads);
	json_u64(j, "resident", r->total.rss);
	json_u64(j, "swapped", r->total.swap);
}

void memory_json_nmt(struct sheet *s, const struct resident *r)
{
	if (!r->nmt.nr) {
		json_null(&s->json, "native_memory_tracking");
		return;
	}
	json_array(&s->json, "native_memory_tracking");
	print_nmt(s, r);
	json_end(&s->json);
}

static void memory_print_json(struct sheet *s, const struct resident *r, bool mappings)
{
	struct json *j = &s->json;

	json_object(j, NULL);
	memory_json_head(j, r);
	json_array(j, "parts");
	memory_print_parts(s, r, false, NULL);
	json_end(j);
	if (mappings) {
		json_array(j, "mappings");
		print_mappings(s, r);
		json_end(j);
	}
	memory_json_nmt(s, r);
	json_end(j);
}

void memory_print(const struct resident *r, const struct memory_show *o, FILE *out)
{
	struct sheet s;

	sheet_init(&s, o->format, out);
	sheet_choose(&s, &o->choice);
	if (o->format == FORMAT_JSON)
		memory_print_json(&s, r, o->mappings);
	else if (sheet_is_text(&s))
		memory_print_text(&s, r, o->mappings);
	else if (o->mappings)
		print_mappings(&s, r);
	else
		memory_print_parts(&s, r, false, NULL);
	sheet_end(&s);
}
