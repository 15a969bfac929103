// SPDX-License-Identifier: GPL-2.0-or-later
/* blame.c - finds the function to blame for what a stack ends in (blame.h). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/blame.h"
#include "model/roles.h"

enum { MAX_DEPTH = 4096 };

static bool blame_begins_with(const char *name, const char *const *list, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (!strncmp(name, list[i], strlen(list[i])))
			return true;
	return false;
}

/*
 * Return whether its caller is to be blamed: it is a constructor, or belongs to the JDK or a language's own
 * library.
 */
static bool is_entry_name(const char *name)
{
	size_t len = strlen(name);

	/* the last: between two methods of Ruby, in the class of the script */
	return (len > 7 && !strcmp(name + len - 7, ".<init>")) ||
	       role_is_platform(name) || strstr(name, ".invokeOther");
}

static bool is_library(const struct blame *b, const char *name)
{
	return b->library && b->library->nr_items && select_name(b->library, name);
}

/* Return the same of a native function. */
static bool allocates(const struct names *x, uint32_t consumer)
{
	static const char *const modules[] = { "libc.so", "libc-", "libstdc++.so", "libc++.so", "ld-linux",
					       "libjemalloc.so", "libtcmalloc", "libmimalloc.so" };
	static const char *const functions[] = {
		"operator new",
		/* HotSpot */
		"os::", "AllocateHeap(", "ReallocateHeap(", "AnyObj::", "CHeapObj", "ArrayAllocator<",
		"Arena::", "Chunk::", "ChunkPool::", "ResourceObj::", "resource_allocate_bytes(",
		"MallocArrayAllocator<", "MmapArrayAllocator<", "NMTPreInit::",
	};
	const struct consumer *c = &x->m->consumers.items[consumer];

	return blame_begins_with(model_str(x->m, c->module), modules, ARRAY_SIZE(modules)) ||
	       blame_begins_with(model_str(x->m, c->name), functions, ARRAY_SIZE(functions)) ||
	       role_is_cxx_library(model_str(x->m, c->name));
}

/* The state of the search from the inside out. */
struct search {
	struct blamed found;
	uint32_t library, native;	/* the innermost of each that will do if nothing better comes */
};

static bool look_at_level(const struct blame *b, struct search *s, const struct name_level *l)
{
	const struct names *x = b->names;
	const char *name = consumer_name(&x->m->consumers, l->consumer);
	bool is_leaf = l->kind == CONSUMER_CLASS || l->kind == CONSUMER_REASON;

	if (is_leaf && !s->found.leaf)
		s->found.leaf = l->consumer;
	if (b->what == BLAME_NOBODY || is_leaf)
		return false;
	if (kind_is(l->kind, KIND_JAVA)) {
		if (!is_entry_name(name) && !is_library(b, name)) {
			s->found.site = l->consumer;
			return true;
		}
		s->library = s->library ? s->library : l->consumer;
	} else if (b->what == BLAME_FUNCTION && !s->native &&
		   (kind_is(l->kind, KIND_NATIVE) || l->kind == CONSUMER_UNRESOLVED) &&
		   !allocates(x, l->consumer) && !is_library(b, name)) {
		s->native = l->consumer;
	}
	return false;
}

/* Looks at a frame; true: nothing further out is of interest. */
static bool blame_look_at(const struct blame *b, struct search *s, const struct frame *f, uint64_t time_ns)
{
	struct name_run r = names_consumers(b->names, f, time_ns);
	uint32_t i;

	for (i = r.nr; i; i--)
		if (look_at_level(b, s, &b->names->levels[r.first + i - 1]))
			return true;
	return b->what == BLAME_NOBODY && s->found.leaf;
}

static struct blamed *place_at(struct blame *b, uint32_t stack, const struct stack_epoch *ep)
{
	if (b->epoch != ep->epoch)
		b->nr_places = 0;
	b->epoch = ep->epoch;
	if (b->nr_places < ep->nr_nodes) {
		b->places = xrealloc(b->places, ep->nr_nodes * sizeof(*b->places));
		memset(b->places + b->nr_places, 0, (ep->nr_nodes - b->nr_places) * sizeof(*b->places));
		b->nr_places = ep->nr_nodes;
	}
	return &b->places[stack];
}

/* Return the site; without a better one, the innermost library or native function. */
static struct blamed settled(const struct search *s)
{
	struct blamed b = s->found;

	if (!b.site)
		b.site = s->library ? s->library : s->native;
	b.known = true;
	return b;
}

struct blamed blame_frames(const struct blame *b, const struct frame *frames, uint32_t nr, uint64_t time_ns)
{
	struct search search = { 0 };

	while (nr-- && !blame_look_at(b, &search, &frames[nr], time_ns))
		;
	return settled(&search);
}

struct blamed blame_stack(struct blame *b, const struct rec_sample *s, const struct stack_epoch *ep)
{
	uint32_t at = s->stack;
	struct search search = { 0 };
	struct blamed *p;
	int depth;

	if (!at || at >= ep->nr_nodes)
		return (struct blamed){ .known = true };
	p = place_at(b, at, ep);
	if (p->known)
		return *p;
	for (depth = 0; at && depth < MAX_DEPTH; at = ep->nodes[at].parent, depth++)
		if (blame_look_at(b, &search, &ep->frames[ep->nodes[at].frame], s->time_ns))
			break;
	*p = settled(&search);
	return *p;
}

void blame_release(struct blame *b)
{
	free(b->places);
	b->places = NULL;
	b->nr_places = 0;
}

bool blame_selected(const struct names *x, const struct selection *s, uint32_t thread, uint32_t *proc,
		    uint32_t *pid)
{
	uint32_t at = map_get(&x->thread_of, thread), p;
	const struct name_thread *th = at == MAP_NONE ? NULL : &x->threads[at];
	const char *comm = "";

	*proc = th ? th->proc : 0;
	p = map_get(&x->proc_of, *proc);
	*pid = p == MAP_NONE ? 0 : x->procs[p].pid;
	if (p != MAP_NONE)
		comm = model_str(x->m, x->procs[p].comm);
	return selection_has_names(s, *pid, th ? th->tid : 0, comm, th ? model_str(x->m, th->name) : "");
}
