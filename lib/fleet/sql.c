// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sql.c - the statements for an engine.
 *
 * Views are written once (sql/queries.sql), as ClickHouse has them: a parameter is {name:Type}, and a join is
 * ANY. DuckDB calls such a view a macro, a parameter by its name alone, and has no such join; the table is
 * one more parameter of it.
 */
#include <errno.h>
#include <string.h>

#include "fleet/sql.h"

/* embed.S; each ends with a 0. */
extern const char sql_clickhouse[], sql_duckdb[], sql_rollup[], sql_views[];

static const char *const names[] = { [SQL_CLICKHOUSE] = "clickhouse", [SQL_DUCKDB] = "duckdb" };
static const char mark[] = "--@ ", any[] = "ANY ", of_nodes[] = "FROM nodes";

enum sql_engine sql_engine_parse(const char *name)
{
	enum sql_engine i;

	for (i = 0; i < SQL_NR_ENGINES && strcmp(name, names[i]) != 0; i++)
		;
	return i;
}

void sql_schema(enum sql_engine engine, FILE *out)
{
	fputs(engine == SQL_DUCKDB ? sql_duckdb : sql_clickhouse, out);
}

int sql_roll_up(enum sql_engine engine, FILE *out)
{
	if (engine != SQL_DUCKDB)
		return -ENOTSUP;
	fputs(sql_rollup, out);
	return 0;
}

/* Print the head of "--@ name parameter...": DuckDB's parameters have defaults where all may be wanted. */
static void put_head(enum sql_engine engine, const char *line, size_t len, FILE *out)
{
	size_t n = strcspn(line, " \n"), nr = 0;

	fprintf(out, engine == SQL_DUCKDB ? "CREATE OR REPLACE MACRO %.*s(" : "CREATE VIEW %.*s AS\n", (int)n,
		line);
	if (engine != SQL_DUCKDB)
		return;
	while (n < len) {
		line += n + 1;
		len -= n + 1;
		n = strcspn(line, " \n");
		fprintf(out, "%s%.*s%s", nr++ ? ", " : "", (int)n, line,
			!strncmp(line, "of_service", n) || !strncmp(line, "of_version", n) ? " := '%'" : "");
	}
	fprintf(out, "%sof_table := 'nodes') AS TABLE\n", nr ? ", " : "");
}

static void put_line(enum sql_engine engine, const char *line, size_t len, FILE *out)
{
	const char *end = line + len;
	size_t n;

	for (; line < end; line++) {
		if (engine == SQL_DUCKDB && !strncmp(line, any, strlen(any)))
			line += strlen(any);
		if (engine == SQL_DUCKDB && !strncmp(line, of_nodes, strlen(of_nodes))) {
			fputs("FROM query_table(of_table)", out);
			line += strlen(of_nodes) - 1;
			continue;
		}
		if (engine != SQL_DUCKDB || *line != '{') {
			putc(*line, out);
			continue;
		}
		n = strcspn(line, ":");
		fwrite(line + 1, 1, n - 1, out);
		line += strcspn(line, "}");
	}
	putc('\n', out);
}

void sql_queries(enum sql_engine engine, FILE *out)
{
	const char *line = strstr(sql_views, mark), *next;
	size_t len;

	for (; *line; line = next) {
		len = strcspn(line, "\n");
		next = line + len + (line[len] == '\n');
		if (!strncmp(line, mark, strlen(mark)))
			put_head(engine, line + strlen(mark), len - strlen(mark), out);
		else if (len)
			put_line(engine, line, len, out);
		if (len && (!*next || *next == '\n'))
			fputs(";\n\n", out);
	}
}
