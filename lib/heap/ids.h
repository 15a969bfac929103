/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ids.h - numbers objects by address: a bitmap of the addresses that objects have, and how many are before
 * each word of it (rank9 of Vigna, "Broadword Implementation of Rank/Select Queries", 2008).  About 0.7
 * bytes per object; a look-up counts the bits of one word.
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
	IDS_MOST_BLOCK = 256,		/* pages that are allocated at once */
};

struct ids_page {
	uint64_t number;		/* of the page: id >> shift >> IDS_PAGE_BITS */
	uint64_t bits[IDS_WORDS];
	uint32_t rank[IDS_WORDS / IDS_RANK_WORDS];	/* ids before these words, of all pages */
	/* and from there to the words after the first: 9 bits each, the second word's the lowest */
	uint64_t within[IDS_WORDS / IDS_RANK_WORDS];
};

struct heap_ids {
	unsigned int shift;		/* the low bits that no id has */
	struct ids_page **pages;	/* by number, after ids_finish() */
	size_t nr_pages, alloc_pages, max_pages;
	struct ids_page **blocks;	/* that pages are cut from, each twice as large as the one before */
	size_t nr_blocks, alloc_blocks;
	size_t nr_cut, block_pages;	/* of the last one: used, and in all */
	struct map page_of;		/* number -> index, until ids_finish(), or if is_scattered */
	bool is_scattered;		/* no addresses, which lie together in a heap: there is no dir */
	struct ids_page *last;
	uint64_t first_page;		/* number of the first one */
	uint32_t *dir;			/* [number - first_page] -> index + 1; 0: none */
	size_t nr_dir;
	uint32_t nr;			/* ids, after ids_finish() */
	uint64_t nr_odd;		/* with low bits, or far from all others: few, so damage made them */
	uint64_t nr_twice;
};

/* Prepare; at most max_bytes of memory will be used, as a hostile dump may scatter ids. */
void ids_init(struct heap_ids *x, unsigned int shift, uint64_t max_bytes);
void ids_release(struct heap_ids *x);
bool ids_add_slow(struct heap_ids *x, uint64_t id);
/* Return the next added id after this one, which must not be the last; also before ids_finish(). */
uint64_t ids_next_after_slow(const struct heap_ids *x, uint64_t id);
/* Remove an id, before ids_finish(), as if it had not been added. */
void ids_remove(struct heap_ids *x, uint64_t id);
/* Return false if there are more than 2^32 - 2. */
bool ids_finish(struct heap_ids *x);
/* Return the id with that number. */
uint64_t ids_id(const struct heap_ids *x, uint32_t nr);

/* Count the bits that are set. Not every CPU has an instruction for it; a call of libgcc's costs more. */
static inline unsigned int ids_count(uint64_t bits)
{
	bits -= bits >> 1 & 0x5555555555555555ull;
	bits = (bits & 0x3333333333333333ull) + (bits >> 2 & 0x3333333333333333ull);
	return ((bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0full) * 0x0101010101010101ull >> 56;
}

/* Add an id; return false without room. */
static inline bool ids_add(struct heap_ids *x, uint64_t id)
{
	unsigned int bit = id >> x->shift & ((1 << IDS_PAGE_BITS) - 1);
	uint64_t *word;

	if (!x->last || x->last->number != id >> x->shift >> IDS_PAGE_BITS || id & ((1 << x->shift) - 1))
		return ids_add_slow(x, id);
	word = &x->last->bits[bit / 64];
	x->nr_twice += *word >> bit % 64 & 1;
	*word |= (uint64_t)1 << bit % 64;
	return true;
}

/* Return the number of an id that belongs to the page. */
static inline uint32_t ids_find_in(const struct heap_ids *x, const struct ids_page *p, uint64_t id)
{
	unsigned int bit = id >> x->shift & ((1 << IDS_PAGE_BITS) - 1), word = bit / 64;
	uint64_t mask = (uint64_t)1 << bit % 64;
	uint32_t rank;

	if (!(p->bits[word] & mask) || id & ((1 << x->shift) - 1))
		return HEAP_NONE;
	rank = p->rank[word / IDS_RANK_WORDS];
	/* the first word's count would be at bit 63, which is 0 */
	rank += p->within[word / IDS_RANK_WORDS] >> (word + 7) % IDS_RANK_WORDS * 9 & 0x1ff;
	return rank + ids_count(p->bits[word] & (mask - 1));
}

uint32_t ids_find_scattered(const struct heap_ids *x, uint64_t id);

/* Return the number of id, from 0 by address; HEAP_NONE: it was not added. */
static inline uint32_t ids_find(const struct heap_ids *x, uint64_t id)
{
	uint64_t page = (id >> x->shift >> IDS_PAGE_BITS) - x->first_page;

	if (page >= x->nr_dir || !x->dir[page])
		return x->is_scattered ? ids_find_scattered(x, id) : HEAP_NONE;
	return ids_find_in(x, x->pages[x->dir[page] - 1], id);
}

/* Walks the ids by address, as they are numbered; ids_next() is false at the end. */
struct ids_walk {
	const struct heap_ids *ids;
	size_t page;
	unsigned int word;
	uint64_t left;			/* of the word */
};

void ids_walk(struct ids_walk *w, const struct heap_ids *x);
/* Go to the next word that has ids. */
bool ids_next_word(struct ids_walk *w);

static inline uint64_t ids_at(const struct heap_ids *x, const struct ids_page *p, size_t word,
			      unsigned int bit)
{
	return ((p->number << IDS_PAGE_BITS) + word * 64 + bit) << x->shift;
}

static inline uint64_t ids_next_after(const struct heap_ids *x, uint64_t id)
{
	unsigned int bit = (id >> x->shift & ((1 << IDS_PAGE_BITS) - 1)) + 1, word = bit / 64;
	const struct ids_page *p = x->last;
	uint64_t bits;

	if (!p || p->number != id >> x->shift >> IDS_PAGE_BITS || word == IDS_WORDS)
		return ids_next_after_slow(x, id);
	for (bits = p->bits[word] & ~(uint64_t)0 << bit % 64; !bits; bits = p->bits[word])
		if (++word == IDS_WORDS)
			return ids_next_after_slow(x, id);
	return ids_at(x, p, word, __builtin_ctzll(bits));
}

static inline bool ids_next(struct ids_walk *w, uint64_t *id)
{
	if (!w->left && !ids_next_word(w))
		return false;
	*id = ids_at(w->ids, w->ids->pages[w->page], w->word, __builtin_ctzll(w->left));
	w->left &= w->left - 1;
	return true;
}

#endif
