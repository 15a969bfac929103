// SPDX-License-Identifier: GPL-2.0-or-later
/* live.c - builds models of the latest part of a running recording (live.h). */
#include "model/live.h"
#include "model/samples.h"

/* Each kind of code is a consumer of its own: which a function ran as most changes from part to part. */
static const struct resolve_opts resolve = { .no_files = true, .by_kind = true };

void live_init(struct live *l)
{
	*l = (struct live){ .reader = NULL };
	model_init(&l->model, 1, FLOW_SAMPLES);
	names_init(&l->names, &l->model, &resolve);
}

void live_release(struct live *l)
{
	struct samples_seen seen;

	if (l->samples)
		samples_free(l->samples, &seen);
	trace_reader_close(l->reader);
	names_release(&l->names);
	model_release(&l->model);
}

static int live_read_names(struct live *l, const void *data, size_t len, struct err *e)
{
	int r = 0;

	if (l->reader)
		trace_reader_go_on(l->reader, data, len);
	else
		r = trace_reader_open_memory(&l->reader, data, len, e);
	return r ? r : trace_read(l->reader, &names_sink, &l->names, e);
}

/* Prepare samples with the first part, from which the events are known. */
static int first_samples(struct live *l, struct err *e)
{
	const struct columns_opts co = { .metrics = NULL };
	const struct window all = { .to_ns = UINT64_MAX };
	const struct samples_opts so = { .columns = &l->columns, .window = &all };
	int r = columns_of_samples(&l->columns, &l->names, &co, e);

	return r ? r : samples_new(&l->samples, &l->names, &so, e);
}

static void new_tree(struct live *l)
{
	const unsigned int nr_metrics = l->model.flow.nr_metrics;

	flow_release(&l->model.flow);
	flow_init(&l->model.flow, nr_metrics, FLOW_SAMPLES);
	samples_new_tree(l->samples);
}

int live_take(struct live *l, const void *data, size_t len, struct err *e)
{
	static const struct trace_sink sink = { .samples = samples_take };
	int r = live_read_names(l, data, len, e);

	if (r)
		return r;
	if (l->samples)
		new_tree(l);
	else
		r = first_samples(l, e);
	if (r)
		return r;
	r = trace_read(l->reader, &sink, l->samples, e);
	samples_flush(l->samples);
	model_finish(&l->model);
	return r;
}

void live_take_flow(struct live *l, struct flow *f)
{
	*f = l->model.flow;
	flow_init(&l->model.flow, f->nr_metrics, FLOW_SAMPLES);
}
