/* SPDX-License-Identifier: GPL-2.0-or-later */
/* functions.h - aggregate functions that SQLite does not have. */
#ifndef QUERY_FUNCTIONS_H
#define QUERY_FUNCTIONS_H

#include <sqlite3.h>

/*
 * percentile(x, p), p from 0 to 100, and median(x): of the values that are numbers, between two of them
 * by interpolation, as SQLite's own extension has it; NULL of none.  Returns what SQLite does.
 */
int functions_add(sqlite3 *db);

#endif
