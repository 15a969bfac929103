// SPDX-License-Identifier: GPL-2.0-or-later
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "flow/ops.h"

static void start_from(const struct flow *f, struct flow *out)
{
	flow_init(out, f->nr_metrics, f->n_means);
	out->repairs = f->repairs;
}

void flow_map(const struct flow *f, const uint32_t *to, bool collapse, struct flow *out)
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
	free(at);
	flow_finish(out);
}

void flow_filter(const struct flow *f, const uint8_t *has, uint8_t want, struct flow *out)
{
	uint32_t *at = xcalloc(f->nr_nodes, sizeof(*at));
	uint8_t *mask = xcalloc(f->nr_nodes, sizeof(*mask));
	bool *keep = xcalloc(f->nr_nodes, sizeof(*keep));
	size_t i;

	for (i = 1; i < f->nr_nodes; i++) {
		mask[i] = mask[f->nodes[i].parent] | has[f->nodes[i].consumer];
		keep[i] = (mask[i] & want) == want;
	}
	for (i = f->nr_nodes; --i > 0;)
		keep[f->nodes[i].parent] |= keep[i];
	start_from(f, out);
	for (i = 1; i < f->nr_nodes; i++) {
		if (!keep[i])
			continue;
		at[i] = flow_child(out, at[f->nodes[i].parent], f->nodes[i].consumer);
		if ((mask[i] & want) == want)
			flow_add(out, at[i], f->nodes[i].n, flow_base(f, i));
	}
	free(at);
	free(mask);
	free(keep);
	flow_finish(out);
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

void flow_prune(const struct flow *f, double percent, uint32_t pruned, struct flow *out)
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
	free(at);
	free(keep);
	flow_finish(out);
}

static int compare_u64(const void *p, const void *q)
{
	uint64_t a = *(const uint64_t *)p, b = *(const uint64_t *)q;

	return a < b ? -1 : a > b;
}

/* The size of each node's subtree: in the first metric, or in n when that is all zero. */
static uint64_t *subtree_sizes(const struct flow *f)
{
	uint64_t *size = xcalloc(f->nr_nodes, sizeof(*size)), total[FLOW_MAX_METRICS];
	size_t i;

	flow_totals(f, total);
	for (i = 1; i < f->nr_nodes; i++)
		size[i] = total[0] ? flow_base(f, i)[0] : f->nodes[i].n;
	for (i = f->nr_nodes; --i > 0;)
		size[f->nodes[i].parent] += size[i];
	return size;
}

void flow_limit(struct flow *f, size_t max_nodes, uint32_t pruned, uint32_t **open, size_t nr_open)
{
	uint64_t *size, *sorted, limit;
	struct flow out;
	uint32_t *at, i;
	bool *keep;
	size_t k, nr;

	if (f->nr_nodes <= max_nodes)
		return;
	nr = f->nr_nodes;
	at = xcalloc(nr, sizeof(*at));
	if (f->unordered) {
		flow_renumber(f, at);
		for (k = 0; k < nr_open; k++)
			*open[k] = at[*open[k]];
	}
	size = subtree_sizes(f);
	sorted = xmalloc(nr * sizeof(*sorted));
	memcpy(sorted, size, nr * sizeof(*sorted));
	qsort(sorted, nr, sizeof(*sorted), compare_u64);
	/* A quarter stays, for each kept node may get a pruned child. */
	limit = sorted[nr - 1 - MIN(max_nodes / 4, nr - 1)];
	keep = xcalloc(nr, sizeof(*keep));
	memset(at, 0, nr * sizeof(*at));
	for (k = 1; k < nr; k++)
		keep[k] = size[k] > limit;
	for (k = 0; k < nr_open; k++)
		for (i = *open[k]; i && !keep[i]; i = f->nodes[i].parent)
			keep[i] = true;
	copy_kept(f, keep, pruned, &out, at);
	for (k = 0; k < nr_open; k++)
		*open[k] = at[*open[k]];
	flow_release(f);
	*f = out;
	free(size);
	free(sorted);
	free(keep);
	free(at);
}
