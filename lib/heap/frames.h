/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frames.h - the stacks that threads had when a heap was dumped: in which frame a local variable is that
 * holds an object. Which variable it is the dump does not say (variables.h).
 */
#ifndef HEAP_FRAMES_H
#define HEAP_FRAMES_H

#include "heap/heap.h"

struct heap_frames {
	struct map frame_of;		/* id -> index in list */
	struct heap_frame {
		uint64_t method, signature, source;	/* ids of texts */
		uint32_t class_serial;
		int32_t line;		/* below 1: not known */
	} *list;
	size_t nr, alloc;
	struct map class_of;		/* serial -> strtab id of its name */
	struct map stack_of;		/* serial of the thread -> index in stacks */
	struct heap_stack {
		const uint8_t *ids;	/* of its frames, innermost first, in the dump */
		uint32_t nr;
	} *stacks;
	size_t nr_stacks, alloc_stacks;
};

void heap_frames(struct heap_frames *f, const struct heap *h);
void heap_frames_release(struct heap_frames *f);
/* Return the frame in which the root is; NULL: in none, or in one that the dump does not have. */
const struct heap_frame *heap_frame_of(const struct heap *h, const struct heap_frames *f,
				       const struct heap_root *r);
/*
 * "local order of com.example.App.main(App.java:12)" as a strtab id of h->names: where the object is that
 * the root is of; 0: it is in no frame, or in one that the dump does not have. variable: its name, or "".
 */
uint32_t heap_frame_name(struct heap *h, const struct heap_frames *f, const struct heap_root *r,
			 const char *variable);

#endif
