// SPDX-License-Identifier: GPL-2.0-or-later
/* source.c - which sources and metrics a model has, and where among its values the n of each source is. */
#include <string.h>

#include "base/buf.h"
#include "flow/model.h"

void model_clear(struct model *m)
{
	m->nr_shown = m->nr_sources = m->nr_deltas = 0;
}

unsigned int model_add_source(struct model *m, enum flow_n kind, const char *name)
{
	m->sources[m->nr_sources] = (struct model_source){ strtab_adds(&m->consumers.names, name), kind };
	return m->nr_sources++;
}

void model_add_metric(struct model *m, unsigned int source, const char *name, const char *unit)
{
	m->metrics[m->nr_shown].source = source;
	m->metrics[m->nr_shown].lasts = false;
	model_set_metric(m, m->nr_shown++, name, strlen(name), unit, strlen(unit));
}

/* "name.samples"; "samples" of the first one beside calls. */
static void name_counter(struct model *m, unsigned int source)
{
	const struct model_source *s = &m->sources[source];
	const char *kind = model_kind_name(s->kind);
	unsigned int at = model_counter(m, source);
	struct buf name = BUF_INIT;

	if (source != 1 || m->sources[0].kind == s->kind)
		buf_fmt(&name, "%s.", model_str(m, s->name));
	buf_str(&name, kind);
	model_set_metric(m, at, name.data, name.len, kind, strlen(kind));
	m->metrics[at].source = source;
	buf_release(&name);
}

void model_begin(struct model *m)
{
	unsigned int i;

	for (i = 1; i < m->nr_sources; i++)
		name_counter(m, i);
	flow_release(&m->flow);
	flow_init(&m->flow, m->nr_shown + m->nr_sources - 1, m->sources[0].kind);
}

void model_set_counters(struct model *m, unsigned int first)
{
	unsigned int i, k;

	m->nr_shown = first;
	for (i = first; i < m->flow.nr_metrics; i++) {
		for (k = 0; k < first && m->metrics[k].source != m->metrics[i].source; k++)
			;
		m->sources[m->nr_sources++] = (struct model_source){ m->metrics[k].name, FLOW_SAMPLES };
	}
}

const char *model_kind_name(enum flow_n kind)
{
	static const char *const names[] = { [FLOW_CALLS] = "calls", [FLOW_SAMPLES] = "samples",
		[FLOW_OBJECTS] = "objects" };

	return names[kind];
}

unsigned int model_first_samples(const struct model *m)
{
	unsigned int i;

	for (i = 0; i < m->nr_sources && m->sources[i].kind != FLOW_SAMPLES; i++)
		;
	return i;
}

bool model_has_metrics(const struct model *m, unsigned int source)
{
	unsigned int i;

	for (i = 0; i < m->nr_shown; i++)
		if (m->metrics[i].source == source)
			return true;
	return false;
}

bool model_leads_source(const struct model *m, unsigned int metric)
{
	unsigned int i;

	for (i = 0; m->metrics[i].source != m->metrics[metric].source; i++)
		;
	return i == metric;
}
