/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * strtab.h - interned strings: the same bytes always give the same id, so names
 * compare with ==.  Id 0 is the empty string.
 */
#ifndef BASE_STRTAB_H
#define BASE_STRTAB_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

struct strtab_entry {
	const char *s;		/* terminated, lives as long as the table */
	uint32_t len;
	uint32_t hash;
};

struct strtab {
	struct strtab_entry *entries;
	size_t nr_entries, alloc_entries;
	uint32_t *slots;	/* entry id, 0: free */
	size_t alloc_slots;	/* power of two */
	struct arena text;
};

void strtab_init(struct strtab *t);
void strtab_release(struct strtab *t);
uint32_t strtab_add(struct strtab *t, const char *s, size_t len);
uint32_t strtab_adds(struct strtab *t, const char *s);

/* Return a string, borrowed until strtab_release(); id must have come from this table. */
static inline const char *strtab_get(const struct strtab *t, uint32_t id)
{
	return t->entries[id].s;
}

#endif
