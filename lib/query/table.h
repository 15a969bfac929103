/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table.h - the description of a table: vtab.c makes of it what SQLite can read. */
#ifndef QUERY_TABLE_H
#define QUERY_TABLE_H

#include "query/data.h"

enum query_column_flags {
	/* Values of an integer column find rows without reading all. */
	COLUMN_ROW = 1 << 0,		/* the value is the number of the row, from 0 */
	COLUMN_ROW1 = 1 << 1,		/* the same from 1 */
	COLUMN_ASCENDS = 1 << 2,	/* values ascend with the rows; those that are NULL come first */
	COLUMN_INDEX = 1 << 3,		/* an index is made when first needed; of values below 2^32 */
	COLUMN_UNIQUE = 1 << 4,		/* and no value is there twice */
	COLUMN_TEXT = 1 << 5,		/* not an integer */
	COLUMN_OF_METRIC = 1 << 6,	/* once for each metric of the model: base, base2, ...; at the end */
};

struct query_column {
	const char *name;
	unsigned int flags;
	const char *what;		/* for people */
};

struct query_cell {
	uint32_t row;
	unsigned int column;		/* as in columns[] */
	unsigned int metric;		/* with COLUMN_OF_METRIC */
};

struct query_table {
	const char *name, *what;
	const struct query_column *columns;
	unsigned int nr_columns;
	/* Makes the rows be there.  May be called again. */
	int (*load)(struct query_data *d, struct err *e);
	/* Makes columns be there that load() left out: bit i is the i-th.  NULL: it left out none. */
	int (*use)(struct query_data *d, uint64_t columns, struct err *e);
	uint32_t (*nr_rows)(const struct query_data *d);
	/* Return false for NULL. */
	bool (*number)(const struct query_data *d, const struct query_cell *c, uint64_t *v);
	/* Return NULL for NULL. In d->scratch it lives until the next call, else as long as d. */
	const char *(*text)(struct query_data *d, const struct query_cell *c);
};

#define QUERY_COLUMNS(list) .columns = (list), .nr_columns = ARRAY_SIZE(list)

extern const struct query_table query_processes, query_threads, query_modules, query_labels, query_metrics,
	query_functions, query_nodes, query_xprof, query_arcs, query_samples, query_stacks, query_frames,
	query_calls, query_events, query_dispatches, query_log;

extern const struct query_table *const query_tables[];	/* ends with NULL */

#endif
