/* SPDX-License-Identifier: GPL-2.0-or-later */
/* contexts.h - which context of a model a node of the heap's graph is shown in. */
#ifndef HEAP_CONTEXTS_H
#define HEAP_CONTEXTS_H

#include "flow/model.h"
#include "heap/heap.h"

enum heap_fold {
	HEAP_FOLD_SELF,			/* an object directly below one of its class is in its row: lists */
	HEAP_FOLD_PATH,			/* below any of its class */
	HEAP_FOLD_NONE,
};

struct heap_contexts {
	const struct heap *h;
	struct model *m;
	enum heap_fold fold;
	uint32_t *consumer_of_class;	/* [class]; 0: none yet */
	bool *has_threads;		/* [class]: objects of it are threads with names, */
	struct map thread_of_object;	/* by index in the heap's threads */
	/* [object], as heap_fields() has it, or another name of its place; NULL: contexts are classes */
	uint32_t *field;
	struct map consumer_of_field;	/* (field, class) -> consumer */
};

/* Return the name for what holds objects that nothing holds: in a damaged dump their holders are lost. */
const char *contexts_lost_name(const struct heap *h);
void contexts_init(struct heap_contexts *b, const struct heap *h, struct model *m, enum heap_fold fold);
void contexts_release(struct heap_contexts *b);

/*
 * Return the consumer, whatever the contexts are, of an object with a name of its own, which is a thread
 * with a name or a class; 0 for other objects.
 */
uint32_t contexts_named(struct heap_contexts *b, uint32_t object);
/* Return the consumer by class, or field and class; for roots of a kind, and threads, by name. */
uint32_t contexts_consumer(struct heap_contexts *b, uint32_t node);
/* Return the context of a node of that consumer below the context parent. */
uint32_t contexts_child(struct heap_contexts *b, uint32_t parent, uint32_t consumer);

#endif
