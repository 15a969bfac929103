// SPDX-License-Identifier: GPL-2.0-or-later
/* report.c - "arcprof report": the arcflow reports, from a trace or from text. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/term.h"
#include "cmd.h"
#include "flow/check.h"
#include "flow/input.h"
#include "flow/ops.h"
#include "model/calls.h"
#include "model/profile.h"
#include "model/sched.h"
#include "report/arc.h"
#include "report/format.h"
#include "report/gen.h"
#include "report/sched.h"

struct report_cmd_opts {
	const char *input, *events, *stacks, *tree;
	int report;
	int format;
	struct opt_list metrics;
	int sort;
	uint64_t limit;
	double prune;
	bool absolute, percent;
	struct opt_list cpus, pids, tids, comms, threads, modules, symbols, gen_events;
	uint64_t from, to;
	bool from_zero;
	int fold;
	bool merge_threads, merge_processes, no_inline, no_kernel, by_kind;
	bool signatures, lines, addresses;
	double clip;
	struct opt_list stanzas;
	bool samples, replay, calibrate;
	bool compact, every_insn, fold_plt, fold_kernel;
	bool check, strict;
};

static const char *const sorts[] = { "default", "cum", "base", "n", "name", "wait", "blocked", "latency",
	NULL };
static const char *const folds[] = { "none", "module", "class", "package", NULL };

#define O struct report_cmd_opts
static const struct opt report_opts[] = {
	OPT_GROUP("Input"),
	OPT_STR('i', "input", O, input, "file", "arcprof.data", "read the trace <file>"),
	OPT_STR(0, "events", O, events, "file", NULL, "read enter and leave events as text instead"),
	OPT_STR(0, "stacks", O, stacks, "file", NULL, "read folded stacks as text instead"),
	OPT_STR(0, "tree", O, tree, "file", NULL, "read a tree as text instead"),
	OPT_FLAG(0, "samples", O, samples, "show only the samples of a trace with exact calls"),
	OPT_FLAG(0, "replay", O, replay, "build the tree from the events of a call trace"),
	{ .type = OPT_TYPE_FLAG, .name = "calibrate", .offset = OPT_FIELD(O, calibrate, bool), .def = "true",
	  .help = "subtract what counting the calls cost" },
	OPT_GROUP("Report"),
	OPT_SET(0, "xarc", O, report, REPORT_XARC, "show callers and callees of each function (the default)"),
	OPT_SET(0, "xtree", O, report, REPORT_XTREE, "show the call tree"),
	OPT_SET(0, "xprof", O, report, REPORT_XPROF, "show a flat profile"),
	OPT_SET(0, "rt", O, report, REPORT_RT,
		"show the call tree as log-rt: calls to and from each context"),
	OPT_SET(0, "gen", O, report, REPORT_GEN, "list every call and return of a call trace"),
	OPT_SET(0, "tprof", O, report, REPORT_TPROF, "show ticks by process, thread, module and symbol"),
	OPT_SET(0, "threads", O, report, REPORT_THREADS, "show how long each thread ran, waited and was blocked"),
	OPT_SET(0, "sched", O, report, REPORT_SCHED, "list dispatches and interrupts in time order"),
	OPT_SET(0, "arc", O, report, REPORT_ARC, "list an instruction trace block by block"),
	OPT_FORMAT(O, format, FORMATS_TABLE | FORMATS_OF_TREE, "output format (tree: the text that --tree reads)"),
	OPT_LIST(0, "metric", O, metrics, "name", "show only these metrics, in this order"),
	OPT_ENUM(0, "sort", O, sort, sorts, "default", "sort rows by this key"),
	OPT_U64(0, "limit", O, limit, "n", NULL, "show at most <n> rows, or stanzas of xarc"),
	OPT_DOUBLE(0, "prune", O, prune, "percent", NULL, "fold contexts whose cum is below <percent>"),
	OPT_FLAG(0, "absolute", O, absolute, "show unscaled numbers and no percentages"),
	OPT_FLAG(0, "percent", O, percent, "show percentages only"),
	OPT_GROUP("Selection"),
	OPT_LIST('p', "pid", O, pids, "pid", "only these processes"),
	OPT_LIST('t', "tid", O, tids, "tid", "only these threads"),
	OPT_LIST(0, "comm", O, comms, "name", "only processes with these names"),
	OPT_LIST(0, "thread", O, threads, "name", "only threads with these names"),
	OPT_LIST(0, "module", O, modules, "name", "only stacks that go through these modules"),
	OPT_LIST(0, "symbol", O, symbols, "name", "only stacks that go through these functions"),
	OPT_LIST('C', "cpu", O, cpus, "cpu", "only samples on these CPUs"),
	OPT_TIME(0, "from", O, from, "time", NULL, "only samples from <time> after the start"),
	OPT_FLAG(0, "from-zero", O, from_zero,
		 "only samples after the zero point that 'arcprof ctl zero' set"),
	OPT_TIME(0, "to", O, to, "time", NULL, "only samples before <time> after the start"),
	OPT_LIST(0, "event", O, gen_events, "kind", "show only these events of --gen: entry, exit, exception, unwound, dispatch"),
	OPT_GROUP("Folding"),
	OPT_ENUM(0, "fold", O, fold, folds, "none",
		 "show modules, classes or packages in place of functions"),
	OPT_FLAG(0, "merge-threads", O, merge_threads, "merge threads of the same name in a process"),
	OPT_FLAG(0, "merge-processes", O, merge_processes, "merge processes of the same name"),
	OPT_FLAG(0, "hide-inlined", O, no_inline, "charge inlined functions to the function they are in"),
	OPT_FLAG(0, "hide-kernel", O, no_kernel, "charge kernel functions to their caller"),
	OPT_FLAG(0, "by-kind", O, by_kind, "separate interpreted, compiled and inlined code of a function"),
	OPT_FLAG(0, "signatures", O, signatures, "show Java methods with their signatures"),
	OPT_FLAG(0, "lines", O, lines, "show functions with file and line"),
	OPT_FLAG(0, "addresses", O, addresses, "show unnamed addresses one by one"),
	OPT_GROUP("For --tprof"),
	OPT_DOUBLE(0, "clip", O, clip, "percent", NULL, "hide rows below <percent> of the ticks"),
	OPT_LIST(0, "stanza", O, stanzas, "keys", "only these stanzas: P, PM, PMS, PT, PTM, PTMS, M, MS"),
	OPT_GROUP("For --arc"),
	OPT_FLAG(0, "compact", O, compact, "arc: one row per visit of a function"),
	OPT_FLAG(0, "every-instruction", O, every_insn, "arc: one row per instruction"),
	OPT_FLAG(0, "collapse-plt", O, fold_plt, "charge linkage stubs to their callers"),
	OPT_FLAG(0, "collapse-kernel", O, fold_kernel, "arc: merge consecutive kernel rows"),
	OPT_GROUP("Verification"),
	OPT_FLAG(0, "check", O, check, "verify the invariants of the model instead of printing a report"),
	OPT_FLAG(0, "strict", O, strict, "fail if samples were lost"),
	OPT_END
};
#undef O

static int read_text(const struct report_cmd_opts *c, struct model *m, struct err *e)
{
	const char *path = c->events ? c->events : c->stacks ? c->stacks : c->tree;
	struct buf b = BUF_INIT;
	int r;

	if ((r = io_read_file(strcmp(path, "-") ? path : "/dev/stdin", &b, SIZE_MAX, e))) {
		model_init(m, 1, FLOW_CALLS);
		return r;
	}
	if (c->events)
		r = input_events(m, b.data ? b.data : "", b.len, e);
	else if (c->stacks)
		r = input_stacks(m, b.data ? b.data : "", b.len, e);
	else
		r = input_tree(m, b.data ? b.data : "", b.len, e);
	buf_release(&b);
	if (!r)
		r = model_pick_metrics(m, c->metrics.items, c->metrics.nr_items, e);
	return r ? err_wrap(e, "%s", path) : 0;
}

static bool all_numbers(const char *option, const struct opt_list *l, struct err *e)
{
	uint64_t v;
	size_t i;

	for (i = 0; i < l->nr_items; i++)
		if (opt_parse_u64(l->items[i], &v, e)) {
			err_wrap(e, "%s", option);
			return false;
		}
	return true;
}

/* What the option table alone cannot see; 0 or EXIT_USAGE. */
/* Options that go with some reports only; false when it has said what is wrong. */
static bool fit_report(const struct report_cmd_opts *c, bool text)
{
	bool sched = c->report == REPORT_THREADS || c->report == REPORT_SCHED;

	if (sched && text)
		log_error("--threads and --sched show dispatches of a trace, which a text has not");
	else if (sched && c->format == FORMAT_TREE)
		log_error("--format=tree: dispatches are no tree");
	else if (!sched && c->sort >= SORT_WAIT)
		log_error("--sort=%s is only valid with --threads", sorts[c->sort]);
	else if (c->report == REPORT_ARC && text)
		log_error("--arc is of an instruction trace, not of a text");
	else if (c->compact && c->every_insn)
		log_error("cannot be combined: --compact and --every-instruction");
	else if ((c->compact || c->every_insn || c->fold_kernel) && c->report != REPORT_ARC)
		log_error("--compact, --every-instruction and --collapse-kernel are for --arc");
	else if (c->report == REPORT_GEN && text)
		log_error("--gen prints the events of a trace, not of a text");
	else if (c->report == REPORT_GEN && (c->format != FORMAT_TEXT || c->check))
		log_error("--gen is text, and has no invariants to check");
	else if (c->report == REPORT_GEN && c->cpus.nr_items)
		log_error("--cpu: calls do not say on which CPU they were");
	else if (c->report != REPORT_GEN && c->gen_events.nr_items)
		log_error("--event is only valid with --gen");
	else
		return true;
	return false;
}

static int check_opts(const struct report_cmd_opts *c)
{
	int nr_text = !!c->events + !!c->stacks + !!c->tree;
	struct err e = { 0 };

	if (nr_text > 1)
		log_error("only one of --events, --stacks and --tree");
	else if (nr_text && (c->from || c->from_zero || c->to || c->cpus.nr_items))
		log_error("--from, --to and --cpu select samples of a trace, not of a text");
	else if (c->from && c->from_zero)
		log_error("cannot be combined: --from and --from-zero");
	else if (c->to && c->to <= c->from)
		log_error("--to is not after --from");
	else if (c->prune < 0 || c->prune > 100 || c->clip < 0 || c->clip > 100)
		log_error("%s: a percentage is from 0 to 100", c->prune < 0 || c->prune > 100 ? "--prune" : "--clip");
	else if (!all_numbers("--pid", &c->pids, &e) || !all_numbers("--tid", &c->tids, &e) ||
		 !all_numbers("--cpu", &c->cpus, &e))
		log_error("%s", e.msg);
	else if (fit_report(c, nr_text))
		return 0;
	return EXIT_USAGE;
}

static uint64_t from_ns(const struct report_cmd_opts *c)
{
	return c->from_zero ? SELECT_FROM_ZERO : c->from;
}

static struct selection selection(const struct report_cmd_opts *c)
{
	return (struct selection){ &c->pids, &c->tids, &c->comms, &c->threads, &c->modules, &c->symbols };
}

/* Appends the options that select, as they were given; names: those that select by name alone. */
static void put_selection(const struct report_cmd_opts *c, bool names, struct buf *b)
{
	const struct {
		const char *option;
		const struct opt_list *list;
		bool is_name;
	} lists[] = {
		{ "--pid", &c->pids, false },	      { "--tid", &c->tids, false },
		{ "--comm", &c->comms, true },	      { "--thread", &c->threads, true },
		{ "--module", &c->modules, true },    { "--symbol", &c->symbols, true },
		{ "--cpu", &c->cpus, false },	      { "--event", &c->gen_events, false },
	};
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		for (k = 0; k < lists[i].list->nr_items && (lists[i].is_name || !names); k++)
			buf_fmt(b, "%s%s '%s'", b->len ? " " : "", lists[i].option, lists[i].list->items[k]);
	if (names)
		return;
	if (c->from || c->from_zero)
		buf_fmt(b, "%s%s", b->len ? " " : "", c->from ? "--from" : "--from-zero");
	if (c->to)
		buf_fmt(b, "%s--to", b->len ? " " : "");
}

/*
 * The report was empty: a selection that finds nothing is most often a slip of the pen. Returns the
 * exit status.
 */
static int say_nothing_matches(const struct report_cmd_opts *c)
{
	struct buf all = BUF_INIT, names = BUF_INIT;
	int status;

	put_selection(c, false, &all);
	put_selection(c, true, &names);
	if (all.len)
		log_error("%s: nothing matches %s",
			  c->events ? c->events : c->stacks ? c->stacks : c->tree ? c->tree : c->input,
			  all.data);
	if (names.len && !strpbrk(names.data, "*?["))
		log_hint("names are compared as a whole; '*' stands for any part, as in --symbol '*parse*'");
	status = all.len ? 1 : 0;
	buf_release(&all);
	buf_release(&names);
	return status;
}

static int read_trace(const struct report_cmd_opts *c, const struct report_opts *o, struct profile *p,
		      struct model *m, struct model_source *src, struct trace_reader **t, struct err *e)
{
	struct profile_opts po = {
		.names = { .signatures = c->signatures, .lines = c->lines, .addresses = c->addresses,
			   .by_kind = c->by_kind || o->name == REPORT_GEN, .no_kernel = c->no_kernel,
			   /* A symbol of tprof is what the linker calls one. */
			   .no_inline = c->no_inline || o->name == REPORT_TPROF },
		.metrics = &c->metrics, .cpus = &c->cpus, .from_ns = from_ns(c), .to_ns = c->to,
		.samples = c->samples, .prefer_samples = o->name == REPORT_TPROF,
		.no_samples = o->name == REPORT_RT,
		.replay = c->replay, .calibrate = c->calibrate,
		.deltas = o->format != FORMAT_TREE, .needs_deltas = o->name == REPORT_RT,
		.fold_plt = c->fold_plt,
	};
	int r = trace_reader_open(t, c->input, e);

	if (r)
		return r;
	if (o->name == REPORT_GEN)
		r = gen_print(p, m, *t, &po, o, stdout, e);
	else
		r = profile_read(p, m, src, *t, &po, e);
	return r < 0 ? err_wrap(e, "%s", c->input) : r;
}

static int print_arc(const struct report_cmd_opts *c, struct trace_reader *t, struct err *e)
{
	const struct arc_opts o = {
		.format = c->format, .rows = c->compact ? ARC_VISITS : c->every_insn ? ARC_INSTRUCTIONS :
		ARC_BLOCKS,
		.fold_plt = c->fold_plt, .fold_kernel = c->fold_kernel, .limit = c->limit,
		.names = { .signatures = c->signatures, .addresses = c->addresses },
		.branches = { c->from, c->to },
		.select = selection(c),
	};

	return arc_print(t, &o, stdout, e);
}

/* What is missing from a report that was printed; the exit status it gives. */
static int warn_of_gaps(const struct report_cmd_opts *c, const struct trace_reader *t,
			const struct model_source *src)
{
	int r = warn_of_damage(c->input, trace_reader_damage(t));

	if (src->nr_local_modules)
		log_info("%" PRIu64 " module%s had no names in the trace; this machine's files gave them",
			 src->nr_local_modules, src->nr_local_modules == 1 ? "" : "s");
	if (c->strict && src->lost)
		log_warn("%" PRIu64 " samples were lost", src->lost);
	return c->strict && src->lost ? 1 : r;
}

static int check(const struct view *v)
{
	struct flow_check c[FLOW_NR_CHECKS];
	unsigned int i, nr_bad = flow_check(&v->m->flow, c);

	for (i = 0; i < FLOW_NR_CHECKS; i++) {
		printf("%s  %-50s %10" PRIu64 " checked", c[i].nr_bad ? "BAD" : "ok ", c[i].what,
		       c[i].nr_checked);
		if (c[i].nr_bad)
			printf(", %" PRIu64 " violated, first at %" PRIu32, c[i].nr_bad, c[i].first_bad);
		putchar('\n');
	}
	if (nr_bad)
		log_error("%u of %d invariants are violated", nr_bad, FLOW_NR_CHECKS);
	return nr_bad ? 1 : 0;
}

/* Reports that show the trace as it is. */
static bool without_model(enum report_name r)
{
	return r == REPORT_THREADS || r == REPORT_SCHED || r == REPORT_ARC;
}

static int print_trace(const struct report_cmd_opts *c, const struct report_opts *o)
{
	struct model_source src = { 0 };
	struct trace_reader *t;
	struct err e = { 0 };
	int r = trace_reader_open(&t, c->input, &e);

	if (r)
		return log_err(&e);
	r = c->report == REPORT_THREADS ? sched_print_threads(t, o, stdout, &e) :
	    c->report == REPORT_SCHED ? sched_print_line(t, o, stdout, &e) : print_arc(c, t, &e);
	if (r < 0) {
		err_wrap(&e, "%s", c->input);
		r = log_err(&e);
	} else {
		r = (r ? say_nothing_matches(c) : 0) | warn_of_gaps(c, t, &src);
	}
	trace_reader_close(t);
	return r;
}

/* What can be said of the dispatches; a trace without them passes. */
static int check_sched(struct trace_reader *t)
{
	struct sched_model m;
	struct buf first = BUF_INIT;
	uint64_t nr_threads, nr_cpus;
	struct err e;
	int r = sched_read(&m, t, 0, 0, NULL, NULL, &e);
	unsigned int nr_bad = r ? 0 : sched_check(&m, &nr_threads, &nr_cpus, &first);

	if (!r)
		printf("%s  %-50s %10" PRIu64 " checked\n", nr_bad ? "BAD" : "ok ",
		       "states of threads and CPUs fill their time", nr_threads + nr_cpus);
	if (nr_bad)
		log_error("%u threads and CPUs are not accounted for; first: %s", nr_bad, first.data);
	buf_release(&first);
	sched_release(&m);
	return nr_bad ? 1 : 0;
}

static int check_calls(struct trace_reader *t)
{
	struct calls_check c;
	struct err e;

	if (calls_check(t, &c, &e))
		return log_err(&e);
	printf("%s  %-50s %10" PRIu64 " checked, within %d %% and %d ms\n", c.nr_bad ? "BAD" : "ok ",
	       "CPU time of calls = the kernel's for the thread", c.nr_checked, CALLS_CHECK_PERCENT,
	       CALLS_CHECK_NS / 1000000);
	if (c.nr_bad)
		log_error("%" PRIu64 " threads have other CPU time than the kernel says; first: %s", c.nr_bad,
			  c.first);
	return c.nr_bad ? 1 : 0;
}

static void fill_opts(const struct report_cmd_opts *c, struct report_opts *o)
{
	*o = (struct report_opts){
		.name = c->report, .format = c->format, .sort = c->sort, .limit = c->limit, .prune = c->prune,
		.absolute = c->absolute, .percent = c->percent, .width = term_width(),
		.select = selection(c), .fold = c->fold, .merge_threads = c->merge_threads,
		.merge_processes = c->merge_processes, .no_inline = c->no_inline, .no_kernel = c->no_kernel,
		.by_kind = c->by_kind, .cpus = &c->cpus, .from_ns = from_ns(c), .to_ns = c->to,
		.gen_events = &c->gen_events, .clip = c->clip, .stanzas = &c->stanzas,
	};
}

static int show(const struct report_cmd_opts *c, struct trace_reader *t, struct view *v, struct model *m,
		const struct model_source *src, const struct report_opts *o, bool *nothing, struct err *e)
{
	int r = view_init(v, m, src, o, e);

	if (r)
		return r;
	*nothing = m->flow.nr_nodes <= 1;
	return c->check ? check(v) | (t ? check_sched(t) | check_calls(t) : 0) : report_print(v, stdout, e);
}

static int report_run(void *opts, int nr_operands, char **operands)
{
	struct report_cmd_opts *c = opts;
	struct model_source src = { 0 };
	struct report_opts o;
	struct trace_reader *t = NULL;
	struct profile p = { 0 };
	struct view v = { 0 };
	struct model m = { 0 };
	struct err e = { 0 };
	bool nothing = false;
	int r;

	if ((r = command_input(&c->input, nr_operands, operands)) || (r = check_opts(c)))
		return r;
	fill_opts(c, &o);
	if (without_model(c->report) && !c->check)
		return print_trace(c, &o);
	if (c->events || c->stacks || c->tree)
		r = read_text(c, &m, &e);
	else
		r = read_trace(c, &o, &p, &m, &src, &t, &e);
	if (o.name == REPORT_GEN)
		nothing = r > 0;
	else if (!r)
		r = show(c, t, &v, &m, &src, &o, &nothing, &e);
	if (r < 0)
		r = log_err(&e);
	else
		r = (nothing ? say_nothing_matches(c) : r) | (t ? warn_of_gaps(c, t, &src) : 0);
	view_release(&v);
	profile_release(&p);
	model_release(&m);
	if (t)
		trace_reader_close(t);
	return r;
}

const struct command cmd_report = {
	.name = "report",
	.summary = "show what was recorded as a call graph, a tree or a flat profile",
	.operands = "[<file>]",
	.flags = CMD_PAGER,
	.opts = report_opts,
	.opts_size = sizeof(struct report_cmd_opts),
	.run = report_run,
};
