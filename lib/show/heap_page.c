// SPDX-License-Identifier: GPL-2.0-or-later
/* heap_page.c - "arcprof heap report --format html": the tables, as JSON beside the trees. */
#include <stdlib.h>

#include "base/mem.h"
#include "report/format.h"
#include "show/heap.h"

enum { PAGE_OBJECTS = 200, PAGE_WASTE = 1000 };

static const struct page_table {
	const char *key;
	uint64_t limit;			/* rows, where none is asked for; 0: all */
	int (*print)(struct heap *h, const struct heap_table_opts *o, struct err *e);
} tables[] = {
	{ "histogram", 0, heap_print_histogram },
	{ "loaders", 0, heap_print_loaders },
	{ "waste", PAGE_WASTE, heap_print_waste },
	{ "objects", PAGE_OBJECTS, heap_print_objects },
	{ "object", PAGE_OBJECTS, heap_print_object },
	{ "details", PAGE_OBJECTS, heap_print_details },
};

/* Print a table from a heap of its own, as each must read the objects. */
static int put_table(const struct page_table *t, const char *path, const struct heap_table_opts *asked,
		     FILE *out, struct err *e)
{
	struct heap_table_opts o = *asked;
	struct heap h;
	int r;

	o.format = FORMAT_JSON;
	o.out = out;
	o.limit = o.limit ? o.limit : t->limit;
	fprintf(out, ",\n\"%s\":", t->key);
	r = t->print == heap_print_histogram ? heap_count_open(&h, path, e) : heap_open(&h, path, e);
	if (!r)
		r = t->print(&h, &o, e);
	heap_release(&h);
	return r;
}

static void put_list(const char *names, FILE *out)
{
	for (fputs("[\"", out); *names; names++)
		fputs(*names == ',' ? "\",\"" : (char[]){ *names, '\0' }, out);
	fputs("\"]", out);
}

int heap_page_json(const char *path, const struct heap_table_opts *o, const char *trees, const char *at,
		   char **json, struct err *e)
{
	size_t len, i;
	FILE *out = open_memstream(json, &len);
	int r = 0;

	if (!out)
		abort();
	fputs("{\"trees\":", out);
	put_list(trees, out);
	fprintf(out, ",\n\"at\":\"%s\"", at ? at : "");
	for (i = 0; !r && i < ARRAY_SIZE(tables); i++)
		if (o->object || tables[i].print != heap_print_object)
			r = put_table(&tables[i], path, o, out, e);
	fputs("}\n", out);
	fclose(out);
	return r;
}
