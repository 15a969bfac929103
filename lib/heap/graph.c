// SPDX-License-Identifier: GPL-2.0-or-later
/* graph.c - the references of a heap, from its roots on. */
#include <stdlib.h>

#include "base/mem.h"
#include "heap/frames.h"
#include "heap/graph.h"
#include "heap/variables.h"

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

	return COMPARE(x->from, y->from) ?: COMPARE(x->to, y->to);
}

static void add_roots(struct heap *h, struct heap_graph *g)
{
	struct root_edge *edges = xcalloc(h->nr_roots + 1, sizeof(*edges));
	const uint32_t top = h->ids.nr + HEAP_TOP;
	size_t nr = 0, i;
	uint64_t from = 0;

	for (i = 0; i < h->nr_roots; i++) {
		uint32_t to = ids_find(&h->ids, h->roots[i].id);

		if (to != HEAP_NONE)
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

int heap_graph(struct heap *h, bool keep_soft, struct heap_graph *g, struct err *e)
{
	const struct heap_read_opts ro = { .keep_soft = keep_soft, .thread_names = true, .graph = g };
	int r = heap_read(h, &ro, e);

	if (!r)
		add_roots(h, g);
	return r;
}

int heap_retained(struct heap *h, bool keep_soft, struct heap_retained *x, struct err *e)
{
	struct heap_graph g = { 0 };
	struct dominators d;
	uint32_t i;
	int r = heap_graph(h, keep_soft, &g, e);

	*x = (struct heap_retained){ 0 };
	if (r) {
		graph_release(&g);
		return r;
	}
	x->holder = xmalloc_large((size_t)g.nr * sizeof(*x->holder));
	x->bytes = xcalloc_large(g.nr, sizeof(*x->bytes));
	memset(x->holder, 0xff, (size_t)g.nr * sizeof(*x->holder));
	dominators_of(&d, &g, h->ids.nr + HEAP_TOP, h->ids.nr + HEAP_LOST);
	for (i = d.nr; i > 1; i--) {
		uint32_t node = d.node[i];

		x->holder[node] = d.node[d.idom[i]];
		x->bytes[node] += heap_size(h, node);
		x->bytes[x->holder[node]] += x->bytes[node];
	}
	dominators_release(&d);
	graph_release(&g);
	return 0;
}

void heap_retained_release(struct heap_retained *x)
{
	free(x->holder);
	free(x->bytes);
}

/* --- by which field --- */

struct naming {
	struct heap *h;
	const uint32_t *holder;
	const struct classpath *classes;	/* NULL: none */
	uint32_t *field;
	struct map name_of;		/* (class, field) -> strtab id of "Class.field" */
	uint32_t from;			/* the object whose references are looked at, */
	const struct hprof_item *item;	/* its item, */
	uint32_t class;			/* and its class: of the Class object of X, X */
};

static uint32_t name_of_ref(const struct heap *h, const struct hprof_item *x, uint32_t class, uint32_t how)
{
	const struct heap_class *c = &h->classes[class];
	const uint8_t *p = c->raw.statics;
	struct hprof_field f = { 0 };

	if (how >= REF_ELEMENT)
		return 0;
	if (x->kind == HPROF_INSTANCE)
		return how < c->nr_refs ? c->refs[how].name : 0;
	for (; p && how < c->raw.nr_statics; how--) {
		f = hprof_static(&h->dump, &p);
		if (!how)
			return heap_text(h, f.name);
	}
	return 0;
}

uint32_t heap_field_name(struct heap *h, const struct hprof_item *x, uint32_t class, uint32_t how)
{
	const char *by = how == REF_ELEMENT ? "[element]" : how == REF_REFERENT ? "referent" :
			 how == REF_CLASS ? "[class]" : how == REF_LOADER ? "[loader]" :
			 how == REF_SUPER ? "[superclass]" : "[other]";
	uint32_t text = name_of_ref(h, x, class, how), id;
	char *name;

	if (text)
		by = strtab_get(&h->names, text);
	name = xasprintf("%s.%s", heap_class_name(h, class), by);
	id = strtab_adds(&h->names, name);
	free(name);
	return id;
}

static void name_ref(void *ctx, uint64_t id, uint32_t how)
{
	struct naming *n = ctx;
	uint32_t to = ids_find(&n->h->ids, id), *name;

	if (to == HEAP_NONE || n->holder[to] != n->from || n->field[to])
		return;
	/* a Class object has other fields than an instance of its class */
	name = map_put(&n->name_of, ((uint64_t)n->class << 1 | (n->item->kind == HPROF_CLASS)) << 25 | how);
	if (*name == MAP_NONE)
		*name = heap_field_name(n->h, n->item, n->class, how);
	n->field[to] = *name;
}

/*
 * Name what a thread holds by a local variable, in place of a field. Of several frames the outermost has
 * it longest: those that it calls got it from there.
 */
static void name_locals(struct naming *n)
{
	struct map frame_of = MAP_INIT;	/* object -> that frame, so far */
	struct buf name = BUF_INIT;
	struct heap_frames f;
	struct variables v;
	uint32_t to, *outermost;
	size_t i;

	heap_frames(&f, n->h);
	variables_init(&v, n->h, &f, n->classes);
	for (i = 0; i < n->h->nr_roots; i++) {
		const struct heap_root *r = &n->h->roots[i];

		if (r->kind != HPROF_ROOT_JAVA_FRAME)
			continue;
		to = ids_find(&n->h->ids, r->id);
		if (to == HEAP_NONE || n->holder[to] != node_of_root(n->h, r) || r->frame == MAP_NONE)
			continue;
		outermost = map_put(&frame_of, to);
		if (*outermost != MAP_NONE && *outermost >= r->frame)
			continue;
		*outermost = r->frame;
		buf_reset(&name);
		if (n->classes)
			variables_name(&v, i, &name);
		n->field[to] = heap_frame_name(n->h, &f, r, name.len ? name.data : "");
	}
	variables_release(&v);
	buf_release(&name);
	map_release(&frame_of);
	heap_frames_release(&f);
}

uint32_t *heap_fields(struct heap *h, bool keep_soft, const uint32_t *holder,
		      const struct classpath *classes)
{
	struct naming n = { .h = h, .holder = holder, .classes = classes, .name_of = MAP_INIT };
	struct heap_objects w;
	struct hprof_item x;

	n.field = xcalloc_large((size_t)h->ids.nr + 1, sizeof(*n.field));
	n.item = &x;
	heap_objects(&w, h);
	while (heap_objects_next(&w, &x, &n.from)) {
		const struct heap_class *c = &h->classes[h->class[n.from]];

		n.class = x.kind == HPROF_CLASS ? heap_class_by_id(h, x.id) - h->classes : h->class[n.from];
		refs_each(h, &x, c, keep_soft, name_ref, &n);
	}
	name_locals(&n);
	map_release(&n.name_of);
	return n.field;
}
