// SPDX-License-Identifier: GPL-2.0-or-later
/* tables.c - the list of tables, and what people read of it. */
#include <string.h>

#include "query/query.h"
#include "query/table.h"

/* In the order in which people read of them. */
const struct query_table *const query_tables[] = {
	&query_functions, &query_nodes, &query_xprof, &query_arcs, &query_samples, &query_stacks,
	&query_frames, &query_calls, &query_events, &query_dispatches, &query_processes, &query_threads,
	&query_modules, &query_metrics, &query_labels, NULL
};

void query_print_tables(FILE *out)
{
	const struct query_table *const *t;

	for (t = query_tables; *t; t++)
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

bool query_print_schema(const char *table, FILE *out)
{
	const struct query_table *const *t;
	bool any = false;

	for (t = query_tables; *t; t++) {
		if (table && strcmp(table, (*t)->name))
			continue;
		if (any)
			putc('\n', out);
		print_table(*t, out);
		any = true;
	}
	return any;
}

void query_print_manual(FILE *out)
{
	const struct query_table *const *t;
	unsigned int i;

	for (t = query_tables; *t; t++) {
		fprintf(out, "=== %s\n\n%c%s.\n\n", (*t)->name, (*t)->what[0] & ~0x20, (*t)->what + 1);
		for (i = 0; i < (*t)->nr_columns; i++)
			fprintf(out, "_%s_%s::\n\t%s.\n", (*t)->columns[i].name,
				(*t)->columns[i].flags & COLUMN_TEXT ? " (text)" : "", (*t)->columns[i].what);
		putc('\n', out);
	}
}
