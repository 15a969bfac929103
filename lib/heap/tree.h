/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree.h - the dominator tree of a heap as an arcflow model: the context of an object is the chain of what
 * dominates it, by class; n counts objects, base is their size and cum what would be freed with them.
 */
#ifndef HEAP_TREE_H
#define HEAP_TREE_H

#include "flow/model.h"
#include "heap/heap.h"

enum heap_fold {
	HEAP_FOLD_SELF,			/* an object directly below one of its class is in its row: lists */
	HEAP_FOLD_PATH,			/* below any of its class */
	HEAP_FOLD_NONE,
};

struct heap_tree_opts {
	enum heap_fold fold;
	bool keep_soft;
};

/* What of the heap is in no row of its own. */
struct heap_tree_facts {
	uint32_t nr_lost;		/* objects that no root reaches */
	bool no_roots;			/* the dump has none */
};

/* m is new. Reads the objects of h. */
int heap_tree(struct heap *h, const struct heap_tree_opts *o, struct model *m, struct heap_tree_facts *facts,
	      struct err *e);

#endif
