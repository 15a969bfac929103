// SPDX-License-Identifier: GPL-2.0-or-later
/* tree.c - see tree.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "heap/contexts.h"
#include "heap/graph.h"
#include "heap/tree.h"

enum { ON_PATH = 1, IS_END = 2 };	/* marks of a node */

/* Build the contexts; roots of a kind, and threads, without an object of their own are not shown. */
static void build(struct heap_contexts *b, const struct dominators *d)
{
	uint32_t *at = xcalloc_large((size_t)d->nr + 1, sizeof(*at)), i;
	bool *holds = xcalloc_large(d->nr + 1, sizeof(*holds));

	for (i = 2; i <= d->nr; i++)
		holds[d->idom[i]] = true;
	for (i = 2; i <= d->nr; i++) {
		uint64_t bytes = heap_size(b->h, d->node[i]);

		if (d->node[i] >= b->h->ids.nr && !holds[i])
			continue;
		at[i] = contexts_child(b, at[d->idom[i]], contexts_consumer(b, d->node[i]));
		flow_add(&b->m->flow, at[i], d->node[i] < b->h->ids.nr, &bytes);
	}
	free(holds);
	free(at);
}

static void init_model(struct model *m, bool samples)
{
	model_init(m, 1 + samples, FLOW_OBJECTS);
	model_set_metric(m, 0, "heap", 4, "bytes", 5);
	if (samples)
		model_set_metric(m, 1, "samples", 7, "samples", 7);
}

/* --- shortest paths --- */

struct paths {
	const struct heap_graph *g;
	uint32_t *from;			/* [node] -> the node before it; HEAP_NONE: not reached */
	uint32_t *queue;		/* nodes as they were reached */
	uint32_t nr;
};

static void reach(struct paths *p, uint32_t node, uint32_t from)
{
	p->from[node] = from;
	p->queue[p->nr++] = node;
}

/* Search from the nodes of the queue, beginning with index i. */
static void search(struct paths *p, uint32_t i)
{
	uint64_t e;

	for (; i < p->nr; i++)
		for (e = p->g->first[p->queue[i]]; e != GRAPH_NO_EDGES; e = graph_next(p->g, e))
			if (p->from[p->g->to[e]] == HEAP_NONE)
				reach(p, p->g->to[e], p->queue[i]);
}

/*
 * Hang what no root reaches below lost: first what nothing refers to, then one of each ring. Returns how many
 * objects these are.
 */
static uint32_t search_lost(struct paths *p, const struct heap *h, uint32_t lost)
{
	uint64_t *referred = xcalloc_large(h->ids.nr / 64 + 1, sizeof(*referred)), e;
	uint32_t i, nr, first;
	int ring;

	for (i = 0; i < h->ids.nr; i++)
		for (e = p->from[i] == HEAP_NONE ? p->g->first[i] : GRAPH_NO_EDGES; e != GRAPH_NO_EDGES;
		     e = graph_next(p->g, e))
			referred[p->g->to[e] / 64] |= (uint64_t)1 << p->g->to[e] % 64;
	first = p->nr;
	for (ring = 0; ring < 2; ring++)
		for (i = 0; i < h->ids.nr; i++) {
			if (p->from[i] != HEAP_NONE || (!ring && referred[i / 64] >> i % 64 & 1))
				continue;
			if (p->from[lost] == HEAP_NONE)
				reach(p, lost, h->ids.nr + HEAP_TOP);
			reach(p, i, lost);
			search(p, p->nr - 1);
		}
	free(referred);
	nr = p->nr - first;
	return nr ? nr - 1 : 0;
}

/*
 * Marks what lies on the paths to the wanted objects; a path ends where another went. Returns how many of
 * these objects no root reaches.
 */
static uint32_t mark_paths(const struct heap *h, const struct paths *p, const struct heap_tree_opts *o,
		       uint8_t *marks)
{
	uint8_t *wanted = xcalloc(h->nr_classes, 1);
	uint32_t i, node, nr_lost = 0;

	for (i = 0; i < h->nr_classes; i++)
		wanted[i] = o->shape == HEAP_CONTAINMENT || o->paths_to(o->ctx, heap_class_name(h, i));
	for (i = 0; i < h->ids.nr; i++) {
		if (!wanted[h->class[i]])
			continue;
		if (p->from[i] == HEAP_NONE) {
			nr_lost++;
			continue;
		}
		for (node = i; !marks[node] && p->from[node] != node; node = p->from[node])
			marks[node] = ON_PATH;
		marks[i] |= IS_END;
	}
	free(wanted);
	return nr_lost;
}

static void build_paths(struct heap_contexts *b, const struct paths *p, const uint8_t *marks)
{
	uint32_t *at = xcalloc_large(p->g->nr, sizeof(*at)), i;

	for (i = 1; i < p->nr; i++) {
		uint32_t node = p->queue[i];
		uint64_t bytes = heap_size(b->h, node);

		if (!marks[node])
			continue;
		at[node] = contexts_child(b, at[p->from[node]], contexts_consumer(b, node));
		if (marks[node] & IS_END)
			flow_add(&b->m->flow, at[node], 1, &bytes);
	}
	free(at);
}

/* Name the fields of contexts, which depend on what holds each object. */
static void name_fields(struct heap *h, const struct heap_tree_opts *o, const uint32_t *holder,
			struct heap_contexts *b)
{
	if (o->origins)
		b->field = o->origins->place;
	else if (o->by_field)
		b->field = heap_fields(h, o->keep_soft, holder, o->classes);
}

static void release_contexts(struct heap_contexts *b, const struct heap_tree_opts *o)
{
	if (o->origins)
		b->field = NULL;	/* which is theirs */
	contexts_release(b);
}

static void paths_tree(struct heap *h, const struct heap_graph *g, const struct heap_tree_opts *o,
		       struct model *m, struct heap_tree_facts *facts)
{
	struct paths p = { .g = g };
	uint8_t *marks = xcalloc_large(g->nr, 1);
	struct heap_contexts b;

	p.from = xmalloc_large((size_t)g->nr * sizeof(*p.from));
	p.queue = xmalloc_large((size_t)g->nr * sizeof(*p.queue));
	memset(p.from, 0xff, (size_t)g->nr * sizeof(*p.from));
	reach(&p, h->ids.nr + HEAP_TOP, h->ids.nr + HEAP_TOP);
	search(&p, 0);
	if (o->shape == HEAP_CONTAINMENT)
		facts->nr_lost = search_lost(&p, h, h->ids.nr + HEAP_LOST);
	facts->nr_lost += mark_paths(h, &p, o, marks);
	contexts_init(&b, h, m, o->fold);
	name_fields(h, o, p.from, &b);
	if (o->origins)
		origins_build(&b, o->origins, &(struct heap_order){ p.queue, p.from, p.nr, g->nr },
			      &facts->origins);
	else
		build_paths(&b, &p, marks);
	release_contexts(&b, o);
	free(marks);
	free(p.from);
	free(p.queue);
}

static void dominator_tree(struct heap *h, struct heap_graph *g, const struct heap_tree_opts *o,
			   struct model *m, struct heap_tree_facts *facts)
{
	const uint32_t nr = g->nr;	/* which dominators_of() forgets */
	uint32_t *holder = NULL, i;
	struct dominators d;
	struct heap_contexts b;

	dominators_of(&d, g, h->ids.nr + HEAP_TOP, h->ids.nr + HEAP_LOST);
	contexts_init(&b, h, m, o->fold);
	if (o->by_field || o->origins) {
		holder = xmalloc_large((size_t)nr * sizeof(*holder));
		memset(holder, 0xff, (size_t)nr * sizeof(*holder));
		for (i = 2; i <= d.nr; i++)
			holder[d.node[i]] = d.node[d.idom[i]];
		name_fields(h, o, holder, &b);
	}
	if (o->origins)
		origins_build(&b, o->origins, &(struct heap_order){ d.node + 1, holder, d.nr, nr },
			      &facts->origins);
	else
		build(&b, &d);
	release_contexts(&b, o);
	facts->nr_lost = d.nr_lost;
	dominators_release(&d);
	free(holder);
}

int heap_tree(struct heap *h, const struct heap_tree_opts *o, struct model *m, struct heap_tree_facts *facts,
	      struct err *e)
{
	struct heap_graph g = { 0 };
	int r = heap_graph(h, o->keep_soft, &g, e);

	init_model(m, o->origins && !o->origins->all);
	if (r)
		return r;
	*facts = (struct heap_tree_facts){ .no_roots = !h->nr_roots };
	if (o->shape == HEAP_DOMINATORS)
		dominator_tree(h, &g, o, m, facts);
	else
		paths_tree(h, &g, o, m, facts);
	graph_release(&g);
	model_finish(m);
	return 0;
}
