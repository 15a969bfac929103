// SPDX-License-Identifier: GPL-2.0-or-later
/* diff.c - "arcprof diff": what differs between two recordings, or two sets of them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/term.h"
#include "cmd.h"
#include "flow/ops.h"
#include "folder.h"
#include "input.h"
#include "model/events.h"
#include "output.h"
#include "page/page.h"
#include "report.h"
#include "report/difference.h"
#include "report/report.h"
#include "reuse.h"

enum { NORMALIZE_DEFAULT, OF_DEFAULT = 0 };
/* in the order of by_word[] in normalization() */
static const char *const normalizations[] = { "default", "size", "total", "none", NULL };
static const char *const directions[] = { "any", "up", "down", NULL };	/* enum choice_direction */
static const char *const ofs[] = { "default", "base", "cum", NULL };
static const char *const sorts[] = { "delta", "change", "a", "b", "name", NULL };

struct diff_opts {
	int by, of, normalize, sort, format;
	const char *metric, *output, *per, *at_least, *baseline;
	int direction;
	double min_share;
	uint64_t limit;
	bool significant, exit_code, thread_numbers;
	struct sheet_choice choice;	/* columns alone */
};

#define O struct diff_opts
static const struct opt diff_table[] = {
	OPT_GROUP("Report"),
	OPT_SET(0, "xprof", O, by, DIFF_BY_FUNCTION, "compare functions (the default)"),
	OPT_SET(0, "xtree", O, by, DIFF_BY_CONTEXT, "compare contexts, as a tree"),
	OPT_SET(0, "xarc", O, by, DIFF_BY_ARC, "compare callers and callees of each function"),
	OPT_STR(0, "metric", O, metric, "name", NULL, "compare this metric, or \"calls\" (the first of A)"),
	OPT_ENUM(0, "of", O, of, ofs, "default", "compare what a row consumed itself, or including what is below it"),
	OPT_STR(0, "per", O, per, "unit", NULL, "compare what a unit of work costs: second, call, mark=<name>, or a metric"),
	OPT_ENUM(0, "normalize", O, normalize, normalizations, "default", "what values are divided by, without --per"),
	OPT_STR(0, "at-least", O, at_least, "percent", NULL, "mark only what changed by at least <percent>"),
	OPT_ENUM(0, "direction", O, direction, directions, "any", "mark only what consumes more (up), or less (down)"),
	OPT_FLAG(0, "significant", O, significant, "show only what changed by more than noise"),
	OPT_DOUBLE(0, "min-share", O, min_share, "percent", "0.1",
		   "hide unchanged rows with less than <percent> of both totals"),
	OPT_ENUM(0, "sort", O, sort, sorts, "delta", "sort rows by this key"),
	OPT_COLUMNS(O, choice),
	OPT_COUNT(0, "limit", O, limit, "n", NULL, "show at most <n> rows, or stanzas of xarc"),
	OPT_FLAG(0, "thread-numbers", O, thread_numbers, "compare threads separately whose names differ only in numbers"),
	OPT_FORMAT(O, format, FORMATS_TABLE | FORMAT_BIT(FORMAT_HTML),
		   "output format; html is a page for a browser"),
	OPT_STR('o', "output", O, output, "file", NULL, "write to <file> instead of standard output"),
	OPT_STR(0, "baseline", O, baseline, "store", NULL,
		"compare with the recordings of a commit in <folder>[@<commit>], or with files separated by commas"),
	OPT_FLAG(0, "exit-code", O, exit_code, "exit with 1 if something is marked, with 2 on failure"),
	OPT_END
};
#undef O

static void diff_join_opts(struct opt_join *j)
{
	size_t at = opt_join_struct(j, sizeof(struct diff_opts));

	opt_join_add(j, diff_table, at);
	at = opt_join_struct(j, sizeof(struct report_request));
	report_join_selection(j, at);
	report_join_filters(j, at);
}

/* a run while it is added */
struct input {
	struct trace_reader *t;
	struct origin origin;
	struct names names;
	struct model model;
	struct view view;
};

static void input_release(struct input *i)
{
	view_release(&i->view);
	names_release(&i->names);
	model_release(&i->model);
	if (i->t)
		trace_reader_close(i->t);
}

static struct profile_opts diff_profile_opts(const struct report_request *q, const struct opt_list *metrics)
{
	struct profile_opts po = q->profile;

	po.select = &q->show.select;
	po.metrics = *metrics;
	po.names.by_kind = po.times = po.whole_functions = true;
	return po;
}

static struct report_opts view_opts(const struct report_request *q, const struct profile_opts *po)
{
	struct report_opts o = q->show;

	o.report = &report_xprof;
	o.profile = po;
	o.methods = q->methods.methods ? (const void *)q->methods.b.data : NULL;
	return o;
}

/* Keep the first metric of a tree with several, unless it has calls: these are asked for by name. */
static int keep_first_metric(struct model *m, struct err *e)
{
	char *name = (char *)model_str(m, m->metrics[0].name);

	return m->nr_shown > 1 ? model_pick_metrics(m, &name, 1, e) : 0;
}

/*
 * Return the time during which a metric was on, if it had windows or was off at times; else the length of
 * the recording.
 */
static uint64_t recorded_ns(const struct input *in, const char *metric)
{
	const struct model *m = &in->model;
	bool is_calls = m->sources[m->metrics[0].source].kind == FLOW_CALLS;
	const struct origin_share *s = origin_share(&in->origin, metric, is_calls);

	return s ? s->on_ns : in->origin.duration_ns;
}

#define PER_MARK "mark="

/* Check whether --per counts work, which is that of the whole recording, whatever is selected. */
static bool counts_work(const char *per)
{
	return per && strcmp(per, "second") != 0 && strcmp(per, "call") != 0;
}

/* Set *work to the total of another metric of the recording. */
static int sum_metric(const char *path, const char *metric, double *work, struct err *e)
{
	char *name = (char *)metric;
	const struct profile_opts po = { .metrics = { &name, 1, 1 } };
	uint64_t totals[FLOW_MAX_METRICS];
	struct input in = { 0 };
	int r = input_open_any(&in.t, path, e);

	if (r)
		return r;
	r = profile_read(&in.names, &in.model, &in.origin, in.t, &po, e);
	if (!r) {
		flow_totals(&in.model.flow, totals);
		*work = totals[0];
	}
	input_release(&in);
	return r;
}

/* Set *work to the number of marks and phases with that name: each is an operation, even without a sample. */
static int count_marks(const char *path, const char *name, double *work, struct err *e)
{
	const struct events_opts eo = { .kinds = 1u << EVENT_MARK | 1u << EVENT_PHASE };
	struct trace_reader *t;
	struct events v;
	int r = input_open_any(&t, path, e);
	size_t i;

	*work = 0;
	if (r)
		return r;
	r = events_read(&v, t, &eo, e);
	for (i = 0; !r && i < v.nr; i++)
		*work += !strcmp(events_str(&v, v.list[i].what), name);
	events_release(&v);
	trace_reader_close(t);
	return r == -ENODATA ? 0 : r;
}

static int measure_work(const char *path, const char *per, double *work, struct err *e)
{
	const size_t len = strlen(PER_MARK);
	int r = strncmp(per, PER_MARK, len) ? sum_metric(path, per, work, e) :
					      count_marks(path, per + len, work, e);

	if (!r && *work <= 0)
		r = err_set(e, ENODATA, "nothing was recorded of '%s', which --per divides by", per);
	return r;
}

static void set_about(struct diff_about *about, const struct input *in, const char *path, const char *metric)
{
	*about = (struct diff_about){
		.path = path, .duration_ns = in->origin.duration_ns, .lost = in->origin.lost,
		.nr_left_out = in->origin.nr_left_out, .recorded_ns = recorded_ns(in, metric),
		.counts_unknown = !origin_knows(&in->origin, "sample counts"),
		.lost_unknown = !origin_knows(&in->origin, "lost samples"),
		.has_jit = in->names.nr_methods > 0,
	};
}

int diff_add_run(struct diff *d, unsigned int side, const char *path, const struct report_request *q,
		 struct err *e)
{
	char *name = (char *)(d->name ? d->name : d->metric);
	struct opt_list metrics = { &name, name && strcmp(name, "calls") != 0, 1 };
	const struct profile_opts po = diff_profile_opts(q, &metrics);
	const struct report_opts ro = view_opts(q, &po);
	struct diff_about about;
	struct input in = { 0 };
	int r = input_open_any(&in.t, path, e);

	if (r)
		return r;
	r = profile_read(&in.names, &in.model, &in.origin, in.t, &po, e);
	if (!r)
		r = view_init(&in.view, &in.model, &in.origin, &ro, e);
	if (!r)
		r = keep_first_metric(&in.model, e);
	if (!r) {
		set_about(&about, &in, path, name ? name : model_str(&in.model, in.model.metrics[0].name));
		if (d->work)
			r = measure_work(path, d->work, &about.work, e);
	}
	if (!r)
		r = diff_add(d, side, &in.model, &about, e);
	if (!r)
		warn_of_damage(path, trace_reader_damage(in.t));
	input_release(&in);
	return r ? err_wrap(e, "%s", path) : 0;
}

/*
 * Add the runs of one side: one file, or several separated by commas. paths is cut at commas, and the names
 * of runs point into it.
 */
static int add_side(struct diff *d, unsigned int side, char *paths, const struct report_request *q,
		    struct err *e)
{
	char *path, *save = NULL;
	int r = 0;

	if (!access(paths, F_OK) || !strchr(paths, ','))
		return diff_add_run(d, side, paths, q, e);
	for (path = strtok_r(paths, ",", &save); path && !r; path = strtok_r(NULL, ",", &save))
		r = diff_add_run(d, side, path, q, e);
	return r;
}

static int add_baseline(struct diff *d, const struct fleet_paths *p, const struct report_request *q,
			struct err *e)
{
	int i, r = 0;

	for (i = 0; i < p->nr && !r; i++)
		r = diff_add_run(d, DIFF_A, p->list[i], q, e);
	return r;
}

static bool all_have_durations(const struct diff *d)
{
	size_t i;

	for (i = 0; i < d->nr_runs; i++)
		if (!d->runs[i].about.recorded_ns)
			return false;
	return true;
}

/* Check that all runs can be normalised so. Returns 0 or, after a message, the exit status. */
static int check_normalization(const struct diff *d, int normalize)
{
	size_t i;

	if (normalize == DIFF_SECOND && !all_have_durations(d))
		log_error("--per=second: not all of the recordings say how long they recorded '%s'", d->name);
	else if (normalize == DIFF_CALL && !d->exact)
		log_error("--per=call: '%s' was sampled, so that calls are not known", d->name);
	else if (normalize == DIFF_CALL && d->of_calls)
		log_error("--per=call: calls per call are always 1");
	else
		normalize = -1;
	if (normalize >= 0)
		return EXIT_USAGE;
	for (i = 0; i < d->nr_runs; i++)
		if (!d->runs[i].total) {
			log_error("%s: nothing matches, or nothing was recorded of '%s'",
				  d->runs[i].about.path, d->name);
			return 1;
		}
	return 0;
}

/* Return which functions changed themselves, or NULL if that is unknown. */
static bool *changed_functions(const struct diff *d, int normalize)
{
	bool *changed = xcalloc(d->m.consumers.nr_items, sizeof(*changed));
	struct diff_rows rows;
	struct noise noise;
	size_t i;

	rows_init(&rows, d, DIFF_BY_FUNCTION, DIFF_BASE, normalize);
	noise_fill(&noise, &rows);
	for (i = 0; i < rows.nr; i++)
		changed[rows.list[i].consumer] = rows.list[i].changed;
	rows_release(&rows);
	if (noise.kind != NOISE_UNKNOWN)
		return changed;
	free(changed);
	return NULL;
}

/* Print the page of --format html, which has all functions, contexts and stanzas. */
static int print_page(const struct diff *d, int normalize)
{
	struct page_difference p = { d, normalize, NULL };
	bool *changed;
	struct err e;
	int r;

	if (normalize == DIFF_CALL || normalize == DIFF_WORK) {
		log_error("a page of --format html has time, shares or time per second, not --per=%s",
			  normalize == DIFF_CALL ? "call" : d->work);
		return EXIT_USAGE;
	}
	p.changed = changed = changed_functions(d, normalize);
	r = page_difference_print(&p, stdout, &e);
	free(changed);
	return r ? log_err(&e) : 0;
}

static enum diff_normalize normalization(const struct diff_opts *o, const struct diff *d)
{
	static const enum diff_normalize by_word[] = { DIFF_SIZE, DIFF_SIZE, DIFF_TOTAL, DIFF_NONE };

	if (o->per)
		return d->work ? DIFF_WORK : !strcmp(o->per, "call") ? DIFF_CALL : DIFF_SECOND;
	return !o->normalize && d->exact ? DIFF_NONE : by_word[o->normalize];
}

static int diff_print_result(const struct diff_opts *o, double at_least, struct diff *d, bool *changed)
{
	int normalize = normalization(o, d);
	int of = o->of ? o->of - 1 : o->by == DIFF_BY_FUNCTION ? DIFF_BASE : DIFF_CUM;
	const struct choice_opts co = { o->significant, o->min_share, o->limit, o->sort, at_least,
					o->direction };
	int status = check_normalization(d, normalize);
	struct diff_rows rows;
	struct choice choice;
	struct noise noise;
	struct err e;

	if (status)
		return status;
	if (o->format == FORMAT_HTML)
		return print_page(d, normalize);
	rows_init(&rows, d, o->by, of, normalize);
	noise_fill(&noise, &rows);
	if (o->significant && noise.kind == NOISE_UNKNOWN) {
		log_error("--significant: the noise of '%s', which %s, is not known from one run per side", d->name,
			  d->exact ? "is exact" : "has no counts of samples");
		log_hint("compare several runs of each side: arcprof diff A1,A2,A3 B1,B2,B3");
		status = 1;
	} else {
		choice_init(&choice, &rows, &co);
		if (difference_print(&(struct difference){ &noise, &choice }, &o->choice, o->format,
				     term_width(), stdout, &e))
			status = log_err(&e);
		choice_release(&choice);
		*changed = choice_nr_changed(&rows);
	}
	rows_release(&rows);
	return status;
}

/* Parse "5%" or "5" as a part of 1; return false for other text. */
static bool parse_percent(const char *text, double *part)
{
	char *end;

	*part = 0;
	if (!text)
		return true;
	if (*text < '0' || *text > '9')
		return false;
	*part = strtod(text, &end) / 100;
	return !*end || !strcmp(end, "%");
}

/* Compare the traces of both operands, or of one with --baseline. */
static int compare_traces(const struct diff_opts *o, const struct report_request *q, char **operands,
			  bool *changed)
{
	const struct same_opts same = { .thread_digits = !o->thread_numbers,
					.kinds = q->profile.names.by_kind };
	struct fleet_paths base = { .nr = 0 };
	struct buf filter = BUF_INIT;
	double at_least;
	struct diff d;
	struct err e = { 0 };
	int r, status;

	if (!parse_percent(o->at_least, &at_least)) {
		log_error("--at-least: invalid percentage '%s'", o->at_least);
		return EXIT_USAGE;
	}
	diff_init(&d, o->metric, &same);
	d.work = counts_work(o->per) ? o->per : NULL;
	rules_text(&q->rules, &filter);
	d.filter = filter.len ? filter.data : NULL;
	r = o->baseline ? baseline_list(&base, o->baseline, &e) : add_side(&d, DIFF_A, operands[0], q, &e);
	if (!r)
		r = add_baseline(&d, &base, q, &e);
	if (!r)
		r = add_side(&d, DIFF_B, operands[!o->baseline], q, &e);
	if (r) {
		status = log_err(&e);
	} else {
		diff_finish(&d);
		status = diff_print_result(o, at_least, &d, changed);
	}
	diff_release(&d);
	fleet_list_release(&base);
	buf_release(&filter);
	return status;
}

int diff_page(char *a, char *b, const char *path)
{
	const struct diff_opts o = { .format = FORMAT_HTML };
	const struct report_request q = { .profile.calibrate = true };
	bool changed = false;
	struct output out;
	struct err e;
	int status;

	if (output_begin(&out, path, &e))
		return log_err(&e);
	status = compare_traces(&o, &q, (char *[]){ a, b }, &changed);
	return output_close(&out, status, &e) ? log_err(&e) : status;
}

static int diff_run(void *opts, int nr_operands, char **operands)
{
	const struct diff_opts *o = opts;
	struct report_request *q = (void *)((char *)opts + opt_join_room(sizeof(*o)));
	bool changed = false;
	struct output out;
	struct err e;
	int status;

	if (nr_operands != 2 - !!o->baseline) {
		log_error(o->baseline ? "expected one recording, or a set of them, beside --baseline" :
			  "expected two recordings, or sets of them: 'arcprof diff A B' or 'arcprof diff A1,A2 B1,B2'");
		return EXIT_USAGE;
	}
	if (o->per && !strncmp(o->per, "label", 5)) {
		log_error("--per=%s: labels are known of samples, so operations without a sample are not counted",
			  o->per);
		log_hint("let the program mark each operation (arcprof-api(3)), and use --per mark=<name>");
		return EXIT_USAGE;
	}
	if (o->per && o->normalize) {
		log_error("cannot be combined: --normalize and --per");
		return EXIT_USAGE;
	}
	if (o->min_share < 0 || o->min_share > 100) {
		log_error("--min-share: a percentage is from 0 to 100");
		return EXIT_USAGE;
	}
	status = report_parse_filters(q, &report_xprof, &e) ? (log_err(&e), EXIT_USAGE) :
							       report_check(q, &report_xprof, NULL);
	if (!status && output_begin(&out, o->output, &e)) {
		status = log_err(&e);
	} else if (!status) {
		status = compare_traces(o, q, operands, &changed);
		if (output_close(&out, status, &e))
			status = log_err(&e);
	}
	report_release_filters(q);
	if (o->exit_code)	/* as in git and cmp, failures have a status of their own */
		return status ? 2 : changed;
	return status;
}

static bool diff_prints(const void *opts)
{
	return !((const struct diff_opts *)opts)->output;
}

const struct command cmd_diff = {
	.name = "diff",
	.summary = "show what differs between two recordings, and which differences are more than noise",
	.operands = "[<A>[,<A>...]] <B>[,<B>...]",
	.flags = CMD_PAGER,
	.join_opts = diff_join_opts,
	.prints = diff_prints,
	.run = diff_run,
};
