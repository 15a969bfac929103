// SPDX-License-Identifier: GPL-2.0-or-later
/* map.c - makes a tree from another one: maps, groups, filters and prunes its nodes (ops.h). */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "flow/ops.h"

static void start_from(const struct flow *f, struct flow *out)
{
	flow_init(out, f->nr_metrics, f->n_means);
	out->repairs = f->repairs;
}

/* Set where nodes are. The trees are built in order, so that flow_finish() has nothing to renumber. */
static void map_tell(const struct flow *f, const uint32_t *at, uint32_t *where)
{
	if (where)
		memcpy(where, at, f->nr_nodes * sizeof(*at));
}

void flow_map(const struct flow *f, const uint32_t *to, bool collapse, struct flow *out, uint32_t *where)
{
	uint32_t *at = xcalloc(f->nr_nodes, sizeof(*at));
	size_t i;

	start_from(f, out);
	for (i = 1; i < f->nr_nodes; i++) {
		uint32_t parent = at[f->nodes[i].parent], c = to[f->nodes[i].consumer];

		if (c == FLOW_DROP && !parent)
			c = f->nodes[i].consumer;
		if (c == FLOW_DROP || (collapse && parent && out->nodes[parent].consumer == c))
			at[i] = parent;
		else
			at[i] = flow_child(out, parent, c);
		flow_add(out, at[i], f->nodes[i].n, flow_base(f, i));
	}
	map_tell(f, at, where);
	free(at);
	flow_finish(out);
}

void flow_group(const struct flow *f, const uint32_t *above, struct flow *out, uint32_t *where)
{
	uint32_t *at = xcalloc(f->nr_nodes, sizeof(*at));
	bool *below = xcalloc(f->nr_nodes, sizeof(*below));
	size_t i;

	start_from(f, out);
	for (i = 1; i < f->nr_nodes; i++) {
		uint32_t up = f->nodes[i].parent, parent = at[up], group = above[f->nodes[i].consumer];

		below[i] = below[up] || group;
		if (group && !below[up])
			parent = flow_child(out, parent, group);
		at[i] = flow_child(out, parent, f->nodes[i].consumer);
		flow_add(out, at[i], f->nodes[i].n, flow_base(f, i));
	}
	map_tell(f, at, where);
	free(at);
	free(below);
	flow_finish(out);
}

void flow_keep(const struct flow *f, const bool *mine, struct flow *out, uint32_t *where)
{
	uint32_t *at = xcalloc(f->nr_nodes, sizeof(*at));
	bool *keep = xcalloc(f->nr_nodes, sizeof(*keep));
	size_t i;

	for (i = f->nr_nodes; --i > 0;) {
		keep[i] |= mine[i];
		keep[f->nodes[i].parent] |= keep[i];
	}
	start_from(f, out);
	for (i = 1; i < f->nr_nodes; i++) {
		if (!keep[i])
			continue;
		at[i] = flow_child(out, at[f->nodes[i].parent], f->nodes[i].consumer);
		if (mine[i])
			flow_add(out, at[i], f->nodes[i].n, flow_base(f, i));
	}
	for (i = 1; i < f->nr_nodes; i++)
		if (!mine[i])
			at[i] = FLOW_NONE;
	map_tell(f, at, where);
	free(at);
	free(keep);
	flow_finish(out);
}

void flow_filter(const struct flow *f, const uint32_t *has, uint32_t want, uint32_t never, struct flow *out,
		 uint32_t *where)
{
	uint32_t *mask = xcalloc(f->nr_nodes, sizeof(*mask));
	bool *mine = xcalloc(f->nr_nodes, sizeof(*mine));
	size_t i;

	for (i = 1; i < f->nr_nodes; i++) {
		mask[i] = mask[f->nodes[i].parent] | has[f->nodes[i].consumer];
		mine[i] = (mask[i] & (want | never)) == want;
	}
	flow_keep(f, mine, out, where);
	free(mask);
	free(mine);
}

/*
 * Copies what keep[] marks; the others add to the pruned child of their last kept ancestor.
 * at[i] is where node i's numbers went.  keep[] is closed upwards.
 */
static void copy_kept(const struct flow *f, const bool *keep, uint32_t pruned, struct flow *out,
		      uint32_t *at)
{
	size_t i;

	start_from(f, out);
	for (i = 1; i < f->nr_nodes; i++) {
		uint32_t parent = f->nodes[i].parent;

		if (keep[i])
			at[i] = flow_child(out, at[parent], f->nodes[i].consumer);
		else if (parent && !keep[parent])
			at[i] = at[parent];
		else
			at[i] = flow_child(out, at[parent], pruned);
		flow_add(out, at[i], f->nodes[i].n, flow_base(f, i));
	}
}

void flow_prune(const struct flow *f, double percent, uint32_t pruned, struct flow *out, uint32_t *where)
{
	uint64_t limit[FLOW_MAX_METRICS];
	uint32_t *at = xcalloc(f->nr_nodes, sizeof(*at));
	bool *keep = xcalloc(f->nr_nodes, sizeof(*keep));
	unsigned int m;
	size_t i;

	for (m = 0; m < f->nr_metrics; m++)
		limit[m] = ceil((double)flow_cum(f, FLOW_NONE)[m] * percent / 100);
	for (i = 1; i < f->nr_nodes; i++) {
		for (m = 0; m < f->nr_metrics && !keep[i]; m++)
			keep[i] = percent <= 0 || (limit[m] && flow_cum(f, i)[m] >= limit[m]);
		keep[i] |= f->nodes[i].consumer == pruned;
	}
	for (i = f->nr_nodes; --i > 0;)
		keep[f->nodes[i].parent] |= keep[i];
	copy_kept(f, keep, pruned, out, at);
	map_tell(f, at, where);
	free(at);
	free(keep);
	flow_finish(out);
}
