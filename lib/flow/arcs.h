/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arcs.h - the xarc view of a tree: for each consumer what it used, for whom, and through whom.
 *
 * Nodes of recursion level 1 feed self, parents and children; those of level 2 and above
 * feed rself, rparents and rchildren.  For each stanza, and the same for its r-rows:
 *	sum of the parents' n, base and cum = self's
 *	sum of the children's cum = self's cum - self's base
 * A root has no parent; when a consumer is a root in one context and called in another, the
 * roots are a parent row of their own (consumer 0), so that the sums hold.
 */
#ifndef FLOW_ARCS_H
#define FLOW_ARCS_H

#include "flow/order.h"

struct arc_sums {
	uint64_t n;
	const uint64_t *base, *cum;	/* [nr_metrics] */
};

struct arc {
	uint32_t consumer;	/* the other end; 0: none above, a root */
	struct arc_sums sums;
};

enum arc_rows { ARC_PARENTS, ARC_CHILDREN, ARC_RPARENTS, ARC_RCHILDREN, ARC_NR };

struct arc_stanza {
	uint32_t consumer;
	uint64_t nr_self, nr_rself;	/* nodes behind self and rself */
	struct arc_sums self, rself;
	struct arc *rows[ARC_NR];
	uint32_t nr_rows[ARC_NR];
};

struct arcs {
	struct arc_stanza *stanzas;	/* one per consumer that has nodes, in order of id until sorted */
	size_t nr_stanzas;
	uint32_t *stanza_of;		/* [consumer] -> index in stanzas, UINT32_MAX: none */
	unsigned int nr_metrics;
	/* The memory that the rows point into. */
	struct arc *rows;
	uint64_t *sums;
};

/* Make the arcs of a finished tree. */
void arcs_init(struct arcs *a, const struct flow *f);
void arcs_release(struct arcs *a);

/*
 * Sort stanzas by self's sums, descending; parents in reverse, so that the largest is next to self; children
 * as stanzas.
 */
void arcs_sort(struct arcs *a, const struct flow_order *o);

#endif
