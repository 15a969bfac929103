// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * flow.c - the tree itself: finding and making nodes, and what follows from a
 * finished tree (child lists, recursion levels, cum).
 *
 * Nothing here recurses: a stack of 100 000 frames is an ordinary input.
 */
#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "flow/flow.h"

static void grow_nodes(struct flow *f)
{
	assert(f->nr_nodes < FLOW_MAX_NODES);
	f->alloc_nodes = f->alloc_nodes ? f->alloc_nodes * 2 : 64;
	f->nodes = xrealloc(f->nodes, f->alloc_nodes * sizeof(*f->nodes));
	f->base = xrealloc(f->base, f->alloc_nodes * f->nr_metrics * sizeof(*f->base));
}

/* Does not check for an existing one, [3]; the caller gives the node its slot. */
static uint32_t new_node(struct flow *f, uint32_t parent, uint32_t consumer)
{
	uint32_t i = f->nr_nodes;
	unsigned int m;

	if (f->nr_nodes >= f->alloc_nodes)
		grow_nodes(f);
	f->nr_nodes++;
	f->nodes[i] = (struct flow_node){ .parent = parent, .consumer = consumer };
	for (m = 0; m < f->nr_metrics; m++)
		flow_base(f, i)[m] = 0;
	return i;
}

void flow_init(struct flow *f, unsigned int nr_metrics, enum flow_n n_means)
{
	assert(nr_metrics && nr_metrics <= FLOW_MAX_METRICS);
	memset(f, 0, sizeof(*f));
	f->nr_metrics = nr_metrics;
	f->n_means = n_means;
	f->alloc_slots = 256;
	f->slots = xcalloc(f->alloc_slots, sizeof(*f->slots));
	new_node(f, FLOW_NONE, 0);
}

void flow_release(struct flow *f)
{
	free(f->nodes);
	free(f->base);
	free(f->cum);
	free(f->rl);
	free(f->slots);
	memset(f, 0, sizeof(*f));
}

static inline size_t flow_slot_of(const struct flow *f, uint32_t parent, uint32_t consumer)
{
	uint64_t h = ((uint64_t)parent << 32 | consumer) * 0x9e3779b97f4a7c15ull;

	return (h ^ h >> 32) & (f->alloc_slots - 1);
}

static void grow_slots(struct flow *f)
{
	size_t i, s, mask;

	free(f->slots);
	f->alloc_slots *= 2;
	f->slots = xcalloc(f->alloc_slots, sizeof(*f->slots));
	f->nr_slots = 0;
	mask = f->alloc_slots - 1;
	for (i = 1; i < f->nr_nodes; i++) {
		if (f->nodes[f->nodes[i].parent].child == i)
			continue;
		f->nr_slots++;
		for (s = flow_slot_of(f, f->nodes[i].parent, f->nodes[i].consumer); f->slots[s];
		     s = (s + 1) & mask)
			;
		f->slots[s] = i;
	}
}

uint32_t flow_child_find(const struct flow *f, uint32_t parent, uint32_t consumer)
{
	size_t s, mask = f->alloc_slots - 1;
	uint32_t i = f->nodes[parent].child;

	if (!i || f->nodes[i].consumer == consumer)
		return i;
	for (s = flow_slot_of(f, parent, consumer); (i = f->slots[s]); s = (s + 1) & mask)
		if (f->nodes[i].consumer == consumer && f->nodes[i].parent == parent)
			return i;
	return FLOW_NONE;
}

uint32_t flow_child_lookup(struct flow *f, uint32_t parent, uint32_t consumer)
{
	size_t s, mask = f->alloc_slots - 1;
	uint32_t i = f->nodes[parent].child;

	if (!i) {
		i = new_node(f, parent, consumer);
		f->nodes[parent].child = i;
	}
	if (f->nodes[i].consumer == consumer)
		goto found;
	for (s = flow_slot_of(f, parent, consumer); (i = f->slots[s]); s = (s + 1) & mask)
		if (f->nodes[i].consumer == consumer && f->nodes[i].parent == parent)
			goto found;
	i = new_node(f, parent, consumer);
	f->slots[s] = i;
	if (++f->nr_slots * 2 > f->alloc_slots)
		grow_slots(f);
found:
	f->nodes[parent].last = i;
	return i;
}

uint32_t flow_insert_above(struct flow *f, uint32_t root, uint32_t consumer)
{
	uint32_t was = f->nodes[root].consumer, above = new_node(f, FLOW_NONE, was);
	size_t s, mask = f->alloc_slots - 1;

	/* The new root takes over the old one's place, for its key is the same. */
	if (f->nodes[FLOW_NONE].child == root) {
		f->nodes[FLOW_NONE].child = above;
	} else {
		for (s = flow_slot_of(f, FLOW_NONE, was); f->slots[s] != root; s = (s + 1) & mask)
			assert(f->slots[s]);
		f->slots[s] = above;
	}
	f->nodes[root].parent = above;
	f->nodes[root].consumer = consumer;
	f->nodes[above].last = f->nodes[above].child = root;
	f->nodes[FLOW_NONE].last = FLOW_NONE;
	f->unordered = true;
	return above;
}

void flow_add(struct flow *f, uint32_t node, uint64_t n, const uint64_t *base)
{
	uint64_t *to = flow_base(f, node);
	unsigned int m;

	flow_sum(&f->nodes[node].n, n);
	for (m = 0; m < f->nr_metrics; m++)
		flow_sum(&to[m], base[m]);
}

void flow_arrange(struct flow *f, const unsigned int *from, unsigned int nr)
{
	uint64_t *base = xcalloc(f->alloc_nodes * nr, sizeof(*base));
	unsigned int m;
	size_t i;

	for (i = 0; i < f->nr_nodes; i++)
		for (m = 0; m < nr; m++)
			base[i * nr + m] = from[m] == FLOW_NO_METRIC ? 0 : flow_base(f, i)[from[m]];
	free(f->base);
	f->base = base;
	f->nr_metrics = nr;
}

/* Link children in index order, which is the order of first entry. */
static void link_children(struct flow *f)
{
	size_t i;

	for (i = 0; i < f->nr_nodes; i++)
		f->nodes[i].child = f->nodes[i].sibling = FLOW_NONE;
	for (i = f->nr_nodes; --i > 0;) {
		struct flow_node *x = &f->nodes[i], *parent = &f->nodes[x->parent];

		x->sibling = parent->child;
		parent->child = i;
	}
}

uint32_t flow_next_outside(const struct flow *f, uint32_t i)
{
	while (i && !f->nodes[i].sibling)
		i = f->nodes[i].parent;
	return i ? f->nodes[i].sibling : FLOW_NONE;
}

uint32_t flow_next(const struct flow *f, uint32_t i)
{
	return f->nodes[i].child ? f->nodes[i].child : flow_next_outside(f, i);
}

/*
 * Return the first node of a root. One that was put above an older one takes its place: its first child then
 * has a lower index.
 */
static uint32_t first_seen(const struct flow *f, uint32_t root)
{
	while (f->nodes[root].child && f->nodes[root].child < root)
		root = f->nodes[root].child;
	return root;
}

struct root_order {
	uint32_t seen, root;
};

static int compare_roots(const void *p, const void *q)
{
	const struct root_order *a = p, *b = q;

	return COMPARE(a->seen, b->seen);
}

/* Order roots by first entry, whatever repairs did. */
static void order_roots(struct flow *f)
{
	struct root_order *list = NULL;
	size_t nr = 0, alloc = 0, i;
	uint32_t r;

	for (r = f->nodes[FLOW_NONE].child; r; r = f->nodes[r].sibling)
		*VEC_ADD(list, nr, alloc) = (struct root_order){ first_seen(f, r), r };
	if (!nr)
		return;
	qsort(list, nr, sizeof(*list), compare_roots);
	f->nodes[FLOW_NONE].child = list[0].root;
	for (i = 0; i < nr; i++)
		f->nodes[list[i].root].sibling = i + 1 < nr ? list[i + 1].root : FLOW_NONE;
	free(list);
}

void flow_renumber(struct flow *f, uint32_t *new_index)
{
	struct flow_node *nodes = xmalloc(f->nr_nodes * sizeof(*nodes));
	uint64_t *base = xmalloc(f->nr_nodes * f->nr_metrics * sizeof(*base));
	uint32_t *to = new_index ? new_index : xmalloc(f->nr_nodes * sizeof(*to));
	size_t row = f->nr_metrics * sizeof(*base), nr = 1;
	uint32_t i;

	link_children(f);
	order_roots(f);
	to[FLOW_NONE] = FLOW_NONE;
	nodes[0] = f->nodes[0];
	memcpy(base, f->base, row);
	for (i = flow_next(f, FLOW_NONE); i; i = flow_next(f, i)) {
		to[i] = nr;
		nodes[nr] = f->nodes[i];
		nodes[nr].parent = to[f->nodes[i].parent];
		nodes[nr].last = FLOW_NONE;
		memcpy(base + nr * f->nr_metrics, flow_base(f, i), row);
		nr++;
	}
	assert(nr == f->nr_nodes);
	nodes[0].last = FLOW_NONE;
	free(f->nodes);
	free(f->base);
	f->nodes = nodes;
	f->base = base;
	f->alloc_nodes = nr;
	link_children(f);
	f->alloc_slots /= 2;
	grow_slots(f);
	if (!new_index)
		free(to);
	f->unordered = false;
}

/* Set RL: how many nodes of the path, this one included, have its consumer. */
static void set_levels(struct flow *f)
{
	uint32_t *open = xcalloc(flow_nr_consumers(f), sizeof(*open));
	uint32_t i = FLOW_NONE;

	f->rl = xrealloc(f->rl, f->nr_nodes * sizeof(*f->rl));
	f->rl[FLOW_NONE] = 0;
	for (;;) {
		if (i)
			f->rl[i] = ++open[f->nodes[i].consumer];
		if (f->nodes[i].child) {
			i = f->nodes[i].child;
			continue;
		}
		for (; i; i = f->nodes[i].parent) {
			open[f->nodes[i].consumer]--;
			if (f->nodes[i].sibling)
				break;
		}
		if (!i)
			break;
		i = f->nodes[i].sibling;
	}
	free(open);
}

static void flow_sum_up(struct flow *f)
{
	size_t size = f->nr_nodes * f->nr_metrics * sizeof(*f->cum), i;
	unsigned int m, nr = f->nr_metrics;

	f->cum = xrealloc(f->cum, size);
	memcpy(f->cum, f->base, size);
	for (i = f->nr_nodes; --i > 0;) {
		const uint64_t *from = flow_cum(f, i);
		uint64_t *to = flow_cum(f, f->nodes[i].parent);

		for (m = 0; m < nr; m++)
			flow_sum(&to[m], from[m]);
	}
}

void flow_link(struct flow *f)
{
	if (f->unordered)
		flow_renumber(f, NULL);
	link_children(f);
}

void flow_finish(struct flow *f)
{
	flow_link(f);
	set_levels(f);
	flow_sum_up(f);
}

uint64_t flow_totals(const struct flow *f, uint64_t *total)
{
	unsigned int m;
	uint64_t n = 0;
	size_t i;

	memset(total, 0, f->nr_metrics * sizeof(*total));
	for (i = 1; i < f->nr_nodes; i++) {
		const uint64_t *base = flow_base(f, i);

		flow_sum(&n, f->nodes[i].n);
		for (m = 0; m < f->nr_metrics; m++)
			flow_sum(&total[m], base[m]);
	}
	return n;
}

void flow_sum_n(const struct flow *f, uint64_t *n)
{
	size_t i;

	memset(n, 0, f->nr_nodes * sizeof(*n));
	for (i = f->nr_nodes; --i > 0;) {	/* [4] */
		flow_sum(&n[i], f->nodes[i].n);
		flow_sum(&n[f->nodes[i].parent], n[i]);
	}
}

uint32_t flow_nr_consumers(const struct flow *f)
{
	uint32_t max = 0;
	size_t i;

	for (i = 1; i < f->nr_nodes; i++)
		max = MAX(max, f->nodes[i].consumer);
	return max + 1;
}
