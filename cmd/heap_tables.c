// SPDX-License-Identifier: GPL-2.0-or-later
/* heap_tables.c - "arcprof heap report --histogram": objects and bytes by class. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/quote.h"
#include "heap.h"
#include "report/report.h"
#include "report/sheet.h"

struct rank {
	uint64_t nr, bytes;
	const char *name;
};

static int by_bytes(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* The names of classes that have objects, most bytes first; classes of several loaders can share one. */
static struct rank *rank_classes(const struct heap *h, size_t *nr)
{
	struct rank *ranks = xcalloc(h->nr_classes + 1, sizeof(*ranks));
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

static const struct sheet_column histogram_columns[] = {
	{ .key = "n", .head = "Objects", .width = 11 },
	{ .key = "bytes", .head = "Bytes", .width = 14 },
	{ .key = "percent", .head = "%", .width = 6, .decimals = 2 },
	{ .key = "class", .head = "Class", .width = -1 },
};

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100. * part / all : NAN;
}

static void print_head(const struct heap *h, size_t nr_classes, size_t nr_shown, struct sheet *s)
{
	if (sheet_is_text(s)) {
		fprintf(s->out, "%" PRIu64 " bytes in %" PRIu32 " objects of %zu classes\n\n", h->bytes,
			h->ids.nr, nr_classes);
		return;
	}
	json_object(&s->json, NULL);
	json_u64(&s->json, "objects", h->ids.nr);
	json_u64(&s->json, "bytes", h->bytes);
	json_u64(&s->json, "nr_classes", nr_classes);
	report_json_hidden(&s->json, nr_classes - nr_shown);
	json_array(&s->json, "classes");
}

int heap_print_histogram(struct heap *h, const struct heap_table_opts *o, struct err *e)
{
	const struct heap_read_opts ro = { 0 };
	struct rank *ranks;
	struct sheet s;
	size_t nr, shown, i;
	int r = heap_read(h, &ro, e);

	if (r)
		return r;
	ranks = rank_classes(h, &nr);
	shown = o->limit && o->limit < nr ? o->limit : nr;
	sheet_init(&s, o->format, stdout);
	print_head(h, nr, shown, &s);
	sheet_columns(&s, histogram_columns, ARRAY_SIZE(histogram_columns));
	for (i = 0; i < shown; i++) {
		const struct cell cells[] = { cell_u64(ranks[i].nr), cell_u64(ranks[i].bytes),
			cell_real(percent(ranks[i].bytes, h->bytes)), cell_text(ranks[i].name) };

		sheet_row(&s, NULL, cells);
	}
	if (!sheet_is_text(&s)) {
		json_end(&s.json);
		json_end(&s.json);
	} else if (shown < nr) {
		fprintf(s.out, "... and %zu more classes (--limit)\n", nr - shown);
	}
	free(ranks);
	return 0;
}
