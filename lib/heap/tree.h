/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree.h - a heap as an arcflow model: the context of an object is the chain of what dominates it, or of
 * what contains it, by class; n counts objects, base is their size and cum that of all below. Below
 * dominators that is what would be freed with them.
 */
#ifndef HEAP_TREE_H
#define HEAP_TREE_H

#include "flow/model.h"
#include "heap/contexts.h"
#include "heap/origins.h"

/* The relation of an object to what is above it in the tree. */
enum heap_shape {
	HEAP_DOMINATORS,		/* what dominates it */
	HEAP_CONTAINMENT,		/* the shortest path from a root: what contains it */
	HEAP_PATHS,			/* the same, of the objects of some classes alone */
};

struct heap_tree_opts {
	enum heap_shape shape;
	enum heap_fold fold;
	bool keep_soft;
	bool by_field;			/* contexts are fields with the class of what they hold, */
	const struct classpath *classes;	/* or local variables, which have their names here; or NULL */
	/* contexts are places of allocation, but not with HEAP_PATHS; NULL: they are not */
	const struct heap_origins *origins;
	/* HEAP_PATHS: whether an object of that class is the end of one. Only these count. */
	bool (*paths_to)(const void *ctx, const char *class);
	const void *ctx;
};

/* The parts of the heap that have no row of their own. */
struct heap_tree_facts {
	uint32_t nr_lost;		/* objects that no root reaches; with paths, of the classes */
	bool no_roots;			/* the dump has none */
	struct heap_origin_facts origins;
};

/* Build the tree, reading the objects of h; m is new. */
int heap_tree(struct heap *h, const struct heap_tree_opts *o, struct model *m, struct heap_tree_facts *facts,
	      struct err *e);

#endif
