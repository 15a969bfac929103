// SPDX-License-Identifier: GPL-2.0-or-later
/* rows.c - the sets of contexts: each context says which rows it is in, and these are gathered by row. */
#include <string.h>

#include "base/mem.h"
#include "diff/rows.h"

/* One context in one row. */
struct member {
	uint32_t consumer, other, node;
	enum diff_kind kind;
};

struct members {
	struct member *list;
	size_t nr_list, alloc_list;
};

static void put(struct members *m, uint32_t consumer, enum diff_kind kind, uint32_t other, uint32_t node)
{
	VEC_GROW(m->list, m->nr_list, m->alloc_list);
	m->list[m->nr_list++] = (struct member){ consumer, other, node, kind };
}

static int compare_members(const void *p, const void *q)
{
	const struct member *a = p, *b = q;

	if (a->consumer != b->consumer)
		return a->consumer < b->consumer ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->other != b->other)
		return a->other < b->other ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

/* Rows with r are of contexts that have the stanza's consumer above them already. */
static void put_arcs(struct members *m, const struct flow *f, uint32_t i)
{
	const struct flow_node *node = &f->nodes[i], *parent = &f->nodes[node->parent];
	uint32_t caller = node->parent ? parent->consumer : 0;
	bool r = f->rl[i] > 1;

	put(m, node->consumer, r ? DIFF_RSELF : DIFF_SELF, 0, i);
	put(m, node->consumer, r ? DIFF_RPARENT : DIFF_PARENT, caller, i);
	if (caller)
		put(m, caller, f->rl[node->parent] > 1 ? DIFF_RCHILD : DIFF_CHILD, node->consumer, i);
}

static void find_members(const struct diff_rows *x, struct members *m)
{
	const struct flow *f = &x->d->m.flow;
	size_t i;

	for (i = 1; i < f->nr_nodes; i++) {
		if (x->by == DIFF_BY_ARC)
			put_arcs(m, f, i);
		else if (x->by == DIFF_BY_CONTEXT)
			put(m, i, DIFF_SELF, 0, i);	/* the order of contexts */
		else if (x->of == DIFF_BASE || f->rl[i] == 1)
			put(m, f->nodes[i].consumer, DIFF_SELF, 0, i);
	}
	if (m->nr_list)
		qsort(m->list, m->nr_list, sizeof(*m->list), compare_members);
}

static bool begins_row(const struct members *m, size_t i)
{
	const struct member *a = &m->list[i - !!i], *b = &m->list[i];

	return !i || a->consumer != b->consumer || a->kind != b->kind || a->other != b->other;
}

static void gather(struct diff_rows *x, const struct members *m)
{
	size_t i;

	x->nodes = xcalloc(m->nr_list + 1, sizeof(*x->nodes));
	x->list = xcalloc(m->nr_list + 1, sizeof(*x->list));
	for (i = 0; i < m->nr_list; i++) {
		const struct member *is = &m->list[i];

		x->nodes[i] = is->node;
		if (begins_row(m, i))
			x->list[x->nr++] = (struct diff_row){
				.consumer = x->d->m.flow.nodes[is->node].consumer,
				.other = is->other, .kind = is->kind, .nodes = &x->nodes[i],
				.node = x->by == DIFF_BY_CONTEXT ? is->node : 0 };
		if (x->by == DIFF_BY_ARC)
			x->list[x->nr - 1].consumer = is->consumer;
		x->list[x->nr - 1].nr_nodes++;
	}
}

static uint64_t row_sum_of(const struct diff_row *row, const uint64_t *of)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < row->nr_nodes; i++)
		sum += of[row->nodes[i]];
	return sum;
}

double row_saved_of(const struct diff_row *row, const double *of)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < row->nr_nodes; i++)
		sum += of[row->nodes[i]];
	return sum;
}

uint64_t row_sum(const struct diff_rows *x, const struct diff_row *row, const struct diff_run *r)
{
	return row_sum_of(row, x->of == DIFF_CUM ? r->cum : r->base);
}

uint64_t row_n(const struct diff_rows *x, const struct diff_row *row, const struct diff_run *r)
{
	return row_sum_of(row, x->of == DIFF_CUM && !x->d->exact ? r->cum_n : r->n);
}

double row_divisor(const struct diff_rows *x, const struct diff_row *row, const struct diff_run *r)
{
	switch (x->normalize) {
	case DIFF_SIZE:
		return r->size;
	case DIFF_WORK:
		return r->about.work;
	case DIFF_TOTAL:
		return r->total;
	case DIFF_SECOND:
		return r->about.recorded_ns / 1e9;
	case DIFF_CALL:
		return row_sum_of(row, r->n);
	case DIFF_NONE:
		break;
	}
	return 1;
}

void rows_sum_up(const struct diff_rows *x, struct diff_row *row)
{
	size_t i;

	for (i = 0; i < DIFF_NR_SIDES; i++) {
		row->sum[i] = row->n[i] = 0;
		row->value[i] = 0;
		row->defined[i] = true;
	}
	row->share = 0;

	for (i = 0; i < x->d->nr_runs; i++) {
		const struct diff_run *r = &x->d->runs[i];
		uint64_t sum = row_sum(x, row, r);
		double by = row_divisor(x, row, r);

		row->sum[r->side] += sum;
		row->n[r->side] += row_n(x, row, r);
		row->defined[r->side] &= by > 0;
		row->value[r->side] += by > 0 ? sum / by / x->d->nr_of_side[r->side] : 0;
		if (r->total)
			row->share = MAX(row->share, (double)sum / r->total);
	}
	row->delta = 0;
	if (row->defined[DIFF_A] && row->defined[DIFF_B])
		row->delta = row->value[DIFF_B] - row->value[DIFF_A];
}

void rows_init(struct diff_rows *x, const struct diff *d, enum diff_by by, enum diff_of of,
	       enum diff_normalize normalize)
{
	struct members m = { .nr_list = 0 };
	size_t i, used = 0;

	*x = (struct diff_rows){ .d = d, .by = by, .of = of, .normalize = normalize };
	find_members(x, &m);
	gather(x, &m);
	free(m.list);
	for (i = 0; i < x->nr; i++) {
		struct diff_row *row = &x->list[i];

		rows_sum_up(x, row);
		if (by == DIFF_BY_CONTEXT || row->sum[DIFF_A] || row->sum[DIFF_B] || row->n[DIFF_A] ||
		    row->n[DIFF_B])
			x->list[used++] = *row;
	}
	x->nr = used;
}

void rows_release(struct diff_rows *x)
{
	free(x->list);
	free(x->nodes);
	memset(x, 0, sizeof(*x));
}
