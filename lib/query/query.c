// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * query.c - SQLite without anything to write on: a database in memory that stays empty, an authorizer that
 * lets pass what reads, limits of size, memory and time, and the tables of vtab.c.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "query/heap.h"
#include "query/query.h"
#include "query/vtab.h"

enum { PROGRESS_STEPS = 2000, MAX_TEXT_BYTES = 64 << 20, MAX_SQL_BYTES = 1 << 20 };

struct query {
	sqlite3 *db;
	const struct query_trace *traces;
	size_t nr_traces;
	struct query_data *data;		/* [part] */
	struct vtab_part *parts;
	size_t nr_parts;			/* one for each trace, or of the heap */
	uint64_t used_bytes;			/* for rows of all of them */
	struct vtab_source *sources;
	size_t nr_sources;
	uint64_t timeout_ns, deadline_ns, memory_bytes;
	bool late;
	struct vtab_shared shared;
	struct functions_heap functions;
};

/* ---- what is allowed ---- */

static bool has_word(const char *const *words, const char *word)
{
	for (; word && *words; words++)
		if (!sqlite3_stricmp(*words, word))
			return true;
	return false;
}

static int authorize(void *ctx, int action, const char *a, const char *b, const char *db, const char *trigger)
{
	static const char *const pragmas[] = { "table_info", "table_xinfo", "table_list", "function_list",
		"module_list", "compile_options", "collation_list", NULL };
	static const char *const refused[] = { "load_extension", "readfile", "writefile", "edit",
		"fts3_tokenizer", "eval", NULL };

	const struct query *q = ctx;

	if (q->shared.declaring)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return has_word(refused, b) ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_PRAGMA:
		return has_word(pragmas, a) ? SQLITE_OK : SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

static int progress(void *ctx)
{
	struct query *q = ctx;

	q->late = q->timeout_ns && clock_mono_ns() > q->deadline_ns;
	return q->late;
}

static void set_limits(sqlite3 *db)
{
	static const struct {
		int id, most;
	} limits[] = {
		{ SQLITE_LIMIT_LENGTH, MAX_TEXT_BYTES }, { SQLITE_LIMIT_SQL_LENGTH, MAX_SQL_BYTES },
		{ SQLITE_LIMIT_EXPR_DEPTH, 200 }, { SQLITE_LIMIT_COMPOUND_SELECT, 100 },
		{ SQLITE_LIMIT_VDBE_OP, 250000 }, { SQLITE_LIMIT_ATTACHED, 0 },
		{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200 }, { SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 }, { SQLITE_LIMIT_FUNCTION_ARG, 100 },
		{ SQLITE_LIMIT_COLUMN, 500 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(limits); i++)
		sqlite3_limit(db, limits[i].id, limits[i].most);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
}

/* ---- opening ---- */

static int add_tables(struct query *q)
{
	const struct query_table *const *tables = q->data[0].heap ? query_heap_tables : query_tables;
	size_t i;
	int r = 0;

	while (tables[q->nr_sources])
		q->nr_sources++;
	q->sources = xcalloc(q->nr_sources, sizeof(*q->sources));
	for (i = 0; i < q->nr_sources && !r; i++) {
		q->sources[i].table = tables[i];
		q->sources[i].shared = &q->shared;
		q->sources[i].notes = xcalloc(q->nr_parts, sizeof(*q->sources[i].notes));
		r = vtab_add(q->db, &q->sources[i]);
	}
	return r;
}

static int prepare_database(struct query *q)
{
	static const char settings[] = "PRAGMA temp_store = MEMORY; PRAGMA query_only = 1";
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY;
	int r = sqlite3_open_v2(":memory:", &q->db, flags, NULL);

	if (!r)
		r = sqlite3_exec(q->db, settings, NULL, NULL, NULL);
	if (!r)
		r = functions_add(q->db);
	if (!r && q->data[0].heap) {
		q->functions = (struct functions_heap){ &q->data[0], &q->shared.failed };
		r = functions_add_heap(q->db, &q->functions);
	}
	if (!r)
		r = add_tables(q);
	if (r)
		return r;
	set_limits(q->db);
	sqlite3_progress_handler(q->db, PROGRESS_STEPS, progress, q);
	return sqlite3_set_authorizer(q->db, authorize, q);
}

static void add_parts(struct query *q, const struct query_opts *o)
{
	size_t i;

	q->nr_parts = o->heap ? 1 : q->nr_traces;
	q->data = xcalloc(q->nr_parts, sizeof(*q->data));
	q->parts = xcalloc(q->nr_parts, sizeof(*q->parts));
	for (i = 0; i < q->nr_parts; i++) {
		query_data_init(&q->data[i], o->heap ? NULL : q->traces[i].t, o->profile, o->memory_bytes,
				&q->used_bytes);
		q->parts[i] = (struct vtab_part){ &q->data[i], o->heap ? NULL : q->traces[i].name };
	}
	if (o->heap) {
		q->data[0].heap = xcalloc(1, sizeof(*q->data[0].heap));
		q->data[0].heap->h = o->heap;
	}
	q->shared.parts = q->parts;
	q->shared.nr_parts = q->nr_parts;
}

int query_open(struct query **out, const struct query_trace *traces, size_t nr, const struct query_opts *o,
	       struct err *e)
{
	struct query *q = xcalloc(1, sizeof(*q));
	int r;

	q->traces = traces;
	q->nr_traces = nr;
	add_parts(q, o);
	q->timeout_ns = o->timeout_ns;
	q->memory_bytes = o->memory_bytes;
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 1);
	sqlite3_hard_heap_limit64(o->memory_bytes);
	r = prepare_database(q);
	if (r) {
		query_close(q);
		return err_set(e, r == SQLITE_NOMEM ? ENOMEM : EIO, "SQLite: %s", sqlite3_errstr(r));
	}
	*out = q;
	return 0;
}

void query_close(struct query *q)
{
	size_t i;

	sqlite3_close_v2(q->db);
	for (i = 0; i < q->nr_sources; i++)
		free(q->sources[i].notes);
	free(q->sources);
	for (i = 0; i < q->nr_parts; i++)
		query_data_release(&q->data[i]);
	free(q->data);
	free(q->parts);
	free(q);
}

/* ---- errors ---- */

static int too_much_memory(const struct query *q, struct err *e)
{
	err_set(e, ENOMEM, "the query takes more than %" PRIu64 " MiB of memory", q->memory_bytes >> 20);
	err_hint(e, "--memory allows more; a LIMIT or a WHERE may make it need less");
	return -ENOMEM;
}

/* Report wrong SQL, with its place when SQLite knows it. */
static int wrong_sql(const struct query *q, const char *sql, struct err *e)
{
	const char *message = sqlite3_errmsg(q->db);
	int at = sqlite3_error_offset(q->db);

	if (at > 0 && (size_t)at < strlen(sql))
		err_set(e, EINVAL, "%s, at '%.40s'", message, sql + at);
	else
		err_set(e, EINVAL, "%s", message);
	if (strstr(message, "no such table"))
		err_hint(e, "'arcprof query %s.tables' lists the tables", q->data[0].heap ? "<heap dump> " : "");
	else if (strstr(message, "no such column"))
		err_hint(e, "'arcprof query %s.schema' lists the columns; text is in single quotes",
			 q->data[0].heap ? "<heap dump> " : "");
	return -EINVAL;
}

static int explain(struct query *q, int r, const char *sql, struct err *e)
{
	if (q->shared.failed.code) {
		*e = q->shared.failed;
		return -e->code;
	}
	switch (r & 0xff) {
	case SQLITE_INTERRUPT:
		err_set(e, ETIME, "the query takes longer than %.3g s", q->timeout_ns / 1e9);
		err_hint(e, "--timeout allows more; EXPLAIN QUERY PLAN before a query says how it would be done");
		return -ETIME;
	case SQLITE_NOMEM:
		return too_much_memory(q, e);
	case SQLITE_AUTH:
		err_set(e, EACCES, "%s", sqlite3_errmsg(q->db));
		err_hint(e, "a query reads the %s, and nothing else", q->data[0].heap ? "heap dump" : "trace");
		return -EACCES;
	default:
		return wrong_sql(q, sql, e);
	}
}

/* ---- running ---- */

static const char *past_blanks(const char *s)
{
	while (isspace((unsigned char)*s) || *s == ';')
		s++;
	return s;
}

/* Prepare the only statement of the text. */
static int query_prepare(struct query *q, const char *sql, sqlite3_stmt **out, struct err *e)
{
	sqlite3_stmt *more = NULL;
	const char *rest = past_blanks(sql);
	int r;

	*out = NULL;
	if (strlen(sql) > MAX_SQL_BYTES)
		return err_set(e, E2BIG, "the SQL is longer than %d bytes", MAX_SQL_BYTES);
	do {
		r = sqlite3_prepare_v2(q->db, rest, -1, *out ? &more : out, &rest);
		if (r)
			return explain(q, r, sql, e);
		rest = past_blanks(rest);
		if (more) {
			sqlite3_finalize(more);
			return err_set(e, EINVAL, "there is more than one statement");
		}
	} while (*rest);
	if (!*out)
		return err_set(e, EINVAL, "there is no SQL statement");
	if (!sqlite3_stmt_readonly(*out) || !sqlite3_column_count(*out))
		return err_set(e, EACCES, "this is not a query");
	return 0;
}

/* Return the names of columns; a second "name" becomes "name:1". */
static char **make_names(sqlite3_stmt *s, int nr)
{
	char **names = xcalloc(nr, sizeof(*names));
	int i, k, same;

	for (i = 0; i < nr; i++) {
		const char *name = sqlite3_column_name(s, i);

		names[i] = xstrdup(name ? name : "?");
		for (same = 1, k = 0; k < i; k++)
			if (!strcmp(names[k], names[i])) {
				free(names[i]);
				names[i] = xasprintf("%s:%d", name ? name : "?", same++);
				k = -1;
			}
	}
	return names;
}

static void free_names(char **names, int nr)
{
	while (nr--)
		free(names[nr]);
	free(names);
}

/* Take text or a blob; return false without memory. */
static bool take_bytes(sqlite3_stmt *s, int i, struct query_value *v)
{
	v->bytes.data = sqlite3_column_type(s, i) == SQLITE_BLOB ? sqlite3_column_blob(s, i) :
								   (const char *)sqlite3_column_text(s, i);
	v->bytes.len = sqlite3_column_bytes(s, i);
	if (!v->bytes.data && (v->type == QUERY_TEXT || v->bytes.len))
		return false;
	if (v->type == QUERY_TEXT && strlen(v->bytes.data) != v->bytes.len)
		v->type = QUERY_BLOB;	/* there is a 0 in it */
	return true;
}

static bool query_take_value(sqlite3_stmt *s, int i, struct query_value *v)
{
	switch (sqlite3_column_type(s, i)) {
	case SQLITE_INTEGER:
		*v = (struct query_value){ QUERY_INTEGER, .integer = sqlite3_column_int64(s, i) };
		return true;
	case SQLITE_FLOAT:
		*v = (struct query_value){ QUERY_REAL, .real = sqlite3_column_double(s, i) };
		return true;
	case SQLITE_TEXT:
		v->type = QUERY_TEXT;
		return take_bytes(s, i, v);
	case SQLITE_BLOB:
		v->type = QUERY_BLOB;
		return take_bytes(s, i, v);
	default:
		v->type = QUERY_NULL;
		return true;
	}
}

static int give_rows(struct query *q, sqlite3_stmt *s, const struct query_sink *sink, void *ctx,
		     const char *sql, struct err *e)
{
	int nr = sqlite3_column_count(s), i, r;
	struct query_value *values = xcalloc(nr, sizeof(*values));
	char **names = make_names(s, nr);
	int ended = sink->head(ctx, (const char *const *)names, nr);

	while (!ended && (r = sqlite3_step(s)) == SQLITE_ROW) {
		for (i = 0; i < nr && query_take_value(s, i, &values[i]); i++)
			;
		ended = i < nr ? too_much_memory(q, e) : sink->row(ctx, values, nr);
	}
	if (!ended && r != SQLITE_DONE)
		ended = explain(q, r, sql, e);
	free_names(names, nr);
	free(values);
	return ended;
}

int query_run(struct query *q, const char *sql, const struct query_sink *sink, void *ctx, struct err *e)
{
	sqlite3_stmt *s = NULL;
	int r;

	q->shared.failed = (struct err){ 0 };
	/* Reading the trace is not the query's time. */
	q->deadline_ns = UINT64_MAX;
	r = query_prepare(q, sql, &s, e);
	q->deadline_ns = clock_mono_ns() + q->timeout_ns;
	if (!r)
		r = give_rows(q, s, sink, ctx, sql, e);
	sqlite3_finalize(s);
	return r;
}

const char *query_note(const struct query *q, size_t i)
{
	size_t k, part;

	for (k = 0; k < q->nr_sources; k++)
		for (part = 0; part < q->nr_parts; part++)
			if (q->sources[k].notes[part][0] && !i--)
				return q->sources[k].notes[part];
	return NULL;
}

const struct origin *query_origin(const struct query *q, size_t i)
{
	return i < q->nr_traces && q->data[i].has_model ? &q->data[i].origin : NULL;
}

const struct query_trace *query_trace(const struct query *q, size_t i)
{
	return i < q->nr_traces ? &q->traces[i] : NULL;
}
