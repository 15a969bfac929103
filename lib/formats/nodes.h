/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nodes.h - a tree of calls as a foreign file has it, each node with its caller, and the stacks of its nodes.
 *
 * Callers may come after what they call. A file in which a node is its own caller is refused, and so is one
 * whose stacks are longer together than a file of its length can have.
 */
#ifndef FORMATS_NODES_H
#define FORMATS_NODES_H

#include "formats/sink.h"

struct import_nodes {
	struct import *im;
	struct import_node {
		struct frame frame;
		uint32_t caller;	/* 0: none */
		uint32_t depth;		/* frames of its stack; 0: not known yet */
		bool hidden;		/* no frame of a stack: a root that stands for the program */
	} *items;			/* [number - 1] */
	size_t nr_items, alloc_items;
	struct frame *stack;		/* the latest, outermost first */
	uint32_t *path;			/* its nodes */
	size_t nr_path, alloc;
	uint64_t frames_left;		/* what stacks may still have */
};

/* Prepare for a file of that length. */
void import_nodes_init(struct import_nodes *n, struct import *im, size_t file_bytes);
void import_nodes_release(struct import_nodes *n);
/* Returns its number, from 1. */
uint32_t import_nodes_add(struct import_nodes *n, struct frame f, uint32_t caller);
/*
 * Return the stack of a node, for rec_sample.stack (0: no frames), as trace_write_stack() would. -EINVAL:
 * damaged.
 */
int import_nodes_stack(struct import_nodes *n, uint32_t node, uint32_t *stack, struct err *e);

#endif
