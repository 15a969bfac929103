/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vtab.h - gives SQLite the tables of a trace. */
#ifndef QUERY_VTAB_H
#define QUERY_VTAB_H

#include <sqlite3.h>

#include "base/err.h"
#include "query/table.h"

/* A trace, or a heap dump, which each table has rows of. */
struct vtab_part {
	struct query_data *data;
	const char *name;		/* in the column "trace"; NULL: there is no such column */
};

/* The state that all tables of a connection share. */
struct vtab_shared {
	const struct vtab_part *parts;
	size_t nr_parts;		/* at least one */
	struct err failed;		/* what ended the query, when neither SQLite nor the SQL did */
	bool declaring;			/* SQLite asks the authorizer about a change that declares a table */
};

/* A table of the connection; "table" and "shared" outlive it. */
struct vtab_source {
	const struct query_table *table;
	/* [part]: why it is empty though it was used; "": it is not, or was not used. */
	char (*notes)[320];
	struct vtab_shared *shared;
};

/* Returns what SQLite does. */
int vtab_add(sqlite3 *db, struct vtab_source *s);

/* ---- the rows of a table in order of a column's values; rows where it is NULL are left out ---- */
struct query_index {
	struct query_index_entry {
		uint32_t value, row;
	} *list;
	uint32_t nr;
	bool has_nulls;
};

void query_index_init(struct query_index *x, const struct query_data *d, const struct query_table *t,
		      unsigned int column);
void query_index_release(struct query_index *x);
/* The first entry whose value is at least v. */
uint32_t query_index_find(const struct query_index *x, uint64_t v);

/* ---- aggregate functions that SQLite does not have ---- */

/*
 * percentile(x, p), p from 0 to 100, and median(x): of the values that are numbers, between two of them
 * by interpolation, as SQLite's own extension has it; NULL of none.  Returns what SQLite does.
 */
int functions_add(sqlite3 *db);

struct query_data;

/*
 * The state of field(object, name), which for a heap dump returns a number, or the object that the field
 * refers to; NULL if there is no such field, or it is null. An error is left in *failed.
 */
struct functions_heap {
	struct query_data *data;
	struct err *failed;
};
int functions_add_heap(sqlite3 *db, struct functions_heap *f);

#endif
