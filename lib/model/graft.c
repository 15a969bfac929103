// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * graft.c - attaches sampled stacks to a tree of exact calls.
 *
 * The contexts of the tree are paths of counted functions. A sampled stack without its other frames is
 * such a path: it is followed from the root of its thread to the innermost counted function that was
 * open, and the frames below that one go below it in the tree. Frames between two
 * counted functions are not shown, as the tree has no place for them.
 *
 * A counted function on the stack that has no context where the tree should have one:
 *  - was entered before counting began, if nothing above it was counted either: it is skipped;
 *  - is merged, if the tree has its maximum depth: the rule is the same as for counting;
 *  - otherwise the path ends there, in [pruned] if there is one. Such samples are counted.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/graft.h"

enum { LOOK_BACK = 128 };	/* as lib/callflow's */

/* counted calls decide what a function is, however much of it was inlined in samples */
#define COUNTED_WEIGHT (1ull << 50)

void graft_release(struct graft *g)
{
	free(g->roots);
	free(g->path);
	map_release(&g->consumer_of);
	map_release(&g->by_own_name);
	map_release(&g->roots_of);
	memset(g, 0, sizeof(*g));
}

static void add_root(struct graft *g, const struct rec_call_tree *r, uint32_t node)
{
	uint32_t *first = map_put(&g->roots_of, r->thread), next = *first;

	*first = g->nr_roots;
	*VEC_ADD(g->roots, g->nr_roots, g->alloc_roots) =
		(struct graft_root){ r->start_ns, r->end_ns, node, next };
}

/*
 * Return the tree of a kernel thread at that time; the thread may have been several of Java's one after
 * the other.
 */
uint32_t graft_root(const struct graft *g, uint32_t thread, uint64_t time_ns)
{
	uint32_t i = map_get(&g->roots_of, thread), best = i;

	for (; i != MAP_NONE; i = g->roots[i].next) {
		const struct graft_root *r = &g->roots[i];

		if (time_ns >= r->start_ns && (!r->end_ns || time_ns < r->end_ns))
			return i;
		/* before its first call a thread is itself already */
		if (time_ns < r->start_ns && r->start_ns < g->roots[best].start_ns)
			best = i;
	}
	return best;
}

static uint32_t graft_consumer_of(const struct graft *g, uint64_t function)
{
	uint32_t c = function ? map_get(&g->consumer_of, function) : 0;

	if (c == MAP_NONE)
		c = map_get(&g->by_own_name, function);
	return c == MAP_NONE ? 0 : c;
}

/* Return the context of consumer called in parent. */
static uint32_t context(const struct graft *g, uint32_t parent, uint32_t consumer)
{
	uint32_t node = flow_child_find(&g->names->m->flow, parent, consumer);

	return node < g->nr_contexts ? node : FLOW_NONE;	/* later ones are of samples */
}

struct follow {
	uint32_t root, at;		/* the innermost context so far */
	uint64_t depth;			/* open calls */
	bool ended, missing;
};

static uint32_t folded(const struct graft *g, const struct follow *w, uint32_t consumer)
{
	const struct flow_node *nodes = g->names->m->flow.nodes;
	uint32_t node = w->at;
	int i;

	for (i = 0; i < LOOK_BACK && node != w->root; i++, node = nodes[node].parent)
		if (nodes[node].consumer == consumer)
			return node;
	return FLOW_NONE;
}

/* Go down one level; return whether it is the context w->at now. */
static bool graft_step(const struct graft *g, struct follow *w, uint32_t consumer)
{
	uint32_t node = context(g, w->at, consumer);

	if (!node && g->max_depth && w->depth >= g->max_depth)
		node = folded(g, w, consumer);
	if (node) {
		w->at = node;
		w->depth++;
		return true;
	}
	w->missing = true;
	node = context(g, w->at, g->pruned);
	w->ended = node || w->at != w->root;
	w->at = node ? node : w->at;
	return false;
}

/* Follow the levels of a frame that are contexts, and keep the others. Nothing is known below a mark. */
static void follow_frame(struct graft *g, struct follow *w, struct name_run r)
{
	uint32_t i, consumer;

	for (i = r.first; i < r.first + r.nr; i++) {
		const struct name_level *level = &g->names->levels[i];

		consumer = graft_consumer_of(g, level->function);
		w->ended |= level->kind == CONSUMER_MARK;
		if (consumer && w->ended)
			w->missing = true;
		else if (consumer && graft_step(g, w, consumer)) {
			g->nr_path = 0;
			w->missing = false;
			continue;
		}
		VEC_GROW(g->path, g->nr_path, g->alloc_path);
		g->path[g->nr_path++] =
			(struct graft_level){ i, consumer ? consumer : level->consumer };
	}
}

uint32_t graft_node(struct graft *g, uint32_t root, const struct name_run *frames, size_t nr, bool *missing)
{
	struct follow w = { .root = root, .at = root };
	struct names *x = g->names;
	uint32_t node;
	size_t i;

	g->nr_path = 0;
	for (i = 0; i < nr; i++)
		follow_frame(g, &w, frames[i]);
	node = w.at;
	for (i = 0; i < g->nr_path; i++) {
		const struct graft_level *l = &g->path[i];

		if (g->hide_inlined && kind_is(x->levels[l->level].kind, KIND_INLINED))
			continue;
		node = flow_child(&x->m->flow, node, l->consumer);
		x->levels[l->level].weight++;
	}
	*missing = w.missing;
	return node;
}

/*
 * "leaf" of "int (anonymous namespace)::leaf<T>(int)": all that compilers say of some functions they
 * inlined.
 */
static const char *own_name(const char *name, size_t *len)
{
	static const char unnamed[] = "(anonymous namespace)";
	const char *start = name, *s;
	int nested = 0;

	for (s = name; *s; s++) {
		if (!strncmp(s, unnamed, sizeof(unnamed) - 1))
			s += sizeof(unnamed) - 2;
		else if (*s == '<')
			nested++;
		else if (*s == '>')
			nested--;
		else if (*s == '(' && !nested)
			break;
		else if ((*s == ' ' || *s == ':') && !nested)
			start = s + 1;
	}
	*len = s - start;
	return start;
}

/* Add a function by name and module, and by its own name if that is unique. */
static void graft_add_function(struct graft *g, struct model *m, uint64_t function, uint32_t consumer)
{
	const char *name = model_str(m, function >> 32), *own;
	uint32_t *at;
	size_t len;

	*map_put(&g->consumer_of, function) = consumer;
	own = own_name(name, &len);
	if (!len)
		return;
	at = map_put(&g->by_own_name,
		     names_pair(strtab_add(&m->consumers.names, own, len), (uint32_t)function));
	*at = *at == MAP_NONE || *at == consumer ? consumer : 0;
}

static void graft_add_functions(struct graft *g, struct calls *c)
{
	struct names *x = c->names;
	size_t i;

	for (i = 0; i < c->nr_functions; i++) {
		const struct call_function *f = &c->functions[i];
		struct name_level *level;
		struct name_run r;

		if (!f->consumer || f->consumer == c->damaged)
			continue;
		r = names_consumers(x, &f->frame, 0);
		if (!r.nr)
			continue;
		level = &x->levels[r.first];
		if (level->function)
			graft_add_function(g, x->m, level->function, f->consumer);
		level->weight += COUNTED_WEIGHT;
	}
}

void graft_init(struct graft *g, struct calls *c, bool hide_inlined)
{
	struct model *m = c->names->m;
	const char *pruned = frame_mark_name(MARK_PRUNED);
	size_t i;

	*g = (struct graft){ .names = c->names, .hide_inlined = hide_inlined,
			     .max_depth = names_label_u64(c->names, "callflow.depth") };
	g->pruned = consumer_add_name(&m->consumers, CONSUMER_MARK, pruned, strlen(pruned));
	g->nr_contexts = m->flow.nr_nodes;
	for (i = 0; i < c->nr_trees; i++)
		if (c->trees[i].thread)
			add_root(g, &c->trees[i], calls_root(c, i));
	graft_add_functions(g, c);
}
