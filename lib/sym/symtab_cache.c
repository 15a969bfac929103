// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * symtab_cache.c - finished symbol tables in the cache: a head, the entries, and the names of those
 * that are left.  They are used where they are mapped.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "sym/symtab.h"

enum { ENTRIES_MIN = 2000 };	/* of a table that is worth a file */

struct head {
	char source[48];
	uint64_t nr_entries, names_len;
};

static bool entries_are_sound(const struct symtab_entry *e, size_t nr, uint64_t names_len)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (e[i].name >= names_len || !e[i].size || (i && e[i].addr <= e[i - 1].addr))
			return false;
	return true;
}

/*
 * Take a table from the cache. The checksum was right, so this fails only if somebody changed the layout
 * without its number.
 */
static bool symtab_from_cache(struct symtab *t, const struct cache_entry *e)
{
	const struct head *h = (const struct head *)e->data;
	const struct symtab_entry *entries = (const struct symtab_entry *)(h + 1);
	const char *names;

	if (e->len < sizeof(*h) || h->source[sizeof(h->source) - 1] ||
	    (e->len - sizeof(*h)) / sizeof(*entries) < h->nr_entries ||
	    e->len - sizeof(*h) - h->nr_entries * sizeof(*entries) != h->names_len || !h->names_len)
		return false;
	names = (const char *)(entries + h->nr_entries);
	if (names[h->names_len - 1] || !entries_are_sound(entries, h->nr_entries, h->names_len))
		return false;
	t->entries = (struct symtab_entry *)entries;
	t->nr_entries = h->nr_entries;
	t->names.data = (char *)names;
	t->names.len = h->names_len;
	return true;
}

bool symtab_get(struct symtab *t, struct cache *c, const struct cache_key *k, const char **source)
{
	struct cache_entry e;

	if (!cache_get(c, k, &e))
		return false;
	if (!symtab_from_cache(t, &e)) {
		cache_entry_release(&e);
		return false;
	}
	t->cached = e;
	*source = ((const struct head *)e.data)->source;
	return true;
}

static size_t name_bytes(const struct symtab *t, size_t i)
{
	return strlen(symtab_name(t, &t->entries[i])) + 1;
}

void symtab_put(const struct symtab *t, struct cache *c, const struct cache_key *k, const char *source)
{
	struct head h = { .nr_entries = t->nr_entries };
	size_t i, len, name = 0;
	struct symtab_entry *entries;
	char *data, *names;

	if (t->nr_entries < ENTRIES_MIN)
		return;
	for (i = 0; i < t->nr_entries; i++)
		h.names_len += name_bytes(t, i);
	snprintf(h.source, sizeof(h.source), "%s", source);
	len = sizeof(h) + h.nr_entries * sizeof(*entries) + h.names_len;
	data = xcalloc(1, len);		/* zeroed: the padding is in the checksum */
	memcpy(data, &h, sizeof(h));
	entries = (struct symtab_entry *)(data + sizeof(h));
	names = (char *)(entries + h.nr_entries);
	for (i = 0; i < t->nr_entries; i++) {
		entries[i].addr = t->entries[i].addr;
		entries[i].size = t->entries[i].size;
		entries[i].name = name;
		memcpy(names + name, symtab_name(t, &t->entries[i]), name_bytes(t, i));
		name += name_bytes(t, i);
	}
	cache_put(c, k, data, len);
	free(data);
}
