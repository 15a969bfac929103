// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "flow/model.h"

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
