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


#define FLOW_MAX_METRICS 32
#define FLOW_NONE 0		/* no node; also the index of the invisible root of the forest */
#define FLOW_MAX_NODES (UINT32_MAX - 1)

/* what n counts; trees that differ in it are never added to each other */
enum flow_n {
	FLOW_CALLS,
	FLOW_SAMPLES,
	FLOW_OBJECTS,
};

/* 24 bytes with the links; base[] of all nodes lies in an array of its own, [node][metric]. */
struct flow_node {
	uint32_t parent;
	uint32_t consumer;
	/* the first that was made, not in the hash; flow_sort_children() puts another one first */
	uint32_t child;
	union {
		/* while it is built: most recently used child, found without the hash */
		uint32_t last;
		/* after flow_finish(): next child of the same parent */
		uint32_t sibling;
	};
	uint64_t n;		/* occurrences: calls, samples or objects */
};

struct flow_repairs {
	uint64_t inserted;	/* leave without enter: consumer put above what was seen */
	uint64_t popped;	/* frames closed by the leave of an outer one */
	uint64_t closed;	/* still open at the end */
	uint64_t backwards;	/* values lower than the one before: counted as no consumption */
};

struct flow {
	struct flow_node *nodes;	/* [0] is the invisible root; it consumes nothing */
	size_t nr_nodes, alloc_nodes;
	uint64_t *base;			/* [nr_nodes][nr_metrics]; int64_t after flow_subtract() */
	uint64_t *cum;			/* the same, after flow_finish() */
	uint32_t *rl;			/* [nr_nodes]: recursion level, 1 outermost; after flow_finish() */
	unsigned int nr_metrics;
	enum flow_n n_means;
	bool unordered;			/* [4] does not hold: flow_finish() renumbers */
	/* hash on (parent, consumer) of all but first children: most are the only one */
	uint32_t *slots;
	size_t nr_slots, alloc_slots;
	struct flow_repairs repairs;
};

void flow_init(struct flow *f, unsigned int nr_metrics, enum flow_n n_means);
void flow_release(struct flow *f);

/* Return the child of parent for consumer, made if new, past the cache of the last one. */
uint32_t flow_child_lookup(struct flow *f, uint32_t parent, uint32_t consumer);
/* Return the child, or FLOW_NONE. */
uint32_t flow_child_find(const struct flow *f, uint32_t parent, uint32_t consumer);

/* Return the child of parent (FLOW_NONE: a root) for consumer, made if new. */
static inline uint32_t flow_child(struct flow *f, uint32_t parent, uint32_t consumer)
{
	uint32_t last = f->nodes[parent].last;

	/* in a finished tree it is a sibling */
	if (__builtin_expect(last && f->nodes[last].consumer == consumer && f->nodes[last].parent == parent,
			     1))
		return last;
	return flow_child_lookup(f, parent, consumer);
}

/*
 * Put a new root of its former consumer above root, which keeps its children, n and base but becomes
 * consumer's; return the new root. Breaks [4] until flow_finish().
 */
uint32_t flow_insert_above(struct flow *f, uint32_t root, uint32_t consumer);

/* Adds n occurrences and base[nr_metrics] to a node. */
void flow_add(struct flow *f, uint32_t node, uint64_t n, const uint64_t *base);

/*
 * Computes child lists, rl and cum; call after building, and again after any change.  It may
 * renumber the nodes when a repair broke [4]; indices from before are dead then.
 */
void flow_finish(struct flow *f);

/* Do the part of flow_finish() that a walk needs: order and child lists. Consumers may have any numbers. */
void flow_link(struct flow *f);

/*
 * Gives the nodes indices in preorder, so that [4] holds; to[nr_nodes before], when not NULL,
 * becomes the new index of each.  Child lists, rl and cum are not set after it.
 */
void flow_renumber(struct flow *f, uint32_t *to);

/* Metric i of nr becomes what metric from[i] was, FLOW_NO_METRIC: 0. Before flow_finish(). */
#define FLOW_NO_METRIC UINT32_MAX
void flow_arrange(struct flow *f, const unsigned int *from, unsigned int nr);

/* Sum of n, and of base into total[nr_metrics], over all nodes. */
uint64_t flow_totals(const struct flow *f, uint64_t *total);
/* Sum n of each node and of all below it into n[nr_nodes]. */
void flow_sum_n(const struct flow *f, uint64_t *n);
/* Return one more than the highest consumer id in the tree: the size of an array indexed by it. */
uint32_t flow_nr_consumers(const struct flow *f);

/* Walk in preorder without recursion: return the node after i, FLOW_NONE at the end; start with FLOW_NONE. */
uint32_t flow_next(const struct flow *f, uint32_t i);
/* Do the same, but skip the subtree of i. */
uint32_t flow_next_outside(const struct flow *f, uint32_t i);

/* Sums stop at UINT64_MAX, which stands for that or more: one that wrapped would be a wrong number. */
static inline void flow_sum(uint64_t *sum, uint64_t v)
{
	if (__builtin_add_overflow(*sum, v, sum))
		*sum = UINT64_MAX;
}

static inline uint64_t *flow_base(const struct flow *f, uint32_t node)
{
	return f->base + (size_t)node * f->nr_metrics;
}

static inline uint64_t *flow_cum(const struct flow *f, uint32_t node)
{
	return f->cum + (size_t)node * f->nr_metrics;
}

#endif
