// SPDX-License-Identifier: GPL-2.0-or-later
/* create.c - creates the tables on a server (create.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/create.h"
#include "fleet/sql.h"

/*
 * Servers before 19 refuse columns of low cardinality unless a setting allows them, and later ones refuse the
 * setting, so it is given with each statement where the server knows it.
 */
static const char setting_is_known[] =
	"SELECT count() FROM system.settings WHERE name = 'allow_experimental_low_cardinality_type'";
static const char *const setting[] = { "allow_experimental_low_cardinality_type=1", NULL };

/* The statements end with semicolons, and have none inside. */
static int send_statements(const struct http_request *q, char *sql, struct err *e)
{
	struct buf answer = BUF_INIT;
	char *end;
	int r = 0;

	for (; !r && (end = strchr(sql, ';')); sql = end + 1) {
		*end = '\0';
		r = http_query(q, sql, &answer, e);
	}
	buf_release(&answer);
	return r;
}

int create_tables(const struct http_server *server, struct err *e)
{
	struct http_request q = { .server = server, .max_answer = HTTP_SHORT_ANSWER };
	char *sql = NULL;
	uint64_t known;
	size_t len;
	FILE *out;
	int r = http_ask_number(server, setting_is_known, &known, e);

	if (r)
		return r;
	if (known)
		q.params = setting;
	out = open_memstream(&sql, &len);
	if (!out)
		return err_errno(e, "cannot make the statements");
	sql_schema(SQL_CLICKHOUSE, out);
	if (fclose(out))
		r = err_errno(e, "cannot make the statements");
	else
		r = send_statements(&q, sql, e);
	free(sql);
	return r;
}
