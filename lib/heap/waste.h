/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waste.h - memory of a heap that a program could do without: the same contents twice, arrays of zeros,
 * arrays of no length, slots that nothing is in, the same numbers boxed twice.
 *
 * Each object counts in one kind alone, so that kinds can be added. Contents are the same if their hashes of
 * 64 bits are.
 */
#ifndef HEAP_WASTE_H
#define HEAP_WASTE_H

#include "heap/heap.h"

enum waste_kind {
	WASTE_TEXTS,			/* arrays that Strings refer to; by text */
	WASTE_ARRAYS,			/* other arrays of values; by class */
	WASTE_ZEROS,			/* arrays of values that are all 0; by class */
	WASTE_EMPTY,			/* arrays of no length but the first of a class; by class */
	WASTE_SLOTS,			/* null elements of arrays of references; by field of the holder */
	WASTE_BOXES,			/* Integer and the like, with a value that another has; by class */
	WASTE_NR
};

struct waste_row {
	enum waste_kind kind;
	uint32_t what;			/* strtab id of the heap's names: class, field or text */
	uint64_t nr;			/* objects of this kind, the first ones included */
	uint64_t wasted;		/* bytes */
	uint64_t slots, unused;		/* WASTE_SLOTS: of nr arrays */
};

struct waste {
	struct waste_row *rows;		/* that waste something, by bytes */
	size_t nr_rows, alloc_rows;
	uint64_t nr[WASTE_NR], wasted[WASTE_NR];
};

/* Reads the objects of h. */
int waste_find(struct heap *h, struct waste *w, struct err *e);
void waste_release(struct waste *w);

#endif
