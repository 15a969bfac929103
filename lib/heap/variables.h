/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * variables.h - which local variable of a frame holds an object. A dump has the objects of each frame in the
 * order of their slots, without these numbers, and the class file has the variables; nulls and what has no
 * name are between them. A variable is named where all ways to give as many of the objects as possible a
 * variable of their type, in order, agree on it.
 */
#ifndef HEAP_VARIABLES_H
#define HEAP_VARIABLES_H

#include "heap/classpath.h"
#include "heap/frames.h"

struct variables {
	struct heap *h;
	const struct heap_frames *frames;
	const struct classpath *classes;
	struct map file_of;		/* strtab id of a class -> index in files */
	struct buf *files;		/* empty: there is none */
	size_t nr, alloc;
	uint8_t *is_class;		/* [class] 1: a class, 2: perhaps an interface; 0: not yet known */
};

/* Prepare; the arguments are borrowed until variables_release(). */
void variables_init(struct variables *v, struct heap *h, const struct heap_frames *f,
		    const struct classpath *cp);
void variables_release(struct variables *v);
/* Append the name of the variable that holds the object of that root (its index); false: it is not known. */
bool variables_name(struct variables *v, size_t root, struct buf *out);

/* The objects of a frame, and its variables, in the order of slots; for variables.c and its tests. */
struct variables_fit {
	uint16_t slot[64];		/* of variable j */
	uint64_t fits[64];		/* bit i: object i has its type */
	uint32_t nr_objects, nr_variables;	/* up to 64 each */
};
/*
 * Return the variable that one of these objects (bits: it may be there more than once) has in all ways to
 * give most objects one; -1: there is none.
 */
int variables_match(const struct variables_fit *f, uint64_t objects);

#endif
