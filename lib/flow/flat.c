// SPDX-License-Identifier: GPL-2.0-or-later
/* flat.c - sums a tree into a flat profile (flat.h). */
#include <stdlib.h>

#include "base/mem.h"
#include "flow/flat.h"

void flat_init(struct flat *a, const struct flow *f)
{
	uint32_t nr_consumers = flow_nr_consumers(f), c;
	unsigned int m, w = f->nr_metrics;
	size_t i;

	a->nr = 0;
	a->rows = xcalloc(nr_consumers, sizeof(*a->rows));
	a->sums = xcalloc((size_t)nr_consumers * 3 * w, sizeof(*a->sums));
	for (i = 1; i < f->nr_nodes; i++) {
		struct flat_row *r = &a->rows[f->nodes[i].consumer];
		uint64_t *s = a->sums + (size_t)f->nodes[i].consumer * 3 * w;

		r->consumer = f->nodes[i].consumer;
		flow_sum(&r->n, f->nodes[i].n);
		for (m = 0; m < w; m++) {
			flow_sum(&s[m], flow_base(f, i)[m]);
			flow_sum(&s[(f->rl[i] > 1 ? 2 : 1) * w + m], flow_cum(f, i)[m]);
		}
	}
	for (c = 0; c < nr_consumers; c++) {
		const uint64_t *s = a->sums + (size_t)c * 3 * w;

		if (a->rows[c].consumer)
			a->rows[a->nr++] = (struct flat_row){ c, a->rows[c].n, s, s + w, s + 2 * w };
	}
}

void flat_release(struct flat *a)
{
	free(a->rows);
	free(a->sums);
	*a = (struct flat){ NULL, 0, NULL };
}

static int flat_compare(const void *p, const void *q, void *order)
{
	const struct flat_row *a = p, *b = q;

	return flow_compare(order, &(struct flow_key){ a->consumer, a->n, a->base, a->cum },
			    &(struct flow_key){ b->consumer, b->n, b->base, b->cum }, false);
}

void flat_sort(struct flat *a, const struct flow_order *o)
{
	if (a->nr)
		qsort_r(a->rows, a->nr, sizeof(*a->rows), flat_compare, (void *)o);
}
