// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * heap.c - tables of a heap dump: objects, classes, references, roots, Strings. Of what the dump does not
 * say in a place of its own, each part is made when a query uses it: sizes, what objects retain, where they
 * lie in the dump, and their references.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap/texts.h"
#include "heap/tree.h"
#include "query/heap.h"

/* Bytes an object: its class and size; while dominators are found, beside that; where it lies. */
enum { READ_BYTES = 8, DOMINATORS_BYTES = 60, RETAINED_BYTES = 12, PLACE_BYTES = 8 };

static const struct heap *heap_of(const struct query_data *d)
{
	return d->heap->h;
}

static const char *heap_str(const struct query_data *d, uint32_t id)
{
	return id ? strtab_get(&heap_of(d)->names, id) : NULL;
}

/* Charge bytes that are freed again soon. */
static int charge_for_now(struct query_data *d, uint64_t bytes, struct err *e)
{
	int r = query_data_charge(d, bytes, e);

	*d->used_bytes -= r ? 0 : bytes;
	return r;
}

static int read_objects(struct query_data *d, struct err *e)
{
	const struct heap_read_opts o = { .thread_names = true };
	struct query_heap *x = d->heap;
	int r = x->is_read ? 0 : query_data_charge(d, (uint64_t)x->h->ids.nr * READ_BYTES, e);

	if (r || x->is_read)
		return r;
	r = heap_read(x->h, &o, e);
	x->is_read = !r;
	return r;
}

static int find_retained(struct query_data *d, struct err *e)
{
	struct query_heap *x = d->heap;
	uint64_t nr = x->h->ids.nr;
	int r = x->has_retained ? 0 : charge_for_now(d, nr * DOMINATORS_BYTES, e);

	if (r || x->has_retained)
		return r;
	r = query_data_charge(d, nr * RETAINED_BYTES, e);
	if (!r)
		r = heap_retained(x->h, true, &x->retained, e);
	x->has_retained = !r;
	return r;
}

/* --- where objects lie in the dump --- */

static size_t bytes_before_data(const struct hprof_item *x, unsigned int id_size)
{
	switch (x->kind) {
	case HPROF_CLASS:
		return 1 + id_size;
	case HPROF_VALUES:
		return 1 + id_size + 4 + 4 + 1;
	default:
		return 1 + id_size + 4 + id_size + 4;
	}
}

static int find_places(struct query_data *d, struct err *e)
{
	struct query_heap *x = d->heap;
	const struct hprof *dump = &x->h->dump;
	struct heap_objects w;
	struct hprof_item item;
	uint32_t object;
	int r = x->at ? 0 : query_data_charge(d, (uint64_t)x->h->ids.nr * PLACE_BYTES, e);

	if (r || x->at)
		return r;
	x->at = xcalloc(x->h->ids.nr, sizeof(*x->at));
	heap_objects(&w, x->h);
	while (heap_objects_next(&w, &item, &object))
		if (!x->at[object])
			x->at[object] = item.data - dump->data - bytes_before_data(&item, dump->id_size);
	return 0;
}

/* Read an object; after find_places(). */
static bool item_of(const struct query_data *d, uint32_t object, struct hprof_item *item)
{
	const struct hprof *dump = &heap_of(d)->dump;
	uint64_t at = d->heap->at[object];

	return at && hprof_item(dump, dump->data + at, dump->data + dump->len, item);
}

/* Set the number of an object for a column; false: NULL. */
static bool object_number(uint32_t object, uint64_t *v)
{
	*v = object;
	return object != HEAP_NONE;
}

static bool object_of_id(const struct query_data *d, uint64_t id, uint64_t *v)
{
	return object_number(id ? ids_find(&heap_of(d)->ids, id) : HEAP_NONE, v);
}

/* --- objects --- */

enum {
	OBJECT_ID, OBJECT_ADDRESS, OBJECT_CLASS, OBJECT_NAME, OBJECT_SIZE, OBJECT_LENGTH, OBJECT_RETAINED,
	OBJECT_DOMINATOR
};

static const struct query_column object_columns[] = {
	[OBJECT_ID] = { "id", COLUMN_ROW | COLUMN_UNIQUE, "number of the object, by address" },
	[OBJECT_ADDRESS] = { "address", COLUMN_ASCENDS | COLUMN_UNIQUE, "as heap report --object takes it, there in hexadecimal" },
	[OBJECT_CLASS] = { "class", COLUMN_INDEX, "its class: classes.id" },
	[OBJECT_NAME] = { "name", COLUMN_TEXT, "of its class" },
	[OBJECT_SIZE] = { "size", 0, "bytes in memory" },
	[OBJECT_LENGTH] = { "length", 0, "elements of an array; NULL: it is none" },
	[OBJECT_RETAINED] = { "retained", 0, "bytes that would be freed with it, its own included" },
	[OBJECT_DOMINATOR] = { "dominator", COLUMN_INDEX, "the object without which it would be garbage; NULL: there is no single one" },
};

static int use_objects(struct query_data *d, uint64_t columns, struct err *e)
{
	int r = 0;

	if (columns & (1 << OBJECT_RETAINED | 1 << OBJECT_DOMINATOR))
		r = find_retained(d, e);
	return !r && columns & 1 << OBJECT_LENGTH ? find_places(d, e) : r;
}

static bool length_of(const struct query_data *d, uint32_t object, uint64_t *v)
{
	struct hprof_item item;

	if (!item_of(d, object, &item) || (item.kind != HPROF_OBJECTS && item.kind != HPROF_VALUES))
		return false;
	*v = item.n;
	return true;
}

static bool object_value(const struct query_data *d, const struct query_cell *c, uint64_t *v)
{
	const struct query_heap *x = d->heap;

	switch (c->column) {
	case OBJECT_ID:
		*v = c->row;
		return true;
	case OBJECT_ADDRESS:
		*v = ids_id(&x->h->ids, c->row);
		return true;
	case OBJECT_CLASS:
		*v = x->h->class[c->row];
		return true;
	case OBJECT_SIZE:
		*v = heap_size(x->h, c->row);
		return true;
	case OBJECT_LENGTH:
		return length_of(d, c->row, v);
	case OBJECT_RETAINED:
		*v = x->retained.bytes[c->row];
		return true;
	default:
		*v = x->retained.holder[c->row];
		return *v < x->h->ids.nr;
	}
}

static const char *object_text(struct query_data *d, const struct query_cell *c)
{
	return heap_class_name(heap_of(d), heap_of(d)->class[c->row]);
}

static uint32_t nr_objects(const struct query_data *d)
{
	return heap_of(d)->ids.nr;
}

static const struct query_table objects_table = {
	.name = "objects", .what = "all objects of the dump", QUERY_COLUMNS(object_columns),
	.load = read_objects, .use = use_objects, .nr_rows = nr_objects, .number = object_value,
	.text = object_text,
};

/* --- classes --- */

enum {
	CLASS_ID, CLASS_NAME, CLASS_SUPER, CLASS_OBJECT, CLASS_LOADER, CLASS_N, CLASS_BYTES
};

static const struct query_column class_columns[] = {
	[CLASS_ID] = { "id", COLUMN_ROW | COLUMN_UNIQUE, "number of the class" },
	[CLASS_NAME] = { "name", COLUMN_TEXT, "as Java writes it; classes of several loaders can share one" },
	[CLASS_SUPER] = { "super", COLUMN_INDEX, "its superclass: classes.id" },
	[CLASS_OBJECT] = { "object", COLUMN_INDEX, "its Class object; NULL: not in the dump" },
	[CLASS_LOADER] = { "loader", COLUMN_INDEX, "the class loader, an object; NULL: the JVM's own" },
	[CLASS_N] = { "n", 0, "objects of the class" },
	[CLASS_BYTES] = { "bytes", 0, "their size in memory" },
};

static bool class_value(const struct query_data *d, const struct query_cell *c, uint64_t *v)
{
	const struct heap_class *x = &heap_of(d)->classes[c->row];

	switch (c->column) {
	case CLASS_ID:
		*v = c->row;
		return true;
	case CLASS_SUPER:
		return object_number(x->super, v);
	case CLASS_OBJECT:
		return object_of_id(d, x->raw.id, v);
	case CLASS_LOADER:
		return object_of_id(d, x->raw.loader, v);
	case CLASS_N:
		*v = x->nr;
		return true;
	default:
		*v = x->bytes;
		return true;
	}
}

static const char *class_text(struct query_data *d, const struct query_cell *c)
{
	return heap_class_name(heap_of(d), c->row);
}

static uint32_t nr_classes(const struct query_data *d)
{
	return heap_of(d)->nr_classes;
}

static const struct query_table classes_table = {
	.name = "classes", .what = "classes, also those without objects", QUERY_COLUMNS(class_columns),
	.load = read_objects, .nr_rows = nr_classes, .number = class_value, .text = class_text,
};

/* --- references --- */

enum { REF_SOURCE, REF_TARGET, REF_FIELD };

static const struct query_column ref_columns[] = {
	[REF_SOURCE] = { "source", COLUMN_ASCENDS, "the object that refers" },
	[REF_TARGET] = { "target", COLUMN_INDEX, "the object that it refers to" },
	[REF_FIELD] = { "field", COLUMN_TEXT, "by what: Class.field; Class.[element] of arrays" },
};

struct ref_walk {
	struct query_heap *x;
	uint32_t *first;		/* [object]: references; then the first of the next one */
	struct map name_of;		/* (class, field) -> strtab id */
	const struct hprof_item *item;
	uint32_t from, class;		/* the object; its class, or of the Class object of X, X */
	uint64_t nr;
	bool fill;
};

static uint32_t field_of(struct ref_walk *w, uint32_t how)
{
	/* a Class object has other fields than an instance of its class */
	uint32_t *name = map_put(&w->name_of,
				 ((uint64_t)w->class << 1 | (w->item->kind == HPROF_CLASS)) << 25 | how);

	if (*name == MAP_NONE)
		*name = heap_field_name(w->x->h, w->item, w->class, how);
	return *name;
}

static void take_ref(void *ctx, uint64_t id, uint32_t how)
{
	struct ref_walk *w = ctx;
	uint32_t to = ids_find(&w->x->h->ids, id);

	if (to == HEAP_NONE)
		return;
	if (w->fill)
		w->x->refs[w->first[w->from]] = (struct query_ref){ w->from, to, field_of(w, how) };
	w->first[w->from]++;
	w->nr++;
}

/*
 * Walk the references, once to count and once to fill. In a damaged dump an object can appear twice; the
 * first counts.
 */
static void walk_refs(struct ref_walk *w)
{
	struct heap *h = w->x->h;
	uint64_t *seen = xcalloc(h->ids.nr / 64 + 1, sizeof(*seen));
	struct heap_objects objects;
	struct hprof_item item;

	w->item = &item;
	heap_objects(&objects, h);
	while (heap_objects_next(&objects, &item, &w->from)) {
		if (seen[w->from / 64] >> w->from % 64 & 1)
			continue;
		seen[w->from / 64] |= (uint64_t)1 << w->from % 64;
		w->class = item.kind == HPROF_CLASS ? heap_class_by_id(h, item.id) - h->classes :
						      h->class[w->from];
		refs_each(h, &item, &h->classes[h->class[w->from]], true, take_ref, w);
	}
	free(seen);
}

static int list_refs(struct query_data *d, struct ref_walk *w, struct err *e)
{
	struct query_heap *x = d->heap;
	uint32_t i, nr, sum = 0;
	int r;

	walk_refs(w);
	if (w->nr >= UINT32_MAX)
		return err_set(e, EFBIG, "more than 4294967294 references are not supported");
	r = query_data_charge(d, w->nr * sizeof(*x->refs), e);
	if (r)
		return r;
	x->nr_refs = w->nr;
	x->refs = xcalloc(w->nr + 1, sizeof(*x->refs));
	for (i = 0; i < x->h->ids.nr; i++) {
		nr = w->first[i];
		w->first[i] = sum;
		sum += nr;
	}
	w->fill = true;
	walk_refs(w);
	return 0;
}

static int load_refs(struct query_data *d, struct err *e)
{
	struct ref_walk w = { .x = d->heap, .name_of = MAP_INIT };
	uint64_t nr = heap_of(d)->ids.nr;
	int r = read_objects(d, e);

	if (!r && !d->heap->has_refs)
		r = charge_for_now(d, nr * sizeof(*w.first), e);
	if (r || d->heap->has_refs)
		return r;
	w.first = xcalloc(nr, sizeof(*w.first));
	r = list_refs(d, &w, e);
	d->heap->has_refs = !r;
	map_release(&w.name_of);
	free(w.first);
	return r;
}

static bool ref_value(const struct query_data *d, const struct query_cell *c, uint64_t *v)
{
	const struct query_ref *r = &d->heap->refs[c->row];

	*v = c->column == REF_SOURCE ? r->source : r->target;
	return true;
}

static const char *ref_text(struct query_data *d, const struct query_cell *c)
{
	return heap_str(d, d->heap->refs[c->row].field);
}

static uint32_t nr_refs(const struct query_data *d)
{
	return d->heap->nr_refs;
}

static const struct query_table refs_table = {
	.name = "refs", .what = "references that hold something: weak and phantom ones do not, soft ones do",
	QUERY_COLUMNS(ref_columns),
	.load = load_refs, .nr_rows = nr_refs, .number = ref_value, .text = ref_text,
};

/* --- roots --- */

enum { ROOT_OBJECT, ROOT_KIND, ROOT_THREAD, ROOT_THREAD_NAME };

static const struct query_column root_columns[] = {
	[ROOT_OBJECT] = { "object", COLUMN_INDEX, "the object that is held; NULL: not in the dump" },
	[ROOT_KIND] = { "kind", COLUMN_TEXT, "frame, thread, class, jni-global, jni-local, native, block, monitor, other" },
	[ROOT_THREAD] = { "thread", COLUMN_INDEX, "the Thread object of the thread that holds it; NULL: none" },
	[ROOT_THREAD_NAME] = { "name", COLUMN_TEXT, "of that thread" },
};

static const struct heap_thread *thread_of_root(const struct query_data *d, uint32_t row)
{
	const struct heap *h = heap_of(d);
	uint32_t thread = h->roots[row].thread;

	return thread < h->nr_threads ? &h->threads[thread] : NULL;
}

static bool root_value(const struct query_data *d, const struct query_cell *c, uint64_t *v)
{
	const struct heap_thread *t;

	if (c->column == ROOT_OBJECT)
		return object_of_id(d, heap_of(d)->roots[c->row].id, v);
	t = thread_of_root(d, c->row);
	return object_number(t ? t->object : HEAP_NONE, v);
}

static const char *root_kind(uint8_t kind)
{
	switch (kind) {
	case HPROF_ROOT_JNI_GLOBAL:
		return "jni-global";
	case HPROF_ROOT_JNI_LOCAL:
		return "jni-local";
	case HPROF_ROOT_JAVA_FRAME:
		return "frame";
	case HPROF_ROOT_NATIVE_STACK:
		return "native";
	case HPROF_ROOT_STICKY_CLASS:
		return "class";
	case HPROF_ROOT_THREAD_BLOCK:
		return "block";
	case HPROF_ROOT_MONITOR:
		return "monitor";
	case HPROF_ROOT_THREAD:
		return "thread";
	}
	return "other";
}

static const char *root_text(struct query_data *d, const struct query_cell *c)
{
	const struct heap_thread *t = thread_of_root(d, c->row);

	if (c->column == ROOT_KIND)
		return root_kind(heap_of(d)->roots[c->row].kind);
	return t ? heap_str(d, t->name) : NULL;
}

static int load_roots(struct query_data *d, struct err *e)
{
	if (heap_of(d)->nr_roots > UINT32_MAX)
		return err_set(e, EFBIG, "more than 4294967295 roots are not supported");
	return read_objects(d, e);	/* and with them, names of threads */
}

static uint32_t nr_roots(const struct query_data *d)
{
	return heap_of(d)->nr_roots;
}

static const struct query_table roots_table = {
	.name = "roots", .what = "what holds objects from outside the heap", QUERY_COLUMNS(root_columns),
	.load = load_roots, .nr_rows = nr_roots, .number = root_value, .text = root_text,
};

/* --- Strings --- */

enum { STRING_OBJECT, STRING_LENGTH, STRING_TEXT };

static const struct query_column string_columns[] = {
	[STRING_OBJECT] = { "object", COLUMN_ASCENDS | COLUMN_UNIQUE, "the String" },
	[STRING_LENGTH] = { "length", 0, "elements of the array that has its text" },
	[STRING_TEXT] = { "text", COLUMN_TEXT, "the beginning of its text: that of 256 elements" },
};

static bool is_string(const struct heap *h, uint32_t object)
{
	return !strcmp(heap_class_name(h, h->class[object]), "java.lang.String");
}

static int load_strings(struct query_data *d, struct err *e)
{
	struct query_heap *x = d->heap;
	uint32_t i, nr = 0;
	int r = read_objects(d, e);

	if (!r)
		r = find_places(d, e);
	if (r || x->has_strings)
		return r;
	for (i = 0; i < x->h->ids.nr; i++)
		nr += is_string(x->h, i);
	r = query_data_charge(d, nr * sizeof(*x->strings), e);
	if (r)
		return r;
	x->has_strings = true;
	x->strings = xcalloc(nr + 1, sizeof(*x->strings));
	for (i = 0; i < x->h->ids.nr; i++)
		if (is_string(x->h, i))
			x->strings[x->nr_strings++] = i;
	return 0;
}

/* Read the array that has the text of a String. */
static bool array_of_string(const struct query_data *d, uint32_t string, struct hprof_item *array)
{
	const struct heap *h = heap_of(d);
	struct hprof_item item;
	uint32_t to;

	if (!item_of(d, string, &item) || item.kind != HPROF_INSTANCE)
		return false;
	to = ids_find(&h->ids, texts_field(h, &item, "java.lang.String", "value"));
	return to != HEAP_NONE && item_of(d, to, array) && array->kind == HPROF_VALUES &&
		(array->type == HPROF_BYTE || array->type == HPROF_CHAR);
}

static bool string_value(const struct query_data *d, const struct query_cell *c, uint64_t *v)
{
	struct hprof_item array;

	*v = d->heap->strings[c->row];
	if (c->column == STRING_OBJECT)
		return true;
	if (!array_of_string(d, *v, &array))
		return false;
	*v = array.n;
	return true;
}

static const char *string_text(struct query_data *d, const struct query_cell *c)
{
	struct hprof_item array;

	if (!array_of_string(d, d->heap->strings[c->row], &array))
		return NULL;
	buf_reset(&d->scratch);
	texts_put(&d->scratch, &array);
	return d->scratch.len ? d->scratch.data : "";
}

static uint32_t nr_strings(const struct query_data *d)
{
	return d->heap->nr_strings;
}

static const struct query_table strings_table = {
	.name = "strings", .what = "texts of Strings", QUERY_COLUMNS(string_columns),
	.load = load_strings, .nr_rows = nr_strings, .number = string_value, .text = string_text,
};

const struct query_table *const query_heap_tables[] = {
	&objects_table, &classes_table, &refs_table, &roots_table, &strings_table, &query_functions,
	&query_nodes, &query_xprof, &query_arcs, &query_metrics, NULL
};

/* --- fields --- */

static void query_heap_read_value(const struct query_data *d, uint8_t type, const uint8_t *p,
				  struct query_value *v)
{
	uint64_t bits, object;
	uint32_t half;
	float narrow;

	v->type = QUERY_INTEGER;
	switch (type) {
	case HPROF_OBJECT:
		if (!object_of_id(d, hprof_id(&heap_of(d)->dump, p), &object))
			v->type = QUERY_NULL;
		v->integer = object;
		return;
	case HPROF_FLOAT:
		half = hprof_u32(p);
		memcpy(&narrow, &half, sizeof(narrow));
		v->type = QUERY_REAL;
		v->real = narrow;
		return;
	case HPROF_DOUBLE:
		bits = hprof_u64(p);
		memcpy(&v->real, &bits, sizeof(bits));
		v->type = QUERY_REAL;
		return;
	case HPROF_LONG:
		v->integer = (int64_t)hprof_u64(p);
		return;
	case HPROF_INT:
		v->integer = (int32_t)hprof_u32(p);
		return;
	case HPROF_SHORT:
		v->integer = (int16_t)hprof_u16(p);
		return;
	case HPROF_CHAR:
		v->integer = hprof_u16(p);
		return;
	default:
		v->integer = (int8_t)*p;
	}
}

int query_heap_field(struct query_data *d, int64_t object, const char *name, struct query_value *v,
		     struct err *e)
{
	struct hprof_item item;
	const uint8_t *p;
	uint8_t type;
	int r = read_objects(d, e);

	*v = (struct query_value){ .type = QUERY_NULL };
	if (!r)
		r = find_places(d, e);
	if (r || object < 0 || object >= heap_of(d)->ids.nr || !item_of(d, object, &item))
		return r;
	p = heap_field_value(heap_of(d), &item, name, &type);
	if (p)
		query_heap_read_value(d, type, p, v);
	return 0;
}

/* --- the tree --- */

int query_heap_model(struct query_data *d, struct err *e)
{
	const struct heap_tree_opts o = { .shape = HEAP_DOMINATORS, .keep_soft = true };
	struct heap_tree_facts facts;
	int r = read_objects(d, e);

	if (!r)
		r = charge_for_now(d, (uint64_t)heap_of(d)->ids.nr * DOMINATORS_BYTES, e);
	return r ? r : heap_tree(d->heap->h, &o, &d->model, &facts, e);
}

void query_heap_release(struct query_data *d)
{
	if (!d->heap)
		return;
	heap_retained_release(&d->heap->retained);
	free(d->heap->at);
	free(d->heap->refs);
	free(d->heap->strings);
	free(d->heap);
}
