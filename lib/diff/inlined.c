// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * inlined.c - when a function is inlined, time moves between it and its callers: some of what is called its
 * own is now theirs, or they no longer prepare a call. That is not a regression if the function and its
 * callers together consume what they did.
 */
#include <math.h>

#include "base/mem.h"
#include "diff/noise.h"

#define MOSTLY .5	/* the inlined part of its samples must change by that */

struct inlining {
	const struct noise *s;
	struct diff_rows base;		/* functions by their base */
	uint32_t *row_of;		/* [consumer]: index in base.list + 1; 0: none */
	bool *only;			/* [consumer]: it or its callees are inlined differently, no more */
	bool *callee;			/* [consumer]: it is inlined differently itself */
};

/* Native code without debug information does not say what was inlined: the function is not there. */
static bool is_candidate(const struct diff *d, uint32_t c)
{
	double part[DIFF_NR_SIDES];
	uint32_t kind = d->m.consumers.items[c].kind;
	bool native = kind_is(kind, KIND_NATIVE);
	unsigned int side;

	if (c >= d->nr_code || d->was[c])
		return false;
	for (side = 0; side < DIFF_NR_SIDES; side++) {
		if (d->code_n[side][c] < NOISE_LEAST_N)
			return native && !d->code_n[side][c] && d->code_n[!side][c] >= NOISE_LEAST_N;
		part[side] = (double)d->inlined_n[side][c] / d->code_n[side][c];
	}
	return fabs(part[DIFF_A] - part[DIFF_B]) >= MOSTLY;
}

/* Make one row of the function and, once each, its callers. */
static struct diff_row with_callers(const struct inlining *x, uint32_t c, bool *is_caller, uint32_t **nodes)
{
	const struct diff_row *row = &x->base.list[x->row_of[c] - 1];
	const struct flow *f = &x->base.d->m.flow;
	struct diff_row all = *row;
	size_t i, k, nr = row->nr_nodes;

	for (i = 0; i < row->nr_nodes; i++) {
		uint32_t parent = f->nodes[row->nodes[i]].parent, caller = f->nodes[parent].consumer;

		if (parent && caller != c && x->row_of[caller] && !is_caller[caller]) {
			is_caller[caller] = true;
			nr += x->base.list[x->row_of[caller] - 1].nr_nodes;
		}
	}
	*nodes = all.nodes = xcalloc(nr + 1, sizeof(**nodes));
	all.nr_nodes = 0;
	for (i = 0; i < x->base.nr; i++) {
		const struct diff_row *other = &x->base.list[i];

		for (k = 0; (other == row || is_caller[other->consumer]) && k < other->nr_nodes; k++)
			all.nodes[all.nr_nodes++] = other->nodes[k];
	}
	rows_sum_up(&x->base, &all);
	return all;
}

/* Check a function that gained what its callers lost, or the other way round. */
static void look_at(struct inlining *x, uint32_t c)
{
	bool *is_caller = xcalloc(x->base.d->m.consumers.nr_items, sizeof(*is_caller));
	const struct diff_row *own = &x->base.list[x->row_of[c] - 1];
	struct diff_row all;
	uint32_t *nodes;
	size_t i;

	all = with_callers(x, c, is_caller, &nodes);
	noise_of_row(x->s, &all);
	if (all.known && all.p > NOISE_FDR &&
	    (fabs(all.delta) <= MOSTLY * fabs(own->delta) || (own->sum[DIFF_A] && own->sum[DIFF_B]))) {
		x->only[c] = x->callee[c] = true;
		for (i = 0; i < x->base.nr; i++) {
			const struct diff_row *row = &x->base.list[i];

			if (is_caller[row->consumer] && (row->delta > 0) != (own->delta > 0))
				x->only[row->consumer] = true;
		}
	}
	free(nodes);
	free(is_caller);
}

void noise_mark_inlined(const struct noise *s, struct diff_rows *x)
{
	size_t nr = x->d->m.consumers.nr_items, i;
	struct inlining in = { .s = s };
	struct noise of_base = *s;
	uint32_t c;

	rows_init(&in.base, x->d, DIFF_BY_FUNCTION, DIFF_BASE, x->normalize);
	of_base.x = &in.base;
	in.s = &of_base;
	in.row_of = xcalloc(nr, sizeof(*in.row_of));
	in.only = xcalloc(nr, sizeof(*in.only));
	in.callee = xcalloc(nr, sizeof(*in.callee));
	for (i = 0; i < in.base.nr; i++)
		in.row_of[in.base.list[i].consumer] = i + 1;
	for (c = 1; c < nr; c++)
		if (in.row_of[c] && is_candidate(x->d, c))
			look_at(&in, c);
	for (i = 0; i < x->nr; i++) {
		struct diff_row *row = &x->list[i];
		bool is_child = row->kind == DIFF_CHILD || row->kind == DIFF_RCHILD;
		uint32_t which = is_child ? row->other : row->consumer;

		if (!(x->of == DIFF_BASE ? in.only[which] : in.callee[which]))
			continue;
		row->inlined_differently = in.callee[which];
		row->changed = false;
	}
	free(in.row_of);
	free(in.only);
	free(in.callee);
	rows_release(&in.base);
}
