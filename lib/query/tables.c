// SPDX-License-Identifier: GPL-2.0-or-later
/* tables.c - the list of tables, and what people read of it. */
#include <string.h>

#include "query/heap.h"

/* The order is the one in which people read of them. */
const struct query_table *const query_tables[] = {
	&query_functions, &query_nodes, &query_xprof, &query_arcs, &query_samples, &query_stacks,
	&query_frames, &query_calls, &query_events, &query_dispatches, &query_log, &query_processes,
	&query_threads, &query_modules, &query_metrics, &query_labels, NULL
};

static const struct query_table *const *tables_of(bool heap)
{
	return heap ? query_heap_tables : query_tables;
}

void query_print_tables(bool heap, FILE *out)
{
	const struct query_table *const *t;

	for (t = tables_of(heap); *t; t++)
		fprintf(out, "%-10s  %s\n", (*t)->name, (*t)->what);
}

static void print_table(const struct query_table *t, FILE *out)
{
	unsigned int i;

	fprintf(out, "%s: %s\n", t->name, t->what);
	for (i = 0; i < t->nr_columns; i++)
		fprintf(out, "  %-13s  %-7s  %s\n", t->columns[i].name,
			t->columns[i].flags & COLUMN_TEXT ? "text" : "integer", t->columns[i].what);
}

bool query_print_schema(bool heap, const char *table, FILE *out)
{
	const struct query_table *const *t;
	bool any = false;

	for (t = tables_of(heap); *t; t++) {
		if (table && strcmp(table, (*t)->name))
			continue;
		if (any)
			putc('\n', out);
		print_table(*t, out);
		any = true;
	}
	return any;
}

static bool is_of_traces(const struct query_table *t)
{
	size_t i;

	for (i = 0; query_tables[i]; i++)
		if (query_tables[i] == t)
			return true;
	return false;
}

void query_print_manual(bool heap, FILE *out)
{
	const struct query_table *const *t;
	unsigned int i;

	for (t = tables_of(heap); *t; t++) {
		if (heap && is_of_traces(*t))
			continue;
		fprintf(out, "=== %s\n\n%c%s.\n\n", (*t)->name, (*t)->what[0] & ~0x20, (*t)->what + 1);
		for (i = 0; i < (*t)->nr_columns; i++)
			fprintf(out, "_%s_%s::\n\t%s.\n", (*t)->columns[i].name,
				(*t)->columns[i].flags & COLUMN_TEXT ? " (text)" : "", (*t)->columns[i].what);
		putc('\n', out);
	}
}
