// SPDX-License-Identifier: GPL-2.0-or-later
/* threads.c - the names of threads and of their groups, from their Thread objects. */
#include <stdlib.h>

#include "base/mem.h"
#include "heap/texts.h"

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
