// SPDX-License-Identifier: GPL-2.0-or-later
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
	trace_reader_close(l->reader);
	names_release(&l->names);
	model_release(&l->model);
}

static int read_names(struct live *l, const void *data, size_t len, struct err *e)
{
	int r = 0;

	if (l->reader)
		trace_reader_go_on(l->reader, data, len);
	else
		r = trace_reader_open_memory(&l->reader, data, len, e);
	return r ? r : trace_read(l->reader, &names_sink, &l->names, e);
}

static int read_samples(struct live *l, struct err *e)
{
	static const struct trace_sink sink = { .samples = samples_take };
	const struct window all = { .to_ns = UINT64_MAX };
	const struct samples_opts so = { .columns = &l->columns, .window = &all };
	struct samples_seen seen;
	struct samples *s;
	int r = samples_new(&s, &l->names, &so, e);

	if (r)
		return r;
	r = trace_read(l->reader, &sink, s, e);
	samples_free(s, &seen);
	return r;
}

int live_take(struct live *l, const void *data, size_t len, struct err *e)
{
	const struct columns_opts first = { .metrics = NULL };
	int r = read_names(l, data, len, e);

	if (!r)		/* makes the tree anew, too */
		r = columns_of_samples(&l->columns, &l->names, &first, e);
	if (!r)
		r = read_samples(l, e);
	model_finish(&l->model);
	return r;
}
