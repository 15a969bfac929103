// SPDX-License-Identifier: GPL-2.0-or-later
/* heap.c - see heap.h. */
#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/progress.h"
#include "heap/census.h"
#include "heap/heap.h"
#include "heap/refs.h"
#include "heap/roster.h"

/* The bitmap of ids may take this much more than the dump itself: ids of damage lie anywhere. */
enum { IDS_SPARE_BYTES = 64 << 20, IDS_PER_BYTE = 4, ALIGNMENT_SHIFT = 3 };

static bool is_instance(const void *ctx, uint64_t class_id, uint32_t len)
{
	const struct heap_class *c = heap_class_by_id(ctx, class_id);

	return c && c->raw.fields && c->kind == HPROF_INSTANCE && c->raw.instance_len == len;
}

/* Begin with all items of the dump; damaged ones are skipped. */
static void heap_items(const struct heap *h, struct hprof_items *i)
{
	hprof_items(i, &h->dump, is_instance, h);
}

void heap_objects(struct heap_objects *w, const struct heap *h)
{
	w->h = h;
	heap_items(h, &w->items);
}

/*
 * Return whether a class is unknown: damage can hide a class from the first walk and not from a later one,
 * which knows more.
 */
static bool is_unknown_class(const struct heap *h, const struct hprof_item *x)
{
	return x->kind == HPROF_CLASS && !heap_class_by_id(h, x->id);
}

bool heap_objects_next(struct heap_objects *w, struct hprof_item *x, uint32_t *object)
{
	while (hprof_items_next(&w->items, x)) {
		if (x->kind == HPROF_ROOT || (*object = ids_find(&w->h->ids, x->id)) == HEAP_NONE ||
		    is_unknown_class(w->h, x))
			continue;
		if (x->kind == HPROF_CLASS || x->kind == HPROF_VALUES)
			x->class_id = 0;
		return true;
	}
	return false;
}

/* --- the first walk: classes, ids, roots --- */

static void add_root(struct heap *h, const struct hprof_item *x)
{
	struct heap_class *c;

	*VEC_ADD(h->roots, h->nr_roots, h->alloc_roots) =
		(struct heap_root){ x->root, x->thread, x->frame, x->id };
	if (x->root == HPROF_ROOT_STICKY_CLASS) {
		c = heap_class_by_id(h, x->id);
		if (c)
			c->sticky = true;
	}
	if (x->root != HPROF_ROOT_THREAD)
		return;
	*VEC_ADD(h->threads, h->nr_threads, h->alloc_threads) = (struct heap_thread){ .serial = x->thread };
}

static int scattered(struct err *e)
{
	return err_set(e, EINVAL, "the ids of its objects are scattered, and too many for that: damaged, or random numbers, which are read of small heaps only");
}

/* Take an item; return false if there is no room for its id. */
static inline bool see_item(struct heap *h, const struct hprof_item *x)
{
	uint32_t class;

	if (x->kind == HPROF_ROOT) {
		add_root(h, x);
		return true;
	}
	if (x->kind == HPROF_CLASS) {
		class = classes_add(h, x->id);
		hprof_class(&h->dump, x, &h->classes[class].raw);
	}
	if (!ids_add(&h->ids, x->id))
		return false;
	if (x->kind == HPROF_VALUES)
		roster_see(h, x);
	if (h->census)
		census_see(h->census, h, x);
	return true;
}

static int first_walk(struct heap *h, unsigned int shift, struct err *e)
{
	struct hprof_items i;
	struct hprof_item x;
	bool have_room = true;

	ids_init(&h->ids, shift, h->dump.len * IDS_PER_BYTE + IDS_SPARE_BYTES);
	heap_items(h, &i);
	hprof_items_by_window(&i, false);
	while (have_room && hprof_items_next(&i, &x))
		have_room = see_item(h, &x);
	hprof_items_release(&i);
	if (!have_room)
		return scattered(e);
	roster_hide(h);
	h->damage = i.walk.damage;
	return ids_finish(&h->ids) ? 0 :
	       err_set(e, EFBIG, "more than 4294967294 objects are not supported");
}

/* Number threads, whose roots precede or follow their Thread objects. */
static void number_threads(struct heap *h)
{
	struct map thread_of = MAP_INIT;
	size_t i, nr = 0;

	for (i = 0; i < h->nr_roots; i++) {
		if (h->roots[i].kind != HPROF_ROOT_THREAD)
			continue;
		h->threads[nr].object = ids_find(&h->ids, h->roots[i].id);
		*map_put(&thread_of, h->roots[i].thread) = nr++;
	}
	for (i = 0; i < h->nr_roots; i++)
		h->roots[i].thread = h->roots[i].thread ? map_get(&thread_of, h->roots[i].thread) : HEAP_NONE;
	map_release(&thread_of);
}

static int read_index(struct heap *h, struct err *e)
{
	int r = first_walk(h, ALIGNMENT_SHIFT, e);

	/* Other JVMs' ids are not addresses, or are aligned otherwise. */
	if (!r && h->ids.nr_odd > h->ids.nr / 8) {
		ids_release(&h->ids);
		heap_roster_release(&h->roster);
		h->nr_roots = h->nr_threads = 0;
		census_free(h->census);
		h->census = NULL;
		r = first_walk(h, 0, e);
	}
	if (!r && !h->ids.nr)
		r = err_set(e, EINVAL, "heap dump without objects%s",
			    h->damage.truncated ? ": truncated before the first" : "");
	if (!r) {
		number_threads(h);
		classes_resolve(h);
	}
	return r;
}

static int open_rest(struct heap *h, bool to_count, struct err *e)
{
	classes_read_names(h);
	if (to_count)
		h->census = census_new(h);
	return read_index(h, e);
}

static void heap_init(struct heap *h)
{
	*h = (struct heap){ 0 };
	strtab_init(&h->names);
}

static int open_memory(struct heap *h, const void *data, size_t len, bool to_count, struct err *e)
{
	int r;

	heap_init(h);
	r = hprof_open_bytes(&h->dump, data, len, e);
	return r ? r : open_rest(h, to_count, e);
}

int heap_open_memory(struct heap *h, const void *data, size_t len, struct err *e)
{
	return open_memory(h, data, len, false, e);
}

int heap_count_open_memory(struct heap *h, const void *data, size_t len, struct err *e)
{
	return open_memory(h, data, len, true, e);
}

static int open_file(struct heap *h, const char *path, bool to_count, struct err *e)
{
	int r;

	heap_init(h);
	r = hprof_open(&h->dump, path, e);
	if (!r && (r = open_rest(h, to_count, e)))
		r = err_wrap(e, "%s", path);
	return r;
}

int heap_open(struct heap *h, const char *path, struct err *e)
{
	return open_file(h, path, false, e);
}

int heap_count_open(struct heap *h, const char *path, struct err *e)
{
	return open_file(h, path, true, e);
}

void heap_release(struct heap *h)
{
	size_t i;

	for (i = 0; i < h->nr_classes; i++)
		free(h->classes[i].refs);
	free(h->classes);
	free(h->class);
	free(h->units);
	free(h->roots);
	free(h->threads);
	census_free(h->census);
	map_release(&h->text_of);
	map_release(&h->class_of);
	heap_roster_release(&h->roster);
	ids_release(&h->ids);
	strtab_release(&h->names);
	hprof_close(&h->dump);
	*h = (struct heap){ 0 };
}

/* --- the second walk: class, length and references of each object --- */

struct second_walk {
	struct heap *h;
	const struct heap_read_opts *o;
	uint32_t values_class[HPROF_TYPE_NR];	/* [type] of arrays; HEAP_NONE */
	struct heap_class *last;		/* most objects have the class of the one before */
};

static inline void put_ref(void *ctx, uint64_t id, uint32_t how)
{
	struct second_walk *w = ctx;
	uint32_t to = ids_find(&w->h->ids, id);

	(void)how;
	if (to != HEAP_NONE)
		graph_put(w->o->graph, to);
}

static struct heap_class *class_of_item(struct second_walk *w, const struct hprof_item *x)
{
	struct heap *h = w->h;

	if (x->kind == HPROF_CLASS)
		return &h->classes[h->mirror_class];
	if (x->kind == HPROF_VALUES)
		return &h->classes[w->values_class[x->type]];
	if (!w->last || w->last->raw.id != x->class_id)
		w->last = heap_class_by_id(h, x->class_id);
	return w->last;
}

static void read_object(struct second_walk *w, struct hprof_item *x)
{
	struct heap *h = w->h;
	uint32_t object = ids_find(&h->ids, x->id);
	struct heap_class *c;
	uint64_t from;

	if (object == HEAP_NONE || h->class[object] != HEAP_NONE || is_unknown_class(h, x))
		return;		/* an id that damage changed; the same id twice */
	if (x->kind == HPROF_CLASS || x->kind == HPROF_VALUES)
		x->class_id = 0;
	c = class_of_item(w, x);
	if (!c) {
		h->nr_classless++;
		c = &h->classes[h->unknown_class];
	}
	h->class[object] = c - h->classes;
	h->units[object] = x->n;
	c->nr++;
	if (!w->o->graph)
		return;
	from = w->o->graph->nr_edges;
	refs_each(h, x, c, w->o->keep_soft, put_ref, w);
	graph_close(w->o->graph, object, from);
}

/* Find the classes of items that do not name them; the dump may lack them. */
static void find_special(struct second_walk *w)
{
	static const char *const names[HPROF_TYPE_NR] = { [HPROF_BOOLEAN] = "boolean[]", "char[]", "float[]",
		"double[]", "byte[]", "short[]", "int[]", "long[]" };
	struct heap *h = w->h;
	unsigned int type;
	size_t i;

	h->unknown_class = classes_add(h, UINT64_MAX - HPROF_TYPE_NR);
	h->classes[h->unknown_class].name = strtab_adds(&h->names, "[unknown class]");
	h->mirror_class = HEAP_NONE;
	memset(w->values_class, 0xff, sizeof(w->values_class));
	for (i = 0; i < h->nr_classes; i++) {
		if (h->classes[i].kind == HPROF_VALUES)
			w->values_class[h->classes[i].type] = i;
		else if (!strcmp(heap_class_name(h, i), "java.lang.Class"))
			h->mirror_class = i;
	}
	if (h->mirror_class == HEAP_NONE) {
		h->mirror_class = classes_add(h, UINT64_MAX);
		h->classes[h->mirror_class].name = strtab_adds(&h->names, "java.lang.Class");
	}
	for (type = HPROF_BOOLEAN; type < HPROF_TYPE_NR; type++) {
		if (w->values_class[type] != HEAP_NONE)
			continue;
		i = w->values_class[type] = classes_add(h, UINT64_MAX - type);
		h->classes[i].kind = HPROF_VALUES;
		h->classes[i].type = type;
		h->classes[i].name = strtab_adds(&h->names, names[type]);
	}
}

static void forget_classes_of_before(struct heap *h)
{
	size_t i;

	for (i = 0; i < h->nr_classes; i++)
		h->classes[i].nr = h->classes[i].bytes = 0;
	h->nr_classless = h->bytes = 0;
}

/* Give a class to what damage hid from the second walk alone. */
static void class_the_rest(struct heap *h)
{
	uint32_t i;

	for (i = 0; i < h->ids.nr; i++) {
		if (h->class[i] != HEAP_NONE)
			continue;
		h->class[i] = h->unknown_class;
		h->classes[h->unknown_class].nr++;
		h->nr_classless++;
	}
}

int heap_read(struct heap *h, const struct heap_read_opts *o, struct err *e)
{
	struct second_walk w = { .h = h, .o = o };
	struct hprof_items i;
	struct hprof_item x;
	struct progress p;
	uint64_t nr = 0;

	if (o->graph && (uint64_t)h->ids.nr + h->nr_threads + HEAP_NR_OWN >= HEAP_NONE)
		return err_set(e, EFBIG, "more than 4 billion objects are not supported");
	find_special(&w);
	free(h->class);
	free(h->units);
	h->class = xmalloc_large((size_t)h->ids.nr * sizeof(*h->class));
	h->units = xcalloc_large(h->ids.nr, sizeof(*h->units));
	memset(h->class, 0xff, (size_t)h->ids.nr * sizeof(*h->class));
	forget_classes_of_before(h);
	if (o->graph)
		graph_init(o->graph, h->ids.nr + HEAP_NR_OWN + h->nr_threads);
	progress_start(&p, "reading objects", h->dump.len);
	heap_items(h, &i);
	hprof_items_by_window(&i, true);
	while (hprof_items_next(&i, &x)) {
		if (x.kind != HPROF_ROOT)
			read_object(&w, &x);
		if (!(++nr & 0xffff))
			progress_update(&p, i.p - h->dump.data);
	}
	hprof_items_release(&i);
	progress_end(&p);
	class_the_rest(h);
	sizes_find(h);
	if (o->thread_names)
		threads_name(h);
	return 0;
}

/* Give arrays of values the numbers of their classes, of which the walk knew the types. */
static void name_values(struct object_kind *k, const struct second_walk *w)
{
	unsigned int type = HEAP_NONE - 1 - k->class;

	if (type < HPROF_TYPE_NR)
		k->class = w->values_class[type];
}

int heap_count(struct heap *h, struct err *e)
{
	struct census *c = h->census;
	struct second_walk w = { .h = h };
	size_t i;

	if (!c || !census_finish(c, h))
		return heap_read(h, &(struct heap_read_opts){ 0 }, e);
	find_special(&w);
	forget_classes_of_before(h);
	for (i = 0; i < c->kinds.nr; i++)
		name_values(&c->kinds.list[i], &w);
	name_values(&c->last, &w);
	sizes_count(h, &c->kinds, &c->last);
	return 0;
}
