// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * maps.c - the executable mappings of a process: a sorted vector, since there are some
 * hundred and they change a thousand times less often than they are asked for.
 */
#include <string.h>

#include "base/mem.h"
#include "sym/maps.h"

void maps_release(struct maps *m)
{
	free(m->entries);
	memset(m, 0, sizeof(*m));
}

void maps_reset(struct maps *m)
{
	m->nr_entries = 0;
	m->last = 0;
	m->nr_changes++;
}

/* Index of the first mapping that ends above addr. */
static size_t first_above(const struct maps *m, uint64_t addr)
{
	return BISECT(i, m->nr_entries, m->entries[i].end <= addr);
}

static void maps_make_room(struct maps *m, size_t more)
{
	while (m->nr_entries + more > m->alloc_entries) {
		m->alloc_entries = m->alloc_entries ? m->alloc_entries * 2 : 16;
		m->entries = xrealloc(m->entries, m->alloc_entries * sizeof(*m->entries));
	}
}

void maps_add(struct maps *m, uint64_t start, uint64_t end, uint64_t pgoff, uint32_t module)
{
	struct map_entry put[3];
	size_t from, to, nr = 0;

	if (start >= end)
		return;
	from = to = first_above(m, start);
	while (to < m->nr_entries && m->entries[to].start < end)
		to++;
	if (to > from && m->entries[from].start < start) {
		put[nr] = m->entries[from];
		put[nr++].end = start;
	}
	put[nr++] = (struct map_entry){ start, end, pgoff, module };
	if (to > from && m->entries[to - 1].end > end) {
		put[nr] = m->entries[to - 1];
		put[nr].pgoff += end - put[nr].start;
		put[nr++].start = end;
	}
	maps_make_room(m, nr);
	memmove(m->entries + from + nr, m->entries + to,
		(m->nr_entries - to) * sizeof(*m->entries));
	memcpy(m->entries + from, put, nr * sizeof(*put));
	m->nr_entries += nr - (to - from);
	m->last = 0;
	m->nr_changes += !!module;
}

void maps_copy(struct maps *to, const struct maps *from)
{
	maps_reset(to);
	maps_make_room(to, from->nr_entries);
	if (from->nr_entries)
		memcpy(to->entries, from->entries, from->nr_entries * sizeof(*to->entries));
	to->nr_entries = from->nr_entries;
}

const struct map_entry *maps_find(struct maps *m, uint64_t addr)
{
	const struct map_entry *e;
	size_t i;

	if (m->last < m->nr_entries) {
		e = &m->entries[m->last];
		if (addr >= e->start && addr < e->end)
			return e;
	}
	i = first_above(m, addr);
	if (i == m->nr_entries || addr < m->entries[i].start)
		return NULL;
	m->last = i;
	return &m->entries[i];
}

bool maps_module(struct maps *m, uint64_t addr, uint32_t *module, uint64_t *off)
{
	const struct map_entry *e = maps_find(m, addr);

	if (!e || !e->module)
		return false;
	*module = e->module;
	*off = map_entry_off(e, addr);
	return true;
}
