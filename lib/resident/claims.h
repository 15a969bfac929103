/* SPDX-License-Identifier: GPL-2.0-or-later */
/* claims.h - which addresses of a process are known to be used for what. */
#ifndef RESIDENT_CLAIMS_H
#define RESIDENT_CLAIMS_H

#include <stddef.h>
#include <stdint.h>

enum resident_part {
	RESIDENT_HEAP,
	RESIDENT_HEAP_AGAIN,		/* the same memory, at another address */
	RESIDENT_METASPACE,
	RESIDENT_CLASS_SPACE,
	RESIDENT_CDS,
	RESIDENT_CODE,
	RESIDENT_GC,
	RESIDENT_JVM,			/* little else of it */
	RESIDENT_STACKS,
	RESIDENT_MALLOC,
	RESIDENT_MALLOC_FREE,		/* what it keeps for later; no claim has it */
	RESIDENT_LIBRARIES,
	RESIDENT_FILES,
	RESIDENT_SHARED,
	RESIDENT_KERNEL,
	RESIDENT_UNKNOWN,
	RESIDENT_NR_PARTS
};

struct claim {
	uint64_t start, end;
	enum resident_part part;
	char name[24];			/* "" or more about it: a thread's */
};

struct claims {
	struct claim *items;		/* sorted, disjoint */
	size_t nr, alloc;
};

/* Claim the unclaimed parts of [start, end). */
void claims_add(struct claims *c, uint64_t start, uint64_t end, enum resident_part part, const char *name);
void claims_release(struct claims *c);
/* Return the index of the first claim that ends behind addr, or c->nr. */
size_t claims_from(const struct claims *c, uint64_t addr);

#endif
