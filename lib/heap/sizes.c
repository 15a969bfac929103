// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sizes.c - what objects take in memory. A dump has the contents alone; headers, padding, fields that the
 * JVM adds and compressed references show in the distance from an object to the next one, which is its size
 * or, if what is between is garbage, more. So each kind of object gets the layout that most distances agree
 * with, and none gets more than its distance.
 *
 * Ids of other JVMs and agents can be any numbers.  Then objects would overlap, or none would be beside
 * another, and the layout is assumed.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "heap/heap.h"
#include "heap/kinds.h"

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
	DEFAULT_HEADER = 12,
	MAX_ARRAY_HEADER = 24,
	LEAST_HEADER = 8, LEAST_REFERENCE = 4,	/* of any JVM */
	FEW = 8,			/* one of so many objects, which damage does not explain */
	NEAR = 64,			/* bytes more than twice its size: the next object can be there */
};

struct evidence {			/* [class] */
	uint64_t least, most;		/* distance; UINT64_MAX and 0: of no instance */
	uint64_t nr;
	uint64_t refs, rest;		/* references, and bytes of other fields, in all of its fields */
	uint64_t size;			/* of an instance */
};

struct sizes {
	struct heap *h;
	const struct object_kinds *kinds;
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

typedef void (*kind_fn)(struct sizes *s, const struct object_kind *k);
typedef void (*distance_fn)(struct sizes *s, uint32_t object, uint64_t distance);

/* Calls fn, inlined, for each object and the distance to the next; the last one has none. */
static inline __attribute__((always_inline)) void each_distance(struct sizes *s, distance_fn fn)
{
	uint64_t id, before = 0;
	uint32_t object = 0;
	struct ids_walk w;

	ids_walk(&w, &s->h->ids);
	for (; ids_next(&w, &id); object++, before = id)
		if (object)
			fn(s, object - 1, id - before);
}

static void each_kind(struct sizes *s, kind_fn fn)
{
	size_t i;

	for (i = 0; i < s->kinds->nr; i++)
		if (s->kinds->list[i].nr)
			fn(s, &s->kinds->list[i]);
}

/* -XX:ObjectAlignmentInBytes: what all addresses are a multiple of. */
static unsigned int find_alignment(const struct heap *h)
{
	uint64_t id, bits = MAX_ALIGNMENT;
	struct ids_walk w;

	ids_walk(&w, &h->ids);
	while (!(bits & (2 * UNIT - 1)) && ids_next(&w, &id))
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

/* --- whether ids are addresses --- */

/* Return the least size that any JVM needs for such an object. */
static uint64_t least_size(const struct sizes *s, const struct object_kind *k)
{
	const struct heap_class *c = &s->h->classes[k->class];
	const struct evidence *x = &s->classes[k->class];

	if (c == s->mirrors || c == s->chunks)
		return LEAST_HEADER;
	if (c->kind == HPROF_INSTANCE)
		return LEAST_HEADER + x->refs * LEAST_REFERENCE + x->rest;
	return LEAST_HEADER + (uint64_t)k->n * (c->kind == HPROF_OBJECTS ? LEAST_REFERENCE :
						hprof_type_size(&s->h->dump, c->type));
}

/*
 * Return whether ids are not addresses: objects that begin within the previous one would overlap; and of most
 * classes some object has another one beside it, whatever is between others.
 */
static bool are_no_addresses(const struct sizes *s)
{
	bool *has_near = xcalloc(s->h->nr_classes, sizeof(*has_near));
	uint64_t nr = 0, nr_short = 0, nr_alone = 0;
	size_t i;

	for (i = 0; i < s->kinds->nr; i++) {
		const struct object_kind *k = &s->kinds->list[i];
		uint64_t size = least_size(s, k);

		nr += k->nr;
		nr_short += k->distance < size ? k->nr : 0;
		has_near[k->class] |= k->nr && k->distance <= 2 * size + NEAR;
	}
	for (i = 0; i < s->kinds->nr; i++)
		nr_alone += !has_near[s->kinds->list[i].class] ? s->kinds->list[i].nr : 0;
	free(has_near);
	return nr_short * FEW > nr || (nr >= FEW && nr_alone * FEW > nr * (FEW - 1));
}

/* --- which layout the JVM has --- */

static void see_instance(struct sizes *s, const struct object_kind *k)
{
	struct heap_class *c = &s->h->classes[k->class];
	struct evidence *x = &s->classes[k->class];

	if (c->kind == HPROF_INSTANCE && c != s->mirrors && c != s->chunks) {
		x->least = MIN(x->least, k->distance);
		x->most = MAX(x->most, k->distance);
		x->nr += k->nr;
	} else if (c->kind == HPROF_OBJECTS && k->n > 2 && k->distance < 8 * (uint64_t)k->n) {
		s->h->layout.reference = 4;
	}
}

static uint64_t predict(const struct sizes *s, const struct evidence *x, unsigned int header)
{
	return align(s, header + x->refs * s->h->layout.reference + x->rest);
}

/* Count the classes whose objects are as far apart as this header says. */
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

static void see_array(struct sizes *s, const struct object_kind *k)
{
	const struct heap_class *c = &s->h->classes[k->class];
	unsigned int type, header;
	uint64_t bytes, size;

	if (c->kind == HPROF_INSTANCE)
		return;
	type = type_of_elements(c);
	bytes = bytes_of_elements(s, c, k->n);
	for (header = 8; header <= MAX_ARRAY_HEADER; header += 4) {
		size = align(s, header + bytes);
		s->array_votes[type][header / 4] += size == k->distance ? k->nr : 0;
		s->array_denied[type][header / 4] |= size > k->distance;
	}
}

/* Return where the length usually is, which follows the header of instances. */
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

/* Return the class whose mirror this is, or NULL. */
static const struct heap_class *mirrored(const struct sizes *s, uint32_t object)
{
	return heap_class_by_id(s->h, ids_id(&s->h->ids, object));
}

static void see_mirror(struct sizes *s, uint32_t object, uint64_t distance)
{
	const struct heap_class *c = mirrored(s, object);

	/* farther apart are those with garbage behind them */
	if (c && c->raw.fields && !c->raw.nr_statics && distance >= DEFAULT_MIRROR / 2 &&
	    distance <= DEFAULT_MIRROR * 2)
		s->h->layout.mirror = MIN(s->h->layout.mirror, distance);
}

/* Return whether it is a mirror. If objects have no classes, all are that the dump has as a class. */
static bool is_mirror(const struct sizes *s, const struct heap_class *of, uint32_t object)
{
	return s->h->class ? s->h->class[object] == s->h->mirror_class : of->raw.fields != NULL;
}

/* Call fn for each mirror; the last object has the distance UINT64_MAX. */
static void each_mirror(struct sizes *s, distance_fn fn)
{
	const struct heap_ids *ids = &s->h->ids;
	uint32_t object;
	size_t i;

	for (i = 0; i < s->h->nr_classes; i++) {
		object = ids_find(ids, s->h->classes[i].raw.id);
		if (object == HEAP_NONE || !is_mirror(s, &s->h->classes[i], object))
			continue;
		fn(s, object, object + 1 < ids->nr ? ids_id(ids, object + 1) - ids_id(ids, object) :
						     UINT64_MAX);
	}
}

/* --- sizes --- */

/*
 * Return whether the size is sure: garbage behind an object has any length, but several equal distances are
 * the size.
 */
static bool is_sure(const struct evidence *x)
{
	return x->nr >= ENOUGH || (x->nr > 1 && x->least == x->most);
}

/*
 * Return whether HotSpot adds fields to the class, as in java.lang, java.lang.invoke and jdk.internal.vm, and
 * in subclasses of these.
 */
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

/*
 * Return whether the least distance of the class can be its size, which is "size" without what the JVM
 * adds.
 */
static bool is_near(const struct sizes *s, const struct heap_class *c, uint64_t size)
{
	const struct evidence *x = &s->classes[c - s->h->classes];

	if (x->least <= size + s->h->layout.alignment)
		return true;
	return is_sure(x) && x->least < size + INJECTED &&
	       (x->least >= size + CONTENDED || has_injected(s, c));
}

/* Return what the JVM adds to the nearest superclass with objects, and so to this class: padding, fields. */
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

static void size_instances(struct sizes *s)
{
	size_t i;

	for (i = 0; i < s->h->nr_classes; i++)
		s->classes[i].size = size_of_instance(s, &s->h->classes[i]);
}

static uint64_t usual_size(const struct sizes *s, const struct heap_class *c, uint32_t n)
{
	if (c->kind == HPROF_INSTANCE)
		return s->classes[c - s->h->classes].size;
	return align(s, s->h->layout.array_header[type_of_elements(c)] + bytes_of_elements(s, c, n));
}

static uint64_t size_of_mirror(const struct sizes *s, const struct heap_class *of, uint64_t distance)
{
	uint64_t size = align(s, s->h->layout.mirror + bytes_of_statics(s, of));

	return !s->h->layout.assumed && distance <= size + s->h->layout.alignment ? distance : size;
}

static uint64_t size_of(const struct sizes *s, const struct heap_class *c, uint32_t n, uint64_t distance)
{
	uint64_t size;

	size = usual_size(s, c, n);
	if (s->h->layout.assumed)
		return size;
	if (c == s->chunks && distance < MAX_CHUNK)
		return distance;
	return MIN(size, distance);
}

static uint64_t add_size(struct sizes *s, struct heap_class *c, uint64_t size, uint64_t nr)
{
	size &= ~(uint64_t)(UNIT - 1);		/* addresses can be odd */
	c->bytes += size * nr;
	s->h->bytes += size * nr;
	return size;
}

/* Set the size; units[] still has a length. */
static void set_size(struct sizes *s, uint32_t object, uint64_t distance)
{
	struct heap_class *c = &s->h->classes[s->h->class[object]];
	const struct heap_class *of = c == s->mirrors ? mirrored(s, object) : NULL;
	uint64_t size = of ? size_of_mirror(s, of, distance) : size_of(s, c, s->h->units[object], distance);

	s->h->units[object] = add_size(s, c, size, 1) / UNIT;
}

static void count_kind(struct sizes *s, const struct object_kind *k)
{
	struct heap_class *c = &s->h->classes[k->class];

	c->nr += k->nr;
	add_size(s, c, size_of(s, c, k->n, k->distance), k->nr);
}

static void count_mirror(struct sizes *s, uint32_t object, uint64_t distance)
{
	struct heap_class *mirrors = &s->h->classes[s->h->mirror_class];

	mirrors->nr++;
	add_size(s, mirrors, size_of_mirror(s, mirrored(s, object), distance), 1);
}

static void sizes_gather(struct sizes *s, struct object_kinds *k)
{
	const struct heap *h = s->h;
	uint64_t id, before = 0;
	uint32_t object = 0;
	struct ids_walk w;

	ids_walk(&w, &h->ids);
	for (; ids_next(&w, &id); object++, before = id)
		if (object)
			kinds_add(k, h->class[object - 1], h->units[object - 1], id - before);
	kinds_finish(k);
}

/* Take the layout of HotSpot on a CPU of 64 bits, with compressed references. */
static void assume_layout(struct sizes *s)
{
	s->h->layout = (struct heap_layout){ .reference = LEAST_REFERENCE, .header = DEFAULT_HEADER,
					     .mirror = DEFAULT_MIRROR, .alignment = UNIT, .assumed = true };
	size_instances(s);
	find_array_headers(s);
}

/* Derive the JVM's layout from all of them, and the sizes of instances. */
static void find_layout(struct sizes *s)
{
	struct heap *h = s->h;

	h->layout = (struct heap_layout){ .reference = h->dump.id_size, .mirror = UINT32_MAX,
					  .alignment = find_alignment(h) };
	count_fields(s);
	if (are_no_addresses(s)) {
		assume_layout(s);
		return;
	}
	each_kind(s, see_instance);
	find_header(s);
	size_instances(s);
	each_kind(s, see_array);
	find_array_headers(s);
	each_mirror(s, see_mirror);
	if (h->layout.mirror == UINT32_MAX)
		h->layout.mirror = DEFAULT_MIRROR;
}

static void sizes_init(struct sizes *s, struct heap *h, const struct object_kinds *k)
{
	uint32_t chunks = heap_class_of_chunks(h);

	*s = (struct sizes){ .h = h, .kinds = k, .mirrors = &h->classes[h->mirror_class],
			     .chunks = chunks == HEAP_NONE ? NULL : &h->classes[chunks] };
	s->classes = xcalloc(h->nr_classes, sizeof(*s->classes));
}

void sizes_find(struct heap *h)
{
	struct object_kinds *k = xcalloc(1, sizeof(*k));
	struct sizes s;

	sizes_init(&s, h, k);
	k->exact = heap_class_of_chunks(h);
	sizes_gather(&s, k);
	find_layout(&s);
	each_distance(&s, set_size);
	set_size(&s, h->ids.nr - 1, UINT64_MAX);
	free(s.classes);
	kinds_release(k);
	free(k);
}

void sizes_count(struct heap *h, const struct object_kinds *k, const struct object_kind *last)
{
	struct sizes s;

	sizes_init(&s, h, k);
	find_layout(&s);
	each_kind(&s, count_kind);
	if (last->nr)
		count_kind(&s, last);
	each_mirror(&s, count_mirror);
	free(s.classes);
}
