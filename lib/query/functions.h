/* SPDX-License-Identifier: GPL-2.0-or-later */
/* functions.h - aggregate functions that SQLite does not have. */
#ifndef QUERY_FUNCTIONS_H
#define QUERY_FUNCTIONS_H

#include <sqlite3.h>

#include "base/err.h"

/*
 * percentile(x, p), p from 0 to 100, and median(x): of the values that are numbers, between two of them
 * by interpolation, as SQLite's own extension has it; NULL of none.  Returns what SQLite does.
 */
int functions_add(sqlite3 *db);

struct query_data;

/*
 * The state of field(object, name), which for a heap dump returns a number, or the object that the field
 * refers to; NULL if there is no such field, or it is null. An error is left in *failed.
 */
struct functions_heap {
	struct query_data *data;
	struct err *failed;
};
int functions_add_heap(sqlite3 *db, struct functions_heap *f);

#endif
