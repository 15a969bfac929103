// SPDX-License-Identifier: GPL-2.0-or-later
/* budget.c - "arcprof budget": checks a recording against a file of limits. */
#include <inttypes.h>
#include <string.h>

#include "base/inputs.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd.h"
#include "reuse.h"
#include "flow/input.h"
#include "folder.h"
#include "input.h"
#include "model/account.h"
#include "model/profile.h"
#include "output.h"
#include "report.h"
#include "report/budget.h"
#include "report/format.h"

#define O struct budget_opts
static const struct opt budget_table[] = {
	OPT_GROUP("Input"),
	OPT_STR('i', "input", O, input, "file", "arcprof.data", "check the trace <file>"),
	OPT_IMPORT(O, import),
	OPT_STR(0, "tree", O, tree, "file", NULL, "check a tree as text instead"),
	OPT_STR(0, "baseline", O, baseline, "store", NULL,
		"measure growth against the recordings of a commit in <folder>[@<commit>], or files separated by commas"),
	OPT_STR('f', "file", O, file, "file", NULL, "read the limits from <file>"),
	OPT_ON("calibrate", O, calibrate, "subtract what counting the calls cost"),
	OPT_GROUP("Result"),
	OPT_FORMAT(O, format, FORMATS_TABLE | FORMAT_BIT(FORMAT_JUNIT), "output format"),
	OPT_STR('o', "output", O, output, "file", NULL, "write to <file> instead of standard output"),
	OPT_FLAG(0, "all", O, all, "also show the limits that are kept"),
	OPT_FLAG(0, "strict", O, strict, "also fail for limits that samples cannot decide, and for lost samples"),
	OPT_END
};
#undef O

static const char *input_path(const struct budget_opts *o)
{
	return o->import ? o->import : o->input;
}

static const char *input_name(const struct budget_opts *o)
{
	return o->name ? o->name : input_path(o);
}

/* what is judged */
struct subject {
	struct trace_reader *t;		/* NULL: a text */
	struct origin origin;
	struct names names;
	struct model model;
};

static void subject_release(struct subject *s)
{
	names_release(&s->names);
	model_release(&s->model);
	if (s->t)
		trace_reader_close(s->t);
}

enum { MAX_LIMITS_BYTES = 16 << 20 };

static int read_limits(struct limits *l, const char *path, struct err *e)
{
	struct buf b = BUF_INIT;
	int r;

	memset(l, 0, sizeof(*l));
	r = inputs_read_text(path, &b, MAX_LIMITS_BYTES, e);
	if (!r && (r = limits_parse(l, b.data ? b.data : "", b.len, e)))
		err_wrap(e, "%s", path);
	buf_release(&b);
	return r;
}

/* Return whether a limit is on the time that no sample has: only then is it computed. */
static bool limits_not_sampled(const struct limits *l)
{
	size_t i;

	for (i = 0; i < l->nr; i++)
		if (l->list[i].function && !strcmp(l->list[i].function, ACCOUNT_NOT_SAMPLED))
			return true;
	return false;
}

static int budget_read_trace(struct subject *s, const struct budget_opts *o, const struct opt_list *metrics,
			     bool not_sampled, struct err *e)
{
	const struct profile_opts po = { .metrics = *metrics, .calibrate = o->calibrate, .deltas = true,
					 .not_sampled = not_sampled };
	int r = input_open(&s->t, o->input, o->import, e);

	if (r)
		return r;
	r = profile_read(&s->names, &s->model, &s->origin, s->t, &po, e);
	return r ? err_wrap(e, "%s", input_name(o)) : 0;
}

static bool limits_growth(const struct limits *l)
{
	size_t i;

	for (i = 0; i < l->nr; i++)
		if (l->list[i].grows)
			return true;
	return false;
}

static const char *metric_of(const struct limit *m)
{
	return m->metric ? m->metric : "calls";
}

/* Judge all limits on the growth of one metric; *e says why a recording cannot be compared. */
static int judge_metric(const struct budget_opts *o, const struct fleet_paths *base, const struct limits *l,
			const char *metric, struct verdict *list, struct err *e)
{
	const struct report_request q = { .profile.calibrate = o->calibrate };
	const struct same_opts same = { .thread_digits = true };
	struct diff d;
	size_t i;
	int r = 0, k;

	diff_init(&d, metric, &same);
	for (k = 0; k < base->nr && !r; k++)
		r = diff_add_run(&d, DIFF_A, base->list[k], &q, e);
	if (!r)
		r = diff_add_run(&d, DIFF_B, input_path(o), &q, e);
	if (!r) {
		diff_finish(&d);
		for (i = 0; i < l->nr; i++)
			if (l->list[i].grows && !strcmp(metric_of(&l->list[i]), metric))
				list[i] = judge_growth(&l->list[i], &d);
	}
	diff_release(&d);
	return r;
}

static int judge_all_growth(const struct budget_opts *o, const struct limits *l, struct verdict *list,
			    struct err *e)
{
	struct fleet_paths base = { .nr = 0 };
	size_t i;
	int r;

	if (!limits_growth(l))
		return 0;
	r = baseline_list(&base, o->baseline, e);
	for (i = 0; i < l->nr && !r; i++)
		if (l->list[i].grows && !list[i].limit)
			r = judge_metric(o, &base, l, metric_of(&l->list[i]), list, e);
	fleet_list_release(&base);
	return r;
}

static int budget_judge(const struct budget_opts *o, const struct subject *s, const struct limits *l,
			struct verdict *list, struct err *e)
{
	struct judge j;
	size_t i;

	judge_init(&j, &s->model);
	for (i = 0; i < l->nr; i++)
		if (!l->list[i].grows)
			list[i] = judge_limit(&j, &l->list[i]);
	judge_release(&j);
	return judge_all_growth(o, l, list, e);
}

static int budget_print_rows(const struct budget_opts *o, const struct subject *s, const struct limits *l)
{
	struct verdict *list = xcalloc(l->nr, sizeof(*list));
	struct budget b = { .trace = o->tree ? o->tree : input_name(o), .limits = o->file,
			    .origin = &s->origin, .list = list, .nr = l->nr, .all = o->all,
			    .strict = o->strict };
	struct output out;
	struct err e;
	int status;

	if (budget_judge(o, s, l, list, &e)) {
		free(list);
		return log_err(&e);
	}
	status = budget_fails(&b) ? 1 : 0;
	if (output_begin(&out, o->output, &e)) {
		status = log_err(&e);
	} else {
		budget_print(&b, o->format, stdout);
		if (output_end(&out, &e))
			status = log_err(&e);
	}
	free(list);
	return status;
}

/* Warn of what the trace lacks, which makes every verdict doubtful. */
static int warn_of_gaps(const struct budget_opts *o, const struct subject *s)
{
	int r = warn_of_damage(input_name(o), trace_reader_damage(s->t));

	if (s->origin.lost)
		log_warn("%" PRIu64 " sample%s lost", s->origin.lost, s->origin.lost == 1 ? " was" : "s were");
	if (s->origin.stopped_ns)
		log_warn("the recording stopped storing after %.2f s, when --max-size was reached; %" PRIu64 " sample%s came later",
			 s->origin.stopped_ns / 1e9, s->origin.nr_after, plural(s->origin.nr_after));
	return o->strict && (s->origin.lost || s->origin.stopped_ns) ? 1 : r;
}

static int budget_run(void *opts, int nr_operands, char **operands)
{
	struct budget_opts *o = opts;
	struct subject s = { 0 };
	struct limits l;
	struct err e = { 0 };
	int r, status = command_input(&o->input, o->import, nr_operands, operands);

	if (!status && o->import && o->tree) {
		log_error("cannot be combined: --import and --tree");
		status = EXIT_USAGE;
	}
	if (!status && !o->file) {
		log_error("--file is missing: it names the file of limits");
		status = EXIT_USAGE;
	}
	if (status)
		return status;
	if (read_limits(&l, o->file, &e)) {
		log_error("%s", e.msg);
		limits_release(&l);
		return EXIT_USAGE;
	}
	if (limits_growth(&l) && (o->tree || !o->baseline)) {
		log_error(o->tree ? "a tree as text has no growth: its samples are not known" :
			  "%s has limits on growth: --baseline must say against what", o->file);
		limits_release(&l);
		return EXIT_USAGE;
	}
	r = o->tree ? input_text(&s.model, o->tree, input_tree, &e) :
		      budget_read_trace(&s, o, &l.metrics, limits_not_sampled(&l), &e);
	status = r ? log_err(&e) : budget_print_rows(o, &s, &l);
	if (!r && s.t)
		status |= warn_of_gaps(o, &s);
	subject_release(&s);
	limits_release(&l);
	return status;
}

const struct command cmd_budget = {
	.name = "budget",
	.summary = "check a recording against limits, for CI",
	.operands = "[<file>]",
	.opts = budget_table,
	.opts_size = sizeof(struct budget_opts),
	.run = budget_run,
};
