/* SPDX-License-Identifier: GPL-2.0-or-later */
/* smaps.h - the mappings of a process, as the text of /proc/PID/smaps has them. */
#ifndef RESIDENT_SMAPS_H
#define RESIDENT_SMAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct smap {
	uint64_t start, end;		/* [start, end) */
	uint64_t offset;		/* in the file */
	char perms[5];			/* "rw-p" */
	const char *name;		/* path or [name], in the text; "" anonymous */
	uint64_t rss, pss, swap;	/* bytes */
};

struct smaps {
	struct smap *items;		/* sorted, disjoint */
	size_t nr, alloc;
};

/*
 * Takes the text apart, which is changed: names point into it. Mappings that are not in order are left out,
 * so that what is there is sorted and disjoint, whatever the text was.
 */
void smaps_parse(struct smaps *s, char *text);
void smaps_release(struct smaps *s);
/* Return the mapping that has addr; NULL: none. */
const struct smap *smaps_find(const struct smaps *s, uint64_t addr);

static inline bool smap_is_usable(const struct smap *m)
{
	return m->perms[0] == 'r' || m->perms[1] == 'w' || m->perms[2] == 'x';
}

#endif
