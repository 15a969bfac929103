// SPDX-License-Identifier: GPL-2.0-or-later
/* ids.c - see ids.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "heap/ids.h"

/*
 * Addresses further from the page with most ids than this are damage, if they are few: 16 TB, 16 MB of
 * directory.
 */
enum { MAX_DIR_BITS = 24, FEW = 8 };

void ids_init(struct heap_ids *x, unsigned int shift, uint64_t max_bytes)
{
	*x = (struct heap_ids){ .shift = shift, .max_pages = max_bytes / sizeof(struct ids_page) + 1 };
}

void ids_release(struct heap_ids *x)
{
	size_t i;

	for (i = 0; i < x->nr_blocks; i++)
		free(x->blocks[i]);
	free(x->blocks);
	free(x->pages);
	free(x->dir);
	map_release(&x->page_of);
	*x = (struct heap_ids){ 0 };
}

/* Return the next page, before ids_finish(). */
static struct ids_page *new_page(struct heap_ids *x, uint64_t number)
{
	struct ids_page *p;

	if (x->nr_cut == x->block_pages) {
		x->block_pages = x->block_pages ? MIN(x->block_pages * 2, (size_t)IDS_MOST_BLOCK) : 1;
		x->nr_cut = 0;
		*VEC_ADD(x->blocks, x->nr_blocks, x->alloc_blocks) =
			xcalloc_large(x->block_pages, sizeof(*p));
	}
	VEC_GROW(x->pages, x->nr_pages, x->alloc_pages);
	p = x->pages[x->nr_pages++] = &x->blocks[x->nr_blocks - 1][x->nr_cut++];
	p->number = number;
	return p;
}

static struct ids_page *ids_page_of(struct heap_ids *x, uint64_t number)
{
	uint32_t *i = map_put(&x->page_of, number);

	if (*i != MAP_NONE)
		return x->pages[*i];
	if (x->nr_pages == x->max_pages)
		return NULL;
	*i = x->nr_pages;
	return new_page(x, number);
}

bool ids_add_slow(struct heap_ids *x, uint64_t id)
{
	if (id & ((1 << x->shift) - 1)) {
		x->nr_odd++;
		return true;
	}
	x->last = ids_page_of(x, id >> x->shift >> IDS_PAGE_BITS);
	return x->last && ids_add(x, id);
}

uint64_t ids_next_after_slow(const struct heap_ids *x, uint64_t id)
{
	uint64_t number = id >> x->shift >> IDS_PAGE_BITS, bits;
	unsigned int bit = (id >> x->shift & ((1 << IDS_PAGE_BITS) - 1)) + 1, word;
	uint32_t i;

	for (;; number++, bit = 0) {
		i = map_get(&x->page_of, number);
		if (i == MAP_NONE)
			continue;
		for (word = bit / 64; word < IDS_WORDS; word++, bit = 0) {
			bits = x->pages[i]->bits[word] & ~(uint64_t)0 << bit % 64;
			if (bits)
				return ids_at(x, x->pages[i], word, __builtin_ctzll(bits));
		}
	}
}

void ids_remove(struct heap_ids *x, uint64_t id)
{
	uint32_t i = map_get(&x->page_of, id >> x->shift >> IDS_PAGE_BITS);
	unsigned int bit = id >> x->shift & ((1 << IDS_PAGE_BITS) - 1);

	if (i != MAP_NONE && !(id & ((1 << x->shift) - 1)))
		x->pages[i]->bits[bit / 64] &= ~((uint64_t)1 << bit % 64);
}

static uint64_t count_ids(const struct ids_page *p)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < IDS_WORDS; i++)
		n += ids_count(p->bits[i]);
	return n;
}

static int by_number(const void *a, const void *b)
{
	const struct ids_page *x = *(struct ids_page *const *)a, *y = *(struct ids_page *const *)b;

	return COMPARE(x->number, y->number);
}

static bool is_far(const struct ids_page *p, uint64_t center)
{
	const uint64_t reach = (uint64_t)1 << (MAX_DIR_BITS - 1);

	return (p->number > center ? p->number - center : center - p->number) >= reach;
}

/*
 * Drops the pages that are far from the one with most ids: a damaged id can be any. If these are many, all
 * are kept, without a directory.
 */
static void drop_far_pages(struct heap_ids *x)
{
	uint64_t most = 0, center = 0, n, nr_ids = 0, nr_far = 0;
	size_t i, nr = 0;

	for (i = 0; i < x->nr_pages; i++) {
		n = count_ids(x->pages[i]);
		nr_ids += n;
		if (n > most) {
			most = n;
			center = x->pages[i]->number;
		}
	}
	for (i = 0; i < x->nr_pages; i++)
		nr_far += is_far(x->pages[i], center) ? count_ids(x->pages[i]) : 0;
	x->is_scattered = nr_far * FEW > nr_ids;
	if (x->is_scattered)
		return;
	for (i = 0; i < x->nr_pages; i++)
		if (!is_far(x->pages[i], center))
			x->pages[nr++] = x->pages[i];
	x->nr_odd += nr_far;
	x->nr_pages = nr;
}

/* Count the ids in these words of the page. */
static unsigned int rank_within(struct ids_page *p, size_t i)
{
	const uint64_t *bits = &p->bits[i * IDS_RANK_WORDS];
	unsigned int n = ids_count(bits[0]), k;

	p->within[i] = 0;
	for (k = 1; k < IDS_RANK_WORDS; k++) {
		p->within[i] |= (uint64_t)n << 9 * (k - 1);
		n += ids_count(bits[k]);
	}
	return n;
}

static bool ids_rank(struct heap_ids *x)
{
	uint64_t nr = 0;
	size_t i, k;

	for (i = 0; i < x->nr_pages; i++) {
		struct ids_page *p = x->pages[i];

		for (k = 0; k < IDS_WORDS / IDS_RANK_WORDS; k++) {
			p->rank[k] = nr;
			nr += rank_within(p, k);
		}
		if (nr >= HEAP_NONE)
			return false;
	}
	x->nr = nr;
	return true;
}

bool ids_finish(struct heap_ids *x)
{
	size_t i;

	map_release(&x->page_of);
	drop_far_pages(x);
	if (!x->nr_pages)
		return true;
	qsort(x->pages, x->nr_pages, sizeof(struct ids_page *), by_number);
	for (i = 0; i < x->nr_pages && x->is_scattered; i++)
		*map_put(&x->page_of, x->pages[i]->number) = i;
	if (x->is_scattered)
		return ids_rank(x);
	x->first_page = x->pages[0]->number;
	x->nr_dir = x->pages[x->nr_pages - 1]->number - x->first_page + 1;
	x->dir = xcalloc(x->nr_dir, sizeof(*x->dir));
	for (i = 0; i < x->nr_pages; i++)
		x->dir[x->pages[i]->number - x->first_page] = i + 1;
	return ids_rank(x);
}

uint32_t ids_find_scattered(const struct heap_ids *x, uint64_t id)
{
	uint32_t i = map_get(&x->page_of, id >> x->shift >> IDS_PAGE_BITS);

	return i == MAP_NONE ? HEAP_NONE : ids_find_in(x, x->pages[i], id);
}

uint64_t ids_id(const struct heap_ids *x, uint32_t nr)
{
	size_t word;
	const struct ids_page *p;
	uint32_t rest, group;
	uint64_t bits;

	p = x->pages[BISECT(i, x->nr_pages, x->pages[i]->rank[0] <= nr) - 1];
	group = BISECT(i, IDS_WORDS / IDS_RANK_WORDS, p->rank[i] <= nr) - 1;
	rest = nr - p->rank[group];
	for (word = (size_t)group * IDS_RANK_WORDS; ids_count(p->bits[word]) <= rest; word++)
		rest -= ids_count(p->bits[word]);
	for (bits = p->bits[word]; rest; rest--)
		bits &= bits - 1;
	return ids_at(x, p, word, __builtin_ctzll(bits));
}

void ids_walk(struct ids_walk *w, const struct heap_ids *x)
{
	*w = (struct ids_walk){ .ids = x, .left = x->nr_pages ? x->pages[0]->bits[0] : 0 };
}

bool ids_next_word(struct ids_walk *w)
{
	const struct heap_ids *x = w->ids;

	while (!w->left) {
		if (w->page == x->nr_pages)
			return false;
		if (++w->word == IDS_WORDS) {
			w->word = 0;
			if (++w->page == x->nr_pages)
				return false;
		}
		w->left = x->pages[w->page]->bits[w->word];
	}
	return true;
}
