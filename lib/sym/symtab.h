/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symtab.h - the functions of one module, searched by address.
 */
#ifndef SYM_SYMTAB_H
#define SYM_SYMTAB_H

#include "base/buf.h"
#include "sym/cache.h"
#include "sym/image.h"

struct symtab_entry {
	uint64_t addr;		/* as linked */
	uint32_t size;		/* after symtab_finish(): never 0 */
	uint32_t name;		/* offset in names.data */
	uint8_t rank;		/* among aliases the highest is kept */
	bool label;		/* no type: counts only where no function is */
};

struct symtab {
	struct symtab_entry *entries;	/* after symtab_finish(): sorted, one per address */
	size_t nr_entries, alloc_entries;
	struct buf names;
	/* when not empty: where entries and names are, and nothing can be added */
	struct cache_entry cached;
};

void symtab_release(struct symtab *t);
/*
 * Adds the functions of .symtab or .dynsym (which) of im, as far as they lie in executable
 * segments of text. -ENODATA: there is no such table, or nothing in it.
 */
int symtab_load(struct symtab *t, const struct image *im, const struct image *text,
		const char *which, struct err *e);
void symtab_add(struct symtab *t, uint64_t addr, uint32_t size, const char *name);
/* Sorts, chooses among aliases, gives sizes to symbols without. Again after each addition. */
void symtab_finish(struct symtab *t, const struct image *text);
/* Return the innermost function that covers vaddr, or NULL. */
const struct symtab_entry *symtab_find(const struct symtab *t, uint64_t vaddr);

static inline const char *symtab_name(const struct symtab *t, const struct symtab_entry *s)
{
	return t->names.data + s->name;
}

/*
 * Get a finished table from the cache, or store it there. source says where the symbols came from; what
 * symtab_get() gives lives as long as the table. Small tables are not stored: they are made faster than
 * found.
 */
bool symtab_get(struct symtab *t, struct cache *c, const struct cache_key *k, const char **source);
void symtab_put(const struct symtab *t, struct cache *c, const struct cache_key *k, const char *source);

/* Add "name@plt" for the linkage stubs of im. symtab is finished before and after. */
void plt_add(struct symtab *t, const struct image *im);

#endif
