/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap.h - what a heap dump has: classes, objects with their sizes, references and roots.
 *
 *	heap_open(&h, path, &e);	classes, and a number for each object
 *	heap_read(&h, &opts, &graph, &e);	classes and sizes of objects; references, if graph is not NULL
 *
 * Numbers of objects follow their addresses.
 */
#ifndef HEAP_HEAP_H
#define HEAP_HEAP_H

#include "base/strtab.h"
#include "heap/dominators.h"
#include "heap/hprof.h"
#include "heap/ids.h"

/* The kinds of java.lang.ref.Reference: only a strong or a soft referent is held. */
enum heap_strength { HEAP_STRONG, HEAP_SOFT, HEAP_WEAK, HEAP_FINAL, HEAP_PHANTOM };

struct heap_field {
	uint32_t offset;		/* in an instance's fields */
	uint32_t name;			/* strtab id; 0: unknown */
};

struct heap_class {
	struct hprof_class raw;		/* raw.fields is NULL if the dump does not have the class itself */
	uint32_t name;			/* strtab id, as Java writes it: "byte[]", "java.util.Map$Entry" */
	uint32_t super;			/* HEAP_NONE */
	enum hprof_kind kind;		/* of its objects: HPROF_INSTANCE, HPROF_OBJECTS or HPROF_VALUES */
	uint8_t type;			/* HPROF_VALUES: of elements */
	bool sticky;			/* never unloaded: a root */
	enum heap_strength strength;
	struct heap_field *refs;	/* the references in an instance, without the referent */
	uint32_t nr_refs;
	uint32_t referent;		/* offset, HEAP_NONE */
	uint64_t nr, bytes;		/* objects, and their sizes in memory */
};

/* Nodes of a graph that are not objects, behind the objects; threads are behind these. */
enum heap_own {
	HEAP_TOP,			/* holds all others */
	HEAP_LOST,			/* holds what nothing holds */
	HEAP_CLASSES, HEAP_JNI_GLOBALS, HEAP_JNI_LOCALS, HEAP_FRAMES, HEAP_NATIVE_STACKS, HEAP_BLOCKS,
	HEAP_MONITORS, HEAP_OTHERS,
	HEAP_NR_OWN
};

struct heap_root {
	uint8_t kind;			/* enum hprof_root */
	uint32_t thread;		/* index; HEAP_NONE: none, or unknown */
	uint32_t frame;			/* HPROF_ROOT_JAVA_FRAME: index in the thread's stack */
	uint64_t id;
};

struct heap_thread {
	uint32_t serial, object;	/* HEAP_NONE: not in the dump */
	uint32_t name, group;		/* strtab ids; 0: unknown, or not asked for */
};

/* Facts about the JVM's objects that the dump does not state; sizes.c finds them. */
struct heap_layout {
	unsigned int alignment;		/* of objects: a power of 2 from 8 on */
	unsigned int header;		/* bytes before the first field of an instance */
	unsigned int reference;		/* bytes, 4 or 8 */
	unsigned int array_header[HPROF_TYPE_NR];	/* [type of elements] */
	unsigned int mirror;		/* bytes of a java.lang.Class before static fields */
	bool assumed;			/* ids are not addresses: HotSpot's usual layout */
};

/* The objects that the agent made for a dump (roster.h). */
struct heap_roster {
	uint64_t numbers_id;		/* the array of numbers, */
	const uint8_t *numbers;		/* and its elements; NULL: there is none */
	uint64_t *refs;			/* ids of the references, [nr]; NULL: the dump does not have them */
	uint32_t nr;
};

struct heap {
	struct hprof dump;
	struct strtab names;
	struct map text_of;		/* id of a UTF8 record -> strtab id */
	struct heap_class *classes;
	size_t nr_classes, alloc_classes;
	struct map class_of;		/* id -> index */
	struct heap_ids ids;
	/* Classes of objects without a class id of their own, which may be made up. */
	uint32_t mirror_class, unknown_class;
	uint32_t *class;		/* [object] -> index in classes */
	uint32_t *units;		/* [object] size in memory, in units of 8 bytes */
	struct heap_root *roots;
	size_t nr_roots, alloc_roots;
	struct heap_thread *threads;
	size_t nr_threads, alloc_threads;
	struct heap_layout layout;
	struct heap_roster roster;
	struct census *census;		/* NULL: not asked for */
	uint64_t bytes;			/* of all objects */
	struct hprof_damage damage;
	uint64_t nr_classless;		/* objects whose class is not in the dump */
};

int heap_open(struct heap *h, const char *path, struct err *e);
int heap_open_memory(struct heap *h, const void *data, size_t len, struct err *e);
/* Open a dump, of a file or of memory, for heap_count() alone. */
int heap_count_open(struct heap *h, const char *path, struct err *e);
int heap_count_open_memory(struct heap *h, const void *data, size_t len, struct err *e);
void heap_release(struct heap *h);

/*
 * graph gets a node for each object and, behind them, HEAP_NR_OWN nodes and one for each thread; only objects
 * have edges in it. keep_soft: soft references hold their referents. thread_names: threads get their names,
 * which takes three more walks.
 */
struct heap_read_opts {
	bool keep_soft, thread_names;
	struct heap_graph *graph;
};
int heap_read(struct heap *h, const struct heap_read_opts *o, struct err *e);
/*
 * Count the objects and bytes of classes, and of all; class[] and units[] may stay NULL. Faster than the
 * other.
 */
int heap_count(struct heap *h, struct err *e);

/* Return the class with that id, or NULL. */
struct heap_class *heap_class_by_id(const struct heap *h, uint64_t id);

static inline const char *heap_class_name(const struct heap *h, uint32_t class)
{
	return strtab_get(&h->names, h->classes[class].name);
}

/* classes.c: read names and, after all classes are known, superclasses, kinds and offsets of references. */
void classes_read_names(struct heap *h);
uint32_t classes_add(struct heap *h, uint64_t id);
void classes_resolve(struct heap *h);
/* Return the class of stacks of virtual threads, whose objects differ in size; HEAP_NONE: there is none. */
uint32_t heap_class_of_chunks(const struct heap *h);

/* sizes.c: turn units[], which has bytes of instances and lengths of arrays, into sizes. */
void sizes_find(struct heap *h);
/* The sums of classes alone, from kinds of objects; all Class objects are of classes that the dump has. */
struct object_kind;
struct object_kinds;
void sizes_count(struct heap *h, const struct object_kinds *k, const struct object_kind *last);

/* Return its bytes in memory; 0 for a node that is not an object. */
static inline uint64_t heap_size(const struct heap *h, uint32_t node)
{
	return node < h->ids.nr ? (uint64_t)h->units[node] * 8 : 0;
}

/* After heap_read(): the objects once more, as they lie in the dump. A damaged one can have some twice. */
struct heap_objects {
	const struct heap *h;
	struct hprof_items items;
};
void heap_objects(struct heap_objects *w, const struct heap *h);
/*
 * Read the next object; x->class_id is 0 for what names no class: Class objects and arrays of values. False
 * at the end.
 */
bool heap_objects_next(struct heap_objects *w, struct hprof_item *x, uint32_t *object);

/* Return the text with that id of a UTF8 record; 0: the dump does not have it. */
static inline uint32_t heap_text(const struct heap *h, uint64_t id)
{
	uint32_t text = map_get(&h->text_of, id);

	return text == MAP_NONE ? 0 : text;
}

/*
 * classes.c: the fields of the object x with their values: those of its class, then of the one above and so
 * on; of a Class object the static fields; of an array none.
 */
struct heap_fields_walk {
	const struct heap *h;
	const struct hprof_item *item;
	const struct heap_class *class;
	const uint8_t *p;		/* the next field of the class */
	unsigned int left, supers;	/* fields of the class; classes above, at most */
	uint32_t at;			/* offset of the value in an instance */
};
void heap_fields_walk(struct heap_fields_walk *w, const struct heap *h, const struct hprof_item *x);
/* Return false at the end, or where the dump contradicts itself. */
bool heap_fields_next(struct heap_fields_walk *w, struct hprof_field *f);

/* Return the value of the first of these fields with that name; NULL: there is none. */
const uint8_t *heap_field_value(const struct heap *h, const struct hprof_item *x, const char *name,
				uint8_t *type);

/* texts.c: their names, and those of their groups in Java, from their Thread objects; after heap_read(). */
void threads_name(struct heap *h);
void threads_find_groups(struct heap *h);

#endif
