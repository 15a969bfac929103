/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vtab.h - gives SQLite the tables of a trace. */
#ifndef QUERY_VTAB_H
#define QUERY_VTAB_H

#include <sqlite3.h>

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

#endif
