// SPDX-License-Identifier: GPL-2.0-or-later
/* blend.c - joins exact counts with samples of another run (blend.h). */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "flow/ops.h"
#include "flow/union.h"
#include "model/blend.h"
#include "model/same.h"

static const struct same_opts same = { .thread_digits = true };

enum { CALLS, SAMPLES };		/* sides of the union */

/* List the functions whose calls were counted, as consumers by identity. */
static void list_counted(struct consumers *ids, const struct model *calls)
{
	struct consumer x;
	size_t i;

	consumers_init(ids);
	for (i = 1; i < calls->flow.nr_nodes; i++) {
		uint32_t id = calls->flow.nodes[i].consumer;

		same_identify(&same, calls, id, &ids->names, &x);
		consumer_add(ids, &x);
	}
}

/* Return whether an identity was counted: others get higher numbers. */
static bool is_counted(struct consumers *ids, size_t nr_counted, const struct model *m, uint32_t id)
{
	struct consumer x;

	same_identify(&same, m, id, &ids->names, &x);
	return consumer_add(ids, &x) < nr_counted;
}

/*
 * Keep only counted functions in the tree of samples. A mark stays: what is below it has lost the outer part
 * of its path.
 */
static void keep_counted(struct model *m, const struct model *calls)
{
	uint32_t *to = xcalloc(m->consumers.nr_items, sizeof(*to));
	struct consumers ids;
	size_t i, nr_counted;
	struct flow out;

	list_counted(&ids, calls);
	nr_counted = ids.nr_items;
	for (i = 1; i < m->consumers.nr_items; i++) {
		const struct consumer *c = &m->consumers.items[i];
		bool keep = kind_is(c->kind, KIND_PLACE) || c->kind == CONSUMER_MARK ||
			    is_counted(&ids, nr_counted, m, i);

		to[i] = keep ? i : FLOW_DROP;
	}
	flow_map(&m->flow, to, false, &out, NULL);
	model_take_flow(m, &out, NULL);
	consumers_release(&ids);
	free(to);
}

static const char *first_sampled(const struct model *m)
{
	unsigned int source = model_first_samples(m), i;

	for (i = 0; i < m->nr_shown && m->metrics[i].source != source; i++)
		;
	return i < m->nr_shown ? model_str(m, m->metrics[i].name) : NULL;
}

/* Pick the metrics of samples, and of calls all that no probe changes. */
static int blend_pick(struct model *m, struct err *e)
{
	char *names[FLOW_MAX_METRICS];
	unsigned int i, nr = 0;

	for (i = 0; i < m->nr_shown; i++)
		if (m->metrics[i].source || strcmp(model_str(m, m->metrics[i].unit), "ns") != 0)
			names[nr++] = xstrdup(model_str(m, m->metrics[i].name));
	i = model_pick_metrics(m, names, nr, e) ? 1 : 0;
	while (nr)
		free(names[--nr]);
	return i ? -EINVAL : 0;
}

/* Return whether the path has nothing but a process and a thread: what is there is in no counted function. */
static bool is_top(const struct model *m, uint32_t node)
{
	return kind_is(m->consumers.items[m->flow.nodes[node].consumer].kind, KIND_PLACE);
}

static void share(const struct model_union *u, const char *metric, struct blend *b)
{
	const struct model *m = u->m;
	unsigned int column = union_column(u, SAMPLES, metric);
	uint64_t total = 0, unmatched = 0, outside = 0;
	size_t i;

	for (i = 1; i < m->flow.nr_nodes && column < m->nr_shown; i++) {
		uint64_t value = flow_base(&m->flow, i)[column];

		total += value;
		if (!union_has(u, CALLS, i))
			*(is_top(m, i) ? &outside : &unmatched) += value;
	}
	*b = (struct blend){ total ? (double)unmatched / total : 0, total ? (double)outside / total : 0 };
}

static int blend_check(const struct model *calls, const struct model *samples, struct err *e)
{
	if (calls->sources[0].kind != FLOW_CALLS)
		return err_set(e, EINVAL, "the recording to take calls from has no exact calls");
	if (samples->sources[0].kind != FLOW_SAMPLES || !first_sampled(samples) ||
	    samples->flow.nr_nodes <= 1)
		return err_set(e, EINVAL, "the recording to take samples from has none");
	return 0;
}

int blend_models(struct model *out, const struct model *calls, struct model *samples, struct blend *b,
		 struct err *e)
{
	static const struct union_opts opts = { .identify = same_identify, .ctx = &same };
	struct model_union u;
	int r = blend_check(calls, samples, e);

	union_init(&u, out, &opts);
	if (!r) {
		keep_counted(samples, calls);
		r = union_add(&u, calls, CALLS, NULL, e);
	}
	if (!r)
		r = union_add(&u, samples, SAMPLES, NULL, e);
	union_finish(&u);
	if (!r) {
		share(&u, first_sampled(samples), b);
		r = blend_pick(out, e);
	}
	union_release(&u);
	return r;
}
