// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "flow/ops.h"

static uint32_t translate(struct model *to, const struct model *from, uint32_t id)
{
	const struct strtab_entry *x = &from->consumers.names.entries[id];

	return strtab_add(&to->consumers.names, x->s, x->len);
}

/* ids of from's consumers in to; the caller frees it. */
static uint32_t *map_consumers(struct model *to, const struct model *from)
{
	uint32_t *map = xcalloc(from->consumers.nr_items, sizeof(*map));
	size_t i;

	for (i = 1; i < from->consumers.nr_items; i++) {
		struct consumer c = from->consumers.items[i];

		c.name = translate(to, from, c.name);
		c.module = translate(to, from, c.module);
		c.detail = translate(to, from, c.detail);
		map[i] = consumer_add(&to->consumers, &c);
	}
	return map;
}

static bool same_str(const struct model *a, uint32_t x, const struct model *b, uint32_t y)
{
	return !strcmp(model_str(a, x), model_str(b, y));
}

static int check_same(const struct model *to, const struct model *from, struct err *e)
{
	unsigned int m;

	if (to->flow.nr_metrics != from->flow.nr_metrics)
		return err_set(e, EINVAL, "%u metrics here and %u there", to->flow.nr_metrics,
			       from->flow.nr_metrics);
	for (m = 0; m < to->flow.nr_metrics; m++)
		if (!same_str(to, to->metrics[m].name, from, from->metrics[m].name) ||
		    !same_str(to, to->metrics[m].unit, from, from->metrics[m].unit))
			return err_set(e, EINVAL, "metric %s (%s) here and %s (%s) there",
				       model_str(to, to->metrics[m].name), model_str(to, to->metrics[m].unit),
				       model_str(from, from->metrics[m].name),
				       model_str(from, from->metrics[m].unit));
	if (to->flow.n_means != from->flow.n_means)
		return err_set(e, EINVAL, "calls cannot be added to samples");
	return 0;
}

/* Nodes of from in to, made when missing; NULL and *e when the two do not fit. */
static uint32_t *match_nodes(struct model *to, const struct model *from, struct err *e)
{
	uint32_t *map, *at;
	size_t i;

	if (check_same(to, from, e))
		return NULL;
	map = map_consumers(to, from);
	at = xcalloc(from->flow.nr_nodes, sizeof(*at));
	for (i = 1; i < from->flow.nr_nodes; i++)
		at[i] = flow_child(&to->flow, at[from->flow.nodes[i].parent],
				   map[from->flow.nodes[i].consumer]);
	free(map);
	return at;
}

int model_merge(struct model *to, const struct model *from, struct err *e)
{
	uint32_t *at = match_nodes(to, from, e);
	size_t i;

	if (!at)
		return -e->code;
	for (i = 1; i < from->flow.nr_nodes; i++)
		flow_add(&to->flow, at[i], from->flow.nodes[i].n, flow_base(&from->flow, i));
	to->flow.repairs.inserted += from->flow.repairs.inserted;
	to->flow.repairs.popped += from->flow.repairs.popped;
	to->flow.repairs.closed += from->flow.repairs.closed;
	to->flow.repairs.backwards += from->flow.repairs.backwards;
	free(at);
	flow_finish(&to->flow);
	return 0;
}

int model_subtract(struct model *to, const struct model *from, struct err *e)
{
	uint32_t *at = match_nodes(to, from, e);
	unsigned int m;
	size_t i;

	if (!at)
		return -e->code;
	for (i = 1; i < from->flow.nr_nodes; i++) {
		to->flow.nodes[at[i]].n -= from->flow.nodes[i].n;
		for (m = 0; m < to->flow.nr_metrics; m++)
			flow_base(&to->flow, at[i])[m] -= flow_base(&from->flow, i)[m];
	}
	free(at);
	flow_finish(&to->flow);
	return 0;
}

int model_minimum(struct model *to, const struct model *from, struct err *e)
{
	uint32_t *at = match_nodes(to, from, e);
	uint32_t *back;
	unsigned int m;
	size_t i;

	if (!at)
		return -e->code;
	back = xcalloc(to->flow.nr_nodes, sizeof(*back));
	for (i = 1; i < from->flow.nr_nodes; i++)
		back[at[i]] = i;
	for (i = 1; i < to->flow.nr_nodes; i++) {
		uint64_t n = back[i] ? from->flow.nodes[back[i]].n : 0;

		to->flow.nodes[i].n = MIN(to->flow.nodes[i].n, n);
		for (m = 0; m < to->flow.nr_metrics; m++) {
			uint64_t b = back[i] ? flow_base(&from->flow, back[i])[m] : 0;

			flow_base(&to->flow, i)[m] = MIN(flow_base(&to->flow, i)[m], b);
		}
	}
	free(at);
	free(back);
	flow_finish(&to->flow);
	return 0;
}
