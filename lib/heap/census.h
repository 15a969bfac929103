/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * census.h - counts the objects of a heap by class in the walk that numbers them. JVMs write most dumps by
 * address, from one part of the heap after the other, so the distance from an object to the next, which
 * tells its size, is known as they pass. Where they do not, or something is damaged, the census says that it
 * failed, and heap_read() takes its second walk.
 */
#ifndef HEAP_CENSUS_H
#define HEAP_CENSUS_H

#include <stdbool.h>

#include "heap/heap.h"
#include "heap/kinds.h"

/* Objects whose addresses ascend in the dump, by small steps; what is behind the last is known at the end. */
struct census_run {
	uint64_t first, last;		/* ids */
	uint32_t class, n;		/* of the last */
};

struct census {
	struct object_kinds kinds;
	struct census_run *runs;
	size_t nr_runs, alloc_runs;
	const struct heap_class *of;	/* the class of late */
	uint64_t nr_objects;
	struct object_kind last;	/* of all objects: its distance is not known; nr 0: a Class */
	bool failed;
};

/* Return the class of an array of values, whose number is found later. */
static inline uint32_t census_values(unsigned int type)
{
	return HEAP_NONE - 1 - type;
}

struct census *census_new(const struct heap *h);
void census_free(struct census *c);
/* Count an object that has just been added to h->ids; a Class object has no kind. */
void census_see(struct census *c, const struct heap *h, const struct hprof_item *x);
/* Finish, after ids_finish() and after the classes have been resolved. Returns false if it has failed. */
bool census_finish(struct census *c, const struct heap *h);

#endif
