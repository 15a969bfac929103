// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "flow/ops.h"

void model_init(struct model *m, unsigned int nr_metrics, enum flow_n n_means)
{
	memset(m, 0, sizeof(*m));
	flow_init(&m->flow, nr_metrics, n_means);
	consumers_init(&m->consumers);
}

void model_release(struct model *m)
{
	flow_release(&m->flow);
	consumers_release(&m->consumers);
	memset(m, 0, sizeof(*m));
}

void model_set_metric(struct model *m, unsigned int i, const char *name, size_t name_len,
		      const char *unit, size_t unit_len)
{
	m->metrics[i].name = strtab_add(&m->consumers.names, name, name_len);
	m->metrics[i].unit = strtab_add(&m->consumers.names, unit, unit_len);
}

void model_take_flow(struct model *m, struct flow *f)
{
	flow_release(&m->flow);
	m->flow = *f;
	memset(f, 0, sizeof(*f));
}

static int no_metric(const struct model *m, const char *name, struct err *e)
{
	struct buf b = BUF_INIT;
	unsigned int i;

	for (i = 0; i < model_nr_shown(m); i++)
		buf_fmt(&b, "%s%s", i ? ", " : "", model_str(m, m->metrics[i].name));
	err_set(e, EINVAL, "there is no metric '%s'; there is %s", name, b.data);
	buf_release(&b);
	return -EINVAL;
}

int model_pick_metrics(struct model *m, char *const *names, size_t nr, struct err *e)
{
	struct model_metric metrics[FLOW_MAX_METRICS];
	uint64_t base[FLOW_MAX_METRICS];
	unsigned int from[FLOW_MAX_METRICS], k;
	struct flow out;
	uint32_t node;
	size_t i;

	if (!nr)
		return 0;
	if (nr > FLOW_MAX_METRICS - (size_t)m->has_samples)
		return err_set(e, EINVAL, "more than %d metrics", FLOW_MAX_METRICS - m->has_samples);
	for (i = 0; i < nr; i++) {
		for (k = 0; k < model_nr_shown(m) && strcmp(names[i], model_str(m, m->metrics[k].name)); k++)
			;
		if (k == model_nr_shown(m))
			return no_metric(m, names[i], e);
		from[i] = k;
		metrics[i] = m->metrics[k];
	}
	if (m->has_samples) {
		from[nr] = model_samples(m);
		metrics[nr++] = m->metrics[model_samples(m)];
	}
	flow_init(&out, nr, m->flow.n_means);
	out.repairs = m->flow.repairs;
	for (i = 1; i < m->flow.nr_nodes; i++) {	/* the same nodes, so the same numbers */
		node = flow_child(&out, m->flow.nodes[i].parent, m->flow.nodes[i].consumer);
		for (k = 0; k < nr; k++)
			base[k] = flow_base(&m->flow, i)[from[k]];
		flow_add(&out, node, m->flow.nodes[i].n, base);
	}
	flow_finish(&out);
	model_take_flow(m, &out);
	memcpy(m->metrics, metrics, nr * sizeof(*metrics));
	return 0;
}
