/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * origins.h - the tree of a heap whose contexts are where objects were allocated, of those of which that is
 * known: samples. Each stands for several, unless every object is a sample.
 */
#ifndef HEAP_ORIGINS_H
#define HEAP_ORIGINS_H

#include "heap/contexts.h"

struct heap_origins {
	/* [object]: where it was allocated, as strtab id of the heap's names; 0: it is not a sample */
	uint32_t *place;
	float *weight;			/* [object]: how many it stands for */
	bool all;			/* every object is one: what is none is older than the recording */
};

/* The bytes of the samples, scaled, by what the next object above, of another context, is. */
struct heap_origin_facts {
	uint64_t nr;			/* samples */
	double bytes;
	double held_by_known;		/* a sample as well, or a root */
	double held_by_unknown;
};

/* The nodes of the tree, those above before those below; holder[node] is above it. order[0] is the top. */
struct heap_order {
	const uint32_t *order, *holder;
	uint32_t nr;
	uint32_t nr_nodes;		/* of the graph: length of holder */
};

/*
 * Builds the tree in b->m, with n and bytes scaled up, and as a second metric, unless o->all, the number of
 * samples. Objects that are not a sample are "[not sampled]" with their class, as few of them as hold
 * samples; threads and classes keep their names.
 */
void origins_build(struct heap_contexts *b, const struct heap_origins *o, const struct heap_order *x,
		   struct heap_origin_facts *facts);

#endif
