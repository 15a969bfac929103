/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heap_join.h - a heap dump and the recording of live objects that was on when it was made. */
#ifndef CMD_HEAP_JOIN_H
#define CMD_HEAP_JOIN_H

#include "heap/origins.h"
#include "model/origin.h"

struct heap_join {
	struct heap_origins origins;
	uint64_t interval;		/* bytes, of the samples; 0: every object is one */
	size_t nr_recorded;		/* samples that the recording knew of, */
	size_t nr_unknown;		/* and those of the dump that it did not */
};

/*
 * Finds out where the objects of h, which is only opened, were allocated, by the trace at path. -ENODATA: the
 * two are not of one moment. To be released in any case, after what uses its origins.
 */
int heap_join(struct heap_join *j, struct heap *h, const char *path, struct err *e);
void heap_join_release(struct heap_join *j);

/* Return what its reader must know, in one line, for the caller to free. */
char *heap_join_note(const struct heap_join *j, const struct heap *h, const struct heap_origin_facts *f);
/* The same in numbers. */
enum { HEAP_JOIN_FACTS = 6 };
void heap_join_facts(const struct heap_join *j, const struct heap *h, const struct heap_origin_facts *f,
		     struct origin_fact facts[HEAP_JOIN_FACTS]);

#endif
