// SPDX-License-Identifier: GPL-2.0-or-later
/* query.c - "arcprof query": asks a trace by SQL. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/inputs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/quote.h"
#include "cmd.h"
#include "input.h"
#include "model/profile.h"
#include "query/query.h"
#include "show/heap.h"
#include "show/query.h"
#include "trace/reader.h"

struct query_request {
	const char *input, *import, *sql;
	char **files;			/* operands that are not SQL */
	int nr_files;
	int format;
	uint64_t limit, timeout, memory;
	struct profile_opts profile;
	struct selection select;
};

#define O struct query_request
static const struct opt query_table[] = {
	OPT_GROUP("Input"),
	OPT_STR('i', "input", O, input, "file", "arcprof.data", "read the trace or heap dump <file>"),
	OPT_IMPORT(O, import),
	OPT_STR(0, "sql", O, sql, "file", NULL, "read the SQL from <file>, '-' is standard input"),
	OPT_FLAG(0, "samples", O, profile.samples, "show only the samples of a trace with exact calls"),
	OPT_FLAG(0, "replay", O, profile.replay, "build the tree from the events of a call trace"),
	OPT_ON("calibrate", O, profile.calibrate, "subtract what counting the calls cost"),
	OPT_GROUP("Output"),
	OPT_FORMAT(O, format, FORMATS_TABLE, "output format"),
	OPT_COUNT(0, "limit", O, limit, "n", NULL, "print at most <n> rows, and count the rest"),
	OPT_GROUP("Limits"),
	OPT_TIME(0, "timeout", O, timeout, "time", "60s", "stop a query that takes longer; 0: never"),
	OPT_LEAST(OPT_TYPE_SIZE, 4 << 10, 0, "memory", O, memory, "bytes", "1G", "stop a query that needs more"),
	OPT_GROUP("The model"),
	OPT_LIST(0, "metric", O, profile.metrics, "name", "these metrics, in this order"),
	OPT_LIST('C', "cpu", O, select.cpus, "cpu", "only samples on these CPUs"),
	OPT_TIME(0, "from", O, select.from_ns, "time", NULL, "only samples from <time> after the start"),
	OPT_FLAG(0, "from-zero", O, select.from_zero,
		 "only samples after the zero point that 'arcprof ctl zero' set"),
	OPT_SPAN(0, "to", O, select.to_ns, "time", NULL, "only samples before <time> after the start"),
	OPT_FLAG(0, "by-kind", O, profile.names.by_kind, "separate interpreted, compiled and inlined code of a function"),
	OPT_FLAG(0, "signatures", O, profile.names.signatures, "separate Java methods by signature"),
	OPT_FLAG(0, "lines", O, profile.names.lines, "separate functions by file and line"),
	OPT_FLAG(0, "addresses", O, profile.names.addresses, "separate unnamed addresses"),
	OPT_FLAG(0, "collapse-plt", O, profile.collapse_plt, "charge linkage stubs to their callers"),
	OPT_END
};
#undef O

/* Return whether the first word of s is word; *rest is what follows it. */
static bool query_begins(const char *s, const char *word, const char **rest)
{
	size_t len = strlen(word);

	if (strncmp(s, word, len) || (s[len] && !strchr(" \t\n;", s[len])))
		return false;
	*rest = s + len + strspn(s + len, " \t\n;");
	return true;
}

/* Run ".tables" and ".schema [<table>]", as in the program sqlite3; return -1 if it is SQL. */
static int describe_tables(const char *s, bool heap)
{
	const char *rest;
	char table[64] = "";
	size_t len;

	if (query_begins(s, ".tables", &rest)) {
		query_print_tables(heap, stdout);
		return 0;
	}
	if (query_begins(s, ".schema", &rest)) {
		len = strcspn(rest, " \t\n;");
		snprintf(table, sizeof(table), "%.*s", (int)len, rest);
		if (query_print_schema(heap, *table ? table : NULL, stdout))
			return 0;
		log_error("no such table: %s", table);
		log_hint("'arcprof query %s.tables' lists the tables", heap ? "<heap dump> " : "");
		return 1;
	}
	if (*s != '.')
		return -1;
	log_error("unknown command '%s' (expected one of: .tables, .schema)", s);
	return EXIT_USAGE;
}

static struct profile_opts query_profile_opts(const struct query_request *q)
{
	struct profile_opts po = q->profile;

	po.select = &q->select;
	po.deltas = po.times = po.untimed = po.whole_functions = true;
	return po;
}

/* Warn of what the rows of a trace do not say. The name is NULL if there is only one trace. */
static void say_what_is_missing_of(const struct origin *origin, const char *name)
{
	const char *of = name ? name : "", *colon = name ? ": " : "";

	if (origin->lost)
		log_warn("%s%s%" PRIu64 " samples were lost", of, colon, origin->lost);
	if (origin->stopped_ns)
		log_warn("%s%sthe recording stopped storing after %.2f s, when --max-size was reached; %" PRIu64 " samples came later",
			 of, colon, origin->stopped_ns / 1e9, origin->nr_after);
	if (origin->not_shown)
		log_info("%s%snot in the tables: %s; --metric has them", of, colon, origin->not_shown);
}

static void say_what_is_missing(const struct query *x, const struct query_rows *rows)
{
	const struct query_trace *t;
	const char *note;
	size_t i;

	for (i = 0; (note = query_note(x, i)); i++)
		log_warn("%s", note);
	for (i = 0; (t = query_trace(x, i)); i++)
		if (query_origin(x, i))
			say_what_is_missing_of(query_origin(x, i), query_trace(x, 1) ? t->name : NULL);
	if (rows->limit && rows->nr > rows->limit)
		log_warn("%" PRIu64 " of %" PRIu64 " rows are shown", rows->limit, rows->nr);
}

/* Run the query; a heap has no traces. */
static int query_ask(const struct query_request *q, const struct query_trace *traces, size_t nr,
		     struct heap *heap, const char *sql, struct err *e)
{
	const struct profile_opts po = query_profile_opts(q);
	const struct query_opts o = { &po, heap, q->timeout, q->memory };
	struct query_rows rows = { .format = q->format, .out = stdout, .limit = q->limit, .sql = sql };
	struct query *x;
	size_t i;
	int r = query_open(&x, traces, nr, &o, e);

	if (r)
		return r;
	rows.query = x;
	r = query_run(x, sql, &query_rows_sink, &rows, e);
	query_rows_end(&rows, !r);
	say_what_is_missing(x, &rows);
	if (r < 0)
		r = log_err(e);
	for (i = 0; i < nr; i++)
		if (query_origin(x, i))		/* it was read */
			r |= warn_of_damage(traces[i].name, trace_reader_damage(traces[i].t));
	query_close(x);
	return r;
}

static int open_traces(const struct query_request *q, struct query_trace *traces, size_t nr, struct err *e)
{
	size_t i;
	int r = 0;

	if (nr == 1) {
		traces[0].name = q->import ? q->import : q->input;
		return input_open(&traces[0].t, q->input, q->import, e);
	}
	for (i = 0; i < nr && !r; i++) {
		traces[i].name = q->files[i];
		r = input_open_any(&traces[i].t, q->files[i], e);
	}
	return r;
}

static int ask_traces(const struct query_request *q, const char *sql)
{
	size_t nr = q->nr_files > 1 ? q->nr_files : 1, i;
	struct query_trace *traces = xcalloc(nr, sizeof(*traces));
	struct err e = { 0 };
	int r = open_traces(q, traces, nr, &e);

	if (!r)
		r = query_ask(q, traces, nr, NULL, sql, &e);
	if (r < 0)
		r = log_err(&e);
	for (i = 0; i < nr; i++)
		if (traces[i].t)
			trace_reader_close(traces[i].t);
	free(traces);
	return r;
}

static int ask_heap(const struct query_request *q, const char *sql)
{
	struct err e = { 0 };
	struct heap h;
	int r = heap_open(&h, q->input, &e);

	if (!r)
		r = query_ask(q, NULL, 0, &h, sql, &e);
	if (r < 0)
		r = log_err(&e);
	heap_warn(q->input, &h);
	if (h.damage.nr || h.damage.truncated)
		r = 1;
	heap_release(&h);
	return r;
}

/* Return whether there are options that choose a part of a trace, or how its names are read. */
static bool is_of_traces(const struct query_request *q)
{
	const struct profile_opts *po = &q->profile;

	return po->samples || po->replay || !po->calibrate || po->metrics.nr_items ||
	       q->select.cpus.nr_items || selection_has_window(&q->select) || po->names.signatures ||
	       po->names.lines || po->names.addresses || po->names.by_kind || po->collapse_plt;
}

static int check_request(const struct query_request *q, int nr_operands)
{
	if (q->sql && nr_operands)
		log_error("SQL is given twice: by --sql and by an argument");
	else if (q->nr_files && strcmp(q->input, DEFAULT_INPUT))
		log_error("cannot be combined: --input=%s and the file '%s'", q->input, q->files[0]);
	else if (q->select.from_ns && q->select.from_zero)
		log_error("cannot be combined: --from and --from-zero");
	else if (q->select.to_ns && q->select.to_ns <= q->select.from_ns)
		log_error("--to is not after --from");
	else
		return 0;
	return EXIT_USAGE;
}

static bool is_file(const char *path)
{
	return !access(path, F_OK);
}

/* Check the files: if there are several, they must be traces, and different ones. */
static int check_files(const struct query_request *q)
{
	int i, k;

	for (i = 0; i < q->nr_files; i++) {
		if (!is_file(q->files[i])) {
			log_error("%s: %s", q->files[i], strerror(errno));
			log_hint("the SQL is one argument: put it in quotes");
			return EXIT_USAGE;
		}
		for (k = 0; k < i && strcmp(q->files[i], q->files[k]); k++)
			;
		if (k < i)
			log_error("given twice: %s", q->files[i]);
		else if (q->nr_files > 1 && hprof_recognize(q->files[i]))
			log_error("%s: a heap dump is asked alone", q->files[i]);
		else
			continue;
		return EXIT_USAGE;
	}
	return 0;
}

/* Separate the files from the SQL, the last operand; without SQL all are files. */
static void take_files(struct query_request *q, int *nr_operands, char ***operands)
{
	int nr = *nr_operands;
	bool has_sql = nr && !q->sql && !is_file((*operands)[nr - 1]);

	if (q->sql && nr && !is_file((*operands)[0]))	/* which check_request() refuses */
		return;
	q->files = *operands;
	q->nr_files = nr - has_sql;
	*operands += q->nr_files;
	*nr_operands = has_sql;
}

/* Say what can be asked, and how. */
static int show_tables(const struct query_request *q, bool heap)
{
	struct buf files = BUF_INIT;
	int i;

	buf_str(&files, "");
	for (i = 0; i < q->nr_files; i++) {
		quote_add(&files, q->files[i]);
		buf_putc(&files, ' ');
	}
	if (!q->nr_files && strcmp(q->input, DEFAULT_INPUT)) {
		quote_add(&files, q->input);
		buf_putc(&files, ' ');
	}
	query_print_tables(heap, stdout);
	if (q->nr_files > 1)
		printf("\nThe first column of each is trace, the file that a row is of.\n");
	printf("\nThe columns of one of them, and a query:\n\n"
	       "    arcprof query %s'.schema %s'\n"
	       "    arcprof query %s'%s LIMIT 10'\n",
	       files.data, heap ? "classes" : "xprof", files.data,
	       heap ? "SELECT name, n, bytes FROM classes ORDER BY bytes DESC" :
	       q->nr_files > 1 ? "SELECT trace, name, base FROM xprof ORDER BY base DESC" :
		      "SELECT name, base FROM xprof ORDER BY base DESC");
	buf_release(&files);
	return 0;
}

/* Check the options for the files, which are known by then. */
static int check_input(struct query_request *q, int nr_operands)
{
	int r = check_request(q, nr_operands);

	if (!r)
		r = check_files(q);
	if (!r)
		r = command_check_input(q->nr_files ? q->files[0] : q->input, q->import);
	if (q->nr_files == 1)
		q->input = q->files[0];
	return r;
}

static int query_run_command(void *opts, int nr_operands, char **operands)
{
	struct query_request *q = opts;
	struct buf file = BUF_INIT;
	const char *sql;
	struct err e;
	bool heap;
	int r;

	take_files(q, &nr_operands, &operands);
	r = check_input(q, nr_operands);
	if (r)
		return r;
	heap = !q->import && q->nr_files < 2 && hprof_recognize(q->input);
	if (heap && is_of_traces(q)) {
		log_error("%s: options that choose a part of a trace, or of its names, are not for a heap dump",
			  q->input);
		return EXIT_USAGE;
	}
	if (!q->sql && !nr_operands)
		return show_tables(q, heap);
	if (q->sql && inputs_read_text(q->sql, &file, 1 << 20, &e))
		return log_err(&e);
	sql = q->sql ? file.data ? file.data : "" : operands[0];
	sql += strspn(sql, " \t\n");
	r = describe_tables(sql, heap);
	if (r < 0)
		r = heap ? ask_heap(q, sql) : ask_traces(q, sql);
	buf_release(&file);
	return r;
}

const struct command cmd_query = {
	.name = "query",
	.summary = "query traces or a heap dump with SQL",
	.operands = "[<file>...] [<sql>]",
	.flags = CMD_PAGER,
	.opts = query_table,
	.opts_size = sizeof(struct query_request),
	.run = query_run_command,
};
