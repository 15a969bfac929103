// SPDX-License-Identifier: GPL-2.0-or-later
/* tree.c - see tree.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "heap/contexts.h"
#include "heap/tree.h"

/* --- roots --- */

static enum heap_own holder(uint8_t root)
{
	switch (root) {
	case HPROF_ROOT_JNI_GLOBAL:
		return HEAP_JNI_GLOBALS;
	case HPROF_ROOT_JNI_LOCAL:
		return HEAP_JNI_LOCALS;
	case HPROF_ROOT_JAVA_FRAME:
		return HEAP_FRAMES;
	case HPROF_ROOT_NATIVE_STACK:
		return HEAP_NATIVE_STACKS;
	case HPROF_ROOT_STICKY_CLASS:
		return HEAP_CLASSES;
	case HPROF_ROOT_THREAD_BLOCK:
		return HEAP_BLOCKS;
	case HPROF_ROOT_MONITOR:
		return HEAP_MONITORS;
	}
	return HEAP_OTHERS;
}

static uint32_t node_of_thread(const struct heap *h, uint32_t thread)
{
	return h->ids.nr + HEAP_NR_OWN + thread;
}

static uint32_t node_of_root(const struct heap *h, const struct heap_root *r)
{
	return r->thread == HEAP_NONE || r->thread >= h->nr_threads ? h->ids.nr + holder(r->kind) :
								      node_of_thread(h, r->thread);
}

enum { ON_PATH = 1, IS_END = 2 };	/* marks of a node */

struct root_edge {
	uint32_t from, to;
};

static int by_from(const void *a, const void *b)
{
	const struct root_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static void add_roots(struct heap *h, struct heap_graph *g)
{
	struct root_edge *edges = xcalloc(h->nr_roots + 1, sizeof(*edges));
	const uint32_t top = h->ids.nr + HEAP_TOP;
	size_t nr = 0, i;
	uint64_t from = 0;

	for (i = 0; i < h->nr_roots; i++) {
		uint32_t to = ids_find(&h->ids, h->roots[i].id);

		if (to == HEAP_NONE)
			h->nr_dangling++;
		else
			edges[nr++] = (struct root_edge){ node_of_root(h, &h->roots[i]), to };
	}
	qsort(edges, nr, sizeof(*edges), by_from);
	for (i = 0; i < nr; i++) {
		if (!i || edges[i].from != edges[i - 1].from)
			from = g->nr_edges;
		graph_put(g, edges[i].to);
		if (i + 1 == nr || edges[i + 1].from != edges[i].from)
			graph_close(g, edges[i].from, from);
	}
	from = g->nr_edges;
	for (i = h->ids.nr; i < g->nr; i++)
		if (i != top && i != h->ids.nr + HEAP_LOST)
			graph_put(g, i);
	graph_close(g, top, from);
	free(edges);
}

/* Of roots of a kind, and threads, those that have no object of their own are not shown. */
static void build(struct heap_contexts *b, const struct dominators *d)
{
	uint32_t *at = xcalloc((size_t)d->nr + 1, sizeof(*at)), i;
	bool *holds = xcalloc(d->nr + 1, sizeof(*holds));

	for (i = 2; i <= d->nr; i++)
		holds[d->idom[i]] = true;
	for (i = 2; i <= d->nr; i++) {
		uint64_t bytes = contexts_size(b->h, d->node[i]);

		if (d->node[i] >= b->h->ids.nr && !holds[i])
			continue;
		at[i] = contexts_child(b, at[d->idom[i]], contexts_consumer(b, d->node[i]));
		flow_add(&b->m->flow, at[i], d->node[i] < b->h->ids.nr, &bytes);
	}
	free(holds);
	free(at);
}

static void init_model(struct model *m)
{
	model_init(m, 1, FLOW_OBJECTS);
	model_set_metric(m, 0, "heap", 4, "bytes", 5);
}

/* --- shortest paths --- */

struct paths {
	const struct heap_graph *g;
	uint32_t *from;			/* [node] -> the node before it; HEAP_NONE: not reached */
	uint32_t *queue;		/* nodes as they were reached */
	uint32_t nr;
};

static void search(struct paths *p, uint32_t root)
{
	uint32_t i;
	uint64_t e;

	memset(p->from, 0xff, (size_t)p->g->nr * sizeof(*p->from));
	p->from[root] = root;
	p->queue[p->nr++] = root;
	for (i = 0; i < p->nr; i++)
		for (e = p->g->first[p->queue[i]]; e != GRAPH_NO_EDGES; e = graph_next(p->g, e))
			if (p->from[p->g->to[e]] == HEAP_NONE) {
				p->from[p->g->to[e]] = p->queue[i];
				p->queue[p->nr++] = p->g->to[e];
			}
}

/*
 * Marks what lies on the paths to objects of the wanted classes; a path ends where another went. Returns
 * how many of these objects no root reaches.
 */
static uint32_t mark_paths(const struct heap *h, const struct paths *p, const struct heap_tree_opts *o,
		       uint8_t *marks)
{
	uint8_t *wanted = xcalloc(h->nr_classes, 1);
	uint32_t i, node, nr_lost = 0;

	for (i = 0; i < h->nr_classes; i++)
		wanted[i] = o->paths_to(o->ctx, heap_class_name(h, i));
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
	uint32_t *at = xcalloc(p->g->nr, sizeof(*at)), i;

	for (i = 1; i < p->nr; i++) {
		uint32_t node = p->queue[i];
		uint64_t bytes = contexts_size(b->h, node);

		if (!marks[node])
			continue;
		at[node] = contexts_child(b, at[p->from[node]], contexts_consumer(b, node));
		if (marks[node] & IS_END)
			flow_add(&b->m->flow, at[node], 1, &bytes);
	}
	free(at);
}

static void paths_tree(struct heap *h, const struct heap_graph *g, const struct heap_tree_opts *o,
		       struct model *m, struct heap_tree_facts *facts)
{
	struct paths p = { .g = g };
	uint8_t *marks = xcalloc(g->nr, 1);
	struct heap_contexts b;

	p.from = xmalloc((size_t)g->nr * sizeof(*p.from));
	p.queue = xmalloc((size_t)g->nr * sizeof(*p.queue));
	search(&p, h->ids.nr + HEAP_TOP);
	facts->nr_lost = mark_paths(h, &p, o, marks);
	contexts_init(&b, h, m, o->fold);
	build_paths(&b, &p, marks);
	contexts_release(&b);
	free(marks);
	free(p.from);
	free(p.queue);
}

static void dominator_tree(struct heap *h, struct heap_graph *g, const struct heap_tree_opts *o,
			   struct model *m, struct heap_tree_facts *facts)
{
	struct dominators d;
	struct heap_contexts b;

	dominators_of(&d, g, h->ids.nr + HEAP_TOP, h->ids.nr + HEAP_LOST);
	contexts_init(&b, h, m, o->fold);
	build(&b, &d);
	contexts_release(&b);
	facts->nr_lost = d.nr_lost;
	dominators_release(&d);
}

int heap_tree(struct heap *h, const struct heap_tree_opts *o, struct model *m, struct heap_tree_facts *facts,
	      struct err *e)
{
	struct heap_graph g = { 0 };
	const struct heap_read_opts ro = { .keep_soft = o->keep_soft, .graph = &g };
	int r = heap_read(h, &ro, e);

	init_model(m);
	if (r)
		return r;
	add_roots(h, &g);
	*facts = (struct heap_tree_facts){ .no_roots = !h->nr_roots };
	if (o->paths_to)
		paths_tree(h, &g, o, m, facts);
	else
		dominator_tree(h, &g, o, m, facts);
	graph_release(&g);
	model_finish(m);
	return 0;
}
