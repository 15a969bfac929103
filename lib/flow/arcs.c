// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arcs.c - from a tree to stanzas.
 *
 * The nodes are put in order of their consumer; then each stanza's rows are summed from its
 * nodes, their parents and their children.  row_of[] finds the row of the other end without a
 * search: rows are only appended, so an index from an earlier stanza or kind shows itself.
 *
 * The nodes of a consumer are all over the tree, and a large tree does not fit into caches: what is
 * needed soon is asked for before.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "flow/arcs.h"

struct builder {
	struct arcs *a;
	const struct flow *f;
	unsigned int width;		/* of a row's sums: n, base[], cum[] */
	size_t nr_rows, alloc_rows;
	size_t alloc_sums;
	uint32_t *nodes;		/* by consumer */
	uint32_t *first;		/* [stanza + 1]: where its nodes begin */
	size_t *row_of;			/* [consumer]: index + 1 of its last row */
};

static void arcs_add_node(uint64_t *to, const struct flow *f, uint32_t i)
{
	const uint64_t *base = flow_base(f, i), *cum = flow_cum(f, i);
	unsigned int m, nr = f->nr_metrics;

	flow_sum(&to[0], f->nodes[i].n);
	for (m = 0; m < nr; m++) {
		flow_sum(&to[1 + m], base[m]);
		flow_sum(&to[1 + nr + m], cum[m]);
	}
}

/* Return a new row; the pointers into sums[] are set when it has stopped growing. */
static size_t new_row(struct builder *b, uint32_t consumer)
{
	struct arcs *a = b->a;

	VEC_GROW(a->rows, b->nr_rows, b->alloc_rows);
	if (b->alloc_sums < b->alloc_rows) {
		b->alloc_sums = b->alloc_rows;
		a->sums = xrealloc(a->sums, b->alloc_sums * b->width * sizeof(*a->sums));
	}
	a->rows[b->nr_rows].consumer = consumer;
	memset(a->sums + b->nr_rows * b->width, 0, b->width * sizeof(*a->sums));
	return b->nr_rows++;
}

static void arcs_add_row(struct builder *b, size_t first, uint32_t consumer, uint32_t node)
{
	size_t *at = &b->row_of[consumer];

	if (*at <= first)
		*at = new_row(b, consumer) + 1;
	arcs_add_node(b->a->sums + (*at - 1) * b->width, b->f, node);
}

enum { AHEAD = 8 };	/* nodes */

static void fetch_values(const struct flow *f, uint32_t node)
{
	__builtin_prefetch(&f->nodes[node]);
	__builtin_prefetch(flow_base(f, node));
	__builtin_prefetch(flow_cum(f, node));
}

/* Set from what the other end of the arcs of b->nodes[k] is read. */
static void fetch_other_end(const struct builder *b, uint32_t k, bool up)
{
	const struct flow_node *n = &b->f->nodes[b->nodes[k]];

	if (up)
		__builtin_prefetch(&b->f->nodes[n->parent]);
	else
		fetch_values(b->f, n->child);
}

static void sum_rows(struct builder *b, size_t stanza, enum arc_rows kind)
{
	bool r = kind == ARC_RPARENTS || kind == ARC_RCHILDREN,
	     up = kind == ARC_PARENTS || kind == ARC_RPARENTS;
	size_t first = b->nr_rows;
	const struct flow *f = b->f;
	uint32_t k, i, child, end = b->first[stanza + 1];

	for (k = b->first[stanza]; k < end; k++) {
		i = b->nodes[k];
		if (k + AHEAD < end)
			fetch_other_end(b, k + AHEAD, up);
		if ((f->rl[i] > 1) != r)
			continue;
		if (up) {
			arcs_add_row(b, first, f->nodes[i].parent ? f->nodes[f->nodes[i].parent].consumer : 0,
				     i);
			continue;
		}
		for (child = f->nodes[i].child; child; child = f->nodes[child].sibling)
			arcs_add_row(b, first, f->nodes[child].consumer, child);
	}
	b->a->stanzas[stanza].nr_rows[kind] = b->nr_rows - first;
}

/* Sum self and rself, which have two rows for each stanza, in front of all others. */
static void sum_self(struct builder *b, size_t s)
{
	struct arc_stanza *x = &b->a->stanzas[s];
	const struct flow *f = b->f;
	uint32_t k, last = b->first[b->a->nr_stanzas];

	for (k = b->first[s]; k < b->first[s + 1]; k++) {
		bool r = f->rl[b->nodes[k]] > 1;

		if (k + AHEAD < last) {
			fetch_values(f, b->nodes[k + AHEAD]);
			__builtin_prefetch(&f->rl[b->nodes[k + AHEAD]]);
		}
		x->nr_self += !r;
		x->nr_rself += r;
		arcs_add_node(b->a->sums + (s * 2 + r) * b->width, f, b->nodes[k]);
	}
}

static void sum_stanza(struct builder *b, size_t s)
{
	sum_self(b, s);
	sum_rows(b, s, ARC_PARENTS);
	sum_rows(b, s, ARC_CHILDREN);
	if (b->a->stanzas[s].nr_rself) {
		sum_rows(b, s, ARC_RPARENTS);
		sum_rows(b, s, ARC_RCHILDREN);
	}
}

static void sort_nodes(struct builder *b)
{
	const struct flow *f = b->f;
	size_t i, s, nr = b->a->nr_stanzas;
	uint32_t *next;

	b->first = xcalloc(nr + 2, sizeof(*b->first));
	for (i = 1; i < f->nr_nodes; i++)
		b->first[b->a->stanza_of[f->nodes[i].consumer] + 1]++;
	for (s = 0; s < nr; s++)
		b->first[s + 1] += b->first[s];
	next = xmalloc((nr + 1) * sizeof(*next));
	memcpy(next, b->first, (nr + 1) * sizeof(*next));
	b->nodes = xmalloc(f->nr_nodes * sizeof(*b->nodes));
	for (i = 1; i < f->nr_nodes; i++)
		b->nodes[next[b->a->stanza_of[f->nodes[i].consumer]]++] = i;
	free(next);
}

static struct arc_sums sums_of(const struct builder *b, size_t row)
{
	const uint64_t *p = b->a->sums + row * b->width;

	return (struct arc_sums){ p[0], p + 1, p + 1 + b->f->nr_metrics };
}

/* Set the pointers, as nothing grows any more. Rows are in the order in which they were made. */
static void set_pointers(struct builder *b)
{
	struct arcs *a = b->a;
	size_t s, row, at = a->nr_stanzas * 2;
	int kind;

	for (row = 0; row < b->nr_rows; row++)
		a->rows[row].sums = sums_of(b, row);
	for (s = 0; s < a->nr_stanzas; s++) {
		a->stanzas[s].self = sums_of(b, s * 2);
		a->stanzas[s].rself = sums_of(b, s * 2 + 1);
		for (kind = 0; kind < ARC_NR; kind++) {
			a->stanzas[s].rows[kind] = a->rows + at;
			at += a->stanzas[s].nr_rows[kind];
		}
	}
}

/* Drop the parents of consumers that are only roots, so that no row says so. */
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
	struct builder b = { .a = a, .f = f, .width = 1 + 2 * f->nr_metrics };
	size_t s;

	memset(a, 0, sizeof(*a));
	a->nr_metrics = f->nr_metrics;
	find_stanzas(a, f);
	sort_nodes(&b);
	b.row_of = xcalloc(flow_nr_consumers(f), sizeof(*b.row_of));
	for (s = 0; s < a->nr_stanzas; s++) {
		new_row(&b, a->stanzas[s].consumer);
		new_row(&b, a->stanzas[s].consumer);
	}
	for (s = 0; s < a->nr_stanzas; s++)
		sum_stanza(&b, s);
	set_pointers(&b);
	drop_lone_roots(a);
	free(b.nodes);
	free(b.first);
	free(b.row_of);
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

static struct flow_key arcs_key_of(uint32_t consumer, const struct arc_sums *s)
{
	return (struct flow_key){ consumer, s->n, s->base, s->cum };
}

static int compare_stanzas(const void *p, const void *q, void *ctx)
{
	const struct arc_stanza *a = p, *b = q;
	const struct flow_key key_a = arcs_key_of(a->consumer, &a->self);
	const struct flow_key key_b = arcs_key_of(b->consumer, &b->self);
	const struct order *x = ctx;

	return flow_compare(x->o, &key_a, &key_b, false);
}

static int arcs_compare_rows(const void *p, const void *q, void *ctx)
{
	const struct arc *a = p, *b = q;
	const struct flow_key key_a = arcs_key_of(a->consumer, &a->sums);
	const struct flow_key key_b = arcs_key_of(b->consumer, &b->sums);
	const struct order *x = ctx;

	return flow_compare(x->o, &key_a, &key_b, x->up);
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
				qsort_r(s->rows[k], s->nr_rows[k], sizeof(*s->rows[k]), arcs_compare_rows,
					&x);
		}
	}
}
