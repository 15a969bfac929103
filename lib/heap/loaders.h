/* SPDX-License-Identifier: GPL-2.0-or-later */
/* loaders.h - the class loaders of a heap, and what they loaded. */
#ifndef HEAP_LOADERS_H
#define HEAP_LOADERS_H

#include "heap/graph.h"

struct heap_loader {
	uint64_t id;			/* 0: the JVM's own, which is not an object */
	uint32_t object;		/* HEAP_NONE: not in the dump */
	uint32_t name;			/* strtab id; 0: it has none */
	uint64_t nr_classes, nr_objects, bytes;	/* objects of these classes, and their sizes */
};

/*
 * List the loaders by bytes, after heap_read(); the caller frees them. Arrays are counted with the loader
 * that the dump gives their class.
 */
struct heap_loader *loaders_find(struct heap *h, size_t *nr);

#endif
