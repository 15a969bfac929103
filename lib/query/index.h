/* SPDX-License-Identifier: GPL-2.0-or-later */
/* index.h - the rows of a table in order of a column's values; rows where it is NULL are left out. */
#ifndef QUERY_INDEX_H
#define QUERY_INDEX_H

#include "query/table.h"

struct query_index {
	struct query_index_entry {
		uint32_t value, row;
	} *list;
	uint32_t nr;
	bool has_nulls;
};

void query_index_init(struct query_index *x, const struct query_data *d, const struct query_table *t,
		      unsigned int column);
void query_index_release(struct query_index *x);
/* The first entry whose value is at least v. */
uint32_t query_index_find(const struct query_index *x, uint64_t v);

#endif
