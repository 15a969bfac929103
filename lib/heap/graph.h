/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graph.h - the references of a heap from its roots on; of each object, what keeps it, by which field, and
 * what it retains.
 */
#ifndef HEAP_GRAPH_H
#define HEAP_GRAPH_H

#include "heap/dominators.h"
#include "heap/refs.h"

/* Reads the objects of h; g is zeroed before, and to be released. */
int heap_graph(struct heap *h, bool keep_soft, struct heap_graph *g, struct err *e);

/* The holders and sizes of all nodes: objects, and behind them those of enum heap_own and threads. */
struct heap_retained {
	uint32_t *holder;		/* immediate dominator */
	uint64_t *bytes;		/* what would be freed with it, its own size included */
};

/* Reads the objects of h. */
int heap_retained(struct heap *h, bool keep_soft, struct heap_retained *x, struct err *e);
void heap_retained_release(struct heap_retained *x);

/*
 * Return, after heap_read(), the field by which each object is held by its holder, as strtab id of
 * "Class.field", or the frame of the local variable by which a thread holds it (frames.h). It is 0 if the
 * holder does not refer to it, or is not an object. classes: where the names of these variables are; or
 * NULL. The caller frees it.
 */
struct classpath;
uint32_t *heap_fields(struct heap *h, bool keep_soft, const uint32_t *holder,
		      const struct classpath *classes);

/*
 * "Class.field" by which x refers to something, as strtab id; class is that of x or, if x is the Class object
 * of one, that one.
 */
uint32_t heap_field_name(struct heap *h, const struct hprof_item *x, uint32_t class, uint32_t how);

#endif
