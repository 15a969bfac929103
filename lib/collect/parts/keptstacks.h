/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keptstacks.h - stacks that are needed longer than their numbers in the trace are valid. All users of a
 * stack share it, and the last one frees it.
 */
#ifndef COLLECT_KEPTSTACKS_H
#define COLLECT_KEPTSTACKS_H

#include "base/hash.h"
#include "trace/frame.h"

#define KEPTSTACK_NONE UINT32_MAX

struct keptstack {
	struct frame *frames;		/* outermost first */
	uint32_t nr_frames;
	uint32_t nr_users;		/* 0: free, and next_free counts */
	uint32_t next_free;
	uint64_t key;
};

struct keptstacks {			/* zero: none */
	struct keptstack *items;
	size_t nr_items, alloc_items;	/* free ones included */
	uint32_t first_free;		/* index + 1 */
	uint32_t nr_used;
	struct map by_key;
};

/* Add a user of a stack; return its index, which is valid until the last user has put it. */
uint32_t keptstacks_get(struct keptstacks *k, const struct frame *frames, size_t nr);
void keptstacks_put(struct keptstacks *k, uint32_t at);
static inline const struct keptstack *keptstacks_at(const struct keptstacks *k, uint32_t at)
{
	return &k->items[at];
}
void keptstacks_release(struct keptstacks *k);

#endif
