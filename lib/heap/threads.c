// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * threads.c - the names of threads: Thread.name is a String, whose value is an array of bytes or, before
 * JDK 9, of chars. Objects are found by walking the dump once for each of these three steps.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "heap/heap.h"

enum { MAX_NAME = 256 };	/* bytes of a name that are shown */

/* A reference that is followed: the object of a thread, its name, the value of that. */
struct step {
	struct map thread_of;		/* id -> index, of the objects that are wanted */
	const char *class;		/* that has the field; NULL: any value array */
	const char *field;
};

/* The value of the reference with that name among an instance's fields that class declares; 0: none. */
static uint64_t field_of(const struct heap *h, const struct hprof_item *x, const char *class,
			 const char *field)
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

static void put_utf8(struct buf *b, unsigned int c)
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

/* Chars, or bytes: Latin-1, or UTF-16 in the order of the machine, which then has zeros. */
static void put_text(struct buf *b, const struct hprof_item *x)
{
	uint32_t i, n = MIN(x->n, (uint32_t)MAX_NAME);
	bool wide = x->type == HPROF_BYTE && memchr(x->data, 0, n);

	for (i = 0; i < n; i++) {
		if (x->type == HPROF_CHAR)
			put_utf8(b, hprof_u16(x->data + 2 * i));
		else if (!wide)
			put_utf8(b, x->data[i]);
		else if (i % 2)
			put_utf8(b, x->data[i - 1] | x->data[i] << 8);
	}
}

static void set_name(struct heap *h, struct heap_thread *t, const struct hprof_item *x)
{
	struct buf b = BUF_INIT;

	put_text(&b, x);
	t->name = b.len ? strtab_add(&h->names, b.data, b.len) : 0;
	buf_release(&b);
}

/* What the wanted objects refer to by the field is wanted next. */
static void follow(struct heap *h, struct step *s)
{
	struct map next = MAP_INIT;
	struct hprof_items i;
	struct hprof_item x;

	heap_items(h, &i);
	while (s->thread_of.nr && hprof_items_next(&i, &x)) {
		uint32_t thread;
		uint64_t id;

		if (x.kind != HPROF_INSTANCE && x.kind != HPROF_VALUES)
			continue;
		thread = map_get(&s->thread_of, x.id);
		if (thread == MAP_NONE)
			continue;
		if (!s->class && x.kind == HPROF_VALUES)
			set_name(h, &h->threads[thread], &x);
		else if (s->class && x.kind == HPROF_INSTANCE && (id = field_of(h, &x, s->class, s->field)))
			*map_put(&next, id) = thread;
	}
	map_release(&s->thread_of);
	s->thread_of = next;
}

void threads_name(struct heap *h)
{
	static const char *const classes[] = { "java.lang.Thread", "java.lang.String", NULL };
	static const char *const fields[] = { "name", "value", NULL };
	struct step s = { .thread_of = MAP_INIT };
	size_t i;

	for (i = 0; i < h->nr_threads; i++)
		if (h->threads[i].object != HEAP_NONE)
			*map_put(&s.thread_of, ids_id(&h->ids, h->threads[i].object)) = i;
	for (i = 0; i < ARRAY_SIZE(classes); i++) {
		s.class = classes[i];
		s.field = fields[i];
		follow(h, &s);
	}
	map_release(&s.thread_of);
}
