// SPDX-License-Identifier: GPL-2.0-or-later
/* merge.c - "arcprof merge": any number of traces become one. */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "cmd.h"
#include "folder.h"
#include "input.h"
#include "model/join.h"
#include "model/merge.h"
#include "model/profile.h"
#include "reuse.h"
#include "trace/splice.h"

static const char *const ops[] = { "add", "subtract", "minimum", NULL };	/* enum merge_op */

struct merge_opts {
	const char *output;
	struct opt_list metrics;
	int op;
	const char *by_label, *join;
	bool splice, by_pid, by_tid, by_container, merge_numbers, by_kind, calibrate;
};

#define O struct merge_opts
static const struct opt merge_table[] = {
	OPT_STR('o', "output", O, output, "file", NULL, "write the merged trace to <file>"),
	OPT_ENUM(0, "op", O, op, ops, "add", "add all traces, subtract the others from the first, or take the minimum"),
	OPT_STR(0, "join", O, join, "key", NULL,
		"show what a server did below its client's call, joined by this label"),
	OPT_LIST(0, "metric", O, metrics, "name", "only these metrics"),
	OPT_FLAG(0, "splice", O, splice, "join the segments of a recording into one trace, with all samples and times"),
	OPT_GROUP("What is merged"),
	OPT_FLAG(0, "by-pid", O, by_pid, "keep processes of the same name apart"),
	OPT_FLAG(0, "by-tid", O, by_tid, "keep threads of the same name apart"),
	OPT_FLAG(0, "by-container", O, by_container, "keep processes of different control groups and containers apart"),
	OPT_FLAG(0, "merge-numbers", O, merge_numbers, "merge threads whose names differ only in numbers"),
	OPT_STR(0, "by-label", O, by_label, "key", NULL, "separate what threads did by their label of this key"),
	OPT_FLAG(0, "by-kind", O, by_kind, "separate interpreted, compiled and inlined code of a function"),
	OPT_ON("calibrate", O, calibrate, "subtract what counting the calls cost"),
	OPT_END
};
#undef O

/*
 * Traces are read by as many threads as there are CPUs, and added in the order of the command line, so that
 * what is written and said does not depend on who is fastest.
 */
struct team {
	const struct merge_opts *o;
	struct merge *g;
	struct join *join;		/* NULL: they are added as they are */
	char **paths;
	int nr;
	merge_choose *choose;
	void *ctx;
	bool quiet;
	pthread_mutex_t lock;
	pthread_cond_t turned;
	/* Under lock: */
	int taken, added;		/* of paths */
	int status;			/* -errno: it is over; 1: a trace was damaged */
	struct err e;
};

enum {
	MAX_THREADS = 16,		/* each holds a model */
	KEEP_BYTES = 32 << 20,
};

/* A trace as a model, between being read and being added. */
struct part {
	struct trace_reader *t;
	struct names names;
	struct model m;
	struct origin origin;
	struct err e;
	int status;			/* -errno */
};

static void part_read(struct part *p, const struct merge_opts *o, const char *path)
{
	const struct profile_opts po = {
		.names.by_kind = o->by_kind, .metrics = o->metrics, .calibrate = o->calibrate,
		.by_label = o->join ? o->join : o->by_label, .all_events = true,
	};

	*p = (struct part){ .t = NULL };
	p->status = input_open_any(&p->t, path, &p->e);
	if (!p->t)
		return;
	trace_reader_no_standing(p->t);
	p->status = profile_read(&p->names, &p->m, &p->origin, p->t, &po, &p->e);
	if (p->status)
		err_wrap(&p->e, "%s", path);
}

static void part_release(struct part *p)
{
	if (!p->t)
		return;
	names_release(&p->names);
	model_release(&p->m);
	trace_reader_close(p->t);
}

static void join_part(struct team *m, struct part *p, const char *path)
{
	join_model(m->join, &p->m);
	if (!m->join->is_labelled)
		log_warn("%s: its threads have no label %s", path, m->join->key);
	else if (m->added && !m->quiet)
		log_info("%s: %zu of %zu values of %s are below an earlier trace", path, m->join->nr_joined,
			 m->join->nr_values, m->join->key);
}

/* Add a part when it is its turn; the lock is held. */
static void team_add_part(struct team *m, struct part *p, const char *path)
{
	int r = p->status;

	if (!r && m->choose)
		r = m->choose(m->ctx, path, &p->origin, &p->m, &p->e);
	if (!r && m->join)
		join_part(m, p, path);
	if (!r && (r = merge_add(m->g, &p->m, &p->origin, &p->e)))
		err_wrap(&p->e, "%s", path);
	if (r < 0) {
		m->status = r;
		m->e = p->e;
	} else {
		m->status |= warn_of_damage(path, trace_reader_damage(p->t));
	}
}

static void *merge_worker(void *ctx)
{
	struct team *m = ctx;
	struct part p;
	int i;

	pthread_mutex_lock(&m->lock);
	while (m->status >= 0 && m->taken < m->nr) {
		i = m->taken++;
		pthread_mutex_unlock(&m->lock);
		part_read(&p, m->o, m->paths[i]);
		pthread_mutex_lock(&m->lock);
		while (m->added != i && m->status >= 0)
			pthread_cond_wait(&m->turned, &m->lock);
		if (m->status >= 0)
			team_add_part(m, &p, m->paths[i]);
		m->added++;
		pthread_cond_broadcast(&m->turned);
		pthread_mutex_unlock(&m->lock);
		part_release(&p);
		pthread_mutex_lock(&m->lock);
	}
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

/* Work in this thread and as many others as there are CPUs, or alone if none can be started. */
static void work_together(struct team *m)
{
	pthread_t threads[MAX_THREADS];
	cpu_set_t cpus;
	int i, nr = 1, started = 0;

	if (!sched_getaffinity(0, sizeof(cpus), &cpus))
		nr = MIN(CPU_COUNT(&cpus), MIN(m->nr, (int)MAX_THREADS));
	for (i = 1; i < nr && !pthread_create(&threads[started], NULL, merge_worker, m); i++)
		started++;
	merge_worker(m);
	while (started)
		pthread_join(threads[--started], NULL);
}

/* Adds all of them, then writes; a trace that cannot be read leaves no result. */
static int merge_team(struct team *m, bool quiet)
{
	const struct merge_opts *o = m->o;
	struct merge *g = m->g;
	struct join join;
	int r;

	if (o->join) {
		join_init(&join, o->join);
		m->join = &join;
	}
	m->quiet = quiet;
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->turned, NULL);
	work_together(m);
	if (m->join)
		join_release(m->join);
	if (m->status < 0)
		return log_err(&m->e);
	r = merge_finish(g, &m->e);
	if (!r && m->choose && !g->nr_parts)
		r = err_set(&m->e, ENODATA, "in none of the %d recordings something matches", m->nr);
	else if (!r)
		r = merge_write(g, o->output, &m->e);
	if (r)
		return log_err(&m->e);
	if (!quiet)
		log_info("%zu recording%s, %zu contexts; wrote %s", g->nr_parts, plural(g->nr_parts),
		 g->m.flow.nr_nodes - 1, o->output);
	if (g->below_zero)
		log_warn("%" PRIu64 " value%s below zero, in the metrics minus-...", g->below_zero,
			 g->below_zero == 1 ? " is" : "s are");
	return m->status;
}

int merge_files(const char *output, int nr, char **paths, merge_choose *choose, void *ctx)
{
	const struct merge_opts o = { .output = output, .calibrate = true };
	const struct same_opts same = { .labels = true, .groups = true };
	struct merge g;
	struct team m = { .o = &o, .g = &g, .paths = paths, .nr = nr, .choose = choose, .ctx = ctx };
	int status;

	merge_init(&g, MERGE_ADD, &same);
	status = merge_team(&m, true);
	merge_release(&g);
	return status;
}

static int splice(const struct merge_opts *o, const struct fleet_paths *p)
{
	struct err e;

	if (splice_files((const char *const *)p->list, p->nr, o->output, &e))
		return log_err(&e);
	log_info("%d segment%s; wrote %s", p->nr, plural(p->nr), o->output);
	return 0;
}

static int merge_run(void *opts, int nr_operands, char **operands)
{
	const struct merge_opts *o = opts;
	const struct same_opts same = { .pids = o->by_pid, .tids = o->by_tid,
					.thread_digits = o->merge_numbers, .labels = true,
					.groups = o->by_container, .kinds = o->by_kind };
	struct fleet_paths paths;
	struct merge g;
	struct team m = { .o = o, .g = &g };
	struct err e;
	int status;

	if (!nr_operands || !o->output) {
		log_error(o->output ? "no traces to merge" : "--output is missing: it names the merged trace");
		log_hint("arcprof merge a.data b.data -o both.data");
		return EXIT_USAGE;
	}
	if (o->join && (o->op != MERGE_ADD || o->by_label || nr_operands < 2)) {
		log_error(nr_operands < 2 ? "--join needs two traces: who calls, then who is called" :
					    "cannot be combined: --join and --by-label or another --op than add");
		return EXIT_USAGE;
	}
	if (list_traces(&paths, nr_operands, operands, &e))
		return log_err(&e);
	if (o->splice) {
		status = splice(o, &paths);
		fleet_list_release(&paths);
		return status;
	}
	/* memory of one trace is needed again for the next: keep it */
	mallopt(M_MMAP_THRESHOLD, KEEP_BYTES);
	mallopt(M_TRIM_THRESHOLD, KEEP_BYTES);
	merge_init(&g, o->op, &same);
	m.paths = paths.list;
	m.nr = paths.nr;
	status = merge_team(&m, false);
	merge_release(&g);
	fleet_list_release(&paths);
	return status;
}

const struct command cmd_merge = {
	.name = "merge",
	.summary = "add traces of several runs or machines, subtract them, or take their minimum",
	.operands = "<file|folder>...",
	.opts = merge_table,
	.opts_size = sizeof(struct merge_opts),
	.run = merge_run,
};
