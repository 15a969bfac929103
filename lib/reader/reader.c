// SPDX-License-Identifier: GPL-2.0-or-later
/* reader.c - opens a trace, and reads its tables when they are asked for. */
#include <errno.h>
#include <string.h>

#include "reader/reader.h"

enum { DEFAULT_MEMORY = 1 << 30 };

static int explain(struct arcprof_error *to, const struct err *e)
{
	to->code = e->code;
	snprintf(to->text, sizeof(to->text), "%s", e->msg);
	return -e->code;
}

/* ---- opening ---- */

static void split_list(struct opt_list *l, const char *s)
{
	size_t len;

	for (; s && *s; s += len + (s[len] == ',')) {
		len = strcspn(s, ",");
		*VEC_ADD(l->items, l->nr_items, l->alloc_items) = xstrndup(s, len);
	}
}

static void release_list(struct opt_list *l)
{
	size_t i;

	for (i = 0; i < l->nr_items; i++)
		free(l->items[i]);
	free(l->items);
}

static void reader_choose(struct arcprof_trace *t, const struct arcprof_options *o)
{
	uint32_t flags = o->flags;

	t->profile = (struct profile_opts){
		.names = { .signatures = flags & ARCPROF_SIGNATURES, .lines = flags & ARCPROF_LINES,
			   .addresses = flags & ARCPROF_ADDRESSES, .by_kind = flags & ARCPROF_BY_KIND,
			   .no_files = true },
		.select = &t->select,
		.samples = flags & ARCPROF_SAMPLES, .replay = flags & ARCPROF_REPLAY,
		.calibrate = !(flags & ARCPROF_NO_CALIBRATE), .deltas = true,
		.collapse_plt = flags & ARCPROF_COLLAPSE_PLT, .times = true, .whole_functions = true,
	};
	t->select.from_ns = o->from_ns;
	t->select.to_ns = o->to_ns;
	split_list(&t->profile.metrics, o->metrics);
	split_list(&t->select.cpus, o->cpus);
}

static int open_reader(struct arcprof_trace **tp, struct trace_reader *reader,
		       const struct arcprof_options *given, struct arcprof_error *said)
{
	struct arcprof_options o = { 0 };
	struct arcprof_trace *t = xcalloc(1, sizeof(*t));
	struct err e = { 0 };
	int r;

	if (given)
		o = *given;
	t->reader = reader;
	reader_choose(t, &o);
	query_data_init(&t->data, reader, &t->profile, o.memory_bytes ? o.memory_bytes : DEFAULT_MEMORY,
			&t->used_bytes);
	if (o.to_ns && o.to_ns <= o.from_ns)
		r = err_set(&e, EINVAL, "to_ns is not after from_ns");
	else
		r = query_data_model(&t->data, &e);
	if (r) {
		arcprof_trace_close(t);
		return explain(said, &e);
	}
	*tp = t;
	return 0;
}

int arcprof_trace_open(struct arcprof_trace **t, const char *path, const struct arcprof_options *o,
		       struct arcprof_error *said)
{
	struct trace_reader *reader;
	struct err e = { 0 };

	*t = NULL;
	*said = (struct arcprof_error){ 0 };
	if (trace_reader_open(&reader, path, &e))
		return explain(said, &e);
	return open_reader(t, reader, o, said);
}

int arcprof_trace_open_fd(struct arcprof_trace **t, int fd, const struct arcprof_options *o,
			  struct arcprof_error *said)
{
	struct trace_reader *reader;
	struct err e = { 0 };
	char path[32];

	*t = NULL;
	*said = (struct arcprof_error){ 0 };
	snprintf(path, sizeof(path), "descriptor %d", fd);
	if (fd < 0) {
		err_set(&e, EBADF, "%s: not open", path);
		return explain(said, &e);
	}
	if (trace_reader_open_fd(&reader, fd, path, &e))
		return explain(said, &e);
	return open_reader(t, reader, o, said);
}

int arcprof_trace_open_memory(struct arcprof_trace **t, const void *data, size_t len,
			      const struct arcprof_options *o, struct arcprof_error *said)
{
	struct trace_reader *reader;
	struct err e = { 0 };

	*t = NULL;
	*said = (struct arcprof_error){ 0 };
	if (trace_reader_open_memory(&reader, data, len, &e))
		return explain(said, &e);
	return open_reader(t, reader, o, said);
}

void arcprof_trace_close(struct arcprof_trace *t)
{
	if (!t)
		return;
	query_data_release(&t->data);
	trace_reader_close(t->reader);
	release_list(&t->profile.metrics);
	release_list(&t->select.cpus);
	free(t->nr_nodes_of);
	free(t->first_level);
	reader_maps_free(t->maps);
	free(t);
}

const char *arcprof_trace_damage(const struct arcprof_trace *t)
{
	const struct trace_damage *d = trace_reader_damage(t->reader);

	if (d->first[0])
		return d->first;
	return d->truncated ? "the file has no end: the recording goes on, or was cut off" : NULL;
}

uint64_t arcprof_trace_lost(const struct arcprof_trace *t)
{
	return t->data.origin.lost;
}

/* ---- tables ---- */

static const struct query_table *const tables[ARCPROF_NR_TABLES] = {
	[ARCPROF_TABLE_LABELS] = &query_labels,
	[ARCPROF_TABLE_METRICS] = &query_metrics,
	[ARCPROF_TABLE_PROCESSES] = &query_processes,
	[ARCPROF_TABLE_THREADS] = &query_threads,
	[ARCPROF_TABLE_MODULES] = &query_modules,
	[ARCPROF_TABLE_FUNCTIONS] = &query_xprof,	/* their numbers */
	[ARCPROF_TABLE_NODES] = &query_nodes,
	[ARCPROF_TABLE_SAMPLES] = &query_samples,
	[ARCPROF_TABLE_STACKS] = &query_stacks,
	[ARCPROF_TABLE_CALLS] = &query_calls,
	[ARCPROF_TABLE_EVENTS] = &query_events,
	[ARCPROF_TABLE_DISPATCHES] = &query_dispatches,
	[ARCPROF_TABLE_MAPPINGS] = NULL,		/* address.c's own */
};

/* Count the contexts of each function. */
static int count_nodes(struct arcprof_trace *t, struct err *e)
{
	const struct flow *f = &t->data.model.flow;
	size_t i;

	if (t->nr_nodes_of)
		return 0;
	t->nr_consumers = flow_nr_consumers(f);
	if (query_data_charge(&t->data, (uint64_t)t->nr_consumers * sizeof(*t->nr_nodes_of), e))
		return -ENOMEM;
	t->nr_nodes_of = xcalloc(t->nr_consumers, sizeof(*t->nr_nodes_of));
	for (i = 1; i < f->nr_nodes; i++)
		t->nr_nodes_of[f->nodes[i].consumer]++;
	return 0;
}

/* Index where the levels of each frame begin: they are in the order of the frames. */
static int index_frames(struct arcprof_trace *t, struct err *e)
{
	const struct query_data *d = &t->data;
	uint32_t frame, level = 0;

	if (t->first_level)
		return 0;
	if (query_data_charge(&t->data, ((uint64_t)d->nr_frames + 1) * sizeof(*t->first_level), e))
		return -ENOMEM;
	t->first_level = xcalloc((size_t)d->nr_frames + 1, sizeof(*t->first_level));
	for (frame = 0; frame < d->nr_frames; frame++) {
		t->first_level[frame] = level;
		while (level < d->nr_levels && d->levels[level].frame == frame)
			level++;
	}
	t->first_level[frame] = level;
	return 0;
}

int64_t arcprof_trace_rows(struct arcprof_trace *t, enum arcprof_table table, struct arcprof_error *said)
{
	struct err e = { 0 };
	int r;

	*said = (struct arcprof_error){ 0 };
	if (table < 0 || table >= ARCPROF_NR_TABLES) {
		err_set(&e, EINVAL, "there is no table %d", (int)table);
		return explain(said, &e);
	}
	r = tables[table] ? tables[table]->load(&t->data, &e) : reader_maps_load(t, &e);
	if (!r && table == ARCPROF_TABLE_FUNCTIONS)
		r = count_nodes(t, &e);
	if (!r && table == ARCPROF_TABLE_STACKS)
		r = index_frames(t, &e);
	if (r) {
		explain(said, &e);
		return r == -ENODATA ? 0 : r;
	}
	t->is_loaded[table] = true;
	if (!tables[table])
		return reader_maps_nr(t);
	return table == ARCPROF_TABLE_FUNCTIONS ? t->data.nr_functions : tables[table]->nr_rows(&t->data);
}
