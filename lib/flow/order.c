// SPDX-License-Identifier: GPL-2.0-or-later
/* order.c - compares consumers and contexts for sorting (order.h). */
#include <string.h>

#include "base/mem.h"
#include "flow/order.h"

/* Compare by name, then by everything else that makes them two consumers, so that no order is chance. */
static int compare_consumers(const struct consumers *c, uint32_t x, uint32_t y)
{
	const struct consumer *a = &c->items[x], *b = &c->items[y];

	if (x == y)
		return 0;
	return strcmp(strtab_get(&c->names, a->name), strtab_get(&c->names, b->name)) ?:
	       strcmp(strtab_get(&c->names, a->module), strtab_get(&c->names, b->module)) ?:
	       strcmp(strtab_get(&c->names, a->detail), strtab_get(&c->names, b->detail)) ?:
	       COMPARE(a->kind, b->kind) ?: COMPARE(a->key, b->key) ?: COMPARE(x, y);
}

struct sums {
	uint64_t n, base, cum;
};

static int compare_sums(enum flow_sort first, struct sums a, struct sums b)
{
	int r = first == FLOW_BY_BASE ? COMPARE(b.base, a.base) : first == FLOW_BY_N ? COMPARE(b.n, a.n) : 0;

	return r ?: COMPARE(b.cum, a.cum) ?: COMPARE(b.base, a.base) ?: COMPARE(b.n, a.n);
}

static struct sums sums_of(const struct flow_key *k, uint64_t n, unsigned int metric)
{
	return (struct sums){ n, k->base[metric], k->cum[metric] };
}

static uint64_t order_n_of(const struct flow_order *o, const struct flow_key *k)
{
	return o->counter ? k->base[o->counter] : k->n;
}

int flow_compare(const struct flow_order *o, const struct flow_key *a, const struct flow_key *b, bool up)
{
	unsigned int m = o->metric;
	int r = 0;

	if (o->by != FLOW_BY_NAME)
		r = compare_sums(o->by, sums_of(a, order_n_of(o, a), m), sums_of(b, order_n_of(o, b), m));
	for (m = 0; m < o->nr_metrics && o->by != FLOW_BY_NAME && !r; m++)
		r = compare_sums(o->by, sums_of(a, 0, m), sums_of(b, 0, m));
	if (r)
		return up ? -r : r;
	return compare_consumers(o->consumers, a->consumer, b->consumer);
}

struct sort_ctx {
	const struct flow *f;
	const struct flow_order *o;
};

static struct flow_key order_key_of(const struct flow *f, uint32_t node)
{
	return (struct flow_key){
		f->nodes[node].consumer, f->nodes[node].n, flow_base(f, node), flow_cum(f, node),
	};
}

static int compare_nodes(const void *p, const void *q, void *ctx)
{
	const struct sort_ctx *x = ctx;
	const struct flow_key a = order_key_of(x->f, *(const uint32_t *)p);
	const struct flow_key b = order_key_of(x->f, *(const uint32_t *)q);

	return flow_compare(x->o, &a, &b, false);
}

void flow_sort_children(struct flow *f, const struct flow_order *o)
{
	struct sort_ctx ctx = { f, o };
	uint32_t *list = NULL, child;
	size_t nr, alloc = 0, i, k;

	for (i = 0; i < f->nr_nodes; i++) {
		child = f->nodes[i].child;
		if (!child || !f->nodes[child].sibling)
			continue;
		for (nr = 0; child; child = f->nodes[child].sibling)
			*VEC_ADD(list, nr, alloc) = child;
		qsort_r(list, nr, sizeof(*list), compare_nodes, &ctx);
		f->nodes[i].child = list[0];
		for (k = 0; k < nr; k++)
			f->nodes[list[k]].sibling = k + 1 < nr ? list[k + 1] : FLOW_NONE;
	}
	free(list);
}
