// SPDX-License-Identifier: GPL-2.0-or-later
/* merge.c - "arcprof merge": any number of traces become one. */
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "cmd.h"
#include "input.h"
#include "model/merge.h"
#include "model/profile.h"

static const char *const ops[] = { "add", "subtract", "minimum", NULL };	/* enum merge_op */

struct merge_opts {
	const char *output;
	struct opt_list metrics;
	int op;
	bool by_pid, by_tid, digits, by_kind, calibrate;
};

#define O struct merge_opts
static const struct opt merge_table[] = {
	OPT_STR('o', "output", O, output, "file", NULL, "write the merged trace to <file>"),
	OPT_ENUM(0, "op", O, op, ops, "add", "add all traces, subtract the others from the first, or keep what all have"),
	OPT_LIST(0, "metric", O, metrics, "name", "only these metrics"),
	OPT_GROUP("What is the same in two traces"),
	OPT_FLAG(0, "by-pid", O, by_pid, "keep processes of the same name apart"),
	OPT_FLAG(0, "by-tid", O, by_tid, "keep threads of the same name apart"),
	OPT_FLAG(0, "merge-numbers", O, digits, "merge threads whose names differ in numbers alone"),
	OPT_FLAG(0, "by-kind", O, by_kind, "separate interpreted, compiled and inlined code of a function"),
	{ .type = OPT_TYPE_FLAG, .name = "calibrate", .offset = OPT_FIELD(O, calibrate, bool), .def = "true",
	  .help = "subtract what counting the calls cost" },
	OPT_END
};
#undef O

/* -errno; 1: the trace is damaged, and what could be read is in. */
static int add_trace(struct merge *g, const struct merge_opts *o, const char *path, struct err *e)
{
	const struct profile_opts po = { .names.by_kind = o->by_kind, .metrics = &o->metrics,
					 .calibrate = o->calibrate, .all_events = true };
	struct origin origin = { 0 };
	struct trace_reader *t;
	struct names names;
	struct model m;
	int r = input_open(&t, path, NULL, e);

	if (r)
		return r;
	r = profile_read(&names, &m, &origin, t, &po, e);
	if (!r)
		r = merge_add(g, &m, &origin, e);
	if (r)
		err_wrap(e, "%s", path);
	else
		r = warn_of_damage(path, trace_reader_damage(t));
	names_release(&names);
	model_release(&m);
	trace_reader_close(t);
	return r;
}

/* Adds all of them, then writes; a trace that cannot be read leaves no result. */
static int merge(struct merge *g, const struct merge_opts *o, int nr, char **paths)
{
	struct err e = { 0 };
	int i, r = 0, damaged = 0;

	for (i = 0; i < nr && r >= 0; i++) {
		r = add_trace(g, o, paths[i], &e);
		damaged |= r > 0;
	}
	if (r >= 0) {
		merge_finish(g);
		r = merge_write(g, o->output, &e);
	}
	if (r < 0)
		return log_err(&e);
	log_info("%zu recording%s, %zu contexts; wrote %s", g->nr_parts, g->nr_parts == 1 ? "" : "s",
		 g->m.flow.nr_nodes - 1, o->output);
	if (g->below_zero)
		log_warn("%" PRIu64 " values would be below zero, and are 0", g->below_zero);
	return damaged;
}

static int merge_run(void *opts, int nr_operands, char **operands)
{
	const struct merge_opts *o = opts;
	const struct same_opts same = { .pids = o->by_pid, .tids = o->by_tid, .thread_digits = o->digits,
					.kinds = o->by_kind };
	struct merge g;
	int status;

	if (!nr_operands || !o->output) {
		log_error(o->output ? "no traces to merge" : "--output is missing: it names the merged trace");
		log_hint("arcprof merge a.data b.data -o both.data");
		return EXIT_USAGE;
	}
	merge_init(&g, o->op, &same);
	status = merge(&g, o, nr_operands, operands);
	merge_release(&g);
	return status;
}

const struct command cmd_merge = {
	.name = "merge",
	.summary = "add traces of several runs or machines, subtract them, or keep what all have",
	.operands = "<file>...",
	.opts = merge_table,
	.opts_size = sizeof(struct merge_opts),
	.run = merge_run,
};
