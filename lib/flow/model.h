/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * model.h - a tree together with what its ids mean: the (X, n, Y) triples and the
 * Z vector of the arcflow paper.
 */
#ifndef FLOW_MODEL_H
#define FLOW_MODEL_H

#include "flow/consumer.h"
#include "flow/flow.h"
#include "flow/times.h"

struct buf;

struct model_metric {
	uint32_t name, unit;	/* strtab ids of consumers.names */
	unsigned int source;	/* index in sources */
	bool lasts;		/* ns: each of its times is the end of what lasted as long as it weighs */
};

/* A stream of events of one kind. It has an n of its own: no report adds n of two sources. */
struct model_source {
	uint32_t name;		/* strtab id of consumers.names: "calls", or the event */
	enum flow_n kind;
};

/*
 * The values of a node are, in this order: the metrics that are shown, the counters, which are the n of all
 * sources but the first, and what calibration took. The n of a node is that of the first source. Only
 * source.c, and model_n() and model_counter() here, know this of counters.
 */
struct model {
	struct flow flow;
	struct consumers consumers;
	struct model_metric metrics[FLOW_MAX_METRICS];
	unsigned int nr_shown;		/* metrics with columns of their own, at least one */
	struct model_source sources[FLOW_MAX_METRICS];
	unsigned int nr_sources;	/* at least one; flow.n_means is the kind of the first, and only
					 * that may count calls */
	unsigned int nr_deltas;		/* the last metrics: what calibration took from others, */
	uint8_t delta_of[FLOW_MAX_METRICS];	/* and from which */
	bool has_doubts;		/* behind each of them: what must be left to be certain; nr_deltas
					 * counts those, too */
	/* the consumer of arcprof's own work in the programs; 0: there is none */
	uint32_t own;
	struct flow_times times;	/* of samples, when they were asked for */
	/* samples and calls of threads with other labels than those asked for are not in it */
	bool labels_selected;
	bool labels_are_level;		/* calls are below levels of labels */
	bool n_of_first;		/* all metrics are of one source, with the n of the first of them */
};

/*
 * Return the metric that has what calibration took from that one; 0: it was not calibrated, or that was not
 * kept.
 */
static inline unsigned int model_delta(const struct model *m, unsigned int metric)
{
	unsigned int i;

	for (i = m->flow.nr_metrics - m->nr_deltas; i < m->flow.nr_metrics; i += 1 + m->has_doubts)
		if (m->delta_of[i] == metric)
			return i;
	return 0;
}

/*
 * Return whether calibration took as much from that metric as is left, or what is left is uncertain: of
 * values of one context or of several, [metric].
 */
static inline bool model_is_marked(const struct model *m, const uint64_t *values, unsigned int metric)
{
	unsigned int delta = model_delta(m, metric);

	if (!delta)
		return false;
	return (values[delta] && values[delta] >= values[metric]) ||
	       (m->has_doubts && values[delta + 1] && values[delta + 1] >= values[metric]);
}

/* Return the metric that is the n of that source; 0: the n of the nodes is. */
static inline unsigned int model_counter(const struct model *m, unsigned int source)
{
	return source ? m->nr_shown + source - 1 : 0;
}

/* Return n of that source, for a node or the sum of several: their n, and values by metric. */
static inline uint64_t model_n(const struct model *m, unsigned int source, uint64_t n, const uint64_t *values)
{
	return source ? values[model_counter(m, source)] : n;
}

static inline uint64_t model_node_n(const struct model *m, unsigned int source, uint32_t node)
{
	return model_n(m, source, m->flow.nodes[node].n, flow_base(&m->flow, node));
}

/* Prepare a model of one source, whose metrics still need names. */
void model_init(struct model *m, unsigned int nr_metrics, enum flow_n kind);
void model_release(struct model *m);
void model_set_metric(struct model *m, unsigned int i, const char *name, size_t name_len,
		      const char *unit, size_t unit_len);

/*
 * Return whether a model has room for these. A model of several sources is made by model_clear(), then
 * sources and metrics, then model_begin(), which makes an empty tree for them. The order of metrics is that
 * of the columns.
 */
static inline bool model_has_room(unsigned int nr_metrics, unsigned int nr_sources)
{
	return nr_metrics + nr_sources <= FLOW_MAX_METRICS + 1;
}
void model_clear(struct model *m);
unsigned int model_add_source(struct model *m, enum flow_n kind, const char *name);
void model_add_metric(struct model *m, unsigned int source, const char *name, const char *unit);
void model_begin(struct model *m);
/* Make the last metrics of a model of one source, from first on, the n of further sources. */
void model_set_counters(struct model *m, unsigned int first);
/* Return what n of that source counts: "calls", "samples", "objects". */
const char *model_kind_name(enum flow_n kind);
/* Return the first source that counts samples; nr_sources: none does. */
unsigned int model_first_samples(const struct model *m);
/*
 * Return whether a source has metrics: the first may have none, if calls are there only to hang samples in.
 */
bool model_has_metrics(const struct model *m, unsigned int source);
/* Return whether the metric is the first one of its source: n of the source precedes it. */
bool model_leads_source(const struct model *m, unsigned int metric);

typedef const char *metric_name(const void *ctx, size_t i);
/*
 * Return which of nr metrics a user means by a name: the one of that name; else by "cpu" the first that a
 * clock has sampled, cpu-clock or task-clock; nr: none.
 */
size_t metric_meant(const char *name, size_t nr, metric_name *name_of, const void *ctx);
/* Do the same with the metrics that the model shows; nr_shown: none. */
unsigned int model_metric(const struct model *m, const char *name);
/* Append the names of those, as "cpu, alloc". */
void model_put_metrics(const struct model *m, struct buf *b);

/* Finish the tree by flow_finish(); times follow its nodes. */
void model_finish(struct model *m);
/*
 * Replace the tree of the model by *f, which the model then owns. where: as in flow/ops.h; NULL: unchanged.
 */
void model_take_flow(struct model *m, struct flow *f, const uint32_t *where);

static inline const char *model_str(const struct model *m, uint32_t id)
{
	return strtab_get(&m->consumers.names, id);
}

#endif
