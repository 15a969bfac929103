/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap.h - what tables show of a heap dump. Numbers of objects and classes are those of heap/heap.h; nodes
 * and functions are those of the dominator tree.
 */
#ifndef QUERY_HEAP_H
#define QUERY_HEAP_H

#include "heap/graph.h"
#include "query/query.h"
#include "query/table.h"

struct query_ref {
	uint32_t source, target;	/* objects */
	uint32_t field;			/* strtab id of the heap's names */
};

struct query_heap {
	struct heap *h;			/* the caller's */
	bool is_read;			/* classes and sizes of objects are there */
	bool has_retained;
	struct heap_retained retained;
	uint64_t *at;			/* [object] offset of its item in the dump, 0: none; NULL: not read */
	bool has_refs, has_strings;
	struct query_ref *refs;		/* by source */
	uint32_t nr_refs;
	uint32_t *strings;		/* objects */
	uint32_t nr_strings;
};

extern const struct query_table *const query_heap_tables[];	/* ends with NULL */

/* query_data_model() of a heap: the dominator tree. */
int query_heap_model(struct query_data *d, struct err *e);
void query_heap_release(struct query_data *d);

/*
 * Get the field with that name of an object: a number, or the number of the object that it refers to.
 * QUERY_NULL: there is no such object or field, or it is null. The dump is walked at the first call.
 */
int query_heap_field(struct query_data *d, int64_t object, const char *name, struct query_value *v,
		     struct err *e);

#endif
