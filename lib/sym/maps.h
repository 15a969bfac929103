/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * maps.h - what is mapped executable in one process, now.  The recorder keeps it up to
 * date from the kernel's records, in time order, and asks it for each address it unwinds.
 */
#ifndef SYM_MAPS_H
#define SYM_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry {
	uint64_t start, end;	/* [start, end) */
	uint64_t pgoff;
	uint32_t module;
};

struct maps {
	struct map_entry *entries;	/* sorted by start, disjoint */
	size_t nr_entries, alloc_entries;
	uint32_t last;			/* where the last hit was */
	uint32_t nr_changes;		/* how often a file was mapped or all was forgotten */
};

void maps_release(struct maps *m);
/* Add a mapping, which replaces what it overlaps (the rest of a split mapping stays). */
void maps_add(struct maps *m, uint64_t start, uint64_t end, uint64_t pgoff, uint32_t module);
void maps_copy(struct maps *to, const struct maps *from);	/* fork */
void maps_reset(struct maps *m);				/* exec */
const struct map_entry *maps_find(struct maps *m, uint64_t addr);	/* NULL: nothing there */

/* Get the number of the module at addr, and where in its file that is. Returns false without a module. */
bool maps_module(struct maps *m, uint64_t addr, uint32_t *module, uint64_t *off);

/* Return the file offset of addr, which is in the mapping m. */
static inline uint64_t map_entry_off(const struct map_entry *m, uint64_t addr)
{
	return addr - m->start + m->pgoff;
}

#endif
