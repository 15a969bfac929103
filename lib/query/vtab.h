/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vtab.h - gives SQLite the tables of a trace. */
#ifndef QUERY_VTAB_H
#define QUERY_VTAB_H

#include <sqlite3.h>

#include "query/table.h"

/* Of all tables of a connection. */
struct vtab_shared {
	struct err failed;		/* what ended the query, when neither SQLite nor the SQL did */
	bool declaring;			/* SQLite asks the authorizer about a change that declares a table */
};

/* One table of the connection; both outlive it. */
struct vtab_source {
	const struct query_table *table;
	struct query_data *data;
	/* Why it is empty though it was used; "": it is not, or was not used. */
	char note[320];
	struct vtab_shared *shared;
};

/* Returns what SQLite does. */
int vtab_add(sqlite3 *db, struct vtab_source *s);

#endif
