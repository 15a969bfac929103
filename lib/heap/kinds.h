/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kinds.h - objects that are alike: of one class and length, and as far from the next one. A heap has few
 * kinds, so what is to be known of sizes is found from these and not object by object. A table keeps those of
 * late, and the list those that had to leave it: a kind can be in the list several times.
 */
#ifndef HEAP_KINDS_H
#define HEAP_KINDS_H

#include <stddef.h>
#include <stdint.h>

enum {
	KINDS_TABLE_BITS = 11,
	KINDS_FAR = 1024,	/* this much above what an object can take, all distances are alike */
};

struct object_kind {
	uint32_t class, n;	/* n: bytes of fields, or elements */
	uint64_t distance, nr;	/* objects; 0: none */
};

struct object_kinds {
	struct object_kind table[1 << KINDS_TABLE_BITS];
	struct object_kind *list;
	size_t nr, alloc;
	uint32_t exact;		/* a class whose distances all differ */
};

/* Move the table's kinds to the list. */
void kinds_finish(struct object_kinds *k);
void kinds_release(struct object_kinds *k);
void kinds_change(struct object_kinds *k, struct object_kind *at, const struct object_kind *to);

static inline void kinds_add(struct object_kinds *k, uint32_t class, uint32_t n, uint64_t distance)
{
	const uint64_t far = 8 * (uint64_t)n + KINDS_FAR;
	struct object_kind *at;
	uint64_t hash;

	if (distance > far && class != k->exact)
		distance = far;
	hash = ((uint64_t)n << 32 | class) * 0x9e3779b97f4a7c15ull ^ distance * 0xff51afd7ed558ccdull;
	at = &k->table[hash >> (64 - KINDS_TABLE_BITS)];
	if (at->class == class && at->n == n && at->distance == distance)
		at->nr++;
	else
		kinds_change(k, at, &(struct object_kind){ class, n, distance, 1 });
}

#endif
