// SPDX-License-Identifier: GPL-2.0-or-later
/* contexts.c - see contexts.h. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "heap/contexts.h"

static const char *const own_names[HEAP_NR_OWN] = {
	[HEAP_TOP] = "[heap]",
	[HEAP_LOST] = "[unreachable]",
	[HEAP_CLASSES] = "[system classes]",
	[HEAP_JNI_GLOBALS] = "[JNI globals]",
	[HEAP_JNI_LOCALS] = "[JNI locals]",
	[HEAP_FRAMES] = "[Java frames]",
	[HEAP_NATIVE_STACKS] = "[native stacks]",
	[HEAP_BLOCKS] = "[thread blocks]",
	[HEAP_MONITORS] = "[monitors]",
	[HEAP_OTHERS] = "[other roots]",
};

const char *contexts_lost_name(const struct heap *h)
{
	return h->damage.truncated || h->damage.nr ? "[lost]" : own_names[HEAP_LOST];
}

static const char *own_name(const struct heap *h, uint32_t node)
{
	return node == HEAP_LOST ? contexts_lost_name(h) : own_names[node];
}

void contexts_init(struct heap_contexts *b, const struct heap *h, struct model *m, enum heap_fold fold)
{
	size_t i;

	*b = (struct heap_contexts){ .h = h, .m = m, .fold = fold };
	b->consumer_of_class = xcalloc(h->nr_classes, sizeof(*b->consumer_of_class));
	b->has_threads = xcalloc(h->nr_classes, sizeof(*b->has_threads));
	for (i = 0; i < h->nr_threads; i++) {
		if (h->threads[i].object == HEAP_NONE || !h->threads[i].name)
			continue;
		*map_put(&b->thread_of_object, h->threads[i].object) = i;
		b->has_threads[h->class[h->threads[i].object]] = true;
	}
}

void contexts_release(struct heap_contexts *b)
{
	free(b->consumer_of_class);
	free(b->has_threads);
	map_release(&b->thread_of_object);
	free(b->field);
	map_release(&b->consumer_of_field);
}

static uint32_t consumer_of_class(struct heap_contexts *b, uint32_t class)
{
	const char *name;

	if (!b->consumer_of_class[class]) {
		name = heap_class_name(b->h, class);
		b->consumer_of_class[class] =
			consumer_add_name(&b->m->consumers, CONSUMER_CLASS, name, strlen(name));
	}
	return b->consumer_of_class[class];
}

static uint32_t consumer_of_thread(struct heap_contexts *b, const struct heap_thread *t)
{
	char unknown[32];
	const char *name = unknown;
	struct consumer c = { .kind = CONSUMER_THREAD };

	if (t->name)
		name = strtab_get(&b->h->names, t->name);
	else if (t->object != HEAP_NONE)	/* millions of virtual threads have none */
		return consumer_of_class(b, b->h->class[t->object]);
	else
		snprintf(unknown, sizeof(unknown), "thread %u", t->serial);
	c.name = strtab_adds(&b->m->consumers.names, name);
	return consumer_add(&b->m->consumers, &c);
}

/* Return the consumer of a Class object: "class X" beside its instances, which are X. */
static uint32_t consumer_of_mirror(struct heap_contexts *b, const struct heap_class *of)
{
	char *name = xasprintf("class %s", strtab_get(&b->h->names, of->name));
	uint32_t c = consumer_add_name(&b->m->consumers, CONSUMER_CLASS, name, strlen(name));

	free(name);
	return c;
}

static uint32_t consumer_of_object(struct heap_contexts *b, uint32_t object)
{
	const struct heap *h = b->h;
	const struct heap_class *of = h->class[object] == h->mirror_class ?
		heap_class_by_id(h, ids_id(&h->ids, object)) : NULL;

	/* what a Thread object holds, such as thread locals, the thread does */
	if (b->has_threads[h->class[object]]) {
		uint32_t thread = map_get(&b->thread_of_object, object);

		if (thread != MAP_NONE)
			return consumer_of_thread(b, &h->threads[thread]);
	}
	return of ? consumer_of_mirror(b, of) : consumer_of_class(b, h->class[object]);
}

uint32_t contexts_named(struct heap_contexts *b, uint32_t object)
{
	uint32_t class = b->h->class[object];

	if (class != b->h->mirror_class &&
	    (!b->has_threads[class] || map_get(&b->thread_of_object, object) == MAP_NONE))
		return 0;
	return consumer_of_object(b, object);
}

/* "Order.lines: Line[]": the field that holds the object, and what it is. */
static uint32_t consumer_of_field(struct heap_contexts *b, uint32_t object)
{
	uint32_t class = consumer_of_object(b, object), *known;
	char *name;

	if (!b->field[object])
		return class;
	known = map_put(&b->consumer_of_field, (uint64_t)b->field[object] << 32 | class);
	if (*known == MAP_NONE) {
		name = xasprintf("%s: %s", strtab_get(&b->h->names, b->field[object]),
				 strtab_get(&b->m->consumers.names, b->m->consumers.items[class].name));
		*known = consumer_add_name(&b->m->consumers, CONSUMER_CLASS, name, strlen(name));
		free(name);
	}
	return *known;
}

uint32_t contexts_consumer(struct heap_contexts *b, uint32_t node)
{
	const struct heap *h = b->h;

	if (node >= h->ids.nr + HEAP_NR_OWN)
		return consumer_of_thread(b, &h->threads[node - h->ids.nr - HEAP_NR_OWN]);
	if (node >= h->ids.nr) {
		const char *name = own_name(h, node - h->ids.nr);

		return consumer_add_name(&b->m->consumers, CONSUMER_ANY, name, strlen(name));
	}
	return b->field ? consumer_of_field(b, node) : consumer_of_object(b, node);
}

/* Return the context of an object of that consumer whose dominator has the context parent. */
uint32_t contexts_child(struct heap_contexts *b, uint32_t parent, uint32_t consumer)
{
	struct flow *f = &b->m->flow;
	uint32_t at = parent;

	if (b->fold == HEAP_FOLD_SELF && at && f->nodes[at].consumer == consumer)
		return at;
	if (b->fold == HEAP_FOLD_PATH)
		for (; at; at = f->nodes[at].parent)
			if (f->nodes[at].consumer == consumer)
				return at;
	return flow_child(f, parent, consumer);
}
