// SPDX-License-Identifier: GPL-2.0-or-later
/* strtab.c - interned strings (strtab.h). */
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/strtab.h"

void strtab_init(struct strtab *t)
{
	memset(t, 0, sizeof(*t));
	*VEC_ADD(t->entries, t->nr_entries, t->alloc_entries) = (struct strtab_entry){ "", 0, 0 };
	t->alloc_slots = 1024;
	t->slots = xcalloc(t->alloc_slots, sizeof(*t->slots));
}

void strtab_release(struct strtab *t)
{
	free(t->entries);
	free(t->slots);
	arena_release(&t->text);
	memset(t, 0, sizeof(*t));
}

static void strtab_grow_slots(struct strtab *t)
{
	size_t id, i, mask;

	t->alloc_slots *= 2;
	mask = t->alloc_slots - 1;
	free(t->slots);
	t->slots = xcalloc(t->alloc_slots, sizeof(*t->slots));
	for (id = 1; id < t->nr_entries; id++) {
		for (i = t->entries[id].hash & mask; t->slots[i]; i = (i + 1) & mask)
			;
		t->slots[i] = id;
	}
}

uint32_t strtab_add(struct strtab *t, const char *s, size_t len)
{
	uint32_t hash, id;
	size_t i, mask;

	if (!len)
		return 0;
	hash = hash_bytes(s, len);
	mask = t->alloc_slots - 1;
	for (i = hash & mask; (id = t->slots[i]); i = (i + 1) & mask) {
		const struct strtab_entry *x = &t->entries[id];

		if (x->hash == hash && x->len == len && !memcmp(x->s, s, len))
			return id;
	}
	VEC_GROW(t->entries, t->nr_entries, t->alloc_entries);
	id = t->nr_entries++;
	t->entries[id] = (struct strtab_entry){ arena_strndup(&t->text, s, len), len, hash };
	t->slots[i] = id;
	if (t->nr_entries * 2 > t->alloc_slots)
		strtab_grow_slots(t);
	return id;
}

uint32_t strtab_adds(struct strtab *t, const char *s)
{
	return strtab_add(t, s, strlen(s));
}
