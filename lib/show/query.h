/* SPDX-License-Identifier: GPL-2.0-or-later */
/* query.h - prints the rows of a query as a sheet. */
#ifndef SHOW_QUERY_H
#define SHOW_QUERY_H

#include "query/query.h"
#include "report/sheet.h"

struct query_rows {
	int format;
	FILE *out;
	uint64_t limit;			/* rows to print; 0: all */
	const char *sql;
	const struct query *query;

	struct sheet sheet;
	struct sheet_column *columns;
	char **names;
	size_t nr_columns;
	/* of text: the first rows, which say how wide columns are */
	struct cell *first;
	size_t nr_first, alloc_first;
	bool begun;
	uint64_t nr;			/* rows, those past the limit too */
};

/* The caller has filled format, out, limit, sql and query. */
extern const struct query_sink query_rows_sink;
/* Prints what is left; complete: the query did not fail. */
void query_rows_end(struct query_rows *r, bool complete);

#endif
