/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * roots.h - what a JVM's agent need not send again: the native frames below a thread's
 * first Java frame, and how far up a thread's stack unwinding reads (struct jvm_root).
 *
 * A root that was unwound once gets a number; the agent sends the number as long as registers and
 * stack there have the hash they had. What the agent says back is not believed: a number is
 * looked up among those given out, and a stack that was cut too short ends in a mark.
 */
#ifndef COLLECT_ROOTS_H
#define COLLECT_ROOTS_H

#include <stdbool.h>

#include "jvm/server.h"
#include "trace/frame.h"

struct root_frames;

struct roots {
	struct root_frames *lists;	/* by number; distinct; never forgotten */
	size_t nr_lists, alloc_lists;
	/* [JVM_NR_ROOTS], what the agent knows; top 0: nothing, and it stays so */
	struct jvm_root *told;
	uint32_t nr_changes;		/* of the process's maps when that was true */
};

void roots_release(struct roots *r);

/*
 * Return the frames of number id, outermost first; NULL: no such number. Good until the next
 * roots_learn().
 */
const struct frame *roots_get(const struct roots *r, uint32_t id, size_t *nr);

/* Take back all roots if mappings have changed. */
void roots_check_maps(struct roots *r, struct jvm *jvm, uint32_t nr_changes);
/* Return whether anything can be learned from this segment. */
bool roots_want(const struct roots *r, const struct jvm_segment *s);
/*
 * Note that a segment reached the root of its thread in these frames (outermost first), without reading the
 * stack at or above top.
 */
void roots_learn(struct roots *r, struct jvm *jvm, const struct jvm_segment *s, uint64_t top,
		 const struct frame *frames, size_t nr);
/* Take back for good what the agent need not send of this thread: it proved too little. */
void roots_doubt(struct roots *r, struct jvm *jvm, const struct jvm_segment *s);

#endif
