// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arcs.c - from a tree to stanzas.
 *
 * One pass sums every edge (parent's consumer, consumer, is the node recursive, is its parent
 * recursive); the four kinds of rows are sums of those edges over one of the two flags.
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "flow/arcs.h"

struct edge {
	uint32_t parent, consumer;
	uint16_t rnode, rparent;		/* recursion level above 1; no padding: compared as bytes */
};

struct edges {
	struct edge *items;
	size_t nr_items, alloc_items;
	uint64_t *sums;			/* [edge][1 + 2 * nr_metrics]: n, base, cum */
	size_t alloc_sums;
	unsigned int width;
	uint32_t *slots;
	size_t alloc_slots;
};

static size_t slot_of(const struct edges *x, const struct edge *k)
{
	return hash_pair((uint64_t)k->parent << 32 | k->consumer, k->rnode * 2 + k->rparent) &
	       (x->alloc_slots - 1);
}

static void grow_slots(struct edges *x)
{
	size_t i, s;

	free(x->slots);
	x->alloc_slots = x->alloc_slots ? x->alloc_slots * 2 : 1024;
	x->slots = xcalloc(x->alloc_slots, sizeof(*x->slots));
	for (i = 0; i < x->nr_items; i++) {
		for (s = slot_of(x, &x->items[i]); x->slots[s]; s = (s + 1) & (x->alloc_slots - 1))
			;
		x->slots[s] = i + 1;
	}
}

static uint64_t *edge_sums(struct edges *x, const struct edge *k)
{
	size_t s, i;

	if (x->nr_items * 2 >= x->alloc_slots)
		grow_slots(x);
	for (s = slot_of(x, k); x->slots[s]; s = (s + 1) & (x->alloc_slots - 1)) {
		const struct edge *e = &x->items[x->slots[s] - 1];

		if (e->parent == k->parent && e->consumer == k->consumer && e->rnode == k->rnode &&
		    e->rparent == k->rparent)
			return x->sums + (x->slots[s] - 1) * (size_t)x->width;
	}
	VEC_GROW(x->items, x->nr_items, x->alloc_items);
	i = x->nr_items++;
	if (x->nr_items > x->alloc_sums) {
		x->alloc_sums = x->alloc_items;
		x->sums = xrealloc(x->sums, x->alloc_sums * x->width * sizeof(*x->sums));
	}
	x->items[i] = *k;
	x->slots[s] = i + 1;
	return memset(x->sums + i * x->width, 0, x->width * sizeof(*x->sums));
}

static void add_node(uint64_t *to, const struct flow *f, uint32_t i)
{
	unsigned int m, nr = f->nr_metrics;

	to[0] += f->nodes[i].n;
	for (m = 0; m < nr; m++) {
		to[1 + m] += flow_base(f, i)[m];
		to[1 + nr + m] += flow_cum(f, i)[m];
	}
}

static struct arc_sums sums_at(const uint64_t *p, unsigned int nr_metrics)
{
	return (struct arc_sums){ p[0], p + 1, p + 1 + nr_metrics };
}

/* Self and rself of every consumer; allocates the stanzas. */
static void sum_self(struct arcs *a, const struct flow *f, uint64_t *sums, unsigned int width)
{
	size_t i;

	for (i = 1; i < f->nr_nodes; i++) {
		uint32_t at = a->stanza_of[f->nodes[i].consumer];
		struct arc_stanza *s = &a->stanzas[at];
		bool r = f->nodes[i].rl > 1;

		s->nr_self += !r;
		s->nr_rself += r;
		add_node(sums + ((size_t)at * 2 + r) * width, f, i);
	}
	for (i = 0; i < a->nr_stanzas; i++) {
		a->stanzas[i].self = sums_at(sums + i * 2 * width, f->nr_metrics);
		a->stanzas[i].rself = sums_at(sums + (i * 2 + 1) * width, f->nr_metrics);
	}
}

static void sum_edges(struct edges *x, const struct flow *f)
{
	uint64_t *sums = NULL;
	struct edge k, last = { 0 };
	size_t i;

	for (i = 1; i < f->nr_nodes; i++) {
		const struct flow_node *n = &f->nodes[i], *p = &f->nodes[n->parent];

		k = (struct edge){ n->parent ? p->consumer : 0, n->consumer, n->rl > 1, p->rl > 1 };
		if (!sums || memcmp(&k, &last, sizeof(k)) != 0)
			sums = edge_sums(x, &k);
		last = k;
		add_node(sums, f, i);
	}
}

/* One end of an edge as a row of the other's stanza. */
struct end {
	uint32_t stanza, consumer, edge;
	enum arc_rows kind;
};

static int compare_ends(const void *p, const void *q)
{
	const struct end *a = p, *b = q;

	if (a->stanza != b->stanza)
		return a->stanza < b->stanza ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->consumer != b->consumer)
		return a->consumer < b->consumer ? -1 : 1;
	return 0;
}

static size_t list_ends(const struct arcs *a, const struct edges *x, struct end *ends)
{
	size_t i, nr = 0;

	for (i = 0; i < x->nr_items; i++) {
		const struct edge *e = &x->items[i];

		ends[nr++] = (struct end){ a->stanza_of[e->consumer], e->parent, i,
					   e->rnode ? ARC_RPARENTS : ARC_PARENTS };
		if (e->parent)
			ends[nr++] = (struct end){ a->stanza_of[e->parent], e->consumer, i,
						   e->rparent ? ARC_RCHILDREN : ARC_CHILDREN };
	}
	qsort(ends, nr, sizeof(*ends), compare_ends);
	return nr;
}

/* Makes rows of the sorted ends, those of one stanza, kind and consumer together. */
static void make_rows(struct arcs *a, const struct edges *x, const struct end *ends, size_t nr_ends,
		      uint64_t *sums)
{
	size_t i, nr = 0;
	unsigned int w;

	for (i = 0; i < nr_ends; i++) {
		struct arc_stanza *s = &a->stanzas[ends[i].stanza];
		const uint64_t *from = x->sums + (size_t)ends[i].edge * x->width;

		if (!i || compare_ends(&ends[i - 1], &ends[i])) {
			a->rows[nr] = (struct arc){ ends[i].consumer, sums_at(sums + nr * x->width, a->nr_metrics) };
			if (!s->nr_rows[ends[i].kind]++)
				s->rows[ends[i].kind] = &a->rows[nr];
			nr++;
		}
		for (w = 0; w < x->width; w++)
			sums[(nr - 1) * x->width + w] += from[w];
		a->rows[nr - 1].sums.n = sums[(nr - 1) * x->width];
	}
}

/* A consumer that is a root and nothing else has no parents, not a row that says so. */
static void drop_lone_roots(struct arcs *a)
{
	size_t i;

	for (i = 0; i < a->nr_stanzas; i++) {
		struct arc_stanza *s = &a->stanzas[i];

		if (s->nr_rows[ARC_PARENTS] == 1 && !s->rows[ARC_PARENTS][0].consumer)
			s->nr_rows[ARC_PARENTS] = 0;
	}
}

static void find_stanzas(struct arcs *a, const struct flow *f)
{
	uint32_t nr = flow_nr_consumers(f), c;
	size_t i;

	a->stanza_of = xmalloc(nr * sizeof(*a->stanza_of));
	memset(a->stanza_of, 0xff, nr * sizeof(*a->stanza_of));
	for (i = 1; i < f->nr_nodes; i++)
		a->stanza_of[f->nodes[i].consumer] = 0;
	for (c = 0; c < nr; c++)
		if (!a->stanza_of[c])
			a->stanza_of[c] = a->nr_stanzas++;
	a->stanzas = xcalloc(a->nr_stanzas + 1, sizeof(*a->stanzas));
	for (c = 0; c < nr; c++)
		if (a->stanza_of[c] != UINT32_MAX)
			a->stanzas[a->stanza_of[c]].consumer = c;
}

void arcs_init(struct arcs *a, const struct flow *f)
{
	struct edges x = { .width = 1 + 2 * f->nr_metrics };
	struct end *ends;
	size_t nr_ends;

	memset(a, 0, sizeof(*a));
	a->nr_metrics = f->nr_metrics;
	find_stanzas(a, f);
	sum_edges(&x, f);
	ends = xmalloc((x.nr_items * 2 + 1) * sizeof(*ends));
	nr_ends = list_ends(a, &x, ends);
	a->sums = xcalloc((a->nr_stanzas * 2 + nr_ends + 1) * x.width, sizeof(*a->sums));
	a->rows = xcalloc(nr_ends + 1, sizeof(*a->rows));
	sum_self(a, f, a->sums, x.width);
	make_rows(a, &x, ends, nr_ends, a->sums + a->nr_stanzas * 2 * x.width);
	drop_lone_roots(a);
	free(ends);
	free(x.items);
	free(x.sums);
	free(x.slots);
}

void arcs_release(struct arcs *a)
{
	free(a->stanzas);
	free(a->stanza_of);
	free(a->rows);
	free(a->sums);
	memset(a, 0, sizeof(*a));
}

struct order {
	const struct flow_order *o;
	bool up;
};

static int compare_stanzas(const void *p, const void *q, void *ctx)
{
	const struct arc_stanza *a = p, *b = q;
	const struct order *x = ctx;

	return flow_compare(x->o, a->consumer, a->self.n, a->self.base, a->self.cum, b->consumer, b->self.n,
			    b->self.base, b->self.cum, false);
}

static int compare_rows(const void *p, const void *q, void *ctx)
{
	const struct arc *a = p, *b = q;
	const struct order *x = ctx;

	return flow_compare(x->o, a->consumer, a->sums.n, a->sums.base, a->sums.cum, b->consumer, b->sums.n,
			    b->sums.base, b->sums.cum, x->up);
}

void arcs_sort(struct arcs *a, const struct flow_order *o)
{
	struct order x = { o, false };
	size_t i, k;

	qsort_r(a->stanzas, a->nr_stanzas, sizeof(*a->stanzas), compare_stanzas, &x);
	for (i = 0; i < a->nr_stanzas; i++) {
		struct arc_stanza *s = &a->stanzas[i];

		a->stanza_of[s->consumer] = i;
		for (k = 0; k < ARC_NR; k++) {
			x.up = k == ARC_PARENTS || k == ARC_RPARENTS;
			if (s->nr_rows[k] > 1)
				qsort_r(s->rows[k], s->nr_rows[k], sizeof(*s->rows[k]), compare_rows, &x);
		}
	}
}
