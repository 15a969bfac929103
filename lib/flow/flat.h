/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flat.h - the flat profile of a tree: a row per consumer.  n and base are sums over all its nodes, cum over
 * those of recursion level 1; cum of the others is apart.
 */
#ifndef FLOW_FLAT_H
#define FLOW_FLAT_H

#include "flow/order.h"

struct flat_row {
	uint32_t consumer;
	uint64_t n;
	const uint64_t *base, *cum, *cum2;	/* [nr_metrics] */
};

struct flat {
	struct flat_row *rows;		/* in order of consumer until they are sorted */
	size_t nr;
	uint64_t *sums;			/* what the rows point into */
};

/* Sum a finished tree. */
void flat_init(struct flat *a, const struct flow *f);
void flat_release(struct flat *a);
/* Sort, the larger first, as in order.h. */
void flat_sort(struct flat *a, const struct flow_order *o);

#endif
