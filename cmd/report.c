// SPDX-License-Identifier: GPL-2.0-or-later
/* report.c - "arcprof report": the arcflow reports, from a trace or from text. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/labels.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/quote.h"
#include "base/term.h"
#include "calls.h"
#include "cmd.h"
#include "input.h"
#include "output.h"
#include "report.h"
#include "flow/check.h"
#include "flow/input.h"
#include "flow/ops.h"
#include "model/account.h"
#include "model/tallies.h"
#include "model/blend.h"
#include "model/checks.h"
#include "model/locks.h"
#include "model/profile.h"
#include "model/sched.h"
#include "report/hprof.h"
#include "report/report.h"

/* enum report_sort */
static const char *const sorts[] = { "default", "cum", "base", "n", "name", "wait", "blocked", "latency" };
static const char *const groups[] = { "none", "cgroup", "container", NULL };	/* enum report_group */
static const char *const folds[] = { "none", "module", "class", "package", NULL };

#define O struct report_request
static const struct opt input_opts[] = {
	OPT_GROUP("Input"),
	OPT_STR('i', "input", O, input, "file", "arcprof.data", "read the trace <file>"),
	OPT_IMPORT(O, import),
	OPT_STR(0, "symfs", O, symfs, "dir", NULL,
		"look for programs and libraries below <dir> first, as if that were the root directory"),
	OPT_STR(0, "events", O, events, "file", NULL, "read enter and leave events as text instead"),
	OPT_STR(0, "stacks", O, stacks, "file", NULL, "read folded stacks as text instead"),
	OPT_STR(0, "tree", O, tree, "file", NULL, "read a tree as text instead"),
	OPT_STR(0, "blend", O, blend, "file", NULL, "take the calls from the exact recording <file>, and costs from the input's samples"),
	OPT_END
};

/* They follow the reports. */
static const struct opt output_opts[] = {
	OPT_FORMAT(O, show.format, FORMATS_TABLE | FORMAT_BIT(FORMAT_MARKDOWN) | FORMAT_BIT(FORMAT_SVG) |
		   FORMATS_OF_TREE, "output format; those after csv show the whole tree, for other programs"),
	OPT_STR('o', "output", O, output, "file", NULL, "write to <file> instead of standard output"),
	OPT_END
};

static const struct opt report_opts[] = {
	OPT_LIST(0, "metric", O, profile.metrics, "name", "show only these metrics, in this order"),
	OPT_FLAG(0, "off-cpu", O, show.select.off_cpu, "show only the time that threads were blocked, of the event wall"),
	OPT_FLAG(0, "blame", O, blame, "charge waits for locks to the threads that held them; with --locks, as a tree"),
	OPT_FLAG(0, "created", O, show.created, "show which classes create objects of which, by the metric alloc or another one of objects"),
	OPT_STR(0, "sort", O, sort, "key", "default", "sort rows by this key: cum, base, n, name, wait, blocked, latency, or a column"),
	OPT_LIST(0, "columns", O, show.choice.columns, "name", "show only these columns, in this order, by their names in CSV or text"),
	OPT_COUNT(0, "limit", O, show.limit, "n", NULL, "show at most <n> rows, or stanzas of xarc"),
	OPT_DOUBLE(0, "prune", O, show.prune, "percent", NULL, "fold contexts whose cum is below <percent>"),
	OPT_STR(0, "hprof", O, show.hprof, "options", NULL,
		"with --format hprof, its options: thread=y keeps threads apart, depth=<n> limits the frames of a stack"),
	OPT_FLAG(0, "absolute", O, show.absolute, "show unscaled numbers and no percentages"),
	OPT_FLAG(0, "percent", O, show.percent, "show percentages only"),
	OPT_END
};

/* what is read, also for commands that read several traces */
static const struct opt source_opts[] = {
	OPT_FLAG(0, "samples", O, profile.samples, "show only the samples of a trace with exact calls"),
	OPT_FLAG(0, "replay", O, profile.replay, "build the tree from the events of a call trace"),
	OPT_ON("calibrate", O, profile.calibrate, "subtract what counting the calls cost"),
	OPT_END
};

static const struct opt selection_opts[] = {
	OPT_GROUP("Selection"),
	OPT_LIST('p', "pid", O, show.select.pids, "pid", "only these processes"),
	OPT_LIST('t', "tid", O, show.select.tids, "tid", "only these threads"),
	OPT_LIST(0, "comm", O, show.select.comms, "name", "only processes with these names"),
	OPT_LIST(0, "thread", O, show.select.threads, "name", "only threads with these names"),
	OPT_LIST(0, "module", O, show.select.modules, "name", "only stacks that go through these modules"),
	OPT_LIST(0, "symbol", O, show.select.symbols, "name", "only stacks that go through these functions"),
	OPT_STR(0, "focus", O, show.select.focus, "regex", NULL, "only stacks with a function whose name matches <regex>"),
	OPT_STR(0, "ignore", O, show.select.ignore, "regex", NULL, "no stacks with a function whose name matches <regex>"),
	OPT_LIST(0, "label", O, show.select.labels, "key=value", "only recordings, and samples of threads, with these labels"),
	OPT_LIST(0, "cgroup", O, show.select.cgroups, "path", "only processes in these control groups, or below them"),
	OPT_LIST(0, "container", O, show.select.containers, "id", "only processes in these containers"),
	OPT_LIST('C', "cpu", O, show.select.cpus, "cpu", "only samples on these CPUs"),
	OPT_TIME(0, "from", O, show.select.from_ns, "time", NULL, "only samples from <time> after the start"),
	OPT_FLAG(0, "from-zero", O, show.select.from_zero,
		 "only samples after the zero point that 'arcprof ctl zero' set"),
	OPT_SPAN(0, "to", O, show.select.to_ns, "time", NULL, "only samples before <time> after the start"),
	OPT_END
};

static const struct opt folding_opts[] = {
	OPT_GROUP("Folding"),
	OPT_ENUM(0, "fold", O, show.fold, folds, "none",
		 "show modules, classes or packages in place of functions"),
	OPT_STR(0, "by-label", O, profile.by_label, "key", NULL, "separate what threads did by their label of this key"),
	OPT_ENUM(0, "group", O, show.group, groups, "none", "show processes below their control group or container"),
	OPT_FLAG(0, "merge-threads", O, show.merge_threads, "merge threads of the same name in a process"),
	OPT_FLAG(0, "merge-processes", O, show.merge_processes, "merge processes of the same name"),
	OPT_FLAG(0, "normalize-names", O, show.normalize_names, "merge functions whose names differ in what each run makes up"),
	OPT_STR(0, "hide", O, show.hide, "regex", NULL, "charge functions whose names match <regex> to their callers"),
	OPT_FLAG(0, "hide-inlined", O, profile.names.hide_inlined, "charge inlined functions to the function they are in"),
	OPT_FLAG(0, "hide-kernel", O, profile.names.hide_kernel, "charge kernel functions to their caller"),
	OPT_FLAG(0, "not-sampled", O, profile.not_sampled, "show CPU time, allocated bytes and thread lifetime that no sample has, as contexts"),
	OPT_FLAG(0, "own-threads", O, profile.names.own_threads, "also show waits of arcprof's own threads"),
	OPT_FLAG(0, "hide-files", O, profile.names.hide_files, "show waits for files and sockets by system call, without the file"),
	OPT_FLAG(0, "by-kind", O, profile.names.by_kind, "separate interpreted, compiled and inlined code of a function"),
	OPT_FLAG(0, "signatures", O, profile.names.signatures, "show Java methods with their signatures"),
	OPT_FLAG(0, "lines", O, profile.names.lines, "show functions with file and line"),
	OPT_FLAG(0, "addresses", O, profile.names.addresses, "show unnamed addresses one by one"),
	OPT_FLAG(0, "collapse-plt", O, profile.collapse_plt, "charge linkage stubs to their callers"),
	OPT_FLAG(0, "blocks", O, profile.blocks, "show each basic block of an instruction trace below its function"),
	OPT_END
};

static const struct opt filter_opts[] = {
	OPT_GROUP("Which events"),
	OPT_LIST(0, "filter", O, filters, "condition",
		 "keep only events that meet these: lock>1ms, thread=http-*, -kind=virtual, alloc:class=byte[]"),
	OPT_STR(0, "config", O, config, "file", NULL, "read such conditions, and rules for methods, from <file>"),
	OPT_END
};

static const struct opt check_opts[] = {
	OPT_GROUP("Verification"),
	OPT_FLAG(0, "check", O, check, "verify the invariants of the model instead of printing a report"),
	OPT_FLAG(0, "strict", O, strict, "fail if samples were lost"),
	OPT_END
};
#undef O

/* Add the option that chooses the report. */
static void add_report(struct opt_join *j, size_t i, size_t at)
{
	const struct report *r = reports[i];
	const struct opt plain = OPT_SET(0, r->name, struct report_request, report, i + 1, r->help);
	struct opt with_argument =
		OPT_SET_STR(r->name, struct report_request, show.argument, report, i + 1, r->argument,
			    r->help);

	with_argument.arg_optional = r->argument_optional;
	opt_join_add(j, (const struct opt[]){ r->argument ? with_argument : plain, OPT_END }, at);
}

void report_join_selection(struct opt_join *j, size_t at)
{
	opt_join_add(j, (const struct opt[]){ OPT_GROUP("Input"), OPT_END }, at);
	opt_join_add(j, source_opts, at);
	opt_join_add(j, selection_opts, at);
	opt_join_add(j, folding_opts, at);
}

void report_join_filters(struct opt_join *j, size_t at)
{
	opt_join_add(j, filter_opts, at);
}

static void join_opts(struct opt_join *j)
{
	size_t at = opt_join_struct(j, sizeof(struct report_request)), i;

	opt_join_add(j, input_opts, at);
	opt_join_add(j, source_opts, at);
	opt_join_add(j, (const struct opt[]){ OPT_GROUP("Report"), OPT_END }, at);
	for (i = 0; reports[i]; i++)
		add_report(j, i, at);
	opt_join_add(j, output_opts, at);
	opt_join_add(j, report_opts, at);
	opt_join_add(j, selection_opts, at);
	opt_join_add(j, folding_opts, at);
	opt_join_add(j, filter_opts, at);
	for (i = 0; reports[i]; i++) {
		if (!reports[i]->opts)
			continue;
		opt_join_add(j, (const struct opt[]){ OPT_GROUP(reports[i]->opts_title), OPT_END }, 0);
		opt_join_add(j, reports[i]->opts, opt_join_struct(j, reports[i]->opts_size));
	}
	opt_join_add(j, check_opts, at);
}

/* Return the struct of a report's own options, in the block that join_opts() laid out. */
static const void *own_opts(const struct report_request *q, const struct report *of)
{
	size_t at = opt_join_room(sizeof(*q)), i;

	for (i = 0; reports[i] != of; i++)
		at += opt_join_room(reports[i]->opts_size);
	return (const char *)q + at;
}

static int read_text(const struct report_request *q, struct model *m, struct err *e)
{
	const char *path = q->events ? q->events : q->stacks ? q->stacks : q->tree;
	int r = input_text(m, path, q->events ? input_events : q->stacks ? input_stacks : input_tree, e);

	if (r)
		return r;
	r = model_pick_metrics(m, q->profile.metrics.items, q->profile.metrics.nr_items, e);
	return r ? err_wrap(e, "%s", path) : 0;
}

static const char *input_name(const struct report_request *q)
{
	return q->import ? q->import : q->input;
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

static bool all_labels(const struct opt_list *l, struct err *e)
{
	size_t i;

	for (i = 0; i < l->nr_items; i++)
		if (label_check(l->items[i], e)) {
			err_wrap(e, "--label");
			return false;
		}
	return true;
}

static bool is_label_key(const char *key, struct err *e)
{
	struct buf b = BUF_INIT;
	int r;

	buf_fmt(&b, "%s=x", key ? key : "x");
	r = strchr(key ? key : "", '=') ? err_set(e, EINVAL, "'%.80s' is a label, not the key of one", key) :
					  label_check(b.data, e);
	buf_release(&b);
	if (r)
		err_wrap(e, "--by-label");
	return !r;
}

/* Check that no option of another report is set; return false after reporting one. */
static bool has_no_others(const struct report_request *q, const struct report *r)
{
	const struct opt *o;
	size_t i;

	for (i = 0; reports[i]; i++) {
		if (reports[i] == r || !reports[i]->opts)
			continue;
		o = opt_changed(reports[i]->opts, own_opts(q, reports[i]));
		if (o) {
			log_error("--%s is only valid with --%s", o->name, reports[i]->name);
			return false;
		}
	}
	return true;
}

/* Append "--threads", or several of them. */
static void put_reports_that_wait(struct buf *b)
{
	size_t i;

	for (i = 0; reports[i]; i++)
		if (reports[i]->sorts_by_wait)
			buf_fmt(b, "%s--%s", b->len ? " or " : "", reports[i]->name);
}

static void put_formats(const struct report *r, struct buf *b)
{
	unsigned int i;

	for (i = 0; format_name(i); i++)
		if (format_in(r->formats, i))
			buf_fmt(b, "%s%s", b->len ? ", " : "", format_name(i));
}

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word), n;

	for (; words && *words; words += n + strspn(words + n, " ")) {
		n = strcspn(words, " ");
		if (n == len && !strncmp(words, word, n))
			return true;
	}
	return false;
}

/*
 * Return whether the report follows an option. Those of a view that its row need not name change the view,
 * which all reports print.
 */
static bool follows(const struct report *r, const char *option)
{
	bool of_view = !r->print_trace && strcmp(option, "sort=column") && !has_word(r->excludes, option);

	return of_view || has_word(r->follows, option);
}

/* Return the order; -1: the name of a column, as always in reports that have no order of their own. */
static int sort_of(const struct report_request *q, const struct report *r)
{
	bool by_column = follows(r, "sort=column") && !follows(r, "sort");
	size_t i;

	if (!q->sort)
		return SORT_DEFAULT;
	for (i = 0; i < (by_column ? 1 : ARRAY_SIZE(sorts)); i++)
		if (!strcmp(sorts[i], q->sort))
			return i;
	return -1;
}

/* Return the first option that the report does not follow, or NULL. */
static const struct opt *not_followed(const struct report_request *q, const struct report *r)
{
	static const struct opt *const tables[] = { report_opts, source_opts, selection_opts, folding_opts };
	const struct opt *o;
	size_t i;

	for (i = 0; !q->check && i < ARRAY_SIZE(tables); i++)
		for (o = opt_changed(tables[i], q); o; o = opt_changed(o + 1, q))
			if (!follows(r, o->name) && (strcmp(o->name, "sort") || sort_of(q, r) > SORT_DEFAULT))
				return o;
	return NULL;
}

static bool refuse(const struct report *r, const struct opt *o)
{
	bool is_on = o->type == OPT_TYPE_FLAG && o->def;	/* so that --no-x was given */
	const struct report_reason *why;

	for (why = r->reasons; why && why->options && !has_word(why->options, o->name); why++)
		;
	if (why && why->options)
		log_error("--%s%s does not apply to --%s: %s", is_on ? "no-" : "", o->name, r->name,
			  why->why);
	else
		log_error("--%s%s does not apply to --%s", is_on ? "no-" : "", o->name, r->name);
	return false;
}

/* Check the common options against the report's row; return false after reporting an error. */
static bool fits(const struct report_request *q, const struct report *r, bool text)
{
	struct buf b = BUF_INIT;
	const struct opt *o;
	bool ok = false;

	if (r->needs && text) {
		log_error("--%s needs %s, not a text", r->name, r->needs);
	} else if (!format_in(r->formats, q->show.format)) {
		put_formats(r, &b);
		log_error("--format=%s is not valid with --%s (expected one of: %s)",
			  format_name(q->show.format), r->name, b.data);
	} else if (sort_of(q, r) >= SORT_WAIT && !r->sorts_by_wait) {
		put_reports_that_wait(&b);
		log_error("--sort=%s is only valid with %s", q->sort, b.data);
	} else if (sort_of(q, r) < 0 && !follows(r, "sort=column")) {
		log_error("--sort=%s: --%s %s", q->sort, r->name, follows(r, "sort") ?
			  "is sorted by cum, base, n or name" : "has an order of its own");
	} else {
		o = not_followed(q, r);
		ok = !o || refuse(r, o);
	}
	buf_release(&b);
	return ok;
}

/* Return what a filter cannot be combined with, or NULL. */
static const char *not_filtered(const struct report_request *q, const struct report *r)
{
	if (q->events || q->stacks || q->tree)
		return "a text, which has no events";
	if (q->check)
		return "--check, which compares all there is";
	if (q->blend)
		return "--blend, where calls are of another trace";
	if (r->print_trace && !r->filters)
		return "a report of instructions, which are followed one after the other";
	if (!strcmp(format_name(q->show.format), "chrome"))
		return "--format=chrome";
	return NULL;
}

/* Return the conditions that a filter may have. */
static uint32_t rules_of(const struct report *r)
{
	return r->print_trace ? r->filters : RULES_ALL;
}

static int refuse_rules(uint32_t has, const struct report *r, struct err *e)
{
	struct buf strange = BUF_INIT, known = BUF_INIT;

	rules_put_words(has & ~rules_of(r), &strange);
	rules_put_words(rules_of(r), &known);
	err_set(e, EINVAL, "--%s cannot be filtered by %s, only by %s", r->name, strange.data, known.data);
	buf_release(&strange);
	buf_release(&known);
	return -EINVAL;
}

int report_parse_filters(struct report_request *q, const struct report *r, struct err *e)
{
	static const struct rule_event lock = { "lock", NULL };
	const char *option = q->filters.nr_items ? "--filter" : "--config";
	const char *other = q->filters.nr_items || q->config ? not_filtered(q, r) : NULL;
	size_t i;
	int ret = 0;

	if (other)
		return err_set(e, EINVAL, "cannot be combined: %s and %s", option, other);
	for (i = 0; i < q->filters.nr_items && !ret; i++)
		ret = rules_item(&q->rules, q->filters.items[i], e) ? err_wrap(e, "--filter") : 0;
	q->methods.events = &q->rules;
	q->show.select.filter = &q->rules;
	if (!ret && q->config)
		ret = calls_read_config(q->config, &q->methods, e);
	if (!ret && q->rules.has & ~rules_of(r))
		ret = refuse_rules(q->rules.has, r, e);
	if (!ret && q->methods.methods && r->has_functions)
		return err_set(e, EINVAL, "cannot be combined: --%s, and rules about methods in '%s'",
			       r->name, q->config);
	q->methods.threads = false;	/* these are rules of events, too */
	callrules_end(&q->methods);
	if (!ret && q->blame && rules_concern(&q->rules, RULE_LENGTH, &lock))
		return err_set(e, EINVAL, "cannot be combined: --blame, which is not known of single waits, and a filter by their length; 'arcprof record --filter' does it");
	return ret;
}

void report_release_filters(struct report_request *q)
{
	rules_release(&q->rules);
	callrules_release(&q->methods);
}

static int nr_texts(const struct report_request *q)
{
	return !!q->events + !!q->stacks + !!q->tree;
}

/* Check what the option table alone cannot; return 0 or EXIT_USAGE. */
static int check_request(const struct report_request *q, const struct report *r, const struct report_opts *o)
{
	const struct selection *s = &q->show.select;
	int nr_text = nr_texts(q);
	struct err e = { 0 };

	if (q->blend && (nr_text || q->import || q->profile.replay || r->needs))
		log_error("--blend needs two traces, and a report of the tree");
	else if (nr_text + !!q->import > 1)
		log_error("only one of --import, --events, --stacks and --tree");
	else if (nr_text && (selection_has_window(s) || s->cpus.nr_items))
		log_error("--from, --to and --cpu select samples of a trace, not of a text");
	else if (s->from_ns && s->from_zero)
		log_error("cannot be combined: --from and --from-zero");
	else if (s->to_ns && s->to_ns <= s->from_ns)
		log_error("--to is not after --from");
	else if (q->blame && (q->profile.metrics.nr_items || s->off_cpu))
		log_error("--blame shows the metric 'blame' alone: not together with --metric or --off-cpu");
	else if (q->blame && r->print_trace)
		log_error("--%s charges nobody, so there is no --blame of it", r->name);
	else if (q->show.created && (q->blame || s->off_cpu || q->show.fold || q->blend))
		log_error("--created shows the metrics of objects by class: not together with --blame, --off-cpu, --fold or --blend");
	else if (q->show.prune < 0 || q->show.prune > 100)
		log_error("--prune: a percentage is from 0 to 100");
	else if (!all_numbers("--pid", &s->pids, &e) || !all_numbers("--tid", &s->tids, &e) ||
		 !all_numbers("--cpu", &s->cpus, &e) || !all_labels(&s->labels, &e) ||
		 !is_label_key(q->profile.by_label, &e) ||
		 (r->check && r->check(o, &e)))
		log_err(&e);
	else if (fits(q, r, nr_text))
		return 0;
	return EXIT_USAGE;
}

/* Appends the options of the table that were given; lists: those alone that take several values. */
static void put_given(const struct opt *table, const void *opts, bool lists, struct buf *b)
{
	const struct opt *o;
	size_t i;

	for (o = opt_changed(table, opts); o; o = opt_changed(o + 1, opts)) {
		const struct opt_list *l = (const void *)((const char *)opts + o->offset);

		for (i = 0; o->type == OPT_TYPE_LIST && i < l->nr_items; i++)
			buf_fmt(b, "%s--%s '%s'", b->len ? " " : "", o->name, l->items[i]);
		if (o->type != OPT_TYPE_LIST && !lists)
			buf_fmt(b, "%s--%s", b->len ? " " : "", o->name);
		if (o->type == OPT_TYPE_STR && !lists)
			buf_fmt(b, " '%s'", *(const char *const *)(const void *)l);
	}
}

/* Appends what selects, as it was given. */
static void put_selection(const struct report_request *q, const struct report_opts *o, struct buf *b)
{
	put_given(selection_opts, q, false, b);
	put_given(filter_opts, q, true, b);
	if (o->report->opts_select)
		put_given(o->report->opts, o->own, true, b);
	if (q->show.select.off_cpu)
		buf_fmt(b, "%s--off-cpu", b->len ? " " : "");
}

/* Returns whether it selects by names, and by no pattern of them. */
static bool has_whole_names(const struct selection *s)
{
	const struct opt_list *const lists[] = { &s->comms, &s->threads, &s->modules, &s->symbols,
						 &s->labels };
	bool any = false;
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		for (k = 0; k < lists[i]->nr_items; k++, any = true)
			if (strpbrk(lists[i]->items[k], "*?["))
				return false;
	return any;
}

/* Report that nothing was found: such a selection is most often a typing error. Returns the exit status. */
static int say_nothing_matches(const struct report_request *q, const struct report_opts *o)
{
	const struct selection *s = &q->show.select;
	struct buf all = BUF_INIT;
	int status;

	put_selection(q, o, &all);
	if (all.len)
		log_error("%s: nothing matches %s",
			  q->events ? q->events : q->stacks ? q->stacks : q->tree ? q->tree : input_name(q),
			  all.data);
	if (has_whole_names(s))
		log_hint("names are compared as a whole, or from a '.' or '::' on; '*' stands for any part, as in --symbol '*parse*'");
	if (s->cgroups.nr_items || s->containers.nr_items)
		log_hint("'arcprof record --all-cpus' keeps control groups, and of running processes --pid does");
	status = all.len ? 1 : 0;
	buf_release(&all);
	return status;
}

/* Warn of what is missing from a printed report; return the exit status. */
static int warn_of_gaps(const struct report_request *q, const struct trace_reader *t,
			const struct origin *origin)
{
	int r = warn_of_damage(input_name(q), trace_reader_damage(t));

	if (origin->nr_local_modules)
		log_info("%" PRIu64 " module%s had no names in the trace; this machine's files gave them",
			 origin->nr_local_modules, plural(origin->nr_local_modules));
	if (q->strict && origin->lost)
		log_warn("%" PRIu64 " samples were lost", origin->lost);
	if (q->strict && origin->stopped_ns)
		log_warn("the recording stopped storing after %.2f s, when --max-size was reached",
			 origin->stopped_ns / 1e9);
	return q->strict && (origin->lost || origin->stopped_ns) ? 1 : r;
}

static void put_check(bool bad, const char *what, uint64_t nr_checked)
{
	printf("%s  %-50s %10" PRIu64 " checked", bad ? "BAD" : "ok ", what, nr_checked);
}

static int check_view(const struct view *v)
{
	struct flow_check c[FLOW_NR_CHECKS];
	unsigned int i, nr_bad = flow_check(&v->m->flow, c);

	for (i = 0; i < FLOW_NR_CHECKS; i++) {
		put_check(c[i].nr_bad, c[i].what, c[i].nr_checked);
		if (c[i].nr_bad)
			printf(", %" PRIu64 " violated, first at %" PRIu32, c[i].nr_bad, c[i].first_bad);
		putchar('\n');
	}
	if (nr_bad)
		log_error("%u of %d invariants are violated", nr_bad, FLOW_NR_CHECKS);
	return nr_bad ? 1 : 0;
}

/* Check the dispatches; a trace without them passes. */
static int check_sched(struct trace_reader *t, struct sums_check *out, struct err *e)
{
	struct sched_model m;

	if (!sched_read(&m, t, NULL, e))
		sched_check(&m, out);
	sched_release(&m);
	return 0;
}

/* Check the locks; a trace without waits passes. */
static int check_locks(struct trace_reader *t, struct sums_check *out, struct err *e)
{
	struct locks_model m;

	if (!locks_read(&m, t, NULL, e))
		locks_check(&m, out);
	locks_model_release(&m);
	return 0;
}

/* These checks of a trace come after those of its model. */
static const struct trace_check {
	int (*check)(struct trace_reader *t, struct sums_check *out, struct err *e);
	const char *what, *bad;		/* bad: what has been counted if it is not so */
	int percent, ns;		/* how far both may be apart */
} trace_checks[] = {
	{ check_sched, "states of threads and CPUs fill their time", "threads and CPUs are not accounted for" },
	{ check_locks, "waits for locks add up", "sums of waits for locks differ" },
	{ calls_check, "CPU time of calls = the kernel's for the thread", "threads have other CPU time than the kernel says",
	  CALLS_CHECK_PERCENT, CALLS_CHECK_NS },
	{ wall_check, "CPU + runnable + blocked = life, and samples and wakers are that", "sums of wall are wrong" },
	{ account_check, "samples and threads of accounts = what was counted", "sums of the account are wrong" },
	{ tallies_check, "pauses, waits for monitors = those that JVMs count", "counts of JVMs differ" },
};

static int check_trace(struct trace_reader *t)
{
	const struct trace_check *k;
	int status = 0;

	for (k = trace_checks; k < trace_checks + ARRAY_SIZE(trace_checks); k++) {
		struct sums_check c = { 0 };
		struct err e;

		if (k->check(t, &c, &e)) {
			status |= log_err(&e);
			continue;
		}
		if (c.nr_checked || k->percent) {
			put_check(c.nr_bad, k->what, c.nr_checked);
			if (k->percent)
				printf(", within %d %% and %d ms", k->percent, k->ns / 1000000);
			putchar('\n');
		}
		if (c.nr_bad)
			log_error("%" PRIu64 " %s; first: %s", c.nr_bad, k->bad, c.first);
		status |= c.nr_bad != 0;
	}
	return status;
}

/* Print the report of a trace; negative: there is no report, and the reason was reported. */
static int print_trace(const struct report_request *q, const struct report_opts *o)
{
	const struct origin none = { 0 };
	struct trace_reader *t;
	struct err e = { 0 };
	int r = input_open(&t, q->input, q->import, &e);

	if (r)
		return -log_err(&e);
	r = report_print_trace(t, o, stdout, &e);
	if (r < 0) {
		err_wrap(&e, "%s", input_name(q));
		r = -log_err(&e);
	} else {
		r = (r ? say_nothing_matches(q, o) : 0) | warn_of_gaps(q, t, &none);
	}
	trace_reader_close(t);
	return r;
}

/* A model and what it came from; released whole, however far reading it got. */
struct subject {
	struct trace_reader *t;		/* NULL: a text */
	struct origin origin;
	struct names names;
	struct model model;
	struct view view;
	struct blend blend;
	bool damaged;			/* the other trace */
};

static void subject_release(struct subject *s)
{
	view_release(&s->view);
	names_release(&s->names);
	model_release(&s->model);
	if (s->t)
		trace_reader_close(s->t);
}

/* Combine the model of samples with the calls of another trace. */
static int blend(struct subject *s, const struct report_request *q, const struct profile_opts *of,
		 struct err *e)
{
	const struct profile_opts po = { .names = of->names, .no_samples = true };
	struct subject calls = { 0 };
	struct model both;
	int r = trace_reader_open(&calls.t, q->blend, e);

	if (r)
		return r;
	r = profile_read(&calls.names, &calls.model, &calls.origin, calls.t, &po, e);
	if (r) {
		err_wrap(e, "%s", q->blend);
	} else {
		r = blend_models(&both, &calls.model, &s->model, &s->blend, e);
		model_release(&s->model);
		s->model = both;
		s->origin.blend = r ? NULL : &s->blend;
		s->origin.nr_read = 0;		/* that was of samples, and n now is of calls */
	}
	if (!r && warn_of_damage(q->blend, trace_reader_damage(calls.t)))
		s->damaged = true;
	subject_release(&calls);
	return r;
}

/* Check that there are labels to separate by: of threads, or as a level of a merged tree. */
static int check_labels(const struct subject *s, const struct report_request *q, struct err *e)
{
	bool none = !names_has_labels(&s->names);
	size_t i;

	for (i = 1; q->profile.by_label && none && i < s->model.consumers.nr_items; i++)
		if (s->model.consumers.items[i].kind == CONSUMER_LABEL && s->origin.nr_parts)
			return 0;
	if (!q->profile.by_label || !none || s->model.labels_are_level)
		return 0;
	err_set(e, ENODATA, "its threads have no labels");
	err_hint(e, "the program sets them: arcprof_label() in C, arcprof.Label in Java; 'arcprof record -e label' records them");
	return -ENODATA;
}

static int read_trace(struct subject *s, const struct report_request *q, const struct profile_opts *po,
		      struct err *e)
{
	int r = input_open(&s->t, q->input, q->import, e);

	if (r)
		return r;
	r = profile_read(&s->names, &s->model, &s->origin, s->t, po, e);
	if (!r)
		r = check_labels(s, q, e);
	if (r)
		return err_wrap(e, "%s", input_name(q));
	return q->blend ? blend(s, q, po, e) : 0;
}

/* Check the whole model, of which a view may leave some out. */
static int check_sources(struct subject *s, const struct profile_opts *po)
{
	struct sums_check c[FLOW_MAX_METRICS];
	const struct model *m = &s->model;
	struct buf what = BUF_INIT;
	unsigned int i, nr_bad = 0;
	struct err e;

	if (sources_check(m, &s->names, s->t, po, c, &e))
		return log_err(&e);
	for (i = 0; i < m->nr_sources; i++) {
		buf_reset(&what);
		buf_str(&what, "n and Sum(Base) of ");
		quote_add(&what, model_str(m, m->sources[i].name));
		buf_str(&what, " = the trace's");
		put_check(c[i].nr_bad, what.data, c[i].nr_checked);
		putchar('\n');
		if (c[i].nr_bad && !nr_bad++)
			log_error("%s differ: %s", what.data, c[i].first);
	}
	buf_release(&what);
	return nr_bad ? 1 : 0;
}

static int show(struct subject *s, const struct report_request *q, const struct report_opts *o, struct err *e)
{
	int r, bad = q->check && s->t && !q->blend ? check_sources(s, o->profile) : 0;

	r = view_init(&s->view, &s->model, &s->origin, o, e);
	s->view.trace = s->t;
	if (!r && !q->check)
		r = report_print(&s->view, stdout, e);
	if (!r && s->view.lacks.len)
		log_info("--format=%s leaves out: %s", format_name(q->show.format), s->view.lacks.data);
	if (r || !q->check)
		return r;
	bad |= check_view(&s->view);
	if (s->t)
		bad |= check_trace(s->t);
	return bad;
}

/* Read what the request names: a text, or a trace. */
static int read_subject(struct subject *s, const struct report_request *q, const struct profile_opts *po,
			struct err *e)
{
	return q->events || q->stacks || q->tree ? read_text(q, &s->model, e) : read_trace(s, q, po, e);
}

/* Print a report of a model; returns as print_trace() does. */
static int print_model(const struct report_request *q, const struct report_opts *o)
{
	struct subject s = { 0 };
	struct err e = { 0 };
	int r = read_subject(&s, q, o->profile, &e);

	if (!r)
		r = show(&s, q, o, &e);
	if (r < 0)
		r = -log_err(&e);
	else
		r = (s.model.flow.nr_nodes <= 1 ? say_nothing_matches(q, o) : r) |
			(s.t ? warn_of_gaps(q, s.t, &s.origin) : 0) | s.damaged;
	subject_release(&s);
	return r;
}

/* Fills in what the options say, and what follows from the report and the format. */
static struct profile_opts profile_opts(const struct report_request *q, const struct report *r)
{
	const struct format *f = format_get(q->show.format);
	struct profile_opts po = q->profile;

	po.select = &q->show.select;
	po.names.signatures |= f->signatures;
	po.names.lines |= f->lines || f->detailed;
	po.names.by_kind |= f->detailed;
	po.names.hide_inlined |= r->hides_inlined;
	if (q->blend) {
		po.names.lines = po.names.by_kind = false;	/* calls have none */
		po.samples = true;
	}
	po.prefer_samples = r->prefers_samples;
	po.no_samples = r->no_samples;
	po.events = r->events;
	po.deltas = q->check || !format_is_of_tree(q->show.format);
	po.needs_deltas = q->check || r->needs_deltas;	/* what was measured is the sum of both */
	po.times |= f->timed;
	po.all_events |= f->timed || f->all_events;
	po.n_of_first = f->all_events;
	po.all_labels = f->labels;
	if (f->events)
		po.events = f->events;
	po.whole_functions = f->detailed;
	return po;
}

/* Return whether standard output suits the format: binary data may change how a terminal behaves. */
static bool suits_terminal(const struct report_request *q)
{
	if (!format_get(q->show.format)->binary || q->check || q->output || !term_is_tty())
		return true;
	log_error("standard output is a terminal, and --format=%s is nothing to read",
		  format_name(q->show.format));
	log_hint("--output=<file> writes it to a file");
	return false;
}

static struct report_opts show_opts(const struct report_request *q, const struct report *r, const void *own,
				    const struct profile_opts *po)
{
	struct report_opts o = q->show;
	bool by_column = sort_of(q, r) < 0;

	o.report = r;
	o.own = own;
	o.profile = po;
	o.width = o.width ? o.width : term_width();
	o.methods = q->methods.methods ? (const void *)q->methods.b.data : NULL;
	o.choice.limit = o.limit;
	if (by_column) {
		o.choice.sort = q->sort;
		o.limit = 0;
	} else {
		o.sort = sort_of(q, r);
	}
	return o;
}

int report_check(const struct report_request *q, const struct report *r, const void *own)
{
	const struct profile_opts po = profile_opts(q, r);
	const struct report_opts o = show_opts(q, r, own, &po);

	return check_request(q, r, &o);
}

struct report_reading {
	struct subject s;
	struct profile_opts po;
	struct report_opts o;
};

int report_read(struct report_reading **out, const struct report_request *q, const struct report *r,
		struct err *e)
{
	struct report_reading *x = xcalloc(1, sizeof(*x));
	int status;

	x->po = profile_opts(q, r);
	x->o = show_opts(q, r, NULL, &x->po);
	status = read_subject(&x->s, q, &x->po, e);
	if (!status)
		status = view_init(&x->s.view, &x->s.model, &x->s.origin, &x->o, e);
	if (status) {
		report_reading_free(x);
		return status;
	}
	x->s.view.trace = x->s.t;
	*out = x;
	return 0;
}

const struct view *report_reading_view(const struct report_reading *x)
{
	return &x->s.view;
}

int report_reading_gaps(const struct report_request *q, const struct report_reading *x)
{
	return x->s.t ? warn_of_gaps(q, x->s.t, &x->s.origin) : 0;
}

void report_reading_free(struct report_reading *x)
{
	if (x)
		subject_release(&x->s);
	free(x);
}

int report_show(const struct report_request *q, const struct report *r, const void *own)
{
	const struct profile_opts po = profile_opts(q, r);
	const struct report_opts o = show_opts(q, r, own, &po);
	struct output out;
	struct err e;
	int status;

	if (!suits_terminal(q))
		return 1;
	if (output_begin(&out, q->output, &e))
		return log_err(&e);
	status = r->print_trace && !q->check ? print_trace(q, &o) : print_model(q, &o);
	if (output_close(&out, status < 0, &e))
		status = log_err(&e);
	return abs(status);
}

/*
 * Return the report when no option names one: on a terminal the summary, unless something was requested that
 * it does not have; else the one that other programs have always got.
 */
static const struct report *default_report(const struct report_request *q)
{
	bool is_terminal = term_is_tty() && !q->output && q->show.format == FORMAT_TEXT;
	bool is_markdown = q->show.format == FORMAT_MARKDOWN;
	bool is_plain = !q->events && !q->stacks && !q->tree && !q->blend && !q->blame && !q->check &&
			!opt_changed(report_opts, q);

	return is_markdown || (is_terminal && is_plain) ? &report_summary : &report_xarc;
}

/* Return the chosen report. The table of locks has no contexts, so who had them is a tree. */
static const struct report *chosen_report(const struct report_request *q)
{
	const struct report *r = q->report ? reports[q->report - 1] : default_report(q);

	return q->blame && r == &report_locks ? &report_xtree : r;
}

/*
 * Add the metrics that the report's argument names, whatever the default is; n is always there. Only for the
 * event wall is it known which of it is waiting.
 */
static int add_metrics(struct report_request *q, const struct report *r)
{
	struct opt_list named = { 0 };
	struct err e;
	size_t i;
	int status = 0;

	if (r->argument_is_metrics && opt_list_add(&named, q->show.argument, &e)) {
		log_error("--%s: %s", r->name, e.msg);
		status = EXIT_USAGE;
	}
	for (i = 0; i < named.nr_items; i++) {
		if (!status && strcmp(named.items[i], "calls") != 0)
			opt_list_add(&q->profile.metrics, named.items[i], &e);
		free(named.items[i]);
	}
	free(named.items);
	if (!status && q->show.select.off_cpu && !q->profile.metrics.nr_items &&
	    opt_list_add(&q->profile.metrics, "wall", &e))
		status = log_err(&e);
	if (q->blame)
		opt_list_add(&q->profile.metrics, "blame", &e);
	if (q->show.created && !q->profile.metrics.nr_items && !nr_texts(q))
		opt_list_add(&q->profile.metrics, "alloc", &e);
	return status;
}

static int parse_hprof(struct report_request *q)
{
	uint64_t depth;
	struct err e;
	bool threads;

	if (!q->show.hprof)
		return 0;
	if (q->show.format != FORMAT_HPROF) {
		log_error("--hprof is only valid with --format=hprof");
		return EXIT_USAGE;
	}
	if (!hprof_parse(q->show.hprof, &threads, &depth, &e))
		return 0;
	log_error("--hprof: %s", e.msg);
	return EXIT_USAGE;
}

static int report_run(void *opts, int nr_operands, char **operands)
{
	struct report_request *q = opts;
	const struct report *r = chosen_report(q);
	int status = command_input(&q->input, q->import, nr_operands, operands);
	struct err e;

	if (!status)
		status = command_symfs(q->symfs);
	if (!status)
		status = parse_hprof(q);
	if (!status && !has_no_others(q, r))
		status = EXIT_USAGE;
	if (!status && report_parse_filters(q, r, &e))
		status = (log_err(&e), EXIT_USAGE);
	if (!status)
		status = report_check(q, r, own_opts(q, r));
	if (!status)
		status = add_metrics(q, r);
	if (!status)
		status = report_show(q, r, own_opts(q, r));
	report_release_filters(q);
	return status;
}

static bool report_prints(const void *opts)
{
	const struct report_request *q = opts;

	return !q->output;
}

const struct command cmd_report = {
	.name = "report",
	.summary = "show what was recorded as a call graph, a tree or a flat profile",
	.operands = "[<file>]",
	.flags = CMD_PAGER,
	.join_opts = join_opts,
	.prints = report_prints,
	.run = report_run,
};
