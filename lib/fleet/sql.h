/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sql.h - what a database needs to hold and to read the tables (table.h). */
#ifndef FLEET_SQL_H
#define FLEET_SQL_H

#include <stdio.h>

enum sql_engine {
	SQL_CLICKHOUSE,
	SQL_DUCKDB,
	SQL_NR_ENGINES
};

/* SQL_NR_ENGINES: not known. */
enum sql_engine sql_engine_parse(const char *name);
/* Prints statements that make the tables. */
void sql_schema(enum sql_engine engine, FILE *out);
/* Print the statements that add up hours and days. -ENOTSUP: the engine does that itself. */
int sql_roll_up(enum sql_engine engine, FILE *out);
/* Print the statements of the views, which have parameters. */
void sql_queries(enum sql_engine engine, FILE *out);

#endif
