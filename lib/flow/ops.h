/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ops.h - from trees to trees.  Every result is finished, and keeps the sums of n and of
 * base unless its comment says otherwise.  where[nr_nodes of f], unless NULL, becomes the node
 * of the result to which each of f went; 0: none.
 */
#ifndef FLOW_OPS_H
#define FLOW_OPS_H

#include "base/err.h"
#include "flow/model.h"

#define FLOW_DROP UINT32_MAX

/*
 * Gives each node the consumer to[its consumer]; nodes that become the same context are added.
 * FLOW_DROP adds the node to its parent (a root keeps its own consumer); with collapse so does a
 * node that gets its parent's consumer.  *out is initialised here.
 */
void flow_map(const struct flow *f, const uint32_t *to, bool collapse, struct flow *out, uint32_t *where);

/*
 * Puts a level above each node of a consumer that has one in above[]; 0: it has none.  Of several such on
 * a path only the outermost counts.
 */
void flow_group(const struct flow *f, const uint32_t *above, struct flow *out, uint32_t *where);

/*
 * Keeps n and base of the nodes whose path has every bit of want and none of never, where has[consumer] are
 * the bits a consumer brings; nodes without such below them go.  Sums are those of what is kept.
 */
void flow_filter(const struct flow *f, const uint32_t *has, uint32_t want, uint32_t never, struct flow *out,
		 uint32_t *where);

/* Do the same for the nodes in mine[]. */
void flow_keep(const struct flow *f, const bool *mine, struct flow *out, uint32_t *where);

/*
 * Remove the nodes with a cum below percent of the total in every metric; each parent gets one child of
 * consumer pruned, which has their n and base.
 */
void flow_prune(const struct flow *f, double percent, uint32_t pruned, struct flow *out, uint32_t *where);

/* Keep only the named metrics, in that order; return -EINVAL when one is missing. n does not change. */
int model_pick_metrics(struct model *m, char *const *names, size_t nr, struct err *e);

#endif
