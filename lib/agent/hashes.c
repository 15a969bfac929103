// SPDX-License-Identifier: MIT
/* hashes.c - a growing hash table that gives each name a number (hashes.h). */
#include "agent/hashes.h"
#include "agent/sys.h"

struct hashes_entry {
	struct hashes_key key;
	uint32_t number;		/* 0: free */
	uint32_t pad;
};

enum { FEWEST = 4096 };

static uint64_t mix(uint64_t h, const char *s, size_t len, uint64_t factor)
{
	size_t i;

	for (i = 0; i < len; i++)
		h = (h ^ (uint8_t)s[i]) * factor;
	h = (h ^ 0x100) * factor;	/* no byte: texts do not run together */
	return h ^ h >> 29;
}

void hashes_text(struct hashes_key *k, const char *s, size_t len)
{
	static const uint64_t factor[2] = { 0x100000001b3ull, 0x9e3779b97f4a7c15ull };
	int i;

	for (i = 0; i < 2; i++)
		k->h[i] = mix(k->h[i], s, len, factor[i]);
}

static struct hashes_entry *hashes_find(struct hashes_entry *entries, size_t alloc,
					const struct hashes_key *k)
{
	size_t i = k->h[0] ^ k->h[1];

	while (entries[i & (alloc - 1)].number && memcmp(&entries[i & (alloc - 1)].key, k, sizeof(*k)) != 0)
		i++;
	return &entries[i & (alloc - 1)];
}

static bool grow(struct hashes *t)
{
	size_t alloc = t->alloc ? t->alloc * 2 : FEWEST, i;
	struct hashes_entry *new = sys_pages(alloc * sizeof(*new));

	if (!new)
		return false;
	for (i = 0; i < t->alloc; i++)
		if (t->entries[i].number)
			*hashes_find(new, alloc, &t->entries[i].key) = t->entries[i];
	if (t->entries)
		sys(__NR_munmap, t->entries, t->alloc * sizeof(*new));
	t->entries = new;
	t->alloc = alloc;
	return true;
}

uint32_t *hashes_put(struct hashes *t, const struct hashes_key *k)
{
	struct hashes_entry *e;

	if (t->nr * 2 >= t->alloc && !grow(t))
		return NULL;
	e = hashes_find(t->entries, t->alloc, k);
	if (!e->number) {
		e->key = *k;
		t->nr++;
	}
	return &e->number;
}

uint32_t hashes_get(const struct hashes *t, const struct hashes_key *k)
{
	return t->entries ? hashes_find(t->entries, t->alloc, k)->number : 0;
}

void hashes_forget(struct hashes *t)
{
	if (t->entries)
		sys(__NR_munmap, t->entries, t->alloc * sizeof(*t->entries));
	*t = (struct hashes){ 0 };
}
