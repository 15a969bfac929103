// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * view_terminal.c - what the browser in a terminal (lib/terminal) shows: the view that "arcprof report" prints, and
 * its reports, each printed by a process of its own as that command does.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "report.h"
#include "terminal/browser.h"
#include "view.h"
#include "work.h"

enum { TEXT_MAX = 64 << 20 };	/* bytes of a report */
static const uint64_t no_end_ns = 30ull * 24 * 3600 * 1000000000;

struct shown {
	struct report_request q;	/* of the view; the range is what the browser wants */
	struct report_reading *reading;
	const struct opt_list *sources;
};

static int read_view(void *ctx, const struct browser_range *range, const struct view **v, struct err *e)
{
	struct shown *s = ctx;
	int r;

	report_reading_free(s->reading);
	s->reading = NULL;
	s->q.show.select.from_ns = range->from_ns;
	s->q.show.select.to_ns = range->to_ns;
	r = report_read(&s->reading, &s->q, &report_xarc, e);
	if (!r)
		*v = report_reading_view(s->reading);
	return r;
}

struct job {
	struct report_request q;
	const struct report *report;
	void *own;
};

static int print_report(void *ctx)
{
	struct job *j = ctx;
	int status = report_check(&j->q, j->report, j->own);

	signal(SIGINT, SIG_DFL);	/* ends this report, and not the browser */
	return status ? status : report_show(&j->q, j->report, j->own);
}

/* Drop the name of this command before each message. */
static void put_messages(const char *text, struct buf *out)
{
	static const char prefix[] = "arcprof view: ";
	const char *at;

	for (; (at = strstr(text, prefix)); text = at + strlen(prefix))
		buf_add(out, text, at - text);
	buf_str(out, text);
}

static void put_answer(const struct work_answer *a, struct buf *out)
{
	if (a->out.len)
		buf_add(out, a->out.data, a->out.len);
	if (a->messages.len) {
		buf_str(out, a->out.len ? "\n" : "");
		put_messages(a->messages.data, out);
	}
	if (a->truncated)
		buf_fmt(out, "\nthis is not all: 'arcprof report' prints more than %d MB\n", TEXT_MAX >> 20);
	else if (a->status == 128 + SIGINT)
		buf_str(out, "\nnot printed; r prints it\n");
	else if (a->status >= 128)
		buf_fmt(out, "\nsignal %d ended this report\n", a->status - 128);
}

/* Set the report's own options from its command line. */
static int fill_own(struct job *j, const struct opt_list *sources, struct err *e)
{
	const struct report *r = j->report;
	bool has_sources = r == &report_annotate;
	size_t nr = has_sources ? sources->nr_items : 0, i;
	char **argv = xcalloc(nr + 1, sizeof(*argv));
	int ret, nr_operands;

	j->own = xcalloc(1, r->opts_size);
	for (i = 0; i < nr; i++)
		argv[i] = xasprintf("--source=%s", sources->items[i]);
	ret = opt_parse(r->opts, j->own, nr, argv, false, &nr_operands, e);
	for (i = 0; i < nr; i++)
		free(argv[i]);
	free(argv);
	return ret;
}

static int view_terminal_print(void *ctx, const struct browser_ask *ask, struct buf *out, struct err *e)
{
	const struct shown *s = ctx;
	struct job j = { .q = { .input = s->q.input, .import = s->q.import }, .report = ask->report };
	struct work_answer a = { .status = -1 };
	char *metric = (char *)ask->metric;
	int r = 0;

	j.q.profile.calibrate = true;
	j.q.show.select.from_ns = ask->range.from_ns;
	j.q.show.select.to_ns = ask->range.to_ns;
	j.q.show.width = ask->width;
	j.q.show.argument = ask->argument ? ask->argument : ask->report->argument ? "" : NULL;
	j.q.sort = ask->sort ? ask->sort : "default";
	if (metric)
		j.q.profile.metrics = (struct opt_list){ &metric, 1, 0 };
	if (ask->report->opts_size)
		r = fill_own(&j, s->sources, e);
	if (!r)
		r = work_run(print_report, &j, TEXT_MAX, no_end_ns, &a, e);
	if (!r)
		put_answer(&a, out);
	work_answer_release(&a);
	if (j.own)
		opt_release(ask->report->opts, j.own);
	free(j.own);
	return r;
}

int view_terminal(const char *input, const char *import, const struct opt_list *sources)
{
	struct shown s = { .q = { .input = input, .import = import, .sort = "default" }, .sources = sources };
	const struct browser_source source = {
		.ctx = &s, .name = import ? import : input, .read = read_view, .print = view_terminal_print,
	};
	struct err e;
	int status;

	s.q.profile.calibrate = true;
	s.q.profile.times = s.q.profile.all_events = true;
	status = browser_run(&source, &e) ? log_err(&e) : 0;
	if (!status)
		status = report_reading_gaps(&s.q, s.reading);
	report_reading_free(s.reading);
	return status;
}
