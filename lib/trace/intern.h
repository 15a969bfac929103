/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * intern.h - call stacks stored once: a stack is a node of a tree, (parent, frame), and
 * whatever is new since the last intern_take() is kept encoded in two buffers.
 */
#ifndef TRACE_INTERN_H
#define TRACE_INTERN_H

#include "base/buf.h"
#include "trace/frame.h"

struct prefix {			/* hash of a stack's frames from the outermost to some depth */
	uint64_t h1, h2;
};

struct intern_node {
	uint64_t h1;
	uint32_t h2;		/* upper half */
	uint32_t node;		/* 0: free */
};

struct intern {
	struct frame *frames;	/* [nr_frames]; 0 stands for none */
	size_t nr_frames, alloc_frames;
	uint32_t *slots;		/* frame index, 0: free */
	size_t alloc_slots;		/* power of two */
	struct intern_node *nodes;
	size_t alloc_nodes;		/* power of two */
	uint32_t nr_nodes;		/* node 0 is none */
	struct prefix *prefixes;	/* [nr_prefixes], of the last stack */
	size_t nr_prefixes, alloc_prefixes;

	struct buf new_frames, new_nodes;	/* elements of the FRAMES and NODES records to come */
	uint32_t first_new_frame, first_new_node, nr_new_runs;
	uint64_t last_b[FRAME_NR];		/* what the next frame's b is a difference to */

	void (*on_frame)(void *ctx, const struct frame *f);	/* a frame new in this epoch */
	void *ctx;
};

void intern_init(struct intern *in);
void intern_release(struct intern *in);
/* Forgets everything: a new epoch begins. */
void intern_reset(struct intern *in);
/*
 * Return the node of the stack; outermost frame first, nr > 0. The nr_same outermost frames are certainly
 * those of the stack before, and are not hashed again.
 */
uint32_t intern_stack(struct intern *in, const struct frame *frames, size_t nr, size_t nr_same);
/* Return how much memory is in use, without what is pending. */
size_t intern_bytes(const struct intern *in);
/* Begin new records for the next elements, after the pending ones were written. */
void intern_taken(struct intern *in);

#endif
