// SPDX-License-Identifier: GPL-2.0-or-later
/* hash.c - hash functions, and a map from 64-bit keys to 32-bit values (hash.h). */
#include "base/hash.h"
#include "base/mem.h"

/*
 * Find a key. One whose value is still MAP_NONE counts as absent: callers of map_put() store a value before
 * the next call.
 */
static struct map_slot *find_slot(const struct map *m, uint64_t key)
{
	size_t i = mix64(key) & (m->alloc - 1);

	while (m->slots[i].val != MAP_NONE && m->slots[i].key != key)
		i = (i + 1) & (m->alloc - 1);
	return &m->slots[i];
}

static void map_grow(struct map *m)
{
	struct map old = *m;
	size_t i;

	m->alloc = old.alloc ? old.alloc * 2 : 64;
	m->slots = xmalloc(m->alloc * sizeof(*m->slots));
	memset(m->slots, 0xff, m->alloc * sizeof(*m->slots));
	m->nr = 0;
	for (i = 0; i < old.alloc; i++) {
		if (old.slots[i].val == MAP_NONE)
			continue;
		*find_slot(m, old.slots[i].key) = old.slots[i];
		m->nr++;
	}
	free(old.slots);
}

uint32_t map_get(const struct map *m, uint64_t key)
{
	return m->alloc ? find_slot(m, key)->val : MAP_NONE;
}

uint32_t *map_put(struct map *m, uint64_t key)
{
	struct map_slot *s;

	if ((m->nr + 1) * 2 > m->alloc)
		map_grow(m);
	s = find_slot(m, key);
	if (s->val == MAP_NONE) {
		s->key = key;
		m->nr++;
	}
	return &s->val;
}

void map_filter(struct map *m, bool (*keep)(void *ctx, uint64_t key, uint32_t val), void *ctx)
{
	struct map old = *m;
	size_t i;

	*m = (struct map)MAP_INIT;
	for (i = 0; i < old.alloc; i++)
		if (old.slots[i].val != MAP_NONE && keep(ctx, old.slots[i].key, old.slots[i].val))
			*map_put(m, old.slots[i].key) = old.slots[i].val;
	free(old.slots);
}

void map_reset(struct map *m)
{
	if (m->alloc)
		memset(m->slots, 0xff, m->alloc * sizeof(*m->slots));
	m->nr = 0;
}

void map_release(struct map *m)
{
	free(m->slots);
	memset(m, 0, sizeof(*m));
}
