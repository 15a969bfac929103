/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flow.h - the arcflow model: a tree of calling contexts with occurrences and base
 * consumption on each node.  It knows neither Java nor ELF: a consumer is an id.
 *
 * Invariants, cited as [n]:
 *  [1] cum of a node = its base + the cums of its children;
 *  [2] the sum of base over all nodes = the total of the metric;
 *  [3] the children of a node are distinct in consumer;
 *  [4] a parent's index is lower than its children's.
 *
 * Source: Alexander, Berry, Levine, Urquhart, "A unifying approach to performance analysis in
 * the Java environment", IBM Systems Journal 39(1), 2000; recursion as Performance
 * Inspector's arcf defines it.
 */
#ifndef FLOW_FLOW_H
#define FLOW_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

#define FLOW_MAX_METRICS 8
#define FLOW_NONE 0		/* no node; also the index of the invisible root of the forest */

/* 32 bytes with the links; base[] of all nodes lies in an array of its own, [node][metric]. */
struct flow_node {
	uint32_t parent;
	uint32_t consumer;
	uint32_t child;		/* first child, in order of first entry */
	uint32_t sibling;	/* next child of the same parent */
	uint32_t last;		/* most recently used child: found without the hash */
	uint32_t rl;		/* recursion level, 1 outermost; set by flow_finish() */
	uint64_t n;		/* occurrences: calls, or samples */
};

struct flow {
	struct flow_node *nodes;	/* [0] is the invisible root */
	size_t nr_nodes, alloc_nodes;
	uint64_t *base;			/* [nr_nodes][nr_metrics] */
	uint64_t *cum;			/* the same, after flow_finish() */
	unsigned int nr_metrics;
	uint32_t *slots;		/* hash on (parent, consumer) */
	size_t alloc_slots;
	struct flow_repairs {
		uint64_t inserted;	/* leave without enter: consumer put above what was seen */
		uint64_t popped;	/* frames closed by the leave of an outer one */
		uint64_t closed;	/* still open at the end */
	} repairs;
};

void flow_init(struct flow *f, unsigned int nr_metrics);
void flow_release(struct flow *f);

/* The child of parent (FLOW_NONE: a root) for consumer, made when new. */
uint32_t flow_child(struct flow *f, uint32_t parent, uint32_t consumer);
/* Adds n occurrences and base[nr_metrics] to a node. */
void flow_add(struct flow *f, uint32_t node, uint64_t n, const uint64_t *base);
/* Computes cum and rl; call after building, and again after any change. */
void flow_finish(struct flow *f);

static inline const uint64_t *flow_base(const struct flow *f, uint32_t node)
{
	return f->base + (size_t)node * f->nr_metrics;
}
static inline const uint64_t *flow_cum(const struct flow *f, uint32_t node)
{
	return f->cum + (size_t)node * f->nr_metrics;
}

#endif
