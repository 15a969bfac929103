/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refs.h - what an object refers to, and by what: fields, elements, static fields, its class.
 *
 * Only what holds something: weak, phantom and, as asked, soft references are left out.
 */
#ifndef HEAP_REFS_H
#define HEAP_REFS_H

#include "heap/heap.h"

/*
 * The way in which an object refers to another: the index of an instance's or class's field, or one of
 * these.
 */
enum { REF_ELEMENT = 1 << 24, REF_REFERENT, REF_CLASS, REF_LOADER, REF_SUPER, REF_OTHER };

/* never called with id 0, which is null */
typedef void (*heap_ref_fn)(void *ctx, uint64_t id, uint32_t how);

static inline void refs_one(const struct heap *h, const uint8_t *at, uint32_t how, heap_ref_fn fn, void *ctx)
{
	uint64_t id = hprof_id(&h->dump, at);

	if (id)
		fn(ctx, id, how);
}

static inline void refs_of_instance(const struct heap *h, const struct hprof_item *x,
				    const struct heap_class *c, bool keep_soft, heap_ref_fn fn, void *ctx)
{
	const unsigned int id_size = h->dump.id_size;
	bool held = c->strength == HEAP_STRONG || c->strength == HEAP_FINAL ||
		    (c->strength == HEAP_SOFT && keep_soft);
	uint32_t i;

	for (i = 0; i < c->nr_refs; i++)
		if (c->refs[i].offset + (uint64_t)id_size <= x->n)
			refs_one(h, x->data + c->refs[i].offset, i, fn, ctx);
	if (c->referent != HEAP_NONE && held && c->referent + (uint64_t)id_size <= x->n)
		refs_one(h, x->data + c->referent, REF_REFERENT, fn, ctx);
}

static inline void refs_of_class(const struct heap *h, const struct hprof_class *c, heap_ref_fn fn, void *ctx)
{
	const struct {
		uint64_t id;
		uint32_t how;
	} own[] = { { c->super, REF_SUPER }, { c->loader, REF_LOADER }, { c->signers, REF_OTHER },
		{ c->domain, REF_OTHER } };
	const uint8_t *p = c->statics;
	unsigned int i;

	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (own[i].id)
			fn(ctx, own[i].id, own[i].how);
	for (i = 0; i < c->nr_statics; i++) {
		struct hprof_field f = hprof_static(&h->dump, &p);

		if (f.type == HPROF_OBJECT)
			refs_one(h, f.value, i, fn, ctx);
	}
}

/* Call fn for all references of the object x, whose class is c. */
static inline void refs_each(const struct heap *h, const struct hprof_item *x, const struct heap_class *c,
			     bool keep_soft, heap_ref_fn fn, void *ctx)
{
	uint32_t i;

	if (x->kind == HPROF_INSTANCE)
		refs_of_instance(h, x, c, keep_soft, fn, ctx);
	else if (x->kind == HPROF_OBJECTS)
		for (i = 0; i < x->n; i++)
			refs_one(h, x->data + (size_t)i * h->dump.id_size, REF_ELEMENT, fn, ctx);
	else if (x->kind == HPROF_CLASS)
		refs_of_class(h, &heap_class_by_id(h, x->id)->raw, fn, ctx);
	/* An object keeps its class loaded. */
	if (x->class_id && !c->sticky)
		fn(ctx, x->class_id, REF_CLASS);
}

#endif
