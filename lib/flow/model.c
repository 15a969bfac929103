// SPDX-License-Identifier: GPL-2.0-or-later
/* model.c - a tree with its consumers, metrics and sources (model.h). */
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "flow/ops.h"

void model_init(struct model *m, unsigned int nr_metrics, enum flow_n kind)
{
	memset(m, 0, sizeof(*m));
	flow_init(&m->flow, nr_metrics, kind);
	consumers_init(&m->consumers);
	m->nr_shown = nr_metrics;
	model_add_source(m, kind, model_kind_name(kind));
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

/* "cpu-clock" and "task-clock", also of user or kernel code alone (":u"). */
static bool is_clock(const char *metric)
{
	size_t len = strcspn(metric, ":");

	return (len == 9 && !memcmp(metric, "cpu-clock", 9)) || (len == 10 && !memcmp(metric, "task-clock", 10));
}

size_t metric_meant(const char *name, size_t nr, metric_name *name_of, const void *ctx)
{
	size_t i;

	for (i = 0; i < nr && strcmp(name_of(ctx, i), name); i++)
		;
	if (i == nr && !strcmp(name, "cpu"))
		for (i = 0; i < nr && !is_clock(name_of(ctx, i)); i++)
			;
	return i;
}

static const char *name_in_model(const void *ctx, size_t i)
{
	const struct model *m = ctx;

	return model_str(m, m->metrics[i].name);
}

unsigned int model_metric(const struct model *m, const char *name)
{
	return metric_meant(name, m->nr_shown, name_in_model, m);
}

void model_put_metrics(const struct model *m, struct buf *b)
{
	unsigned int i;

	for (i = 0; i < m->nr_shown; i++)
		buf_fmt(b, "%s%s", i ? ", " : "", model_str(m, m->metrics[i].name));
}

static int no_metric(const struct model *m, const char *name, struct err *e)
{
	struct buf b = BUF_INIT;

	model_put_metrics(m, &b);
	err_set(e, EINVAL, "unknown metric '%s' (available: %s)", name, b.data);
	buf_release(&b);
	return -EINVAL;
}

/*
 * The metrics and sources that a new model takes from an old one: [index in the new one] is the index in
 * the old one.
 */
struct pick {
	uint8_t metrics[FLOW_MAX_METRICS], sources[FLOW_MAX_METRICS];
	unsigned int nr_metrics, nr_sources;
};

/* Return the source in the new model; calls are there whatever is picked. */
static unsigned int pick_source(struct pick *p, unsigned int source)
{
	unsigned int i;

	for (i = 0; i < p->nr_sources && p->sources[i] != source; i++)
		;
	if (i == p->nr_sources)
		p->sources[p->nr_sources++] = source;
	return i;
}

static int pick(const struct model *m, char *const *names, size_t nr, struct pick *p, struct err *e)
{
	unsigned int k;

	*p = (struct pick){ .nr_sources = m->sources[0].kind == FLOW_CALLS };
	for (; p->nr_metrics < nr && p->nr_metrics < FLOW_MAX_METRICS; p->nr_metrics++) {
		const char *name = names[p->nr_metrics];

		k = model_metric(m, name);
		if (k == m->nr_shown)
			return no_metric(m, name, e);
		p->metrics[p->nr_metrics] = k;
		pick_source(p, m->metrics[k].source);
	}
	if (p->nr_metrics < nr || !model_has_room(p->nr_metrics, p->nr_sources))
		return err_set(e, EINVAL, "more than %d metrics", FLOW_MAX_METRICS);
	return 0;
}

/* Copy the nodes with their numbers. */
static void copy_nodes(struct model *m, const struct model *old, const struct pick *p)
{
	uint64_t base[FLOW_MAX_METRICS];
	uint32_t i, node;
	unsigned int k;

	for (i = 1; i < old->flow.nr_nodes; i++) {
		node = flow_child(&m->flow, old->flow.nodes[i].parent, old->flow.nodes[i].consumer);
		for (k = 0; k < p->nr_metrics; k++)
			base[k] = flow_base(&old->flow, i)[p->metrics[k]];
		for (k = 1; k < p->nr_sources; k++)
			base[model_counter(m, k)] = model_node_n(old, p->sources[k], i);
		flow_add(&m->flow, node, model_node_n(old, p->sources[0], i), base);
	}
}

int model_pick_metrics(struct model *m, char *const *names, size_t nr, struct err *e)
{
	struct model old;
	struct pick p;
	unsigned int i;
	int r;

	if (!nr)
		return 0;
	if ((r = pick(m, names, nr, &p, e)))
		return r;
	old = *m;
	m->flow = (struct flow){ .nodes = NULL };
	m->nr_shown = p.nr_metrics;
	m->nr_sources = p.nr_sources;
	for (i = 0; i < p.nr_metrics; i++) {
		m->metrics[i] = old.metrics[p.metrics[i]];
		m->metrics[i].source = pick_source(&p, m->metrics[i].source);
	}
	for (i = 0; i < p.nr_sources; i++)
		m->sources[i] = old.sources[p.sources[i]];
	model_begin(m);
	m->flow.repairs = old.flow.repairs;
	copy_nodes(m, &old, &p);
	flow_finish(&m->flow);
	flow_release(&old.flow);
	return 0;
}
