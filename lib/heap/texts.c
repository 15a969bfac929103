// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * texts.c - see texts.h. A String refers to an array of bytes or, before JDK 9, of chars. Objects are found
 * by walking the dump once for each reference that is followed, up to the last of them.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "heap/texts.h"

enum { MAX_TEXT = 256 };	/* bytes of a text that are shown */

/* Return the reference with that name among an instance's fields that class declares; 0: none. */
uint64_t texts_field(const struct heap *h, const struct hprof_item *x, const char *class, const char *field)
{
	const struct heap_class *c = heap_class_by_id(h, x->class_id);
	uint64_t offset = 0;
	int depth;

	for (depth = 0; c && c->raw.fields && depth < 100; depth++) {
		bool wanted = !strcmp(strtab_get(&h->names, c->name), class);
		const uint8_t *p = c->raw.fields;
		unsigned int i;

		for (i = 0; i < c->raw.nr_fields; i++) {
			struct hprof_field f = hprof_field(&h->dump, &p);
			uint32_t text = wanted ? map_get(&h->text_of, f.name) : MAP_NONE;

			if (text != MAP_NONE && f.type == HPROF_OBJECT && offset + h->dump.id_size <= x->n &&
			    !strcmp(strtab_get(&h->names, text), field))
				return hprof_id(&h->dump, x->data + offset);
			offset += hprof_type_size(&h->dump, f.type);
		}
		c = c->super == HEAP_NONE ? NULL : &h->classes[c->super];
	}
	return 0;
}

static void texts_put_utf8(struct buf *b, unsigned int c)
{
	if (c < 0x80) {
		buf_putc(b, c);
	} else if (c < 0x800) {
		buf_putc(b, 0xc0 | c >> 6);
		buf_putc(b, 0x80 | (c & 0x3f));
	} else {
		buf_putc(b, '?');
	}
}

/* Append chars, or bytes: Latin-1, or UTF-16 in the order of the machine, which then has zeros. */
void texts_put(struct buf *b, const struct hprof_item *x)
{
	uint32_t i, n = MIN(x->n, (uint32_t)MAX_TEXT);
	bool wide = x->type == HPROF_BYTE && memchr(x->data, 0, n);

	for (i = 0; i < n; i++) {
		if (x->type == HPROF_CHAR)
			texts_put_utf8(b, hprof_u16(x->data + 2 * i));
		else if (!wide)
			texts_put_utf8(b, x->data[i]);
		else if (i % 2)
			texts_put_utf8(b, x->data[i - 1] | x->data[i] << 8);
	}
}

/* Objects that are looked for, by id; several numbers can want the same. */
struct wanted {
	struct map first;		/* id -> number */
	uint32_t *same;			/* [number] -> the next one with that id */
	size_t left;			/* ids that have not been found */
	struct heap_objects walk;
};

static void wanted_init(struct wanted *w, const struct heap *h, const uint64_t *ids, size_t nr)
{
	size_t i;

	*w = (struct wanted){ .first = MAP_INIT, .same = xcalloc(nr + 1, sizeof(*w->same)) };
	heap_objects(&w->walk, h);
	hprof_items_by_window(&w->walk.items, true);
	for (i = 0; i < nr; i++) {
		uint32_t *first = ids[i] ? map_put(&w->first, ids[i]) : NULL;

		if (!first)
			continue;
		w->left += *first == MAP_NONE;
		w->same[i] = *first;
		*first = i;
	}
}

/* Return the next one in the dump, as the first number that wants it; MAP_NONE at the end. */
static uint32_t wanted_next(struct wanted *w, struct hprof_item *x)
{
	uint32_t object, first;

	while (w->left && heap_objects_next(&w->walk, x, &object)) {
		first = map_get(&w->first, x->id);
		if (first == MAP_NONE)
			continue;
		w->left--;
		return first;
	}
	return MAP_NONE;
}

static void wanted_release(struct wanted *w)
{
	hprof_items_release(&w->walk.items);
	map_release(&w->first);
	free(w->same);
}

/*
 * Replace each id by that of the object that its object refers to by the field; 0 for null or without
 * such a field.
 */
static void texts_follow(const struct heap *h, uint64_t *ids, size_t nr, const struct text_step *s)
{
	struct wanted wanted;
	struct hprof_item x;
	uint32_t i;

	wanted_init(&wanted, h, ids, nr);
	memset(ids, 0, nr * sizeof(*ids));
	while ((i = wanted_next(&wanted, &x)) != MAP_NONE)
		for (; i != MAP_NONE && x.kind == HPROF_INSTANCE; i = wanted.same[i])
			ids[i] = texts_field(h, &x, s->class, s->field);
	wanted_release(&wanted);
}

void texts_find(const struct heap *h, uint64_t *ids, size_t nr, const struct text_step *steps, text_fn fn,
		void *ctx)
{
	struct wanted wanted;
	struct hprof_item x;
	uint32_t i;

	for (; steps->class; steps++)
		texts_follow(h, ids, nr, steps);
	wanted_init(&wanted, h, ids, nr);
	while ((i = wanted_next(&wanted, &x)) != MAP_NONE) {
		struct buf b = BUF_INIT;

		if (x.kind != HPROF_VALUES)
			continue;
		texts_put(&b, &x);
		for (; i != MAP_NONE; i = wanted.same[i])
			fn(ctx, i, b.data ? b.data : "", b.len);
		buf_release(&b);
	}
	wanted_release(&wanted);
}

/* ---- the names of threads and of their groups, from their Thread objects ---- */

static void heap_threads_set_name(void *ctx, uint32_t thread, const char *name, size_t len)
{
	struct heap *h = ctx;

	h->threads[thread].name = len ? strtab_add(&h->names, name, len) : 0;
}

static void set_group(void *ctx, uint32_t thread, const char *name, size_t len)
{
	struct heap *h = ctx;

	h->threads[thread].group = len ? strtab_add(&h->names, name, len) : 0;
}

static void heap_threads_find(struct heap *h, const struct text_step *steps, text_fn fn)
{
	uint64_t *ids = xcalloc(h->nr_threads + 1, sizeof(*ids));
	size_t i;

	for (i = 0; i < h->nr_threads; i++)
		if (h->threads[i].object != HEAP_NONE)
			ids[i] = ids_id(&h->ids, h->threads[i].object);
	texts_find(h, ids, h->nr_threads, steps, fn, h);
	free(ids);
}

void threads_name(struct heap *h)
{
	static const struct text_step steps[] = { { "java.lang.Thread", "name" }, TEXT_OF_STRING };

	heap_threads_find(h, steps, heap_threads_set_name);
}

void threads_find_groups(struct heap *h)
{
	static const struct text_step steps[] = {
		{ "java.lang.Thread", "holder" }, { "java.lang.Thread$FieldHolder", "group" },
		{ "java.lang.ThreadGroup", "name" }, TEXT_OF_STRING,
	}, before_19[] = {
		{ "java.lang.Thread", "group" }, { "java.lang.ThreadGroup", "name" }, TEXT_OF_STRING,
	};

	heap_threads_find(h, before_19, set_group);
	heap_threads_find(h, steps, set_group);
}
