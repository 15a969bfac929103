// SPDX-License-Identifier: GPL-2.0-or-later
/* nodes.c - a tree of calls from a foreign file, and its stacks (nodes.h). */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "formats/nodes.h"

enum {
	MAX_FRAMES = 65536,
	/* A byte of a file may name a node with a long stack, but few do. */
	FRAMES_PER_BYTE = 16, LEAST_FRAMES = 1 << 20,
};

void import_nodes_init(struct import_nodes *n, struct import *im, size_t file_bytes)
{
	*n = (struct import_nodes){ .im = im, .frames_left = LEAST_FRAMES + file_bytes * FRAMES_PER_BYTE };
}

void import_nodes_release(struct import_nodes *n)
{
	free(n->items);
	free(n->stack);
	free(n->path);
}

uint32_t import_nodes_add(struct import_nodes *n, struct frame f, uint32_t caller)
{
	*VEC_ADD(n->items, n->nr_items, n->alloc_items) =
		(struct import_node){ .frame = f, .caller = caller };
	return n->nr_items;
}

/* Sets the depth of the node and of all its callers that have none yet. */
static int measure(struct import_nodes *n, uint32_t node, struct err *e)
{
	uint32_t at, depth, nr = 0;

	for (at = node; at && !n->items[at - 1].depth; at = n->items[at - 1].caller)
		if (++nr > MAX_FRAMES)
			return err_set(e, EINVAL, "damaged: a function is below itself without end, or below more than %d",
				       MAX_FRAMES);
	depth = nr + (at ? n->items[at - 1].depth : 0);
	if (depth > MAX_FRAMES)
		return err_set(e, EINVAL, "more than %d functions in a stack", MAX_FRAMES);
	for (at = node; nr; nr--, at = n->items[at - 1].caller)
		n->items[at - 1].depth = depth--;
	return 0;
}

static void make_room(struct import_nodes *n, size_t depth)
{
	if (depth <= n->alloc)
		return;
	n->alloc = MAX(depth * 2, (size_t)64);
	n->stack = xrealloc(n->stack, n->alloc * sizeof(*n->stack));
	n->path = xrealloc(n->path, n->alloc * sizeof(*n->path));
}

int import_nodes_stack(struct import_nodes *n, uint32_t node, uint32_t *stack, struct err *e)
{
	size_t depth, same, hidden;
	uint32_t at;
	int r = measure(n, node, e);

	*stack = 0;
	if (r || !node)
		return r;
	depth = n->items[node - 1].depth;
	make_room(n, depth);
	/* Fill in only what differs from the latest stack, from the innermost frame. */
	for (at = node; at; at = n->items[at - 1].caller) {
		size_t i = n->items[at - 1].depth - 1;

		if (i < n->nr_path && n->path[i] == at)
			break;
		n->path[i] = at;
		n->stack[i] = n->items[at - 1].frame;
	}
	same = at ? n->items[at - 1].depth : 0;
	n->nr_path = depth;
	n->frames_left -= MIN(n->frames_left, (uint64_t)(depth - same));
	if (!n->frames_left)
		return err_set(e, EINVAL, "damaged: its stacks are longer than such a file can have");
	hidden = n->items[n->path[0] - 1].hidden;
	if (depth > hidden)
		*stack = trace_write_changed_stack(n->im->w, n->stack + hidden, depth - hidden,
						   same > hidden ? same - hidden : 0);
	return 0;
}
