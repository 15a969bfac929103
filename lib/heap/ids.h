/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ids.h - numbers objects by address: a bitmap of the addresses that objects have, and how many are before
 * each stretch of it.  About 0.6 bytes an object; a look-up counts bits.
 *
 *	ids_init(&ids, shift, limit);  ids_add() of each;  ids_finish();  ids_find()
 */
#ifndef HEAP_IDS_H
#define HEAP_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

#define HEAP_NONE UINT32_MAX	/* no object, class or thread */

enum {
	IDS_PAGE_BITS = 17,		/* addresses in a page */
	IDS_WORDS = 1 << (IDS_PAGE_BITS - 6),
	IDS_RANK_WORDS = 8,		/* of the bitmap, between two ranks */
};

struct ids_page {
	uint64_t number;		/* of the page: id >> shift >> IDS_PAGE_BITS */
	uint64_t bits[IDS_WORDS];
	uint32_t rank[IDS_WORDS / IDS_RANK_WORDS];	/* ids before these words, of all pages */
};

struct heap_ids {
	unsigned int shift;		/* the low bits that no id has */
	struct ids_page **pages;	/* by number, after ids_finish() */
	size_t nr_pages, alloc_pages, max_pages;
	struct map page_of;		/* number -> index, until ids_finish() */
	struct ids_page *last;
	uint64_t first_page;		/* number of the first one */
	uint32_t *dir;			/* [number - first_page] -> index + 1; 0: none */
	size_t nr_dir;
	uint32_t nr;			/* ids, after ids_finish() */
	uint64_t nr_odd;		/* with low bits, or far from all others: no ids of objects */
	uint64_t nr_twice;
};

/* At most max_bytes of memory will be used: for ids that a hostile dump scatters. */
void ids_init(struct heap_ids *x, unsigned int shift, uint64_t max_bytes);
void ids_release(struct heap_ids *x);
/* False: no more room, id was not added. */
bool ids_add(struct heap_ids *x, uint64_t id);
/* False: there are more than 2^32 - 2. */
bool ids_finish(struct heap_ids *x);
/* The id with that number. */
uint64_t ids_id(const struct heap_ids *x, uint32_t nr);

/* The number of id, from 0 by address; HEAP_NONE: it was not added. */
static inline uint32_t ids_find(const struct heap_ids *x, uint64_t id)
{
	uint64_t page = (id >> x->shift >> IDS_PAGE_BITS) - x->first_page;
	unsigned int bit = id >> x->shift & ((1 << IDS_PAGE_BITS) - 1), word = bit / 64, i;
	uint64_t mask = (uint64_t)1 << bit % 64;
	const struct ids_page *p;
	uint32_t rank;

	if (page >= x->nr_dir || !x->dir[page])
		return HEAP_NONE;
	p = x->pages[x->dir[page] - 1];
	if (!(p->bits[word] & mask) || id & ((1 << x->shift) - 1))
		return HEAP_NONE;
	rank = p->rank[word / IDS_RANK_WORDS];
	for (i = word & ~(IDS_RANK_WORDS - 1u); i < word; i++)
		rank += __builtin_popcountll(p->bits[i]);
	return rank + __builtin_popcountll(p->bits[word] & (mask - 1));
}

/* Walks the ids by address, as they are numbered; false at the end. */
struct ids_walk {
	const struct heap_ids *ids;
	size_t page;
	unsigned int word;
	uint64_t left;			/* of the word */
};

void ids_walk(struct ids_walk *w, const struct heap_ids *x);
bool ids_next(struct ids_walk *w, uint64_t *id);

#endif
