// SPDX-License-Identifier: GPL-2.0-or-later
/* heap_tables.c - "arcprof heap report": objects by class and by class loader, and what is wasted. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "heap/loaders.h"
#include "heap/waste.h"
#include "report/report.h"
#include "report/sheet.h"
#include "show/heap.h"

static int by_bytes(const void *a, const void *b)
{
	const struct heap_rank *x = a, *y = b;

	return COMPARE(y->bytes, x->bytes) ?: strcmp(x->name, y->name);
}

/*
 * Return the names of classes that have objects, most bytes first; classes of several loaders can share one.
 */
static struct heap_rank *rank_classes(const struct heap *h, size_t *nr)
{
	struct heap_rank *ranks = xcalloc(h->nr_classes + 1, sizeof(*ranks));
	struct map rank_of = MAP_INIT;
	size_t i;

	for (i = *nr = 0; i < h->nr_classes; i++) {
		const struct heap_class *c = &h->classes[i];
		uint32_t *rank = c->nr ? map_put(&rank_of, c->name) : NULL;

		if (rank && *rank == MAP_NONE)
			*rank = (*nr)++;
		if (!rank)
			continue;
		ranks[*rank].name = heap_class_name(h, i);
		ranks[*rank].nr += c->nr;
		ranks[*rank].bytes += c->bytes;
	}
	map_release(&rank_of);
	qsort(ranks, *nr, sizeof(*ranks), by_bytes);
	return ranks;
}

/* Return how many rows to give to the sheet: one that sorts gets all, and shows as many as wanted. */
static size_t heap_tables_choose(struct sheet *s, const struct heap_table_opts *o,
				 struct sheet_choice *choice, size_t nr, size_t shown)
{
	*choice = o->choice;
	choice->limit = shown;
	sheet_choose(s, choice);
	return choice->sort ? nr : shown;
}

static const struct sheet_column histogram_columns[] = {
	{ .key = "n", .head = "Objects", .width = 11 },
	{ .key = "bytes", .head = "Bytes", .width = 14 },
	{ .key = "percent", .head = "%", .width = 6, .decimals = 2 },
	{ .key = "class", .head = "Class", .width = -1 },
};

static double heap_tables_percent(uint64_t part, uint64_t all)
{
	return all ? 100. * part / all : NAN;
}

static void heap_tables_print_head(const struct heap *h, size_t nr_classes, size_t nr_shown, struct sheet *s)
{
	if (sheet_is_text(s))
		fprintf(s->out, "%" PRIu64 " bytes in %" PRIu32 " objects of %zu classes\n\n", h->bytes,
			h->ids.nr, nr_classes);
	json_object(&s->json, NULL);
	json_u64(&s->json, "objects", h->ids.nr);
	json_u64(&s->json, "bytes", h->bytes);
	json_u64(&s->json, "nr_classes", nr_classes);
	report_json_hidden(&s->json, nr_classes - nr_shown);
	json_array(&s->json, "classes");
}

int heap_print_histogram(struct heap *h, const struct heap_table_opts *o, struct err *e)
{
	struct sheet_choice choice;
	struct heap_rank *ranks;
	struct sheet s;
	size_t nr, shown, rows, i;
	int r = heap_count(h, e);

	if (r)
		return r;
	ranks = rank_classes(h, &nr);
	shown = o->limit && o->limit < nr ? o->limit : nr;
	if (o->format == FORMAT_HPROF) {
		heap_print_hprof_sites(h, ranks, shown, o->out);
		free(ranks);
		return 0;
	}
	sheet_init(&s, o->format, o->out);
	rows = heap_tables_choose(&s, o, &choice, nr, shown);
	heap_tables_print_head(h, nr, shown, &s);
	sheet_columns(&s, histogram_columns, ARRAY_SIZE(histogram_columns));
	for (i = 0; i < rows; i++) {
		const struct cell cells[] = { cell_u64(ranks[i].nr), cell_u64(ranks[i].bytes),
			cell_real(heap_tables_percent(ranks[i].bytes, h->bytes)), cell_text(ranks[i].name) };

		sheet_row(&s, NULL, cells);
	}
	sheet_end(&s);
	json_end(&s.json);
	json_end(&s.json);
	if (sheet_is_text(&s) && shown < nr)
		fprintf(s.out, "... and %zu more classes (--limit)\n", nr - shown);
	free(ranks);
	return 0;
}

/* --- class loaders --- */

static const struct sheet_column loader_columns[] = {
	{ .key = "classes", .head = "Classes", .width = 8 },
	{ .key = "n", .head = "Objects", .width = 11 },
	{ .key = "bytes", .head = "Bytes", .width = 14 },
	{ .key = "percent", .head = "%", .width = 6, .decimals = 2 },
	{ .key = "retained", .head = "Retained", .width = 14 },
	{ .key = "id", .head = "Object", .width = -12 },
	{ .key = "class", .head = "Loader", .width = -1 },
	{ .key = "name", .head = "", .width = -1 },
};

static void print_loader(const struct heap *h, const struct heap_loader *l, const struct heap_retained *x,
			 struct sheet *s)
{
	const bool known = l->object != HEAP_NONE;
	char id[24];
	const struct cell cells[] = {
		cell_u64(l->nr_classes), cell_u64(l->nr_objects), cell_u64(l->bytes),
		cell_real(heap_tables_percent(l->bytes, h->bytes)),
		known ? cell_u64(x->bytes[l->object]) : cell_absent,
		l->id ? cell_text(id) : cell_absent,
		cell_text(known ? heap_class_name(h, h->class[l->object]) : l->id ? "[not in the dump]" : "[JVM]"),
		l->name ? cell_text(strtab_get(&h->names, l->name)) : cell_absent,
	};

	snprintf(id, sizeof(id), "0x%" PRIx64, l->id);
	sheet_row(s, NULL, cells);
}

int heap_print_loaders(struct heap *h, const struct heap_table_opts *o, struct err *e)
{
	struct heap_retained x;
	struct sheet_choice choice;
	struct heap_loader *list;
	struct sheet s;
	size_t nr, shown, rows, i;
	int r = heap_retained(h, o->keep_soft, &x, e);

	if (r)
		return r;
	list = loaders_find(h, &nr);
	shown = o->limit && o->limit < nr ? o->limit : nr;
	sheet_init(&s, o->format, o->out);
	rows = heap_tables_choose(&s, o, &choice, nr, shown);
	if (sheet_is_text(&s))
		fprintf(s.out, "%zu class loader%s, %zu classes, %" PRIu64 " bytes\n\n", nr, plural(nr),
			h->nr_classes, h->bytes);
	json_object(&s.json, NULL);
	json_u64(&s.json, "bytes", h->bytes);
	report_json_hidden(&s.json, nr - shown);
	json_array(&s.json, "loaders");
	sheet_columns(&s, loader_columns, ARRAY_SIZE(loader_columns));
	for (i = 0; i < rows; i++)
		print_loader(h, &list[i], &x, &s);
	sheet_end(&s);
	json_end(&s.json);
	json_end(&s.json);
	if (sheet_is_text(&s) && shown < nr)
		fprintf(s.out, "... and %zu more class loaders (--limit)\n", nr - shown);
	free(list);
	heap_retained_release(&x);
	return 0;
}

/* --- waste --- */

enum { WASTE_ROWS = 40 };

static const char *const waste_keys[WASTE_NR] = {
	[WASTE_TEXTS] = "texts", [WASTE_ARRAYS] = "arrays", [WASTE_ZEROS] = "zeros", [WASTE_EMPTY] = "empty",
	[WASTE_SLOTS] = "slots", [WASTE_BOXES] = "boxes",
};
static const char *const waste_names[WASTE_NR] = {
	[WASTE_TEXTS] = "equal texts of Strings",
	[WASTE_ARRAYS] = "equal arrays",
	[WASTE_ZEROS] = "arrays of zeros",
	[WASTE_EMPTY] = "arrays of length 0",
	[WASTE_SLOTS] = "empty slots of arrays",
	[WASTE_BOXES] = "equal boxed numbers",
};

static const struct sheet_column kind_columns[] = {
	{ .key = "wasted", .head = "Wasted", .width = 14 },
	{ .key = "percent", .head = "%", .width = 6, .decimals = 2 },
	{ .key = "n", .head = "Objects", .width = 11 },
	{ .key = "kind", .head = NULL },
	{ .head = "Kind", .width = -1 },
};

static const struct sheet_column waste_columns[] = {
	{ .key = "wasted", .head = "Wasted", .width = 14 },
	{ .key = "percent", .head = "%", .width = 6, .decimals = 2 },
	{ .key = "n", .head = "Objects", .width = 11 },
	{ .key = "kind", .head = "Kind", .width = -6 },
	{ .key = "slots", .head = "Slots", .width = 10 },
	{ .key = "unused", .head = "Unused", .width = 10 },
	{ .key = "what", .head = "What", .width = -1 },
};

static void print_kinds(const struct heap *h, const struct waste *w, int format, struct sheet *s)
{
	uint64_t sum = 0;
	unsigned int k;

	for (k = 0; k < WASTE_NR; k++)
		sum += w->wasted[k];
	if (sheet_is_text(s))
		fprintf(s->out, "%" PRIu64 " of %" PRIu64 " bytes (%.1f %%) hold nothing, or nothing new\n\n", sum,
			h->bytes, heap_tables_percent(sum, h->bytes));
	json_u64(&s->json, "bytes", h->bytes);
	json_u64(&s->json, "wasted", sum);
	if (format == FORMAT_CSV)
		return;		/* which is one table */
	json_array(&s->json, "kinds");
	s->table = "kinds";
	sheet_columns(s, kind_columns, ARRAY_SIZE(kind_columns));
	for (k = 0; k < WASTE_NR; k++) {
		const struct cell cells[] = {
			cell_u64(w->wasted[k]), cell_real(heap_tables_percent(w->wasted[k], h->bytes)),
			cell_u64(w->nr[k]), cell_text(waste_keys[k]), cell_text(waste_names[k]),
		};

		sheet_row(s, NULL, cells);
	}
	sheet_end_rows(s);
	json_end(&s->json);
	if (sheet_is_text(s))
		fputc('\n', s->out);
}

static void print_waste(const struct heap *h, const struct waste *w, size_t rows, struct sheet *s)
{
	size_t i;

	s->table = "rows";
	sheet_columns(s, waste_columns, ARRAY_SIZE(waste_columns));
	for (i = 0; i < rows; i++) {
		const struct waste_row *row = &w->rows[i];
		const bool slots = row->kind == WASTE_SLOTS;
		const struct cell cells[] = {
			cell_u64(row->wasted), cell_real(heap_tables_percent(row->wasted, h->bytes)),
			cell_u64(row->nr),
			cell_text(waste_keys[row->kind]), slots ? cell_u64(row->slots) : cell_absent,
			slots ? cell_u64(row->unused) : cell_absent,
			cell_text(strtab_get(&h->names, row->what)),
		};

		sheet_row(s, NULL, cells);
	}
}

int heap_print_waste(struct heap *h, const struct heap_table_opts *o, struct err *e)
{
	struct sheet_choice choice;
	struct sheet s;
	struct waste w;
	size_t limit, shown, rows;
	int r = waste_find(h, &w, e);

	if (r)
		return r;
	sheet_init(&s, o->format, o->out);
	limit = o->limit ? o->limit : sheet_is_text(&s) ? WASTE_ROWS : w.nr_rows;
	shown = limit < w.nr_rows ? limit : w.nr_rows;
	rows = heap_tables_choose(&s, o, &choice, w.nr_rows, shown);
	choice.limit = 0;
	json_object(&s.json, NULL);
	print_kinds(h, &w, o->format, &s);
	choice.limit = shown;
	report_json_hidden(&s.json, w.nr_rows - shown);
	json_array(&s.json, "rows");
	print_waste(h, &w, rows, &s);
	sheet_end(&s);
	json_end(&s.json);
	json_end(&s.json);
	if (sheet_is_text(&s) && shown < w.nr_rows)
		fprintf(s.out, "... and %zu more rows (--limit)\n", w.nr_rows - shown);
	waste_release(&w);
	return 0;
}
