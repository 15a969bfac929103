// SPDX-License-Identifier: GPL-2.0-or-later
/* tree.c - see tree.h. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "heap/tree.h"

static const char *const own_names[HEAP_NR_OWN] = {
	[HEAP_TOP] = "[heap]",
	[HEAP_LOST] = "[unreachable]",
	[HEAP_CLASSES] = "[system classes]",
	[HEAP_JNI_GLOBALS] = "[JNI globals]",
	[HEAP_JNI_LOCALS] = "[JNI locals]",
	[HEAP_FRAMES] = "[Java frames]",
	[HEAP_NATIVE_STACKS] = "[native stacks]",
	[HEAP_BLOCKS] = "[thread blocks]",
	[HEAP_MONITORS] = "[monitors]",
	[HEAP_OTHERS] = "[other roots]",
};

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

/* --- the model --- */

static uint64_t size_of_node(const struct heap *h, uint32_t node)
{
	return node < h->ids.nr ? (uint64_t)h->units[node] * 8 : 0;
}

struct builder {
	struct heap *h;
	const struct heap_tree_opts *o;
	struct model *m;
	uint32_t *consumer_of_class;	/* [class]; 0: none yet */
};

static uint32_t consumer_of_class(struct builder *b, uint32_t class)
{
	const char *name;

	if (!b->consumer_of_class[class]) {
		name = heap_class_name(b->h, class);
		b->consumer_of_class[class] =
			consumer_add_name(&b->m->consumers, CONSUMER_CLASS, name, strlen(name));
	}
	return b->consumer_of_class[class];
}

static uint32_t consumer_of_thread(struct builder *b, const struct heap_thread *t)
{
	char unknown[32];
	const char *name = unknown;
	struct consumer c = { .kind = CONSUMER_THREAD };

	if (t->name)
		name = strtab_get(&b->h->names, t->name);
	else
		snprintf(unknown, sizeof(unknown), "thread %u", t->serial);
	c.name = strtab_adds(&b->m->consumers.names, name);
	return consumer_add(&b->m->consumers, &c);
}

/* Of a class, as what a class is to others: "class X" beside its instances, which are X. */
static uint32_t consumer_of_mirror(struct builder *b, const struct heap_class *of)
{
	char *name = xasprintf("class %s", strtab_get(&b->h->names, of->name));
	uint32_t c = consumer_add_name(&b->m->consumers, CONSUMER_CLASS, name, strlen(name));

	free(name);
	return c;
}

static uint32_t consumer_of_node(struct builder *b, uint32_t node)
{
	const struct heap *h = b->h;
	const struct heap_class *of;

	if (node >= h->ids.nr + HEAP_NR_OWN)
		return consumer_of_thread(b, &h->threads[node - h->ids.nr - HEAP_NR_OWN]);
	if (node >= h->ids.nr)
		return consumer_add_name(&b->m->consumers, CONSUMER_ANY, own_names[node - h->ids.nr],
					 strlen(own_names[node - h->ids.nr]));
	of = h->class[node] == h->mirror_class ? heap_class_by_id(h, ids_id(&h->ids, node)) : NULL;
	return of ? consumer_of_mirror(b, of) : consumer_of_class(b, h->class[node]);
}

/* The context of an object of that consumer whose dominator has the context parent. */
static uint32_t context(struct builder *b, uint32_t parent, uint32_t consumer)
{
	struct flow *f = &b->m->flow;
	uint32_t at = parent;

	if (b->o->fold == HEAP_FOLD_SELF && at && f->nodes[at].consumer == consumer)
		return at;
	if (b->o->fold == HEAP_FOLD_PATH)
		for (; at; at = f->nodes[at].parent)
			if (f->nodes[at].consumer == consumer)
				return at;
	return flow_child(f, parent, consumer);
}

/* Of roots of a kind, and threads, those that have no object of their own are not shown. */
static void build(struct builder *b, const struct dominators *d)
{
	uint32_t *at = xcalloc((size_t)d->nr + 1, sizeof(*at)), i;
	bool *holds = xcalloc(d->nr + 1, sizeof(*holds));

	for (i = 2; i <= d->nr; i++)
		holds[d->idom[i]] = true;
	for (i = 2; i <= d->nr; i++) {
		uint64_t bytes = size_of_node(b->h, d->node[i]);

		if (d->node[i] >= b->h->ids.nr && !holds[i])
			continue;
		at[i] = context(b, at[d->idom[i]], consumer_of_node(b, d->node[i]));
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

int heap_tree(struct heap *h, const struct heap_tree_opts *o, struct model *m, struct heap_tree_facts *facts,
	      struct err *e)
{
	struct heap_graph g = { 0 };
	const struct heap_read_opts ro = { .keep_soft = o->keep_soft, .graph = &g };
	struct builder b = { .h = h, .o = o, .m = m };
	struct dominators d;
	int r = heap_read(h, &ro, e);

	init_model(m);
	if (r)
		return r;
	add_roots(h, &g);
	dominators_of(&d, &g, h->ids.nr + HEAP_TOP, h->ids.nr + HEAP_LOST);
	b.consumer_of_class = xcalloc(h->nr_classes, sizeof(*b.consumer_of_class));
	build(&b, &d);
	free(b.consumer_of_class);
	*facts = (struct heap_tree_facts){ .nr_lost = d.nr_lost, .no_roots = !h->nr_roots };
	dominators_release(&d);
	model_finish(m);
	return 0;
}
