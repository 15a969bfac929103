// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * calltree.c - collects the trees of a trace and attaches them to their threads.
 *
 * The trace may be damaged: a node without a definition, or whose parents form a cycle,
 * is put below [unwalkable: damaged part of the trace] of its thread.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/calltree.h"
#include "model/filter.h"
#include "model/threadlabels.h"
#include "trace/numbers.h"

enum { GROW_NODES = 8 };		/* threads without end have few calls each */
enum { THREAD, NOT_DEFINED, NR_OWN_NODES };	/* of tree.nodes */

struct tree {
	struct numbers numbers;		/* the trace's of nodes -> index */
	struct call_node *nodes;	/* [index]; 0 is the thread, 1 all that no record defines */
	uint64_t *values;		/* [index][1 + metrics]: calls, base */
	size_t nr_nodes, alloc_nodes;
	bool has_labels;
};

struct builder {
	struct calls *c;
	const struct calltree_opts *o;
	const struct call_columns *columns;
	struct calltree_seen *seen;
	struct tree *trees;		/* [index as in calls] */
	size_t nr_trees, alloc_trees;
};

/* Make room for nr more nodes. */
static void grow_tree(const struct builder *b, struct tree *t, size_t nr)
{
	size_t width = 1 + b->columns->nr_metrics, alloc;

	if (t->nr_nodes + nr <= t->alloc_nodes)
		return;
	alloc = MAX(t->nr_nodes + nr, MAX(t->alloc_nodes * 2, (size_t)GROW_NODES));
	t->nodes = xrealloc(t->nodes, alloc * sizeof(*t->nodes));
	t->values = xrealloc(t->values, alloc * width * sizeof(*t->values));
	memset(t->values + t->alloc_nodes * width, 0, (alloc - t->alloc_nodes) * width * sizeof(*t->values));
	t->alloc_nodes = alloc;
}

static struct tree *get_tree(struct builder *b, uint32_t at)
{
	while (at >= b->nr_trees) {
		VEC_GROW(b->trees, b->nr_trees, b->alloc_trees);
		b->trees[b->nr_trees] = (struct tree){ .nr_nodes = 0 };
		grow_tree(b, &b->trees[b->nr_trees], NR_OWN_NODES);
		b->trees[b->nr_trees++].nr_nodes = NR_OWN_NODES;
	}
	return &b->trees[at];
}

static void add_nodes(const struct builder *b, struct tree *t, uint32_t first, const struct call_node *nodes,
		      uint32_t nr)
{
	if (!numbers_add(&t->numbers, first, nr, t->nr_nodes))
		return;
	grow_tree(b, t, nr);
	memcpy(t->nodes + t->nr_nodes, nodes, nr * sizeof(*nodes));
	t->nr_nodes += nr;
}

static int calltree_take_nodes(void *ctx, uint32_t tree, const struct rec_call_nodes *r)
{
	struct builder *b = ctx;
	struct tree *t = get_tree(b, tree);
	uint32_t i = 0, at;

	/* Known ones change; what is left follows all that are known. */
	for (; i < r->nr && r->first + i < numbers_end(&t->numbers); i++) {
		at = numbers_local(&t->numbers, r->first + i);
		if (at != UINT32_MAX)
			t->nodes[at] = r->nodes[i];
	}
	if (i < r->nr)
		add_nodes(b, t, r->first + i, r->nodes + i, r->nr - i);
	return 0;
}

static int calltree_take_values(void *ctx, uint32_t tree, const struct rec_call_values *r)
{
	struct builder *b = ctx;
	struct tree *t = get_tree(b, tree);
	size_t width = 1 + b->columns->nr_metrics;
	uint32_t i, m;

	if (r->time_ns < b->o->window->reset_ns)
		return 0;
	b->seen->last_ns = MAX(b->seen->last_ns, r->time_ns);
	for (i = 0; i < r->nr; i++) {
		const struct call_value *v = &r->values[i];
		uint64_t *sum;

		b->seen->nr_calls += v->calls;
		if (!window_has(b->o->window, r->time_ns))
			continue;
		m = numbers_local(&t->numbers, v->node);
		sum = t->values + (m == UINT32_MAX ? NOT_DEFINED : m) * width;
		sum[0] += v->calls;
		for (m = 0; m < r->nr_metrics && m < b->columns->nr_metrics; m++)
			sum[1 + m] += v->base[m];
	}
	return 0;
}

/* ---- building ---- */

enum { NOT_PLACED = UINT32_MAX, BEING_PLACED = UINT32_MAX - 1, LEFT_OUT = UINT32_MAX - 2 };

/* Return the node for calls that the thread made with these labels, or LEFT_OUT if they are not selected. */
static uint32_t labelled_root(const struct builder *b, uint32_t tree, uint32_t labels)
{
	struct calls *c = b->c;
	uint32_t all, root;

	if (!c->has_labels || (!b->o->labels && !b->o->by_label))
		return calls_root(c, tree);
	all = names_labels_of_thread(c->names, c->trees[tree].thread);
	if (b->o->labels && !threadlabels_select(c->names, all, labels, b->o->labels))
		return LEFT_OUT;
	root = calls_root(c, tree);
	if (!b->o->by_label)
		return root;
	return flow_child(&c->names->m->flow, root,
			  threadlabels_consumer(c->names, all, labels, b->o->by_label));
}

/* Return the node one level below at. What is merged for want of memory may have had any labels. */
static uint32_t place_below(const struct builder *b, uint32_t tree, const struct tree *t, uint32_t at,
			    const struct call_node *n)
{
	const struct call_function *label = calls_label(b->c, n->consumer);
	uint32_t up = n->parent && t->has_labels ? numbers_local(&t->numbers, n->parent) : UINT32_MAX;

	if (label)
		return labelled_root(b, tree, label->labels);
	if (up != UINT32_MAX && !t->nodes[up].parent && calls_is_pruned(b->c, n->consumer))
		at = labelled_root(b, tree, THREADLABELS_UNKNOWN);
	if (at == LEFT_OUT || (!n->consumer && !n->parent))
		return at;
	return flow_child(&b->c->names->m->flow, at, calls_consumer(b->c, n->consumer));
}

/* Return the node for node i of the tree; to[] has what was placed. chain has room for all nodes. */
static uint32_t calltree_place(const struct builder *b, uint32_t tree, const struct tree *t, uint32_t i,
			       uint32_t *to, uint32_t *chain)
{
	size_t nr = 0;
	uint32_t at;

	while (i >= NR_OWN_NODES && to[i] == NOT_PLACED) {
		to[i] = BEING_PLACED;
		chain[nr++] = i;
		i = t->nodes[i].parent ? numbers_local(&t->numbers, t->nodes[i].parent) : THREAD;
		if (i == UINT32_MAX)
			i = NOT_DEFINED;
	}
	at = to[THREAD];
	if (i != NOT_DEFINED && to[i] != BEING_PLACED)
		at = to[i];
	else if (at != LEFT_OUT)
		at = flow_child(&b->c->names->m->flow, at, b->c->damaged);
	while (nr) {
		i = chain[--nr];
		at = place_below(b, tree, t, at, &t->nodes[i]);
		to[i] = at;
	}
	return at;
}

static bool has_labels(const struct builder *b, const struct tree *t)
{
	size_t i = NR_OWN_NODES;

	while (b->c->has_labels && i < t->nr_nodes && !calls_label(b->c, t->nodes[i].consumer))
		i++;
	return b->c->has_labels && i < t->nr_nodes;
}

static bool calltree_is_wanted(const struct builder *b, uint32_t tree)
{
	const struct rec_call_tree *r = &b->c->trees[tree];
	uint32_t process, thread;

	if (!b->o->filter)
		return true;
	calls_thread(b->c, tree, &process, &thread);
	return filter_wants_calls(b->o->filter, b->c->names->m->consumers.items[thread].name, r->thread,
				  r->flags & CALL_TREE_VIRTUAL);
}

static void add_thrown(struct calltree_seen *s, uint32_t node, uint64_t nr)
{
	size_t before = s->alloc_thrown;

	if (node >= s->alloc_thrown) {
		s->alloc_thrown = MAX(2 * before, (size_t)node + 1);
		s->thrown = xrealloc(s->thrown, s->alloc_thrown * sizeof(*s->thrown));
		memset(s->thrown + before, 0, (s->alloc_thrown - before) * sizeof(*s->thrown));
	}
	s->thrown[node] += nr;
	s->nr_thrown = MAX(s->nr_thrown, (size_t)node + 1);
}

static void build_tree(struct builder *b, uint32_t tree)
{
	const struct call_columns *k = b->columns;
	const struct rec_call_tree *r = &b->c->trees[tree];
	struct tree *t = get_tree(b, tree);
	struct flow *f = &b->c->names->m->flow;
	uint32_t *to, *chain, i, at;

	if (!calltree_is_wanted(b, tree))
		return;
	to = xmalloc(t->nr_nodes * sizeof(*to));
	chain = xmalloc(t->nr_nodes * sizeof(*chain));
	memset(to, 0xff, t->nr_nodes * sizeof(*to));
	t->has_labels = has_labels(b, t);
	to[THREAD] = labelled_root(b, tree, 0);
	for (i = 1; i < t->nr_nodes; i++) {
		const uint64_t *v = t->values + i * (1 + k->nr_metrics);
		unsigned int m;
		bool any = v[0] || (k->with_samples && i >= NR_OWN_NODES);

		for (m = 0; m < k->nr_metrics; m++)
			any |= v[1 + m];
		at = any ? calltree_place(b, tree, t, i, to, chain) : LEFT_OUT;
		if (at == LEFT_OUT)
			continue;
		call_columns_add(k, f, at, v[0], v + 1);
		if (b->o->thrown >= 0 && v[1 + b->o->thrown])
			add_thrown(b->seen, at, v[1 + b->o->thrown]);
	}
	f->repairs.inserted += r->inserted;
	f->repairs.popped += r->popped;
	f->repairs.closed += r->open;
	f->repairs.backwards += r->over_range;
	free(to);
	free(chain);
}

int calltree_read(struct calls *c, struct trace_reader *t, const struct calltree_opts *o,
		  struct calltree_seen *seen, struct err *e)
{
	static const struct calls_sink sink = {
		.nodes = calltree_take_nodes, .values = calltree_take_values
	};
	struct builder b = { .c = c, .o = o, .columns = o->columns, .seen = seen };
	int r = calls_read(c, t, &sink, &b, e);
	size_t i;

	for (i = 0; i < c->nr_trees && !r; i++)
		build_tree(&b, i);
	for (i = 0; i < b.nr_trees; i++) {
		numbers_release(&b.trees[i].numbers);
		free(b.trees[i].nodes);
		free(b.trees[i].values);
	}
	free(b.trees);
	return r;
}

void calltree_drop_empty(struct model *m)
{
	const struct flow *f = &m->flow;
	bool *keep = xcalloc(f->nr_nodes, sizeof(*keep));
	uint32_t *at = xcalloc(f->nr_nodes, sizeof(*at));
	struct flow out;
	unsigned int k;
	size_t i;

	for (i = f->nr_nodes; --i > 0;) {
		keep[i] |= f->nodes[i].n != 0;
		for (k = 0; k < f->nr_metrics; k++)
			keep[i] |= flow_base(f, i)[k] != 0;
		keep[f->nodes[i].parent] |= keep[i];
	}
	flow_init(&out, f->nr_metrics, f->n_means);
	out.repairs = f->repairs;
	for (i = 1; i < f->nr_nodes; i++)
		if (keep[i]) {
			at[i] = flow_child(&out, at[f->nodes[i].parent], f->nodes[i].consumer);
			flow_add(&out, at[i], f->nodes[i].n, flow_base(f, i));
		}
	model_take_flow(m, &out, at);
	free(keep);
	free(at);
}
