// SPDX-License-Identifier: GPL-2.0-or-later
/* names.c - tables of what the trace names: processes, threads, modules, labels; and the metrics. */
#include <string.h>

#include "query/table.h"

void query_names_release(struct query_data *d)
{
	if (d->has_sched)
		sched_release(&d->sched);
}

/* ---- lives ---- */

static void earliest(uint64_t *at, uint64_t time_ns)
{
	if (!*at || time_ns < *at)
		*at = time_ns;
}

static int take_proc(void *ctx, const struct rec_proc *r)
{
	struct query_data *d = ctx;
	uint32_t at = map_get(&d->names.proc_of, r->proc);

	if (at == MAP_NONE)
		return 0;
	earliest(&d->procs[at].start_ns, r->time_ns);
	if (r->parent)
		d->procs[at].parent = r->parent;
	return 0;
}

static int take_thread(void *ctx, const struct rec_thread *r)
{
	struct query_data *d = ctx;
	uint32_t at = map_get(&d->names.thread_of, r->thread);

	if (at != MAP_NONE)
		earliest(&d->threads[at].start_ns, r->time_ns);
	return 0;
}

static int take_end(void *ctx, const struct rec_end *r)
{
	struct query_data *d = ctx;
	uint32_t at = map_get(r->thread ? &d->names.thread_of : &d->names.proc_of,
			      r->thread ? r->thread : r->proc);

	if (at != MAP_NONE)
		(r->thread ? d->threads : d->procs)[at].end_ns = r->time_ns;
	return 0;
}

static int load_lives(struct query_data *d, struct err *e)
{
	static const struct trace_sink sink = { .proc = take_proc, .thread = take_thread, .end = take_end };
	int r = query_data_model(d, e);

	if (r || d->has_lives)
		return r;
	d->has_lives = true;
	return trace_read(d->t, &sink, d, e);
}

/* Load threads; without dispatches, columns about these are NULL. */
static int load_threads(struct query_data *d, struct err *e)
{
	const struct sched_opts o = { .select = d->profile->select };
	int r = load_lives(d, e);
	struct err none;

	if (r || d->has_sched)
		return r;
	d->has_sched = true;
	sched_read(&d->sched, d->t, &o, &none);
	return 0;
}

/* ---- processes ---- */

enum { PROC_ID, PROC_PID, PROC_NAME, PROC_PARENT, PROC_START, PROC_END, PROC_FUNCTION, PROC_CGROUP,
	PROC_CONTAINER };

static const struct query_column process_columns[] = {
	[PROC_ID] = { "id", COLUMN_INDEX | COLUMN_UNIQUE, "number of the process image; an exec makes a new one" },
	[PROC_PID] = { "pid", COLUMN_INDEX, "process id; NULL: not known" },
	[PROC_NAME] = { "name", COLUMN_TEXT, "command name" },
	[PROC_PARENT] = { "parent", 0, "the process that forked it, or that the exec replaced" },
	[PROC_START] = { "started", 0, "ns: when it was seen first" },
	[PROC_END] = { "ended", 0, "ns: when it ended; NULL: it lived on" },
	[PROC_FUNCTION] = { "function", COLUMN_INDEX, "the same in functions" },
	[PROC_CGROUP] = { "cgroup", COLUMN_TEXT, "path of its control group; NULL: not recorded" },
	[PROC_CONTAINER] = { "container", COLUMN_TEXT, "id of its container; NULL: in none, or not recorded" },
};

/* Return whether pid 0 is the idle task's; a profile of another program has it also for an unknown pid. */
static bool has_zero(const struct query_data *d, uint32_t proc)
{
	return !d->origin.imported ||
	       (proc != MAP_NONE && !strncmp(model_str(&d->model, d->names.procs[proc].comm), "swapper", 7));
}

static bool process_number(const struct query_data *d, const struct query_cell *c, uint64_t *v)
{
	const struct name_proc *p = &d->names.procs[c->row];
	const struct query_life *l = &d->procs[c->row];

	switch (c->column) {
	case PROC_ID:
		*v = p->number;
		return true;
	case PROC_PID:
		*v = p->pid;
		return p->pid || has_zero(d, c->row);
	case PROC_PARENT:
		return query_data_id(l->parent, v);
	case PROC_START:
		return query_data_time(d, l->start_ns, v);
	case PROC_END:
		return query_data_time(d, l->end_ns, v);
	default:
		return query_data_id(l->function, v);
	}
}

static const char *process_text(struct query_data *d, const struct query_cell *c)
{
	const struct name_proc *p = &d->names.procs[c->row];

	switch (c->column) {
	case PROC_CGROUP:
		return p->cgroup ? query_data_str(d, p->cgroup) : NULL;
	case PROC_CONTAINER:
		buf_reset(&d->scratch);
		buf_str(&d->scratch, names_container(&d->names, p));
		return d->scratch.len ? d->scratch.data : NULL;
	default:
		return query_data_str(d, p->comm);
	}
}

static uint32_t nr_processes(const struct query_data *d)
{
	return d->names.nr_procs;
}

const struct query_table query_processes = {
	.name = "processes", .what = "process images", QUERY_COLUMNS(process_columns),
	.load = load_lives, .nr_rows = nr_processes, .number = process_number, .text = process_text,
};

/* ---- threads ---- */

enum {
	THREAD_ID, THREAD_PROCESS, THREAD_PID, THREAD_TID, THREAD_NAME, THREAD_JAVA, THREAD_START, THREAD_END,
	THREAD_FUNCTION, THREAD_CHARGED, THREAD_CPU, THREAD_INTERRUPT, THREAD_RUNNABLE, THREAD_ASLEEP,
	THREAD_DISK, THREAD_UNKNOWN, THREAD_DISPATCHES, THREAD_PREEMPTED, THREAD_MIGRATIONS, THREAD_MAX_WAIT
};

static const struct query_column thread_columns[] = {
	[THREAD_ID] = { "id", COLUMN_INDEX | COLUMN_UNIQUE, "number of the thread" },
	[THREAD_PROCESS] = { "process", COLUMN_INDEX, "its process" },
	[THREAD_PID] = { "pid", 0, "process id; NULL: not known" },
	[THREAD_TID] = { "tid", COLUMN_INDEX, "thread id; 0: a virtual thread; NULL: not known" },
	[THREAD_NAME] = { "name", COLUMN_TEXT, "of Java threads the Java name" },
	[THREAD_JAVA] = { "java", 0, "1: a Java thread; NULL: not known, of a profile" },
	[THREAD_START] = { "started", 0, "ns: when it was seen first" },
	[THREAD_END] = { "ended", 0, "ns: when it ended; NULL: it lived on" },
	[THREAD_FUNCTION] = { "function", COLUMN_INDEX, "the same in functions" },
	[THREAD_CHARGED] = { "charged", 0, "ns of CPU time that the kernel charged it, of all that it executed; NULL: not known" },
	[THREAD_CPU] = { "cpu", 0, "ns on a CPU, without interrupts where they were recorded; from here on NULL without --sched" },
	[THREAD_INTERRUPT] = { "interrupt", 0, "ns in interrupts that came meanwhile" },
	[THREAD_RUNNABLE] = { "runnable", 0, "ns it waited for a CPU" },
	[THREAD_ASLEEP] = { "asleep", 0, "ns asleep" },
	[THREAD_DISK] = { "disk", 0, "ns in disk sleep" },
	[THREAD_UNKNOWN] = { "unknown", 0, "ns of which nothing is known" },
	[THREAD_DISPATCHES] = { "dispatches", 0, "how often it got a CPU" },
	[THREAD_PREEMPTED] = { "preempted", 0, "how often it lost it although it could run" },
	[THREAD_MIGRATIONS] = { "migrations", 0, "how often it went to another CPU" },
	[THREAD_MAX_WAIT] = { "max_wait", 0, "ns: the longest wait for a CPU" },
};

static bool sched_number(const struct query_data *d, uint32_t thread, unsigned int column, uint64_t *v)
{
	uint32_t at = d->sched.nr_threads ? map_get(&d->sched.by_number, thread) : MAP_NONE;
	const struct sched_thread *t;

	if (at == MAP_NONE || !d->sched.threads[at].seen)
		return false;
	t = &d->sched.threads[at];
	switch (column) {
	case THREAD_CPU:
		*v = t->times[SCHED_ON_CPU] - t->intr_ns;
		return true;
	case THREAD_INTERRUPT:
		*v = t->intr_ns;
		return d->sched.irq;
	case THREAD_DISPATCHES:
		*v = t->nr_dispatches;
		return true;
	case THREAD_PREEMPTED:
		*v = t->nr_preempted;
		return true;
	case THREAD_MIGRATIONS:
		*v = t->nr_migrations;
		return true;
	case THREAD_MAX_WAIT:
		*v = t->wait_max_ns;
		return t->nr_waits;
	default:
		*v = t->times[column - THREAD_RUNNABLE + SCHED_WAITS];
		return true;
	}
}

static bool thread_number(const struct query_data *d, const struct query_cell *c, uint64_t *v)
{
	const struct name_thread *t = &d->names.threads[c->row];
	const struct query_life *l = &d->threads[c->row];
	uint32_t proc = map_get(&d->names.proc_of, t->proc);

	switch (c->column) {
	case THREAD_ID:
		*v = l->number;
		return true;
	case THREAD_PROCESS:
		return query_data_id(t->proc, v);
	case THREAD_PID:
		*v = proc == MAP_NONE ? 0 : d->names.procs[proc].pid;
		return proc != MAP_NONE && (*v || has_zero(d, proc));
	case THREAD_TID:
		*v = t->tid;
		return t->tid || has_zero(d, proc);
	case THREAD_JAVA:
		*v = t->java;
		return !d->origin.imported;
	case THREAD_START:
		return query_data_time(d, l->start_ns, v);
	case THREAD_END:
		return query_data_time(d, l->end_ns, v);
	case THREAD_FUNCTION:
		return query_data_id(l->function, v);
	case THREAD_CHARGED:
		*v = t->used_ns;
		return t->has_used;
	default:
		return sched_number(d, l->number, c->column, v);
	}
}

static const char *thread_text(struct query_data *d, const struct query_cell *c)
{
	return query_data_name(d, d->threads[c->row].function);
}

static uint32_t nr_threads(const struct query_data *d)
{
	return d->names.nr_threads;
}

const struct query_table query_threads = {
	.name = "threads", .what = "threads, and with dispatches what they did",
	QUERY_COLUMNS(thread_columns),
	.load = load_threads, .nr_rows = nr_threads, .number = thread_number, .text = thread_text,
};

/* ---- modules ---- */

enum { MODULE_ID, MODULE_PATH, MODULE_NAME, MODULE_BUILD_ID, MODULE_IS_KERNEL };

static const struct query_column module_columns[] = {
	[MODULE_ID] = { "id", COLUMN_INDEX | COLUMN_UNIQUE, "number of the module" },
	[MODULE_PATH] = { "path", COLUMN_TEXT, "as functions.module has it" },
	[MODULE_NAME] = { "name", COLUMN_TEXT, "the last part of the path" },
	[MODULE_BUILD_ID] = { "build_id", COLUMN_TEXT, "in hexadecimal; NULL: it has none" },
	[MODULE_IS_KERNEL] = { "kernel", 0, "1: the kernel, or a module of it" },
};

static bool module_number(const struct query_data *d, const struct query_cell *c, uint64_t *v)
{
	const struct name_module *m = &d->names.modules[c->row];

	*v = c->column == MODULE_ID ? m->number : !!(m->flags & MODULE_KERNEL);
	return true;
}

static const char *module_text(struct query_data *d, const struct query_cell *c)
{
	const struct name_module *m = &d->names.modules[c->row];

	if (c->column != MODULE_BUILD_ID)
		return c->column == MODULE_PATH ? m->path : m->base;
	if (!m->build_id_len)
		return NULL;
	buf_reset(&d->scratch);
	buf_hex(&d->scratch, m->build_id, m->build_id_len);
	return d->scratch.data;
}

static uint32_t nr_modules(const struct query_data *d)
{
	return d->names.nr_modules;
}

const struct query_table query_modules = {
	.name = "modules", .what = "files that were mapped, and the kernel", QUERY_COLUMNS(module_columns),
	.load = query_data_model, .nr_rows = nr_modules, .number = module_number, .text = module_text,
};

/* ---- labels ---- */

static const struct query_column label_columns[] = {
	{ "key", COLUMN_TEXT, "what it says" },
	{ "value", COLUMN_TEXT, "as arcprof-trace(5) describes it" },
};

static const char *label_text(struct query_data *d, const struct query_cell *c)
{
	return c->column ? d->names.labels[c->row].val : d->names.labels[c->row].key;
}

static uint32_t nr_labels(const struct query_data *d)
{
	return d->names.nr_labels;
}

const struct query_table query_labels = {
	.name = "labels", .what = "what the trace says of itself", QUERY_COLUMNS(label_columns),
	.load = query_data_model, .nr_rows = nr_labels, .text = label_text,
};

/* ---- metrics ---- */

enum { METRIC_ID, METRIC_NAME, METRIC_UNIT, METRIC_SOURCE, METRIC_COUNTS, METRIC_N, METRIC_TOTAL };

static const struct query_column metric_columns[] = {
	[METRIC_ID] = { "id", COLUMN_ROW1 | COLUMN_UNIQUE, "1: of columns n, base, cum; 2: of n2, base2, cum2; ..." },
	[METRIC_NAME] = { "name", COLUMN_TEXT, "as --metric takes it" },
	[METRIC_UNIT] = { "unit", COLUMN_TEXT, "of base and cum" },
	[METRIC_SOURCE] = { "source", COLUMN_TEXT, "whose n it has: calls, or the event" },
	[METRIC_COUNTS] = { "counts", COLUMN_TEXT, "what n counts: calls or samples" },
	[METRIC_N] = { "n", 0, "sum over all nodes" },
	[METRIC_TOTAL] = { "total", 0, "sum of base over all nodes" },
};

static bool metric_number(const struct query_data *d, const struct query_cell *c, uint64_t *v)
{
	const struct model *m = &d->model;

	if (c->column == METRIC_ID)
		*v = c->row + 1;
	else if (c->column == METRIC_N)
		return query_data_n(d, model_n(m, m->metrics[c->row].source, d->total_n, d->total), v);
	else
		*v = d->total[c->row];
	return true;
}

static const char *metric_text(struct query_data *d, const struct query_cell *c)
{
	const struct model_metric *x = &d->model.metrics[c->row];

	switch (c->column) {
	case METRIC_NAME:
		return query_data_str(d, x->name);
	case METRIC_UNIT:
		return query_data_str(d, x->unit);
	case METRIC_SOURCE:
		return query_data_str(d, d->model.sources[x->source].name);
	default:
		return model_kind_name(d->model.sources[x->source].kind);
	}
}

const struct query_table query_metrics = {
	.name = "metrics", .what = "what base and cum are of, with totals", QUERY_COLUMNS(metric_columns),
	.load = query_data_model, .nr_rows = query_data_nr_metrics,
	.number = metric_number, .text = metric_text,
};
