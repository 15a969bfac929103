/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree.h - the dominator tree of a heap as an arcflow model: the context of an object is the chain of what
 * dominates it, by class; n counts objects, base is their size and cum what would be freed with them.
 */
#ifndef HEAP_TREE_H
#define HEAP_TREE_H

#include "flow/model.h"
#include "heap/contexts.h"

struct heap_tree_opts {
	enum heap_fold fold;
	bool keep_soft;
	/*
	 * Not NULL: in place of dominators, the shortest path from a root to each object of the classes for
	 * which it is true. Only these objects count; base is their size, and cum that of those below.
	 */
	bool (*paths_to)(const void *ctx, const char *class);
	const void *ctx;
};

/* What of the heap is in no row of its own. */
struct heap_tree_facts {
	uint32_t nr_lost;		/* objects that no root reaches; with paths, of the classes */
	bool no_roots;			/* the dump has none */
};

/* m is new. Reads the objects of h. */
int heap_tree(struct heap *h, const struct heap_tree_opts *o, struct model *m, struct heap_tree_facts *facts,
	      struct err *e);

#endif
