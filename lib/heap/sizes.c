// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sizes.c - what objects take in memory. A dump has the contents alone; headers, padding, fields that the
 * JVM adds and compressed references show in the distance from an object to the next one, which is its size
 * or, if what is between is garbage, more. So each kind of object gets the layout that most distances agree
 * with, and none gets more than its distance.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "heap/heap.h"

enum {
	UNIT = 8,			/* of units[] */
	MAX_ALIGNMENT = 256,
	ENOUGH_OBJECTS = 1000,		/* whose addresses show how they are aligned */
	INJECTED = 320,			/* the JVM adds fewer bytes than this to a class, */
	CONTENDED = 128,		/* or pads @Contended fields with more than this */
	ENOUGH = 4,			/* instances whose least distance is believed */
	MAX_DEPTH = 100,		/* of superclasses */
	MAX_CHUNK = 1 << 20,		/* a stack chunk with more behind it: garbage */
	DEFAULT_MIRROR = 112,
	MAX_ARRAY_HEADER = 24,
};

struct evidence {			/* [class] */
	uint64_t least, most;		/* distance; UINT64_MAX and 0: of no instance */
	uint64_t nr;
	uint64_t refs, rest;		/* references, and bytes of other fields, in all of its fields */
};

struct sizes {
	struct heap *h;
	struct evidence *classes;
	const struct heap_class *mirrors, *chunks;	/* their objects differ in size; chunks NULL: none */
	/* [type][header / 4] arrays whose distance is that of such a header, and whether all can have it */
	uint64_t array_votes[HPROF_TYPE_NR][MAX_ARRAY_HEADER / 4 + 1];
	bool array_denied[HPROF_TYPE_NR][MAX_ARRAY_HEADER / 4 + 1];
};

static uint64_t align(const struct sizes *s, uint64_t n)
{
	unsigned int alignment = s->h->layout.alignment;

	return (n + alignment - 1) & ~(uint64_t)(alignment - 1);
}

/* Calls fn for each object and the distance to the next; the last one has none. */
static void each_distance(struct sizes *s, void (*fn)(struct sizes *s, uint32_t object, uint64_t distance))
{
	uint64_t id, before = 0;
	uint32_t object = 0;
	struct ids_walk w;

	ids_walk(&w, &s->h->ids);
	for (; ids_next(&w, &id); object++, before = id)
		if (object)
			fn(s, object - 1, id - before);
}

/* -XX:ObjectAlignmentInBytes: what all addresses are a multiple of. */
static unsigned int find_alignment(const struct heap *h)
{
	uint64_t id, bits = MAX_ALIGNMENT;
	struct ids_walk w;

	ids_walk(&w, &h->ids);
	while (ids_next(&w, &id))
		bits |= id;
	return h->ids.nr < ENOUGH_OBJECTS || bits & (UNIT - 1) ? UNIT : bits & -bits;
}

/* --- fields --- */

static void count_fields(struct sizes *s)
{
	struct heap *h = s->h;
	size_t i;

	for (i = 0; i < h->nr_classes; i++) {
		const struct heap_class *c = &h->classes[i];
		struct evidence *x = &s->classes[i];

		x->least = UINT64_MAX;
		x->refs = c->nr_refs + (c->referent != HEAP_NONE);
		x->rest = c->raw.instance_len > x->refs * h->dump.id_size ?
			  c->raw.instance_len - x->refs * h->dump.id_size : 0;
	}
}

/* --- which layout the JVM has --- */

static void see_instance(struct sizes *s, uint32_t object, uint64_t distance)
{
	struct heap_class *c = &s->h->classes[s->h->class[object]];
	struct evidence *x = &s->classes[c - s->h->classes];

	if (c->kind == HPROF_INSTANCE && c != s->mirrors && c != s->chunks) {
		x->least = MIN(x->least, distance);
		x->most = MAX(x->most, distance);
		x->nr++;
	} else if (c->kind == HPROF_OBJECTS && s->h->units[object] > 2 &&
		   distance < 8 * (uint64_t)s->h->units[object]) {
		s->h->layout.reference = 4;
	}
}

static uint64_t predict(const struct sizes *s, const struct evidence *x, unsigned int header)
{
	return align(s, header + x->refs * s->h->layout.reference + x->rest);
}

/* Classes whose objects are as far apart as this header says. */
static uint64_t count_votes(const struct sizes *s, unsigned int header)
{
	uint64_t votes = 0;
	size_t i;

	for (i = 0; i < s->h->nr_classes; i++)
		votes += s->classes[i].nr &&
			 s->classes[i].least == predict(s, &s->classes[i], header);
	return votes;
}

static void find_header(struct sizes *s)
{
	static const unsigned int headers[] = { 12, 16, 8 };
	struct heap_layout *l = &s->h->layout;
	uint64_t most, votes;
	size_t i;

	l->header = s->h->dump.id_size == 4 ? 8 : l->reference == 8 ? 16 : 12;
	most = count_votes(s, l->header);
	for (i = 0; i < ARRAY_SIZE(headers); i++) {
		votes = count_votes(s, headers[i]);
		if (votes > most) {
			most = votes;
			l->header = headers[i];
		}
	}
}

static unsigned int type_of_elements(const struct heap_class *c)
{
	return c->kind == HPROF_OBJECTS ? HPROF_OBJECT : c->type;
}

static uint64_t bytes_of_elements(const struct sizes *s, const struct heap_class *c, uint32_t n)
{
	unsigned int type = type_of_elements(c);

	return (uint64_t)n * (type == HPROF_OBJECT ? s->h->layout.reference :
			      hprof_type_size(&s->h->dump, type));
}

static void see_array(struct sizes *s, uint32_t object, uint64_t distance)
{
	const struct heap_class *c = &s->h->classes[s->h->class[object]];
	unsigned int type, header;
	uint64_t bytes, size;

	if (c->kind == HPROF_INSTANCE)
		return;
	type = type_of_elements(c);
	bytes = bytes_of_elements(s, c, s->h->units[object]);
	for (header = 8; header <= MAX_ARRAY_HEADER; header += 4) {
		size = align(s, header + bytes);
		s->array_votes[type][header / 4] += size == distance;
		s->array_denied[type][header / 4] |= size > distance;
	}
}

/* The length follows the header of instances. */
static unsigned int usual_array_header(const struct heap_layout *l, unsigned int size)
{
	return (l->header + 4 + size - 1) & ~(size - 1);
}

static void find_array_headers(struct sizes *s)
{
	struct heap_layout *l = &s->h->layout;
	unsigned int type, header, best;

	for (type = HPROF_OBJECT; type < HPROF_TYPE_NR; type++) {
		const uint64_t *votes = s->array_votes[type];

		best = usual_array_header(l, MAX(type == HPROF_OBJECT ? l->reference :
						 hprof_type_size(&s->h->dump, type), 4u));
		for (header = 8; header <= MAX_ARRAY_HEADER; header += 4)
			if (!s->array_denied[type][header / 4] &&
			    (s->array_denied[type][best / 4] || votes[header / 4] > votes[best / 4]))
				best = header;
		l->array_header[type] = best;
	}
}

/* --- java.lang.Class: its static fields follow it --- */

static uint64_t bytes_of_statics(const struct sizes *s, const struct heap_class *c)
{
	const uint8_t *p = c->raw.statics;
	uint64_t bytes = 0;
	unsigned int i;

	for (i = 0; i < c->raw.nr_statics; i++) {
		struct hprof_field f = hprof_static(&s->h->dump, &p);

		bytes += f.type == HPROF_OBJECT ? s->h->layout.reference :
			 hprof_type_size(&s->h->dump, f.type);
	}
	return bytes;
}

/* The class whose mirror this is, or NULL. */
static const struct heap_class *mirrored(const struct sizes *s, uint32_t object)
{
	return heap_class_by_id(s->h, ids_id(&s->h->ids, object));
}

static void see_mirror(struct sizes *s, uint32_t object, uint64_t distance)
{
	const struct heap_class *c = mirrored(s, object);

	if (c && c->raw.fields && !c->raw.nr_statics && distance >= DEFAULT_MIRROR / 2)
		s->h->layout.mirror = MIN(s->h->layout.mirror, distance);
}

static void each_mirror(struct sizes *s, void (*fn)(struct sizes *s, uint32_t object, uint64_t distance))
{
	uint32_t object;
	size_t i;

	for (i = 0; i < s->h->nr_classes; i++) {
		object = ids_find(&s->h->ids, s->h->classes[i].raw.id);
		if (object != HEAP_NONE && object + 1 < s->h->ids.nr &&
		    s->h->class[object] == s->h->mirror_class)
			fn(s, object, ids_id(&s->h->ids, object + 1) - ids_id(&s->h->ids, object));
	}
}

/* --- sizes --- */

/* Garbage behind an object is of any length: several equal distances are the size. */
static bool is_sure(const struct evidence *x)
{
	return x->nr >= ENOUGH || (x->nr > 1 && x->least == x->most);
}

/* HotSpot adds fields to classes of java.lang, java.lang.invoke and jdk.internal.vm, and so to subclasses. */
static bool has_injected(const struct sizes *s, const struct heap_class *c)
{
	static const char *const packages[] = { "java.lang.", "jdk.internal.vm." };
	const char *name;
	size_t i;
	int depth;

	for (depth = 0; c->super != HEAP_NONE && depth < MAX_DEPTH; depth++) {
		name = strtab_get(&s->h->names, c->name);
		for (i = 0; i < ARRAY_SIZE(packages); i++)
			if (!strncmp(name, packages[i], strlen(packages[i])))
				return true;
		c = &s->h->classes[c->super];
	}
	return false;
}

/* Whether the least distance of the class can be its size, which is that much without what the JVM adds. */
static bool is_near(const struct sizes *s, const struct heap_class *c, uint64_t size)
{
	const struct evidence *x = &s->classes[c - s->h->classes];

	if (x->least <= size + s->h->layout.alignment)
		return true;
	return is_sure(x) && x->least < size + INJECTED &&
	       (x->least >= size + CONTENDED || has_injected(s, c));
}

/* What the JVM adds to the nearest superclass with objects, and so to this class: padding, fields. */
static uint64_t inherited(const struct sizes *s, const struct heap_class *c)
{
	const struct evidence *x;
	uint64_t size;
	int depth;

	for (depth = 0; c->super != HEAP_NONE && depth < MAX_DEPTH; depth++) {
		c = &s->h->classes[c->super];
		x = &s->classes[c - s->h->classes];
		size = predict(s, x, s->h->layout.header);
		if (x->nr)
			return is_sure(x) && is_near(s, c, size) && x->least > size ? x->least - size : 0;
	}
	return 0;
}

static uint64_t size_of_instance(const struct sizes *s, const struct heap_class *c)
{
	const struct evidence *x = &s->classes[c - s->h->classes];
	uint64_t size = predict(s, x, s->h->layout.header);

	if (x->least != UINT64_MAX && !is_near(s, c, size))
		size += inherited(s, c);
	return x->least != UINT64_MAX && is_near(s, c, size) ? x->least : size;
}

/* Without the distance: units[] still holds lengths. */
static uint64_t usual_size(const struct sizes *s, uint32_t object, const struct heap_class *c)
{
	if (c->kind == HPROF_INSTANCE)
		return size_of_instance(s, c);
	return align(s, s->h->layout.array_header[type_of_elements(c)] +
		     bytes_of_elements(s, c, s->h->units[object]));
}

static uint64_t size_of(struct sizes *s, uint32_t object, uint64_t distance)
{
	const struct heap_class *c = &s->h->classes[s->h->class[object]], *of;
	uint64_t size;

	if (c == s->chunks && distance < MAX_CHUNK)
		return distance;
	if (c == s->mirrors && (of = mirrored(s, object))) {
		size = align(s, s->h->layout.mirror + bytes_of_statics(s, of));
		return distance <= size + s->h->layout.alignment ? distance : size;
	}
	size = usual_size(s, object, c);
	return MIN(size, distance);
}

static void set_size(struct sizes *s, uint32_t object, uint64_t distance)
{
	struct heap_class *c = &s->h->classes[s->h->class[object]];
	uint64_t size = size_of(s, object, distance) & ~(uint64_t)(UNIT - 1);	/* addresses can be odd */

	s->h->units[object] = size / UNIT;
	c->bytes += size;
	s->h->bytes += size;
}

static void find_special(struct sizes *s)
{
	size_t i;

	s->mirrors = &s->h->classes[s->h->mirror_class];
	for (i = 0; i < s->h->nr_classes; i++)
		if (!strcmp(heap_class_name(s->h, i), "jdk.internal.vm.StackChunk"))
			s->chunks = &s->h->classes[i];
}

void sizes_find(struct heap *h)
{
	struct sizes s = { .h = h };

	s.classes = xcalloc(h->nr_classes, sizeof(*s.classes));
	h->layout = (struct heap_layout){ .reference = h->dump.id_size, .mirror = UINT32_MAX,
					  .alignment = find_alignment(h) };
	find_special(&s);
	count_fields(&s);
	each_distance(&s, see_instance);
	find_header(&s);
	each_distance(&s, see_array);
	find_array_headers(&s);
	each_mirror(&s, see_mirror);
	if (h->layout.mirror == UINT32_MAX)
		h->layout.mirror = DEFAULT_MIRROR;
	each_distance(&s, set_size);
	set_size(&s, h->ids.nr - 1, UINT64_MAX);
	free(s.classes);
}
