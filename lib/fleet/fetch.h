/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fetch.h - reads a merged tree from a server of ClickHouse. */
#ifndef FLEET_FETCH_H
#define FLEET_FETCH_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "fleet/http.h"
#include "flow/model.h"
#include "model/origin.h"

struct fetch {
	const struct http_server *server;
	const char *table;		/* nodes, or one of its sums: hours, days; these have no traces */
	const char *metric;		/* NULL: cpu-clock if it is there, else that with most rows */
	const char *where;		/* a condition on columns of the table, or NULL */
	uint64_t since_s, until_s;	/* of t; until 0: no end */
};

/* What it was made of: the caller frees parts and their hosts with fetch_release(). */
struct fetched {
	struct model m;			/* finished */
	struct recording *parts;
	size_t nr_parts, alloc_parts;
};

/* Initialises *x. -ENODATA: no rows match; -EINVAL: the answer is none; else as http_query(). */
int fetch_tree(struct fetched *x, const struct fetch *f, struct err *e);
void fetch_release(struct fetched *x);

/* ---- between fetch.c and ask.c ---- */

struct fetch_metric {
	char *name, *unit, *source;
};

/* The metric that is wanted; -ENODATA: no rows match. The caller releases *x in any case. */
int fetch_choose_metric(const struct fetch *f, struct fetch_metric *x, struct err *e);
void fetch_metric_release(struct fetch_metric *x);
/* Append " FROM ... WHERE ..." with all that f selects; metric NULL: any. */
void fetch_put_rows(struct buf *b, const struct fetch *f, const char *metric);
void fetch_put_literal(struct buf *b, const char *s);
/* Send a statement, and get its answer. max_answer: bytes; 0: the server's limit. */
int fetch_ask(const struct fetch *f, const struct buf *sql, size_t max_answer, struct buf *answer,
	      struct err *e);

#endif
