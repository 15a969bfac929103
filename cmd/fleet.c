// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fleet.c - "arcprof fleet": recordings of many machines, in a database or a folder.
 *
 * What is fetched becomes a merged trace, so that every other command reads it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd.h"
#include "fleet.h"
#include "fleet/create.h"
#include "fleet/fetch.h"
#include "fleet/http.h"
#include "fleet/where.h"
#include "model/merge.h"
#include "report/format.h"
#include "reuse.h"

static const struct opt fleet_table[] = {
	OPT_GROUP("Server"),
	OPT_SPAN(0, "timeout", struct fleet_opts, timeout_ns, "time", "2m", "give up a request that makes no progress for <time>, or takes ten times as long"),
	OPT_SIZE(0, "max-answer", struct fleet_opts, max_answer, "bytes", "256M", "refuse longer answers"),
	OPT_GROUP("Push"),
	OPT_FLAG(0, "otlp", struct fleet_opts, otlp, "the URL is that of a receiver of OpenTelemetry profiles, for OTLP over HTTP"),
	OPT_STR(0, "spool", struct fleet_opts, spool, "dir", NULL, "keep what the server does not have yet in <dir> (default: ~/.local/share/arcprof/spool)"),
	OPT_SIZE(0, "spool-size", struct fleet_opts, spool_size, "bytes", "1G", "maximum size of the spool; what does not fit stays where it is"),
	OPT_TIME(0, "retry", struct fleet_opts, retry_ns, "time", "60s", "stop retrying after <time> without the server"),
	OPT_SPAN(0, "every", struct fleet_opts, every_ns, "time", NULL, "keep looking for new recordings at this interval, and send them; view --serve: fetch anew"),
	OPT_FLAG(0, "merge-numbers", struct fleet_opts, merge_numbers, "merge threads whose names differ only in numbers"),
	OPT_STR(0, "listen", struct fleet_opts, listen, "address", NULL, "also take profiles over HTTP at [<host>:]<port>: OTLP, and Pyroscope's; implies --every 10s"),
	OPT_STR(0, "token-file", struct fleet_opts, token_file, "file", NULL, "--listen: only from those who have the token in <file>"),
	OPT_SIZE(0, "max-request", struct fleet_opts, max_request, "bytes", "64M", "--listen: refuse larger ones"),
	OPT_GROUP("Report, diff, view, budget and fetch"),
	OPT_STR(0, "metric", struct fleet_opts, metric, "name", NULL, "this metric (default: cpu-clock, or the one with most rows)"),
	OPT_STR(0, "where", struct fleet_opts, where, "condition", NULL, "only rows for which this is true: \"service='shop' AND version='1.2'\""),
	OPT_LIST(0, "label", struct fleet_opts, labels, "key=value", "only rows with this label"),
	OPT_STR(0, "since", struct fleet_opts, since, "time", NULL, "only recordings that began then or later: 2026-11-22T10:00, or how long ago: 2h"),
	OPT_STR(0, "until", struct fleet_opts, until, "time", NULL, "only recordings that began before"),
	OPT_ENUM(0, "table", struct fleet_opts, table, fleet_tables, "nodes", "on a server: rows of recordings, or their sums by hour or day, which are fewer"),
	OPT_GROUP("Diff, view and budget: the other side"),
	OPT_STR(0, "against", struct fleet_opts, against, "condition", NULL, "rows for which this is true, in place of --where and --label"),
	OPT_SPAN(0, "earlier", struct fleet_opts, earlier_ns, "time", NULL, "recordings that began this much earlier than those of --since and --until"),
	OPT_GROUP("Computed by the server"),
	OPT_FLAG(0, "xprof", struct fleet_opts, xprof, "report: the flat profile"),
	OPT_STR(0, "function", struct fleet_opts, function, "name", NULL, "report: callers and callees of the functions of this name"),
	OPT_CHOICE(struct fleet_opts, choice),
	OPT_COUNT(0, "limit", struct fleet_opts, limit, "n", NULL, "show at most <n> rows"),
	OPT_FORMAT(struct fleet_opts, format, FORMATS_TABLE, "output format"),
	OPT_GROUP("Fetch"),
	OPT_STR('o', "output", struct fleet_opts, output, "file", NULL, "fetch: write the merged trace to <file>"),
	OPT_GROUP("Prune: drop partitions that ended longer ago (default: keep all)"),
	OPT_SPAN(0, "keep-nodes", struct fleet_opts, keep_nodes_ns, "time", NULL, "keep the rows of recordings for <time>: 14d"),
	OPT_SPAN(0, "keep-hours", struct fleet_opts, keep_hours_ns, "time", NULL, "keep sums of hours"),
	OPT_SPAN(0, "keep-days", struct fleet_opts, keep_days_ns, "time", NULL, "keep sums of days"),
	OPT_END
};

/* ---- times ---- */

/* "2026-11-22", with a time of day behind a T or a blank, in UTC. */
static bool parse_date(const char *s, uint64_t *seconds)
{
	static const char *const forms[] = { "%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S",
					     "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S" };
	const char *end;
	struct tm tm;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		memset(&tm, 0, sizeof(tm));
		end = strptime(s, forms[i], &tm);
		if (!end || (*end && strcmp(end, "Z") != 0))
			continue;
		*seconds = timegm(&tm);
		return true;
	}
	return false;
}

static int parse_moment(const char *option, const char *s, uint64_t *seconds, struct err *e)
{
	uint64_t ns;

	if (!s || parse_date(s, seconds))
		return 0;
	if (opt_parse_time(s, &ns, e))
		return err_set(e, EINVAL, "%s: '%s' is neither a date (2026-11-22T10:00, in UTC) nor a time ago (2h)",
			       option, s);
	*seconds = clock_real_ns() > ns ? (clock_real_ns() - ns) / 1000000000 : 0;
	return 0;
}

int fleet_times(const struct fleet_opts *o, uint64_t *since_s, uint64_t *until_s, struct err *e)
{
	uint64_t shift_s = o->shift_ns / 1000000000;
	int r = parse_moment("--since", o->since, since_s, e);

	if (!r)
		r = parse_moment("--until", o->until, until_s, e);
	if (!r && shift_s) {
		if (!*until_s)
			*until_s = clock_real_ns() / 1000000000;
		*since_s -= MIN(*since_s, shift_s);
		*until_s -= MIN(*until_s, shift_s);
	}
	return r;
}

/* ---- fetch ---- */

struct http_server fleet_server(const struct fleet_opts *o, const char *url)
{
	enum { TOTAL = 10, MOST_S = 86400 };
	unsigned int timeout_s = MIN(MAX(o->timeout_ns / 1000000000, (uint64_t)1), (uint64_t)MOST_S);

	return (struct http_server){ .url = url, .idle_s = timeout_s, .total_s = timeout_s * TOTAL,
				     .question_s = timeout_s, .max_answer = o->max_answer };
}

static int fetch_url(const struct fleet_opts *o, const char *url, const char *output, struct err *e)
{
	const struct http_server server = fleet_server(o, url);
	struct buf where = BUF_INIT;
	struct same_opts same = { .labels = true, .groups = true };
	struct origin origin = { .is_trace = true };
	struct fetched x;
	struct fetch f;
	struct merge g;
	int r = fleet_choose(o, &server, &f, &where, e);

	if (r) {
		buf_release(&where);
		return r;
	}
	r = fetch_tree(&x, &f, e);
	origin.parts = x.parts;
	origin.nr_parts = x.nr_parts;
	if (!r) {
		merge_init(&g, MERGE_ADD, &same);
		r = merge_add(&g, &x.m, &origin, e);
		if (!r)
			r = merge_finish(&g, e);
		if (!r)
			r = merge_write(&g, output, e);
		merge_release(&g);
	}
	fetch_release(&x);
	buf_release(&where);
	return r;
}

/* Choose a trace for merge_files(); ctx is a struct where. */
static int choose(void *ctx, const char *path, const struct origin *origin, struct model *m, struct err *e)
{
	static const struct same_opts same = { .labels = true, .groups = true };
	struct fleet_recording rec = { .start_s = MIN(origin->start_ns / 1000000000, (uint64_t)UINT32_MAX),
				       .host = origin->host };
	int r = trace_number(path, &rec.id, e);

	return r ? r : where_apply(ctx, &same, &rec, m, e);
}

/* Fetch every trace of a folder. */
static int fetch_folder(const struct fleet_opts *o, const char *from, const char *output, struct err *e)
{
	struct fleet_paths paths = { 0 };
	struct buf condition = BUF_INIT;
	struct where *where = NULL;
	int status, r = fleet_times(o, &paths.since_s, &paths.until_s, e);

	if (!r)
		r = fleet_condition(&condition, o, false, e);
	if (!r && condition.len)
		r = where_open(&where, condition.data, e);
	buf_release(&condition);
	if (r)
		return log_err(e);
	if (fleet_list(&paths, from, e))
		status = log_err(e);
	else
		status = merge_files(output, paths.nr, paths.list, where ? choose : NULL, where);
	fleet_list_release(&paths);
	where_close(where);
	return status;
}

int fleet_fetch(const struct fleet_opts *o, const char *from, const char *output)
{
	struct err e = { 0 };

	if (http_is_url(from))
		return fetch_url(o, from, output, &e) ? log_err(&e) : 0;
	if (o->metric) {
		log_error("--metric is for a server; of a folder all are there: -- --metric %s", o->metric);
		return EXIT_USAGE;
	}
	if (o->table) {
		log_error("--table is for a server; of a folder the traces themselves are read");
		return EXIT_USAGE;
	}
	return fetch_folder(o, from, output, &e);
}

static int run_fetch(const struct fleet_opts *o, int nr, char **operands)
{
	if (nr != 1 || !o->output) {
		log_error(nr == 1 ? "--output is missing: it names the merged trace" :
				    "fetch takes one URL or folder");
		return EXIT_USAGE;
	}
	return fleet_fetch(o, operands[0], o->output);
}

/* ---- create ---- */

static int run_create(const struct fleet_opts *o, int nr, char **operands)
{
	struct http_server server;
	struct err e = { 0 };

	if (nr != 1 || !http_is_url(operands[0])) {
		log_error("create takes the URL of a server: http://host:8123/");
		return EXIT_USAGE;
	}
	server = fleet_server(o, operands[0]);
	if (create_tables(&server, &e))
		return log_err(&e);
	log_info("the server has the tables nodes, names, hours and days");
	return 0;
}

/* The command line of a process can be read by everyone: what is secret in a URL leaves it. */
static char *take_url(char *url)
{
	char *copy = xstrdup(url);

	if (http_is_url(url))
		http_hide_secrets(url);
	return copy;
}

static int fleet_run(void *opts, int nr_operands, char **operands)
{
	static const struct {
		const char *name;
		int (*run)(const struct fleet_opts *o, int nr, char **operands);
	} commands[] = { { "create", run_create }, { "push", fleet_push }, { "report", fleet_report },
			 { "diff", fleet_diff }, { "view", fleet_view }, { "budget", fleet_budget },
			 { "fetch", run_fetch }, { "prune", fleet_prune } };
	char *url = NULL;
	size_t i;
	int status;

	if (nr_operands > 1)
		operands[1] = url = take_url(operands[1]);
	for (i = 0; nr_operands && i < ARRAY_SIZE(commands); i++)
		if (!strcmp(operands[0], commands[i].name)) {
			status = commands[i].run(opts, nr_operands - 1, operands + 1);
			free(url);
			return status;
		}
	free(url);
	if (nr_operands)
		log_error("'%s' is not something fleet does: create, push, report, diff, view, budget, fetch, prune",
			  operands[0]);
	else
		log_error("say what to do: create, push, report, diff, view, budget, fetch or prune");
	return EXIT_USAGE;
}

const struct command cmd_fleet = {
	.name = "fleet",
	.summary = "send recordings of many machines to a database, and report them as one",
	.operands = "create|push|report|diff|view|budget|fetch|prune <url>|<dir> [...]",
	.opts = fleet_table,
	.opts_size = sizeof(struct fleet_opts),
	.run = fleet_run,
};
