// SPDX-License-Identifier: MIT
/*
 * prune.c - memory is full: the contexts of a thread in which the least was consumed give theirs to new ones.
 * When the user asks for it, a sweep drops those that have little of what their callers consumed, too.
 *
 * What they had goes to [pruned] of the context above, so that all sums stay. A context is kept for
 * what it has consumed with all that is inside it, so that one that is kept has all above it. Only
 * the thread itself comes here, in the middle of an entry: open calls are kept, and so are roots
 * and their [pruned].
 */
#include "callflow/process.h"

enum {
	NR_HEATS = 256,			/* four to an octave */
	WORTH = 16,			/* below that part of the nodes freed, the next try comes later */
};

#define DROPPED ((uint64_t)1 << 63)	/* of callflow_node.calls, while it lasts */
#define OPEN ((uint64_t)1 << 62)

struct prune {
	struct callflow_thread *t;
	uint64_t *sums;			/* [level], of the way from the root */
	uint8_t *heats;			/* [node, in the order of visits] */
	uint64_t nr_levels;
	uint64_t nr, max;		/* nodes visited; room in heats */
	uint64_t nr_of[NR_HEATS];
	uint32_t least;			/* the heat that is kept in any case, */
	uint64_t spare;			/* and how many are kept of the one below */
	uint64_t nr_freed;
	/* of a sweep, which has only two heats: what each node consumed, and the first node visited in it */
	uint64_t *cums;
	uint32_t *firsts;
};

/* Logarithmic; 0 for nothing. */
static uint8_t heat_of(uint64_t v)
{
	uint32_t top;

	if (v < 8)
		return v;
	top = 63 - __builtin_clzll(v);
	return 4 * (top - 1) + (v >> (top - 2) & 3);
}

static uint64_t own_heat(const struct callflow_node *n)
{
	return cf.nr_metrics ? n->base[0] : n->calls & CALLFLOW_CALLS;
}

/* Calls visit() for each node below root and root itself, children first; false: it gave up. */
static bool callflow_prune_walk(struct prune *p, bool (*visit)(struct prune *p, uint32_t ref, uint32_t level))
{
	uint32_t at = p->t->root, level = 0;

	for (;;) {
		while (node_at(at)->child) {
			at = node_at(at)->child;
			level++;
		}
		for (;;) {
			struct callflow_node *n = node_at(at), *above = node_at(n->parent);

			if (!visit(p, at, level))
				return false;
			if (at == p->t->root)
				return true;
			if (n->sibling != above->child) {
				at = n->sibling;
				break;
			}
			at = n->parent;
			level--;
		}
	}
}

static bool callflow_prune_measure(struct prune *p, uint32_t ref, uint32_t level)
{
	uint64_t sum;

	if (level + 1 >= p->nr_levels || p->nr == p->max)
		return false;
	sum = p->sums[level + 1] + own_heat(node_at(ref));
	p->sums[level + 1] = 0;
	p->sums[level] += sum;
	p->heats[p->nr] = heat_of(sum);
	p->nr_of[p->heats[p->nr++]]++;
	return true;
}

/* Find which children have little of what the node has; they were visited before it. */
static bool callflow_prune_compare(struct prune *p, uint32_t ref, uint32_t level)
{
	uint32_t at = p->nr, first = at, child = node_at(ref)->child, c = child;
	uint64_t sum, small;

	if (level + 1 >= p->nr_levels || p->nr == p->max)
		return false;
	sum = p->sums[level + 1] + own_heat(node_at(ref));
	p->sums[level + 1] = 0;
	p->sums[level] += sum;
	small = (unsigned __int128)sum * cf.area->prune_share >> 32;
	if (child) {
		do {
			uint32_t its = first - 1;

			p->heats[its] = p->cums[its] > small;
			first = p->firsts[its];
			c = node_at(c)->sibling;
		} while (c != child);
	}
	p->cums[at] = sum;
	p->firsts[at] = first;
	p->heats[at] = 1;
	p->nr++;
	return true;
}

/* Choose small contexts; each goes with everything inside it. */
static void choose_small(struct prune *p)
{
	uint32_t i = p->nr, first;

	while (i--) {
		first = p->firsts[i];
		for (; !p->heats[i] && i > first; i--)
			p->heats[i - 1] = 0;
	}
	p->least = 1;
	p->spare = 0;
}

/* Choose so that about half of the nodes are kept. */
static void callflow_prune_choose(struct prune *p)
{
	uint64_t kept = 0;

	for (p->least = NR_HEATS; p->least && kept + p->nr_of[p->least - 1] <= p->nr / 2; p->least--)
		kept += p->nr_of[p->least - 1];
	p->spare = p->nr / 2 - kept;
}

static void free_node(struct prune *p, uint32_t ref)
{
	struct callflow_node *n = node_at(ref);

	store_release(&n->consumer, 0);
	n->child = p->t->free_nodes;
	p->t->free_nodes = ref;
	p->nr_freed++;
}

/* The recorder passes over a node without a consumer: at no time it sees the same call twice. */
static void merge(struct prune *p, uint32_t ref, uint32_t into)
{
	struct callflow_node *from = node_at(ref), *to = node_at(into);
	uint32_t m;

	if (from->consumer != CALLFLOW_CONSUMER_PRUNED)
		p->t->folded += from->calls & CALLFLOW_CALLS;
	free_node(p, ref);
	to->calls += from->calls & CALLFLOW_CALLS;
	for (m = 0; m < cf.nr_metrics; m++)
		to->base[m] += from->base[m];
}

/* Turn a child into [pruned] of its parent, with what it had. */
static void become_pruned(struct prune *p, uint32_t ref)
{
	struct callflow_node *n = node_at(ref);

	p->t->folded += n->calls & CALLFLOW_CALLS;
	if (n->child)
		merge(p, n->child, ref);
	n->child = 0;
	n->calls = (n->calls & CALLFLOW_CALLS) | ((n->calls + CALLFLOW_USE) & CALLFLOW_USES);
	store_release(&n->consumer, CALLFLOW_CONSUMER_PRUNED);
}

static uint32_t find_pruned(uint32_t first)
{
	uint32_t c = first;

	do {
		if (node_at(c)->consumer == CALLFLOW_CONSUMER_PRUNED)
			return c;
		c = node_at(c)->sibling;
	} while (c != first);
	return 0;
}

/* Takes the dropped ones out of the ring of a node's children. */
static void sweep(struct prune *p, uint32_t ref)
{
	struct callflow_node *n = node_at(ref);
	uint32_t used = n->child, last = 0, first = 0, c = used, next, pruned = find_pruned(used);
	bool more;

	do {
		struct callflow_node *child = node_at(c);

		next = child->sibling;
		more = next != used;
		if (child->calls & DROPPED && pruned) {
			if (child->child)
				merge(p, child->child, pruned);
			merge(p, c, pruned);
		} else {
			if (child->calls & DROPPED)
				become_pruned(p, pruned = c);
			if (last)
				node_at(last)->sibling = c;
			else
				first = c;
			last = c;
		}
		c = next;
	} while (more);
	n->child = first;
	if (last)
		node_at(last)->sibling = first;
}

/*
 * Return whether everything that was inside is in [pruned]; that of the thread stays what it is, wherever it
 * is.
 */
static bool is_bare(const struct prune *p, const struct callflow_node *n)
{
	const struct callflow_node *c = node_at(n->child);

	return !n->child || (c->consumer == CALLFLOW_CONSUMER_PRUNED && node_at(c->sibling) == c &&
			     n->child != p->t->pruned);
}

static bool callflow_prune_decide(struct prune *p, uint32_t ref, uint32_t level)
{
	struct callflow_node *n = node_at(ref);
	uint8_t heat = p->heats[p->nr++];

	if (n->child)
		sweep(p, ref);
	if (n->calls & OPEN || (n->consumer >= CALLFLOW_MARK && !callflow_is_label(n->consumer)) ||
	    !is_bare(p, n) || heat >= p->least)
		return true;
	if (heat + 1u == p->least && p->spare)
		p->spare--;
	else
		n->calls |= DROPPED;
	return true;
}

static void mark_open(struct callflow_thread *t, bool open)
{
	const struct callflow_open *o = (void *)(uintptr_t)t->stack;

	for (; o <= (const struct callflow_open *)(uintptr_t)t->top; o++) {
		if (open)
			node_at(o->node)->calls |= OPEN;
		else
			node_at(o->node)->calls &= ~OPEN;
	}
	if (t->beyond && open)
		node_at(t->below.node)->calls |= OPEN;
	else if (t->beyond)
		node_at(t->below.node)->calls &= ~OPEN;
}

static void prune(struct prune *p)
{
	if (!callflow_prune_walk(p, p->cums ? callflow_prune_compare : callflow_prune_measure))
		return;
	if (p->cums)
		choose_small(p);
	else
		callflow_prune_choose(p);
	p->nr = 0;
	mark_open(p->t, true);
	callflow_prune_walk(p, callflow_prune_decide);
	mark_open(p->t, false);
	callflow_free_wide(p->t);
}

/* The recorder does not read a tree that changes so, and no tree changes so while it reads. */
static bool callflow_prune_begin(struct callflow_thread *t)
{
	store_seq_cst(&t->pruning, 1);
	if (!load_seq_cst(&cf.area->reading))
		return true;
	store_release(&t->pruning, 0);
	return false;
}

static void begin_and_prune(struct prune *p)
{
	struct callflow_thread *t = p->t;
	size_t sums;

	p->nr_levels = cf.area->max_depth + (t->inserted & 0xffff) + 8ul;
	sums = p->nr_levels * sizeof(*p->sums);
	p->sums = callflow_pages(sums, false);
	p->heats = callflow_pages(p->max, false);
	if (p->sums && p->heats && callflow_prune_begin(t)) {
		prune(p);
		store_release(&t->pruning, 0);
	}
	callflow_free_pages(p->sums, sums);
	callflow_free_pages(p->heats, p->max);
}

static uint64_t most_nodes(const struct callflow_thread *t)
{
	return (t->own_pages + 1ull) * (CALLFLOW_PAGE / 8 / cf.node_words);
}

static __attribute__((noinline)) void sweep_small(struct callflow_thread *t)
{
	struct prune p = { .t = t, .max = most_nodes(t) };

	if (cpu_tsc() - t->swept_tsc < cf.area->prune_tsc)
		return;
	p.cums = callflow_pages(p.max * sizeof(*p.cums), false);
	p.firsts = callflow_pages(p.max * sizeof(*p.firsts), false);
	if (p.cums && p.firsts)
		begin_and_prune(&p);
	callflow_free_pages(p.cums, p.max * sizeof(*p.cums));
	callflow_free_pages(p.firsts, p.max * sizeof(*p.firsts));
	t->swept_tsc = cpu_tsc();
}

bool callflow_prune(struct callflow_thread *t)
{
	struct prune p = { .t = t, .max = most_nodes(t) };

	if (t->prune_wait) {
		t->prune_wait--;
		return false;
	}
	begin_and_prune(&p);
	if (p.nr_freed < p.max / WORTH)
		t->prune_wait = p.max / WORTH;
	return p.nr_freed;
}

uint32_t callflow_context_new(struct callflow_thread *t, uint32_t parent, uint32_t consumer)
{
	uint32_t c;

	if (unlikely(cf.area->prune_share))
		sweep_small(t);
	c = callflow_node_new(t, parent, consumer);
	return c || !callflow_prune(t) ? c : callflow_node_new(t, parent, consumer);
}
