// SPDX-License-Identifier: GPL-2.0-or-later
/* dominators.c - see dominators.h. */
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "heap/dominators.h"

/* --- the graph --- */

void graph_init(struct heap_graph *g, uint32_t nr)
{
	*g = (struct heap_graph){ .nr = nr, .first = xmalloc_large(((size_t)nr + 1) * sizeof(*g->first)) };
	memset(g->first, 0xff, ((size_t)nr + 1) * sizeof(*g->first));
}

void graph_release(struct heap_graph *g)
{
	free(g->first);
	free(g->to);
	free(g->last);
	*g = (struct heap_graph){ 0 };
}

void graph_put(struct heap_graph *g, uint32_t to)
{
	if (g->nr_edges == g->alloc_edges) {
		g->alloc_edges = g->alloc_edges ? g->alloc_edges * 2 : 1 << 16;
		g->to = xrealloc_large(g->to, g->alloc_edges * sizeof(*g->to));
		g->last = xrealloc_large(g->last, g->alloc_edges / 8);
	}
	if (g->nr_edges % 64 == 0)
		g->last[g->nr_edges / 64] = 0;
	g->to[g->nr_edges++] = to;
}

void graph_close(struct heap_graph *g, uint32_t node, uint64_t from)
{
	uint64_t last = g->nr_edges - 1;

	if (from == g->nr_edges)
		return;
	g->first[node] = from;
	g->last[last / 64] |= (uint64_t)1 << last % 64;
}

/* --- the search --- */

struct search {
	struct heap_graph *g;
	struct dominators *d;
	uint32_t *number;		/* [node], 0: not reached */
	uint32_t *parent;		/* [number] -> number */
	uint32_t lost;			/* number of the node lost; higher ones are below it. 0: none are */
	struct open {			/* nodes from the start to where the search is */
		uint32_t number;
		uint64_t edge;
	} *open;
	size_t nr_open, alloc_open;
};

static void reach(struct search *s, uint32_t node, uint32_t parent)
{
	uint32_t number = ++s->d->nr;

	s->number[node] = number;
	s->d->node[number] = node;
	s->parent[number] = parent;
	if (s->nr_open == s->alloc_open) {
		s->alloc_open = s->alloc_open ? s->alloc_open * 2 : 1 << 12;
		s->open = xrealloc_large(s->open, s->alloc_open * sizeof(*s->open));
	}
	s->open[s->nr_open++] = (struct open){ number, s->g->first[node] };
}

static void search_from(struct search *s, uint32_t node, uint32_t parent)
{
	const struct heap_graph *g = s->g;

	reach(s, node, parent);
	while (s->nr_open) {
		struct open *o = &s->open[s->nr_open - 1];
		uint64_t edge = o->edge;

		if (edge == GRAPH_NO_EDGES) {
			s->nr_open--;
			continue;
		}
		o->edge = graph_next(g, edge);
		if (!s->number[g->to[edge]])
			reach(s, g->to[edge], o->number);
	}
}

/* Return a bit for each node that an unreached node refers to. */
static uint64_t *referred(const struct search *s)
{
	const struct heap_graph *g = s->g;
	uint64_t *bits = xcalloc_large((size_t)g->nr / 64 + 1, sizeof(*bits)), e;
	uint32_t v;

	for (v = 0; v < g->nr; v++) {
		if (s->number[v])
			continue;
		for (e = g->first[v]; e != GRAPH_NO_EDGES; e = graph_next(g, e))
			bits[g->to[e] / 64] |= (uint64_t)(g->to[e] != v) << g->to[e] % 64;
	}
	return bits;
}

/* Search what is not reached: first what nothing refers to, then what is left of rings. */
static void search_lost(struct search *s, uint32_t root, uint32_t lost)
{
	uint32_t v, number, before;
	uint64_t from, *bits;
	int round;

	for (v = 0; v < s->g->nr && (s->number[v] || v == lost); v++)
		;
	if (v == s->g->nr)
		return;
	bits = referred(s);
	before = s->d->nr;
	reach(s, lost, s->number[root]);
	s->nr_open = 0;
	s->lost = number = s->d->nr;
	from = s->g->nr_edges;
	for (round = 0; round < 2; round++)
		for (v = 0; v < s->g->nr; v++)
			if (!s->number[v] && (round || !(bits[v / 64] >> v % 64 & 1))) {
				graph_put(s->g, v);
				search_from(s, v, number);
			}
	graph_close(s->g, lost, from);
	s->d->nr_lost = s->d->nr - before - 1;
	free(bits);
}

/* --- predecessors, without the parents in the search tree --- */

struct preds {
	uint64_t *first;		/* [number], [nr + 1] is the end */
	uint32_t *from;
};

/*
 * Return whether the edge, of numbers, goes to a predecessor. What is lost holds nothing that the root
 * reaches.
 */
static bool is_pred(const struct search *s, uint32_t from, uint32_t to)
{
	return s->parent[to] != from && !(s->lost && from > s->lost && to < s->lost);
}

static void find_preds(const struct search *s, struct preds *p)
{
	const struct heap_graph *g = s->g;
	const uint32_t nr = s->d->nr;
	uint64_t e, sum = 0, n;
	uint32_t i, to;

	p->first = xcalloc_large((size_t)nr + 2, sizeof(*p->first));
	for (i = 1; i <= nr; i++)
		for (e = g->first[s->d->node[i]]; e != GRAPH_NO_EDGES; e = graph_next(g, e)) {
			to = s->number[g->to[e]];
			p->first[to] += is_pred(s, i, to);
		}
	for (i = 1; i <= nr + 1; i++) {
		n = p->first[i];
		p->first[i] = sum;
		sum += n;
	}
	p->from = xmalloc_large((sum + 1) * sizeof(*p->from));
	for (i = 1; i <= nr; i++)
		for (e = g->first[s->d->node[i]]; e != GRAPH_NO_EDGES; e = graph_next(g, e)) {
			to = s->number[g->to[e]];
			if (is_pred(s, i, to))
				p->from[p->first[to]++] = i;
		}
	/* Each first is now the end, which is the first of the next. */
	for (i = nr + 1; i; i--)
		p->first[i] = p->first[i - 1];
}

/* --- dominators --- */

struct semi {
	uint32_t *semi, *label;
	uint32_t *above;		/* ancestor, as far as linked; paths get shorter as they are used */
	uint32_t *path;
};

/* Return the least label from v up to the root of its linked tree; nodes above i are linked. */
static uint32_t least_label(struct semi *s, uint32_t v, uint32_t i)
{
	uint32_t nr = 0, x = v, top, label;

	if (v <= i)
		return v;
	for (; s->above[x] > i; x = s->above[x])
		s->path[nr++] = x;
	top = s->above[x];
	label = s->label[x];
	while (nr) {
		x = s->path[--nr];
		if (label < s->label[x])
			s->label[x] = label;
		else
			label = s->label[x];
		s->above[x] = top;
	}
	return s->label[v];
}

static void find_semi(struct semi *s, const struct preds *p, const uint32_t *parent, uint32_t nr)
{
	uint32_t i, least, x;
	uint64_t e;

	for (i = nr; i > 1; i--) {
		least = parent[i];
		for (e = p->first[i]; e < p->first[i + 1]; e++) {
			x = least_label(s, p->from[e], i);
			least = MIN(least, x);
		}
		s->semi[i] = s->label[i] = least;
	}
}

static uint32_t *copy(const uint32_t *a, size_t nr)
{
	return memcpy(xmalloc_large(nr * sizeof(*a)), a, nr * sizeof(*a));
}

static void find_dominators(struct dominators *d, uint32_t *parent, const struct preds *p)
{
	const size_t nr = (size_t)d->nr + 1;
	struct semi s;
	uint32_t i;

	s.semi = xmalloc_large(nr * sizeof(*s.semi));
	for (i = 0; i < nr; i++)
		s.semi[i] = i;
	s.label = copy(s.semi, nr);
	s.above = copy(parent, nr);
	s.path = xmalloc_large(nr * sizeof(*s.path));
	find_semi(&s, p, parent, d->nr);
	free(s.label);
	free(s.above);
	free(s.path);
	d->idom = parent;
	for (i = 2; i <= d->nr; i++)
		while (d->idom[i] > s.semi[i])
			d->idom[i] = d->idom[d->idom[i]];
	free(s.semi);
}

void dominators_of(struct dominators *d, struct heap_graph *g, uint32_t root, uint32_t lost)
{
	struct search s = { .g = g, .d = d };
	struct preds p;

	*d = (struct dominators){ .node = xmalloc_large(((size_t)g->nr + 1) * sizeof(*d->node)) };
	d->node[0] = 0;
	s.number = xcalloc_large(g->nr, sizeof(*s.number));
	s.parent = xmalloc_large(((size_t)g->nr + 1) * sizeof(*s.parent));
	s.parent[0] = 0;
	search_from(&s, root, 0);
	search_lost(&s, root, lost);
	free(s.open);
	find_preds(&s, &p);
	free(s.number);
	graph_release(g);
	find_dominators(d, s.parent, &p);
	free(p.first);
	free(p.from);
}

void dominators_release(struct dominators *d)
{
	free(d->node);
	free(d->idom);
	*d = (struct dominators){ 0 };
}
