/* SPDX-License-Identifier: GPL-2.0-or-later */
/* graft.h - finds the nodes of samples in a tree of calls. */
#ifndef MODEL_GRAFT_H
#define MODEL_GRAFT_H

#include "model/calls.h"

struct graft {
	struct names *names;
	bool hide_inlined;			/* show no inlined function below the innermost context */
	struct map consumer_of;		/* function -> consumer in the contexts */
	struct map by_own_name;		/* the same by a name without scope and parameters; 0: of several */
	struct map roots_of;		/* thread of the trace -> the last of its trees in roots */
	struct graft_root {
		uint64_t start_ns, end_ns;
		uint32_t node;		/* of the thread */
		uint32_t next;
	} *roots;
	size_t nr_roots, alloc_roots;
	size_t nr_contexts;		/* nodes above are of samples */
	uint64_t max_depth;		/* of open calls in contexts of their own; 0: unknown */
	uint32_t pruned;
	struct graft_level {
		uint32_t level, consumer;
	} *path;			/* below the innermost context */
	size_t nr_path, alloc_path;
};

/* Prepare when all calls are in the model, before the first sample. */
void graft_init(struct graft *g, struct calls *c, bool hide_inlined);
void graft_release(struct graft *g);
/* Return the root in g->roots for a sample of that thread; MAP_NONE: none of its calls were counted. */
uint32_t graft_root(const struct graft *g, uint32_t thread, uint64_t time_ns);
/*
 * Return the node below root for a sample with these frames, outermost first. *missing: it contains a
 * counted function in a context that the tree does not have.
 */
uint32_t graft_node(struct graft *g, uint32_t root, const struct name_run *frames, size_t nr, bool *missing);

#endif
