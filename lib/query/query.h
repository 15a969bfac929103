/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * query.h - asks traces by SQL: one SELECT at a time, which can read the tables of the traces and nothing
 * else: no file, no other database, and it changes nothing.
 */
#ifndef QUERY_QUERY_H
#define QUERY_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct heap;
struct origin;
struct profile_opts;
struct query;
struct trace_reader;

struct query_trace {
	struct trace_reader *t;
	const char *name;			/* in the column "trace" of each table; no two are equal */
};

struct query_opts {
	const struct profile_opts *profile;	/* how traces are read; its times must be set */
	struct heap *heap;			/* what is asked in place of traces; NULL: these */
	uint64_t timeout_ns;			/* of each query, without reading the trace; 0: none */
	uint64_t memory_bytes;			/* for what a query keeps; as much for rows of tables */
};

enum query_type { QUERY_NULL, QUERY_INTEGER, QUERY_REAL, QUERY_TEXT, QUERY_BLOB };

struct query_value {
	enum query_type type;
	union {
		int64_t integer;
		double real;
		struct {
			const char *data;	/* text is terminated, and has no other 0 */
			size_t len;
		} bytes;
	};
};

/* Non-zero ends the query, which returns it. */
struct query_sink {
	/* Called before the first row, with distinct names. Both arrays are borrowed for the call. */
	int (*head)(void *ctx, const char *const *names, size_t nr);
	int (*row)(void *ctx, const struct query_value *values, size_t nr);
};

/*
 * Open at least one trace, or none for a heap. Everything pointed to must outlive the query. Reads nothing
 * yet.
 */
int query_open(struct query **out, const struct query_trace *traces, size_t nr, const struct query_opts *o,
	       struct err *e);
void query_close(struct query *q);

/*
 * -EINVAL: the SQL is wrong; -EACCES: it would do more than read; -ETIME, -ENOMEM: it would take more time
 * or memory than the options allow; others are those of profile_read().
 */
int query_run(struct query *q, const char *sql, const struct query_sink *sink, void *ctx, struct err *e);

/* Return why the i-th of the tables that were used is empty: "calls: ..."; NULL if there are no more. */
const char *query_note(const struct query *q, size_t i);
/* Return the origin of the i-th trace's model, if a query needed it; else NULL. */
const struct origin *query_origin(const struct query *q, size_t i);
/* Return the i-th trace; NULL: there are no more, or the query is of a heap. */
const struct query_trace *query_trace(const struct query *q, size_t i);

/*
 * Print which tables a trace has, or a heap dump; and the columns of one, or with NULL of all. Returns
 * false for an unknown table.
 */
void query_print_tables(bool heap, FILE *out);
bool query_print_schema(bool heap, const char *table, FILE *out);
/* Print the tables for the manual page; of a heap only those that a trace lacks. */
void query_print_manual(bool heap, FILE *out);

#endif
