// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * described.c - rules of code that a runtime describes while it makes it.
 *
 * Invariant: pieces are sorted by their addresses and do not overlap: what is made in the place of others is
 * there alone.
 */
#include <string.h>

#include "base/mem.h"
#include "unwind/module.h"

enum {
	PIECES_MAX = 1 << 16,
	WORDS_MAX = 4 << 20,	/* of rules; then nothing new is kept */
};

struct piece {
	uint64_t start, end;
	uint32_t place;		/* in m */
};

struct unwind_described {
	struct unwind_module m;	/* its rows */
	struct piece *pieces;
	size_t nr_pieces, alloc_pieces;
};

struct unwind_described *unwind_described_new(void)
{
	struct unwind_described *d = xcalloc(1, sizeof(*d));

	module_init_rows(&d->m);
	return d;
}

void unwind_described_free(struct unwind_described *d)
{
	if (!d)
		return;
	module_release(&d->m);
	free(d->pieces);
	free(d);
}

/* Return the first piece that ends behind addr. */
static size_t first_behind(const struct unwind_described *d, uint64_t addr)
{
	return BISECT(i, d->nr_pieces, d->pieces[i].end <= addr);
}

static void remove_overlapped(struct unwind_described *d, uint64_t start, uint64_t end)
{
	size_t first = first_behind(d, start), last = first;

	while (last < d->nr_pieces && d->pieces[last].start < end)
		last++;
	if (last == first)
		return;
	memmove(d->pieces + first, d->pieces + last, (d->nr_pieces - last) * sizeof(*d->pieces));
	d->nr_pieces -= last - first;
}

static void described_insert(struct unwind_described *d, const struct piece *p)
{
	size_t at = first_behind(d, p->start);

	VEC_GROW(d->pieces, d->nr_pieces, d->alloc_pieces);
	memmove(d->pieces + at + 1, d->pieces + at, (d->nr_pieces - at) * sizeof(*d->pieces));
	d->pieces[at] = *p;
	d->nr_pieces++;
}

void unwind_described_add(struct unwind_described *d, uint64_t addr, uint64_t size, const void *eh_frame,
			  size_t len)
{
	/* Addresses are counted from the section, wherever it lies: the first is that of the code. */
	struct cfi c = { .bytes = { .data = eh_frame, .len = len }, .vaddr = addr + size, .eh = true,
			 .is64 = true };
	struct cfi_fde fde;
	uint64_t off = 0, first = 0, start;
	bool any = false;

	remove_overlapped(d, addr, addr + size);
	while (cfi_next(&c, &off, &fde)) {
		if (!any)
			first = fde.start;
		any = true;
		start = fde.start - first;
		if (fde.end <= fde.start || start >= size || fde.end - fde.start > size - start ||
		    d->nr_pieces == PIECES_MAX || d->m.nr_code > WORDS_MAX)
			continue;
		start += addr;
		remove_overlapped(d, start, start + (fde.end - fde.start));
		described_insert(d, &(struct piece){ start, start + (fde.end - fde.start),
					   module_decode(&d->m, &c, &fde) });
	}
}

const struct row *described_row(const struct unwind_described *d, uint64_t addr)
{
	size_t i = first_behind(d, addr);
	const struct piece *p = &d->pieces[i];

	return i < d->nr_pieces && addr >= p->start ? module_row_in(&d->m, p->place, addr - p->start) : NULL;
}
