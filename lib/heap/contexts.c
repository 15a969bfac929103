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

void contexts_init(struct heap_contexts *b, const struct heap *h, struct model *m, enum heap_fold fold)
{
	*b = (struct heap_contexts){ .h = h, .m = m, .fold = fold };
	b->consumer_of_class = xcalloc(h->nr_classes, sizeof(*b->consumer_of_class));
}

void contexts_release(struct heap_contexts *b)
{
	free(b->consumer_of_class);
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
	else
		snprintf(unknown, sizeof(unknown), "thread %u", t->serial);
	c.name = strtab_adds(&b->m->consumers.names, name);
	return consumer_add(&b->m->consumers, &c);
}

/* Of a class, as what a class is to others: "class X" beside its instances, which are X. */
static uint32_t consumer_of_mirror(struct heap_contexts *b, const struct heap_class *of)
{
	char *name = xasprintf("class %s", strtab_get(&b->h->names, of->name));
	uint32_t c = consumer_add_name(&b->m->consumers, CONSUMER_CLASS, name, strlen(name));

	free(name);
	return c;
}

uint32_t contexts_consumer(struct heap_contexts *b, uint32_t node)
{
	const struct heap *h = b->h;
	const struct heap_class *of;

	if (node >= h->ids.nr + HEAP_NR_OWN)
		return consumer_of_thread(b, &h->threads[node - h->ids.nr - HEAP_NR_OWN]);
	if (node >= h->ids.nr)
		return consumer_add_name(&b->m->consumers, CONSUMER_ANY, own_names[node - h->ids.nr],
					 strlen(own_names[node - h->ids.nr]));
	of = h->class[node] == h->mirror_class ? heap_class_by_id(h, ids_id(&h->ids, node)) : NULL;
	return of ? consumer_of_mirror(b, of) : consumer_of_class(b, h->class[node]);
}

/* The context of an object of that consumer whose dominator has the context parent. */
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
