// SPDX-License-Identifier: GPL-2.0-or-later
/* functions.c - the aggregate functions percentile() and median(). */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "query/heap.h"
#include "query/vtab.h"

/* memory from SQLite, so that the query's limit holds for it, too */
struct percentile {
	double *values;
	sqlite3_uint64 nr, alloc;
	double p;
	int has_p;
};

static void step(sqlite3_context *x, int argc, sqlite3_value **argv)
{
	struct percentile *a = sqlite3_aggregate_context(x, sizeof(*a));
	double p = argc > 1 ? sqlite3_value_double(argv[1]) : 50;

	if (!a) {
		sqlite3_result_error_nomem(x);
		return;
	}
	if ((argc > 1 && sqlite3_value_numeric_type(argv[1]) == SQLITE_TEXT) || !(p >= 0 && p <= 100) ||
	    (a->has_p && p != a->p)) {
		sqlite3_result_error(x, "percentile(): the second argument is one number from 0 to 100", -1);
		return;
	}
	a->p = p;
	a->has_p = 1;
	switch (sqlite3_value_numeric_type(argv[0])) {
	case SQLITE_INTEGER:
	case SQLITE_FLOAT:
		break;
	default:
		return;
	}
	if (a->nr == a->alloc) {
		sqlite3_uint64 alloc = a->alloc ? 2 * a->alloc : 64;
		double *values = sqlite3_realloc64(a->values, alloc * sizeof(*values));

		if (!values) {
			sqlite3_result_error_nomem(x);
			return;
		}
		a->values = values;
		a->alloc = alloc;
	}
	a->values[a->nr++] = sqlite3_value_double(argv[0]);
}

static int query_functions_compare(const void *p, const void *q)
{
	double a = *(const double *)p, b = *(const double *)q;

	return COMPARE(a, b);
}

static void final(sqlite3_context *x)
{
	struct percentile *a = sqlite3_aggregate_context(x, 0);
	double at, below, above;
	size_t i;

	if (!a)
		return;
	if (a->nr) {
		qsort(a->values, a->nr, sizeof(*a->values), query_functions_compare);
		at = a->p / 100 * (a->nr - 1);
		below = floor(at);
		i = below;
		above = a->values[i + 1 < a->nr ? i + 1 : i];
		sqlite3_result_double(x, a->values[i] + (at - below) * (above - a->values[i]));
	}
	sqlite3_free(a->values);
	*a = (struct percentile){ .values = NULL };
}

int functions_add(sqlite3 *db)
{
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
	int r = sqlite3_create_function_v2(db, "percentile", 2, flags, NULL, NULL, step, final, NULL);

	return r ? r : sqlite3_create_function_v2(db, "median", 1, flags, NULL, NULL, step, final, NULL);
}

static void field(sqlite3_context *x, int nr, sqlite3_value **args)
{
	struct functions_heap *f = sqlite3_user_data(x);
	const char *name = (const char *)sqlite3_value_text(args[1]);
	struct query_value v;
	struct err e = { 0 };

	(void)nr;
	if (!name || sqlite3_value_numeric_type(args[0]) != SQLITE_INTEGER)
		return;
	if (query_heap_field(f->data, sqlite3_value_int64(args[0]), name, &v, &e)) {
		*f->failed = e;
		sqlite3_result_error(x, e.msg, -1);
	} else if (v.type == QUERY_INTEGER) {
		sqlite3_result_int64(x, v.integer);
	} else if (v.type == QUERY_REAL) {
		sqlite3_result_double(x, v.real);
	}
}

int functions_add_heap(sqlite3 *db, struct functions_heap *f)
{
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;

	return sqlite3_create_function_v2(db, "field", 2, flags, f, field, NULL, NULL, NULL);
}
