// SPDX-License-Identifier: MIT
/* wide.c - finds a child of a node that has many by a table (wide.h). */
#include "callflow/process.h"
#include "callflow/wide.h"

enum { FIRST_SLOTS = 256, MAX_SLOTS = 1 << 26 };

struct slot {
	uint32_t parent, consumer;
	uint32_t node;			/* 0: free */
	uint32_t pad;
};

struct callflow_wide {
	struct slot *slots;
	uint32_t nr, max;		/* max: a power of two */
};

struct callflow_wide *wide_new(void)
{
	struct callflow_wide *w = callflow_pages(sizeof(*w), false);

	if (!w)
		return NULL;
	w->max = FIRST_SLOTS;
	w->slots = callflow_pages(FIRST_SLOTS * sizeof(*w->slots), false);
	if (w->slots)
		return w;
	callflow_free_pages(w, sizeof(*w));
	return NULL;
}

void wide_free(struct callflow_wide *w)
{
	if (!w)
		return;
	callflow_free_pages(w->slots, w->max * sizeof(*w->slots));
	callflow_free_pages(w, sizeof(*w));
}

static struct slot *callflow_wide_slot_of(const struct callflow_wide *w, uint32_t parent, uint32_t consumer)
{
	uint64_t h = ((uint64_t)parent << 32 | consumer) * 0x9e3779b97f4a7c15ull;
	uint32_t i = h >> 32;
	struct slot *s;

	for (;; i++) {
		s = &w->slots[i & (w->max - 1)];
		if (!s->node || (s->parent == parent && s->consumer == consumer))
			return s;
	}
}

uint32_t wide_find(const struct callflow_wide *w, uint32_t parent, uint32_t consumer)
{
	return w ? callflow_wide_slot_of(w, parent, consumer)->node : 0;
}

static bool grow(struct callflow_wide *w)
{
	struct callflow_wide bigger = { .nr = w->nr, .max = w->max * 2 };
	uint32_t i;

	if (bigger.max > MAX_SLOTS)
		return false;
	bigger.slots = callflow_pages(bigger.max * sizeof(*w->slots), false);
	if (!bigger.slots)
		return false;
	for (i = 0; i < w->max; i++)
		if (w->slots[i].node)
			*callflow_wide_slot_of(&bigger, w->slots[i].parent,
					       w->slots[i].consumer) = w->slots[i];
	callflow_free_pages(w->slots, w->max * sizeof(*w->slots));
	*w = bigger;
	return true;
}

bool wide_add(struct callflow_wide *w, uint32_t parent, uint32_t consumer, uint32_t node)
{
	struct slot *s;

	if (w->nr >= w->max / 2 && !grow(w) && w->nr >= w->max - 1)
		return false;
	s = callflow_wide_slot_of(w, parent, consumer);
	w->nr += !s->node;
	*s = (struct slot){ parent, consumer, node, 0 };
	return true;
}
