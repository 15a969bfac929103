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

enum { COUNT_IN_N = UINT8_MAX };

struct model_metric {
	uint32_t name, unit;	/* strtab ids of consumers.names */
};

struct model {
	struct flow flow;
	struct consumers consumers;
	struct model_metric metrics[FLOW_MAX_METRICS];
	bool has_samples;		/* of calls: the metric after those shown is the number of samples */
	/*
	 * Samples of different events are never added up. n counts those of the first event, or the
	 * metric "samples" in a tree of calls; nr_counts metrics behind that count those of the
	 * others. count_in[metric]: where the samples of its event are counted, COUNT_IN_N or a
	 * metric; 0 is not known.
	 */
	unsigned int nr_counts;
	uint8_t count_in[FLOW_MAX_METRICS];
	unsigned int nr_deltas;		/* the last metrics: what calibration took from others, */
	uint8_t delta_of[FLOW_MAX_METRICS];	/* and from which */
	/* the consumer of arcprof's own work in the programs; 0: there is none */
	uint32_t own;
	/* behind each of them: what must be left to be certain; nr_deltas counts those, too */
	struct flow_times times;	/* of samples, when they were asked for */
	bool has_doubts;
};

/* Metrics with columns of their own. */
static inline unsigned int model_nr_shown(const struct model *m)
{
	return m->flow.nr_metrics - m->nr_deltas - m->nr_counts - m->has_samples;
}

/*
 * The metric that says what calibration took from that one; 0: it was not calibrated, or that was not
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
 * Whether calibration took as much from that metric as is left, or what is left is uncertain: of
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

/* Where the samples are counted in a tree that has them beside calls; those of the first event. */
static inline unsigned int model_samples(const struct model *m)
{
	return model_nr_shown(m);
}

/* The metric that counts the samples of that metric's event, when it is not the first event; 0: none. */
static inline unsigned int model_count(const struct model *m, unsigned int metric)
{
	unsigned int first = model_nr_shown(m) + m->has_samples, at = m->count_in[metric];

	return at >= first && at < first + m->nr_counts ? at : 0;
}

void model_init(struct model *m, unsigned int nr_metrics, enum flow_n n_means);
void model_release(struct model *m);
void model_set_metric(struct model *m, unsigned int i, const char *name, size_t name_len,
		      const char *unit, size_t unit_len);
/* The metric is of a further event, whose samples are counted in metric at: "name.samples". */
void model_set_count(struct model *m, unsigned int metric, unsigned int at);
/* Finds the metrics that count samples again by their names, in a model that was read as text. */
void model_find_counts(struct model *m);
/* flow_finish() of the tree; times follow its nodes. */
void model_finish(struct model *m);
/*
 * The tree of the model is replaced by *f, which the model then owns. where: as flow/ops.h has it;
 * NULL: as it was.
 */
void model_take_flow(struct model *m, struct flow *f, const uint32_t *where);

static inline const char *model_str(const struct model *m, uint32_t id)
{
	return strtab_get(&m->consumers.names, id);
}

#endif
