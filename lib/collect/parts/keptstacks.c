// SPDX-License-Identifier: GPL-2.0-or-later
/* keptstacks.c - stacks that outlive the trace's own numbers of stacks (keptstacks.h). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "collect/parts/keptstacks.h"

enum { SPARSE = 4096 };

/* Maps forget nothing: they are made anew when most of what they have is gone. */
static void make_index(struct keptstacks *k)
{
	size_t i;

	map_reset(&k->by_key);
	for (i = 0; i < k->nr_items; i++)
		if (k->items[i].nr_users)
			*map_put(&k->by_key, k->items[i].key) = i;
}

static bool is_stack(const struct keptstack *s, const struct frame *frames, size_t nr)
{
	return s->nr_users && s->nr_frames == nr && !memcmp(s->frames, frames, nr * sizeof(*frames));
}

static uint32_t new_item(struct keptstacks *k)
{
	uint32_t at = k->first_free;

	if (at) {
		k->first_free = k->items[at - 1].next_free;
		return at - 1;
	}
	VEC_GROW(k->items, k->nr_items, k->alloc_items);
	return k->nr_items++;
}

uint32_t keptstacks_get(struct keptstacks *k, const struct frame *frames, size_t nr)
{
	uint64_t key = hash_bytes(frames, nr * sizeof(*frames));
	uint32_t *at;

	if (k->by_key.nr > 2 * k->nr_used + SPARSE)
		make_index(k);
	/* a key of one that is gone, or, which nobody will see, of another: the next one */
	for (;; key++) {
		at = map_put(&k->by_key, key);
		if (*at == MAP_NONE || (!k->items[*at].nr_users || k->items[*at].key != key) ||
		    is_stack(&k->items[*at], frames, nr))
			break;
	}
	if (*at != MAP_NONE && k->items[*at].key == key && is_stack(&k->items[*at], frames, nr)) {
		k->items[*at].nr_users++;
		return *at;
	}
	*at = new_item(k);
	k->items[*at] = (struct keptstack){
		.frames = memcpy(xmalloc(nr * sizeof(*frames) + 1), frames, nr * sizeof(*frames)),
		.nr_frames = nr, .nr_users = 1, .key = key,
	};
	k->nr_used++;
	return *at;
}

void keptstacks_put(struct keptstacks *k, uint32_t at)
{
	struct keptstack *s = &k->items[at];

	if (--s->nr_users)
		return;
	free(s->frames);
	s->frames = NULL;
	s->next_free = k->first_free;
	k->first_free = at + 1;
	k->nr_used--;
}

void keptstacks_release(struct keptstacks *k)
{
	size_t i;

	for (i = 0; i < k->nr_items; i++)
		free(k->items[i].frames);
	free(k->items);
	map_release(&k->by_key);
	*k = (struct keptstacks){ 0 };
}
