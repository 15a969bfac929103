/* SPDX-License-Identifier: GPL-2.0-or-later */
/* order.h - which of two consumers or contexts comes first in a report. */
#ifndef FLOW_ORDER_H
#define FLOW_ORDER_H

#include "flow/model.h"

enum flow_sort { FLOW_BY_CUM, FLOW_BY_BASE, FLOW_BY_N, FLOW_BY_NAME };

struct flow_order {
	const struct consumers *consumers;
	/* equal ones go on by cum, base, n, the other metrics, then name and what else differs */
	enum flow_sort by;
	unsigned int metric;
	unsigned int nr_metrics;	/* 0: the other metrics do not matter */
	unsigned int counter;		/* the metric that stands for n; 0: n itself */
};

/* The values that a consumer or context is ordered by. */
struct flow_key {
	uint32_t consumer;
	uint64_t n;
	const uint64_t *base, *cum;	/* [metric] */
};

/*
 * Compare; negative if a comes first: the larger does, or with up the smaller. Names ascend in both, and only
 * the same consumer gives 0.
 */
int flow_compare(const struct flow_order *o, const struct flow_key *a, const struct flow_key *b, bool up);

/*
 * Puts the child lists of a finished tree in that order; they stay so until flow_finish(), before
 * which nothing is added.
 */
void flow_sort_children(struct flow *f, const struct flow_order *o);

#endif
