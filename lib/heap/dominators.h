/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dominators.h - the immediate dominator of every node of a graph that is reached from a root.
 *
 * d dominates v if every path from the root to v goes through d: without d, v would be garbage.
 *
 * Source of the algorithm (SEMI-NCA): Georgiadis, "Linear-time algorithms for dominators and related
 * problems", Princeton 2005, chapter 2; it took half of Lengauer and Tarjan's time on heaps, and iteration
 * (Cooper, Harvey, Kennedy) did not end on lists.
 */
#ifndef HEAP_DOMINATORS_H
#define HEAP_DOMINATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRAPH_NO_EDGES UINT64_MAX

/* Edges of a node lie together; a bit marks the last of them. Nodes can be in any order. */
struct heap_graph {
	uint32_t nr;			/* nodes */
	uint64_t *first;		/* [node] -> first edge, GRAPH_NO_EDGES: none */
	uint32_t *to;			/* [edge] */
	uint64_t *last;			/* bits, [edge] */
	uint64_t nr_edges, alloc_edges;
};

void graph_init(struct heap_graph *g, uint32_t nr);
void graph_release(struct heap_graph *g);
void graph_put(struct heap_graph *g, uint32_t to);
/* Give the node the edges that were put since the edge from. */
void graph_close(struct heap_graph *g, uint32_t node, uint64_t from);

static inline bool graph_is_last(const struct heap_graph *g, uint64_t edge)
{
	return g->last[edge / 64] >> edge % 64 & 1;
}

/*
 * Return the next edge of a node: for (e = g->first[v]; e != GRAPH_NO_EDGES; e = graph_next(g, e)) g->to[e]
 * ...
 */
static inline uint64_t graph_next(const struct heap_graph *g, uint64_t edge)
{
	return graph_is_last(g, edge) ? GRAPH_NO_EDGES : edge + 1;
}

/*
 * Nodes are numbered from 1, the root, in the order in which a depth-first search reaches them, so that the
 * dominator of a node has a lower number.
 */
struct dominators {
	uint32_t nr;			/* reached, all after dominators_of() */
	uint32_t *node;			/* [number], [0] is unused */
	uint32_t *idom;			/* [number] -> number; of the root 0 */
	uint32_t nr_lost;		/* nodes below lost */
};

/*
 * Nodes that the root does not reach are hung below lost, a node without edges: first those that nothing
 * refers to. What they refer to among the others is not theirs. lost itself is reached only if there are any.
 * g loses its edges, to save memory.
 */
void dominators_of(struct dominators *d, struct heap_graph *g, uint32_t root, uint32_t lost);
void dominators_release(struct dominators *d);

#endif
