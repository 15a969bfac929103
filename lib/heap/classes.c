// SPDX-License-Identifier: GPL-2.0-or-later
/* classes.c - the classes of a dump: their names, and where instances have references. */
#include <stdio.h>

#include "base/buf.h"
#include "base/mem.h"
#include "heap/heap.h"

enum { MAX_SUPERS = 1000 };	/* a ring of superclasses is damage */

/*
 * Limits how many fields heap_classes_resolve_all() looks at: a hostile dump can let many classes inherit
 * from large ones.
 */
static uint64_t max_fields(const struct heap *h)
{
	return h->dump.len + (1 << 20);
}

struct heap_class *heap_class_by_id(const struct heap *h, uint64_t id)
{
	uint32_t i = map_get(&h->class_of, id);

	return i == MAP_NONE ? NULL : &h->classes[i];
}

uint32_t classes_add(struct heap *h, uint64_t id)
{
	uint32_t *i = map_put(&h->class_of, id);

	if (*i != MAP_NONE)
		return *i;
	*i = h->nr_classes;
	VEC_GROW(h->classes, h->nr_classes, h->alloc_classes);
	h->classes[h->nr_classes] = (struct heap_class){
		.raw = { .id = id }, .super = HEAP_NONE, .kind = HPROF_INSTANCE, .referent = HEAP_NONE,
	};
	return h->nr_classes++;
}

static unsigned int type_of_letter(char c)
{
	static const char letters[] = "ZCFDBSIJ";
	const char *at = c ? strchr(letters, c) : NULL;

	return at ? HPROF_BOOLEAN + (at - letters) : 0;
}

/* Append the name; hidden classes, "Main$$Lambda+0x1234", are "Main$$Lambda/0x1234" in Java. */
static void put_dotted(struct buf *b, const char *s, size_t len)
{
	const char *plus = memmem(s, len, "+0x", 3);

	for (; len; s++, len--)
		buf_putc(b, s == plus ? '/' : *s == '/' ? '.' : *s);
}

/* "[[Ljava/lang/String;" becomes "java.lang.String[][]". */
static void put_class_name(struct buf *b, const char *s, size_t len)
{
	static const char *const types[] = { "boolean", "char", "float", "double", "byte", "short", "int",
		"long" };
	size_t dims, i;
	unsigned int type;

	for (dims = 0; dims < len && s[dims] == '['; dims++)
		;
	s += dims;
	len -= dims;
	type = dims && len == 1 ? type_of_letter(*s) : 0;
	if (type)
		buf_str(b, types[type - HPROF_BOOLEAN]);
	else if (dims && len > 2 && *s == 'L')
		put_dotted(b, s + 1, len - 2);
	else
		put_dotted(b, s, len);
	for (i = 0; i < dims; i++)
		buf_str(b, "[]");
}

static void name_class(struct heap *h, struct heap_class *c, const char *s, size_t len)
{
	struct buf b = BUF_INIT;

	put_class_name(&b, s, len);
	c->name = strtab_add(&h->names, b.data ? b.data : "", b.len);
	buf_release(&b);
	if (!len || *s != '[')
		return;
	c->type = len == 2 ? type_of_letter(s[1]) : 0;
	c->kind = c->type ? HPROF_VALUES : HPROF_OBJECTS;
}

void classes_read_names(struct heap *h)
{
	const unsigned int id_size = h->dump.id_size;
	struct hprof_walk w;
	struct hprof_record r;

	hprof_walk(&w, &h->dump);
	while (hprof_next(&w, &r)) {
		if (r.tag == HPROF_UTF8 && r.len >= id_size) {
			*map_put(&h->text_of, hprof_id(&h->dump, r.body)) =
				strtab_add(&h->names, (const char *)r.body + id_size, r.len - id_size);
		} else if (r.tag == HPROF_LOAD_CLASS && r.len >= 8 + 2 * id_size) {
			uint32_t i = classes_add(h, hprof_id(&h->dump, r.body + 4));
			struct heap_class *c = &h->classes[i];
			uint32_t text = map_get(&h->text_of, hprof_id(&h->dump, r.body + 8 + id_size));

			if (text != MAP_NONE && !c->name)
				name_class(h, c, strtab_get(&h->names, text), h->names.entries[text].len);
		}
	}
}

static bool heap_classes_is_named(const struct heap *h, const struct heap_class *c, const char *name)
{
	return !strcmp(strtab_get(&h->names, c->name), name);
}

uint32_t heap_class_of_chunks(const struct heap *h)
{
	uint32_t i;

	for (i = 0; i < h->nr_classes; i++)
		if (heap_classes_is_named(h, &h->classes[i], "jdk.internal.vm.StackChunk"))
			return i;
	return HEAP_NONE;
}

static void name_unnamed(struct heap *h, struct heap_class *c)
{
	char name[48];

	if (c->name)
		return;
	snprintf(name, sizeof(name), "[unknown class 0x%llx]", (unsigned long long)c->raw.id);
	c->name = strtab_adds(&h->names, name);
}

static enum heap_strength own_strength(const struct heap *h, const struct heap_class *c)
{
	static const struct {
		const char *name;
		enum heap_strength strength;
	} kinds[] = {
		{ "java.lang.ref.SoftReference", HEAP_SOFT }, { "java.lang.ref.WeakReference", HEAP_WEAK },
		{ "java.lang.ref.FinalReference", HEAP_FINAL },
		{ "java.lang.ref.PhantomReference", HEAP_PHANTOM },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (heap_classes_is_named(h, c, kinds[i].name))
			return kinds[i].strength;
	return HEAP_STRONG;
}

static bool is_referent(const struct heap *h, const struct heap_class *c, const struct hprof_field *f)
{
	uint32_t text = heap_text(h, f->name);

	return text && heap_classes_is_named(h, c, "java.lang.ref.Reference") &&
	       !strcmp(strtab_get(&h->names, text), "referent");
}

/* Add the references among the own fields of k, which begin at *offset in an instance of c. */
static void add_refs(struct heap *h, struct heap_class *c, const struct heap_class *k, uint32_t *offset,
		     size_t *alloc)
{
	const uint8_t *p = k->raw.fields;
	unsigned int i;

	for (i = 0; i < k->raw.nr_fields; i++) {
		struct hprof_field f = hprof_field(&h->dump, &p);

		if (f.type == HPROF_OBJECT && is_referent(h, k, &f)) {
			c->referent = *offset;
		} else if (f.type == HPROF_OBJECT) {
			*VEC_ADD(c->refs, c->nr_refs, *alloc) =
				(struct heap_field){ *offset, heap_text(h, f.name) };
		}
		*offset += hprof_type_size(&h->dump, f.type);
	}
}

/* Own fields lie first in an instance, then those of the superclass, and so on. */
static void heap_classes_resolve_all(struct heap *h, struct heap_class *c, uint64_t *nr_fields)
{
	const struct heap_class *k = c;
	uint32_t offset = 0;
	size_t alloc = 0;
	int depth;

	for (depth = 0; k && k->raw.fields && depth < MAX_SUPERS && *nr_fields < max_fields(h); depth++) {
		*nr_fields += k->raw.nr_fields + 1;
		add_refs(h, c, k, &offset, &alloc);
		if (!c->strength)
			c->strength = own_strength(h, k);
		k = k->super == HEAP_NONE ? NULL : &h->classes[k->super];
	}
}

void classes_resolve(struct heap *h)
{
	uint64_t nr_fields = 0;
	size_t i;

	for (i = 0; i < h->nr_classes; i++) {
		struct heap_class *c = &h->classes[i];
		uint32_t super = c->raw.super ? map_get(&h->class_of, c->raw.super) : MAP_NONE;

		c->super = super == MAP_NONE ? HEAP_NONE : super;
		name_unnamed(h, c);
	}
	for (i = 0; i < h->nr_classes; i++)
		if (h->classes[i].kind == HPROF_INSTANCE)
			heap_classes_resolve_all(h, &h->classes[i], &nr_fields);
}

void heap_fields_walk(struct heap_fields_walk *w, const struct heap *h, const struct hprof_item *x)
{
	*w = (struct heap_fields_walk){ .h = h, .item = x, .supers = MAX_SUPERS };
	if (x->kind == HPROF_CLASS) {
		w->class = heap_class_by_id(h, x->id);
		w->p = w->class->raw.statics;
		w->left = w->class->raw.nr_statics;
	} else if (x->kind == HPROF_INSTANCE) {
		w->class = heap_class_by_id(h, x->class_id);
		if (w->class && w->class->raw.fields) {
			w->p = w->class->raw.fields;
			w->left = w->class->raw.nr_fields;
		}
	}
}

/* Go to the next class above that has fields. */
static bool to_super(struct heap_fields_walk *w)
{
	while (!w->left) {
		if (w->item->kind != HPROF_INSTANCE || !w->class || w->class->super == HEAP_NONE ||
		    !w->supers--)
			return false;
		w->class = &w->h->classes[w->class->super];
		if (!w->class->raw.fields)
			return false;
		w->p = w->class->raw.fields;
		w->left = w->class->raw.nr_fields;
	}
	return true;
}

bool heap_fields_next(struct heap_fields_walk *w, struct hprof_field *f)
{
	unsigned int size;

	if (!to_super(w))
		return false;
	w->left--;
	if (w->item->kind == HPROF_CLASS) {
		*f = hprof_static(&w->h->dump, &w->p);
		return true;
	}
	*f = hprof_field(&w->h->dump, &w->p);
	size = hprof_type_size(&w->h->dump, f->type);
	if (!size || size > w->item->n - w->at) {
		w->left = w->supers = 0;
		return false;
	}
	f->value = w->item->data + w->at;
	w->at += size;
	return true;
}

const uint8_t *heap_field_value(const struct heap *h, const struct hprof_item *x, const char *name,
				uint8_t *type)
{
	struct heap_fields_walk w;
	struct hprof_field f;

	heap_fields_walk(&w, h, x);
	while (heap_fields_next(&w, &f)) {
		uint32_t text = heap_text(h, f.name);

		*type = f.type;
		if (text && !strcmp(strtab_get(&h->names, text), name))
			return f.value;
	}
	return NULL;
}
