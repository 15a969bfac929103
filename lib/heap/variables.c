// SPDX-License-Identifier: GPL-2.0-or-later
/* variables.c - finds the local variable of a frame that holds an object (variables.h). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "classfile/locals.h"
#include "heap/variables.h"

enum { MOST = 64 };			/* objects of a frame, and its variables */
enum { IS_CLASS = 1, MAY_BE_INTERFACE };

void variables_init(struct variables *v, struct heap *h, const struct heap_frames *f,
		    const struct classpath *cp)
{
	*v = (struct variables){ .h = h, .frames = f, .classes = cp, .file_of = MAP_INIT };
	v->is_class = xcalloc(h->nr_classes + 1, 1);
}

void variables_release(struct variables *v)
{
	size_t i;

	for (i = 0; i < v->nr; i++)
		buf_release(&v->files[i]);
	free(v->files);
	free(v->is_class);
	map_release(&v->file_of);
}

/* ---- in order ---- */

/*
 * Return how many of the objects can have a variable at most; one variable may not be for these objects
 * (not_for: bits).
 */
static uint32_t most(const struct variables_fit *f, uint32_t without, uint64_t not_for)
{
	uint32_t best[2][MOST + 1] = { { 0 } }, i, j, group;

	for (i = 0; i < f->nr_objects; i++) {
		const uint32_t *before = best[i & 1];
		uint32_t *now = best[!(i & 1)];

		now[0] = 0;
		for (j = group = 0; j < f->nr_variables; j++) {
			bool fits = f->fits[j] >> i & 1 && !(j == without && not_for >> i & 1);

			/* one slot has one variable at a time */
			group = j && f->slot[j] == f->slot[j - 1] ? group : j;
			now[j + 1] = MAX(now[j], before[j + 1]);
			if (fits)
				now[j + 1] = MAX(now[j + 1], before[group] + 1);
		}
	}
	return best[f->nr_objects & 1][f->nr_variables];
}

int variables_match(const struct variables_fit *f, uint64_t objects)
{
	uint32_t all = most(f, MOST, 0), j;

	for (j = 0; j < f->nr_variables; j++)
		if (f->fits[j] & objects && most(f, j, objects) < all)
			return (int)j;
	return -1;
}

/* ---- types ---- */

/* [Ljava/util/Map$Entry; as java.util.Map$Entry[]. */
static void put_type(struct classfile_text t, struct buf *b)
{
	static const char *const of[] = { "Zboolean", "Bbyte", "Cchar", "Sshort", "Iint", "Jlong", "Ffloat",
		"Ddouble" };
	size_t dims, i;

	for (dims = 0; dims < t.len && t.p[dims] == '['; dims++)
		;
	for (i = dims + 1; t.p[dims] == 'L' && i + 1 < t.len; i++)
		buf_putc(b, t.p[i] == '/' ? '.' : t.p[i]);
	for (i = 0; i < ARRAY_SIZE(of); i++)
		if (dims < t.len && t.p[dims] == of[i][0])
			buf_str(b, of[i] + 1);
	while (dims--)
		buf_str(b, "[]");
}

static size_t dims_of(const char *type)
{
	const char *p = strchr(type, '[');

	return p ? strlen(p) / 2 : 0;
}

static bool is_values(const char *type)
{
	return !strchr(type, '.') && dims_of(type) == 1 && strchr("bcsilfdz", type[0]) &&
	       (!strncmp(type, "boolean[", 8) || !strncmp(type, "byte[", 5) || !strncmp(type, "char[", 5) ||
		!strncmp(type, "short[", 6) || !strncmp(type, "int[", 4) || !strncmp(type, "long[", 5) ||
		!strncmp(type, "float[", 6) || !strncmp(type, "double[", 7));
}

/*
 * Return whether it may be an interface: a class that has objects, or subclasses, is none; of others the dump
 * does not say.
 */
static bool may_be_interface(struct variables *v, uint32_t name)
{
	struct heap *h = v->h;
	uint32_t class, i;

	for (class = 0; class < h->nr_classes && h->classes[class].name != name; class++)
		;
	if (class == h->nr_classes)
		return true;
	if (!v->is_class[class]) {
		v->is_class[class] = h->classes[class].nr ? IS_CLASS : MAY_BE_INTERFACE;
		for (i = 0; i < h->nr_classes; i++)
			if (h->classes[i].super == class)
				v->is_class[class] = IS_CLASS;
	}
	return v->is_class[class] == MAY_BE_INTERFACE;
}

static bool array_fits(const char *object, const char *type)
{
	size_t of_type = dims_of(type), dims = dims_of(object);

	if (!of_type || dims < of_type || is_values(type))
		return false;
	return dims == of_type ? !is_values(object) : !strncmp(type, "java.lang.Object[", 17);
}

/* Return whether an object of that class may be in a variable of that type. */
static bool variables_fits(struct variables *v, uint32_t class, const char *type)
{
	const char *name = heap_class_name(v->h, class);
	uint32_t up = class, steps;

	if (!strcmp(type, "java.lang.Object"))
		return true;
	for (steps = 0; up != HEAP_NONE && steps < MOST * MOST; steps++, up = v->h->classes[up].super)
		if (!strcmp(heap_class_name(v->h, up), type))
			return true;
	if (dims_of(name))
		return array_fits(name, type) || !strcmp(type, "java.lang.Cloneable") ||
		       !strcmp(type, "java.io.Serializable");
	return !dims_of(type) && may_be_interface(v, strtab_adds(&v->h->names, type));
}

/* ---- the class file ---- */

static const struct buf *variables_file_of(struct variables *v, uint32_t class_name)
{
	uint32_t *at = map_put(&v->file_of, class_name);

	if (*at == MAP_NONE) {
		*at = v->nr;
		VEC_GROW(v->files, v->nr, v->alloc);
		v->files[v->nr] = (struct buf)BUF_INIT;
		classpath_find(v->classes, strtab_get(&v->h->names, class_name), &v->files[v->nr++]);
	}
	return &v->files[*at];
}

static void *variables_keep(void *ctx, size_t size)
{
	void **p = ctx;

	free(*p);
	*p = xmalloc(size);
	return *p;
}

static int by_slot(const void *p, const void *q)
{
	const struct classfile_local *a = p, *b = q;

	return COMPARE(a->slot, b->slot);
}

static uint32_t variables_of(struct variables *v, const struct heap_frame *f, struct classfile_local *out)
{
	const struct strtab *names = &v->h->names;
	uint32_t class = map_get(&v->frames->class_of, f->class_serial), nr;
	const struct buf *file;
	void *memory = NULL;
	struct classfile_locals of = {
		.method = strtab_get(names, heap_text(v->h, f->method)),
		.descriptor = strtab_get(names, heap_text(v->h, f->signature)),
		.line = f->line > 0 ? f->line : 0, .mem = variables_keep, .mem_ctx = &memory,
	};

	file = class == MAP_NONE ? NULL : variables_file_of(v, class);
	nr = file && file->len ? classfile_locals(file->data, file->len, &of, out, MOST) : 0;
	free(memory);
	if (nr > MOST)
		return 0;
	qsort(out, nr, sizeof(*out), by_slot);
	return nr;
}

/* ---- one frame ---- */

static bool same_frame(const struct heap_root *a, const struct heap_root *b)
{
	return a->kind == b->kind && a->thread == b->thread && a->frame == b->frame;
}

bool variables_name(struct variables *v, size_t root, struct buf *out)
{
	const struct heap_root *r = v->h->roots;
	const struct heap_frame *frame = heap_frame_of(v->h, v->frames, &r[root]);
	struct classfile_local locals[MOST];
	struct variables_fit f = { .nr_objects = 0 };
	size_t first = root, i;
	struct buf type = BUF_INIT;
	uint64_t objects = 0;
	uint32_t j;
	int at;

	f.nr_variables = frame ? variables_of(v, frame, locals) : 0;
	while (first && same_frame(&r[first - 1], &r[root]) && root - first < MOST)
		first--;
	for (i = first; i < v->h->nr_roots && same_frame(&r[i], &r[root]); i++)
		if (f.nr_objects++ == MOST)
			return false;
	for (j = 0; j < f.nr_variables; j++) {
		buf_reset(&type);
		put_type(locals[j].descriptor, &type);
		f.slot[j] = locals[j].slot;
		for (i = 0; i < f.nr_objects; i++) {
			uint32_t o = ids_find(&v->h->ids, r[first + i].id);

			f.fits[j] |= (uint64_t)(o != HEAP_NONE && type.len &&
						variables_fits(v, v->h->class[o], type.data)) << i;
		}
	}
	for (i = 0; i < f.nr_objects; i++)
		objects |= (uint64_t)(r[first + i].id == r[root].id) << i;
	buf_release(&type);
	at = variables_match(&f, objects);
	if (at >= 0)
		buf_add(out, locals[at].name.p, locals[at].name.len);
	return at >= 0;
}
