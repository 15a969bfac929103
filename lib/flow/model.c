// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
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
	flow_times_release(&m->times);
	memset(m, 0, sizeof(*m));
}

void model_set_metric(struct model *m, unsigned int i, const char *name, size_t name_len,
		      const char *unit, size_t unit_len)
{
	m->metrics[i].name = strtab_add(&m->consumers.names, name, name_len);
	m->metrics[i].unit = strtab_add(&m->consumers.names, unit, unit_len);
}

void model_set_count(struct model *m, unsigned int metric, unsigned int at)
{
	struct buf name = BUF_INIT;

	buf_fmt(&name, "%s.samples", model_str(m, m->metrics[metric].name));
	model_set_metric(m, at, name.data, name.len, "samples", 7);
	m->count_in[metric] = at;
	m->nr_counts++;
	buf_release(&name);
}

/* Does metric i count the samples of metric k? */
static bool is_count_of(const struct model *m, unsigned int i, unsigned int k)
{
	const char *of = model_str(m, m->metrics[k].name), *name = model_str(m, m->metrics[i].name);
	size_t len = strlen(of);

	return !strncmp(name, of, len) && !strcmp(name + len, ".samples") &&
	       !strcmp(model_str(m, m->metrics[i].unit), "samples");
}

void model_find_counts(struct model *m)
{
	unsigned int i, k;

	for (i = m->flow.nr_metrics; i-- > 1;) {	/* they are the last ones */
		for (k = 0; k < i && !is_count_of(m, i, k); k++)
			;
		if (k == i)
			break;
		m->count_in[k] = i;
		m->nr_counts++;
	}
}

void model_finish(struct model *m)
{
	uint32_t *where;

	if (m->flow.unordered && m->times.nr_list) {
		where = xcalloc(m->flow.nr_nodes, sizeof(*where));
		flow_renumber(&m->flow, where);
		flow_times_move(&m->times, where);
		free(where);
	}
	flow_finish(&m->flow);
}

void model_take_flow(struct model *m, struct flow *f, const uint32_t *where)
{
	if (where)
		flow_times_move(&m->times, where);
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
	err_set(e, EINVAL, "unknown metric '%s' (available: %s)", name, b.data);
	buf_release(&b);
	return -EINVAL;
}

enum { FROM_N = UINT8_MAX };

/* Metrics of a new model: which of the old one, or FROM_N, each has its values from. */
struct pick {
	size_t nr_named, nr;		/* nr: with those that count samples */
	uint8_t from[2 * FLOW_MAX_METRICS + 1];
	uint8_t counts[2 * FLOW_MAX_METRICS + 1];	/* of one of the latter: which metric's samples */
	uint8_t n_from;
};

/* Of several events each keeps its samples: n counts those of the first that is picked. */
static void pick_counts(const struct model *m, struct pick *p)
{
	bool n_counts = m->nr_counts && m->flow.n_means == FLOW_SAMPLES;
	unsigned int at;
	size_t i;

	p->n_from = n_counts && model_count(m, p->from[0]) ? model_count(m, p->from[0]) : FROM_N;
	for (i = n_counts; i < p->nr_named; i++) {
		at = model_count(m, p->from[i]);
		if (!at && !n_counts)
			continue;
		p->counts[p->nr] = i;
		p->from[p->nr++] = at ? at : FROM_N;
	}
}

static uint64_t value_from(const struct model *m, uint32_t node, uint8_t from)
{
	return from == FROM_N ? m->flow.nodes[node].n : flow_base(&m->flow, node)[from];
}

static void name_picks(struct model *m, const struct pick *p)
{
	struct model_metric old[FLOW_MAX_METRICS];
	size_t i, nr = p->nr_named + m->has_samples;

	memcpy(old, m->metrics, sizeof(old));
	for (i = 0; i < nr; i++)
		m->metrics[i] = old[p->from[i]];
	m->nr_counts = 0;
	memset(m->count_in, 0, sizeof(m->count_in));
	for (; i < p->nr; i++)
		model_set_count(m, p->counts[i], i);
}

int model_pick_metrics(struct model *m, char *const *names, size_t nr, struct err *e)
{
	uint64_t base[FLOW_MAX_METRICS];
	struct pick p = { .nr_named = nr };
	struct flow out;
	uint32_t node;
	unsigned int k;
	size_t i;

	if (!nr)
		return 0;
	for (; p.nr < nr && p.nr < FLOW_MAX_METRICS; p.nr++) {
		for (k = 0; k < model_nr_shown(m) && strcmp(names[p.nr], model_str(m, m->metrics[k].name));
		     k++)
			;
		if (k == model_nr_shown(m))
			return no_metric(m, names[p.nr], e);
		p.from[p.nr] = k;
	}
	if (m->has_samples)
		p.from[p.nr++] = model_samples(m);
	if (p.nr <= FLOW_MAX_METRICS)
		pick_counts(m, &p);
	if (nr > FLOW_MAX_METRICS || p.nr > FLOW_MAX_METRICS)
		return err_set(e, EINVAL, "more than %d metrics", FLOW_MAX_METRICS - m->has_samples);
	flow_init(&out, p.nr, m->flow.n_means);
	out.repairs = m->flow.repairs;
	for (i = 1; i < m->flow.nr_nodes; i++) {	/* the same nodes, so the same numbers */
		node = flow_child(&out, m->flow.nodes[i].parent, m->flow.nodes[i].consumer);
		for (k = 0; k < p.nr; k++)
			base[k] = value_from(m, i, p.from[k]);
		flow_add(&out, node, value_from(m, i, p.n_from), base);
	}
	flow_finish(&out);
	model_take_flow(m, &out, NULL);
	name_picks(m, &p);
	return 0;
}
