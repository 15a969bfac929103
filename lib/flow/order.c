// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/mem.h"
#include "flow/order.h"

/* By name, then by everything else that makes them two consumers, so that no order is chance. */
static int compare_consumers(const struct consumers *c, uint32_t x, uint32_t y)
{
	const struct consumer *a = &c->items[x], *b = &c->items[y];
	int r;

	if (x == y)
		return 0;
	if ((r = strcmp(strtab_get(&c->names, a->name), strtab_get(&c->names, b->name))))
		return r;
	if ((r = strcmp(strtab_get(&c->names, a->module), strtab_get(&c->names, b->module))))
		return r;
	if ((r = strcmp(strtab_get(&c->names, a->detail), strtab_get(&c->names, b->detail))))
		return r;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return x < y ? -1 : 1;
}

static int compare_sums(enum flow_sort first, uint64_t a_n, uint64_t a_base, uint64_t a_cum, uint64_t b_n,
			uint64_t b_base, uint64_t b_cum)
{
	if (first == FLOW_BY_BASE && a_base != b_base)
		return a_base > b_base ? -1 : 1;
	if (first == FLOW_BY_N && a_n != b_n)
		return a_n > b_n ? -1 : 1;
	if (a_cum != b_cum)
		return a_cum > b_cum ? -1 : 1;
	if (a_base != b_base)
		return a_base > b_base ? -1 : 1;
	if (a_n != b_n)
		return a_n > b_n ? -1 : 1;
	return 0;
}

int flow_compare(const struct flow_order *o, uint32_t a, uint64_t a_n, const uint64_t *a_base,
		 const uint64_t *a_cum, uint32_t b, uint64_t b_n, const uint64_t *b_base,
		 const uint64_t *b_cum, bool up)
{
	unsigned int m = o->metric;
	int r = 0;

	if (o->by != FLOW_BY_NAME)
		r = compare_sums(o->by, a_n, a_base[m], a_cum[m], b_n, b_base[m], b_cum[m]);
	for (m = 0; m < o->nr_metrics && o->by != FLOW_BY_NAME && !r; m++)
		r = compare_sums(o->by, 0, a_base[m], a_cum[m], 0, b_base[m], b_cum[m]);
	if (r)
		return up ? -r : r;
	return compare_consumers(o->consumers, a, b);
}

struct sort_ctx {
	const struct flow *f;
	const struct flow_order *o;
};

static int compare_nodes(const void *p, const void *q, void *ctx)
{
	const struct sort_ctx *x = ctx;
	uint32_t a = *(const uint32_t *)p, b = *(const uint32_t *)q;

	return flow_compare(x->o, x->f->nodes[a].consumer, x->f->nodes[a].n, flow_base(x->f, a),
			    flow_cum(x->f, a), x->f->nodes[b].consumer, x->f->nodes[b].n, flow_base(x->f, b),
			    flow_cum(x->f, b), false);
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
		for (nr = 0; child; child = f->nodes[child].sibling) {
			VEC_GROW(list, nr, alloc);
			list[nr++] = child;
		}
		qsort_r(list, nr, sizeof(*list), compare_nodes, &ctx);
		f->nodes[i].child = list[0];
		for (k = 0; k < nr; k++)
			f->nodes[list[k]].sibling = k + 1 < nr ? list[k + 1] : FLOW_NONE;
	}
	free(list);
}
