// SPDX-License-Identifier: GPL-2.0-or-later
/* roster.c - see roster.h. What a dump says of objects that it does not have is ignored. */
#include <stdlib.h>

#include "base/mem.h"
#include "heap/roster.h"
#include "jvm/roster.h"

static uint32_t number_at(const uint8_t *numbers, uint32_t i)
{
	return hprof_u32(numbers + (size_t)i * 4);
}

void roster_see(struct heap *h, const struct hprof_item *x)
{
	static const uint32_t magic[] = ROSTER_MAGIC;
	uint32_t nr, i;

	if (x->type != HPROF_INT || x->n < ROSTER_HEAD)
		return;
	for (i = 0; i < ARRAY_SIZE(magic); i++)
		if (number_at(x->data, i) != magic[i])
			return;
	nr = number_at(x->data, ROSTER_NR);
	h->roster.numbers_id = x->id;
	h->roster.numbers = x->data;
	h->roster.nr = MIN(MIN(nr, x->n - ROSTER_HEAD), (uint32_t)ROSTER_MAX);
}

/* Return whether it is an array whose first element is the one of numbers. */
static bool is_holder(const struct heap *h, const struct hprof_item *x)
{
	return x->kind == HPROF_OBJECTS && x->n && hprof_id(&h->dump, x->data) == h->roster.numbers_id;
}

static void hide_references(struct heap *h, const struct hprof_item *x)
{
	struct heap_roster *r = &h->roster;
	uint32_t i;

	r->nr = MIN(r->nr, x->n - 1);
	r->refs = xcalloc((size_t)r->nr + 1, sizeof(*r->refs));
	for (i = 0; i < r->nr; i++) {
		r->refs[i] = hprof_id(&h->dump, x->data + (i + (size_t)1) * h->dump.id_size);
		ids_remove(&h->ids, r->refs[i]);
	}
	ids_remove(&h->ids, x->id);
	ids_remove(&h->ids, r->numbers_id);
}

void roster_hide(struct heap *h)
{
	struct hprof_items i;
	struct hprof_item x;

	if (!h->roster.numbers)
		return;
	hprof_items(&i, &h->dump, NULL, NULL);
	while (!h->roster.refs && hprof_items_next(&i, &x))
		if (is_holder(h, &x))
			hide_references(h, &x);
}

void heap_roster_release(struct heap_roster *r)
{
	free(r->refs);
	*r = (struct heap_roster){ 0 };
}

bool heap_has_samples(const struct heap *h, uint64_t *cookie)
{
	const uint8_t *p = h->roster.numbers;

	if (!h->roster.refs)
		return false;
	*cookie = number_at(p, ROSTER_COOKIE) | (uint64_t)number_at(p, ROSTER_COOKIE + 1) << 32;
	return true;
}

/* Return what a reference refers to; 0: nothing any more, or it is not a reference. */
static uint64_t referent(const struct heap *h, const struct hprof_item *x)
{
	const struct heap_class *c = heap_class_by_id(h, x->class_id);

	if (!c || c->referent == HEAP_NONE || c->referent + (uint64_t)h->dump.id_size > x->n)
		return 0;
	return hprof_id(&h->dump, x->data + c->referent);
}

uint32_t *heap_samples(const struct heap *h)
{
	const struct heap_roster *r = &h->roster;
	uint32_t *samples = xcalloc_large((size_t)h->ids.nr + 1, sizeof(*samples)), i, object;
	struct map at_of = MAP_INIT;
	struct hprof_items items;
	struct hprof_item x;

	for (i = 0; i < r->nr; i++)
		if (r->refs[i])
			*map_put(&at_of, r->refs[i]) = i;
	hprof_items(&items, &h->dump, NULL, NULL);
	while (hprof_items_next(&items, &x)) {
		if (x.kind != HPROF_INSTANCE || (i = map_get(&at_of, x.id)) == MAP_NONE)
			continue;
		object = ids_find(&h->ids, referent(h, &x));
		if (object != HEAP_NONE)
			samples[object] = number_at(r->numbers, ROSTER_HEAD + i);
	}
	map_release(&at_of);
	return samples;
}
