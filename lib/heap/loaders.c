// SPDX-License-Identifier: GPL-2.0-or-later
/* loaders.c - see loaders.h. */
#include <stdlib.h>

#include "base/mem.h"
#include "heap/loaders.h"
#include "heap/texts.h"

struct found {
	struct heap *h;
	struct heap_loader *list;
};

static void loaders_set_name(void *ctx, uint32_t i, const char *name, size_t len)
{
	struct found *f = ctx;

	f->list[i].name = len ? strtab_add(&f->h->names, name, len) : 0;
}

static int by_bytes(const void *a, const void *b)
{
	const struct heap_loader *x = a, *y = b;

	return COMPARE(y->bytes, x->bytes) ?: COMPARE(x->id, y->id);
}

static void name_loaders(struct heap *h, struct heap_loader *list, size_t nr)
{
	static const struct text_step steps[] = { { "java.lang.ClassLoader", "name" }, TEXT_OF_STRING };
	struct found f = { h, list };
	uint64_t *ids = xcalloc(nr + 1, sizeof(*ids));
	size_t i;

	for (i = 0; i < nr; i++)
		ids[i] = list[i].id;
	texts_find(h, ids, nr, steps, loaders_set_name, &f);
	free(ids);
}

struct heap_loader *loaders_find(struct heap *h, size_t *nr)
{
	struct heap_loader *list = xcalloc(h->nr_classes + 1, sizeof(*list)), *l;
	struct map loader_of = MAP_INIT;
	size_t i;

	for (i = *nr = 0; i < h->nr_classes; i++) {
		const struct heap_class *c = &h->classes[i];
		uint32_t *at = map_put(&loader_of, c->raw.loader);

		if (*at == MAP_NONE) {
			*at = (*nr)++;
			list[*at].id = c->raw.loader;
			list[*at].object = c->raw.loader ? ids_find(&h->ids, c->raw.loader) : HEAP_NONE;
		}
		l = &list[*at];
		l->nr_classes += c->raw.instance_len || c->raw.fields || c->nr;
		l->nr_objects += c->nr;
		l->bytes += c->bytes;
	}
	map_release(&loader_of);
	name_loaders(h, list, *nr);
	qsort(list, *nr, sizeof(*list), by_bytes);
	return list;
}
