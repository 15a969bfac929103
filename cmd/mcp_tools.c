// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mcp_tools.c - the tools of "arcprof mcp": each is a command line of arcprof, and its arguments are the
 * options of that line which a client may choose.
 *
 * A client's text becomes the value of an option ("--symbol=TEXT") or what follows "--", and so never an
 * option itself; a trace is one of those that the server was started with.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "cmd.h"
#include "formats/import.h"
#include "mcp.h"

enum arg_kind {
	ARG_TRACE,	/* a number or name of the list of traces: --input, or --import of a profile */
	ARG_OPERAND,	/* the same, as an operand */
	ARG_NAMES,	/* text for an option that takes a list: one name, whatever is in it */
	ARG_TEXT,	/* text for an option */
	ARG_COUNT,	/* a whole number from 1 on */
	ARG_PERCENT,
	ARG_SECONDS,
	ARG_WORD,	/* one of some words */
	ARG_SQL,	/* the operand after all options */
	ARG_ARCS,	/* a function's name, whose stanza is asked for by SQL */
};

struct mcp_arg {
	const char *name;
	enum arg_kind kind;
	const char *option;	/* with "--" and "="; NULL: it is an operand */
	const char *help;
	bool required;
	const char *def;	/* what the option gets without the argument; NULL: nothing */
	const char *const *words;
};

enum { MAX_FIXED = 6, MAX_ARGS = 10 };

struct mcp_tool {
	const char *name, *help;
	const char *fixed[MAX_FIXED];	/* the command and its options; none: mcp_traces_print() */
	bool has_sources;		/* takes --source */
	struct mcp_arg args[MAX_ARGS];	/* ends without a name */
};

static const char *const sorts[] = { "base", "cum", "n", "name", NULL };
static const char *const folds[] = { "none", "module", "class", "package", NULL };

#define TRACE { "trace", ARG_TRACE, NULL, "number or name of a trace, as the tool 'traces' lists them; may be left out if there is only one" }
#define METRIC { "metric", ARG_TEXT, "--metric=", "the metric or event, as the tool 'traces' lists them; by default the first" }
#define THREAD { "thread", ARG_NAMES, "--thread=", "only threads of this name; '*' stands for any part" }
#define MODULE { "module", ARG_NAMES, "--module=", "only stacks that go through this library or program" }
#define SYMBOL { "symbol", ARG_NAMES, "--symbol=", "only stacks that go through this function; '*' stands for any part" }
#define FROM { "from", ARG_SECONDS, "--from=", "only what happened after so many seconds" }
#define TO { "to", ARG_SECONDS, "--to=", "only what happened before so many seconds" }
#define LIMIT(n) { "limit", ARG_COUNT, "--limit=", "show at most so many rows (" n " by default)", .def = n }
#define JSON "--format=json"

static const struct mcp_tool tools[] = {
	{ "traces", "List the traces that can be asked about: number, name, command, duration, and the events that were recorded. Begin here.",
	  { NULL }, .args = { { NULL } } },
	{ "summary", "First answers about a trace: hottest functions of the program and of all code, hottest stacks, waits inside work, locks, allocations, and what stands out.",
	  { "report", "--summary", JSON },
	  .args = { TRACE, THREAD, FROM, TO } },
	{ "hottest", "Functions that consumed most: base is what they consumed themselves, cum includes what they called; values are in the unit of the metric.",
	  { "report", "--xprof", JSON },
	  .args = { TRACE, METRIC,
		    { "sort", ARG_WORD, "--sort=", "the order of rows ('base' by default)", .def = "base", .words = sorts },
		    { "fold", ARG_WORD, "--fold=", "show modules, classes or packages in place of functions", .words = folds },
		    THREAD, SYMBOL, FROM, TO, LIMIT("20") } },
	{ "callers", "Who calls a function and what it calls, with what was consumed by each way: rows 'parent' are callers, 'child' callees, 'self' the function; those with r are of its recursion.",
	  { "query", JSON },
	  .args = { TRACE, METRIC, LIMIT("100"),
		    { "function", ARG_ARCS, NULL, "the function's whole name, or a pattern with '*' and '?'", .required = true } } },
	{ "tree", "The tree of calls from each process and thread downwards; nodes refer to their parent by id.",
	  { "report", "--xtree", JSON },
	  .args = { TRACE, METRIC,
		    { "prune", ARG_PERCENT, "--prune=", "fold contexts below so many percent (2 by default)", .def = "2" },
		    THREAD, MODULE, SYMBOL, FROM, TO, LIMIT("200") } },
	{ "waits", "How long each thread ran, waited for a CPU and was blocked, and for what. Needs a recording with --sched or -e wall.",
	  { "report", "--threads", JSON },
	  .args = { TRACE, THREAD, FROM, TO, LIMIT("40") } },
	{ "locks", "Locks that threads waited for, and who had them. Needs a recording with -e lock.",
	  { "report", "--locks", JSON },
	  .args = { TRACE, LIMIT("20") } },
	{ "gc", "Garbage collections and safepoints of JVMs by cause. Needs a recording with -e jvm.",
	  { "report", "--gc", JSON },
	  .args = { TRACE } },
	{ "account", "How much of the CPU time (or of another metric) of each thread was sampled: how far the numbers can be trusted.",
	  { "report", "--account", JSON },
	  .args = { TRACE, METRIC } },
	{ "diff", "What differs between two traces by function, and what of it is more than noise.",
	  { "diff", "--xprof", JSON },
	  .args = { { "metric", ARG_TEXT, "--metric=", "compare this metric" },
		    LIMIT("20"),
		    { "before", ARG_OPERAND, NULL, "number or name of the first trace", .required = true },
		    { "after", ARG_OPERAND, NULL, "number or name of the second one", .required = true } } },
	{ "query", "Answer one SQL query (SQLite, read only) about a trace; '.tables' lists the tables, '.schema TABLE' their columns. Times are nanoseconds.",
	  { "query", JSON },
	  .args = { TRACE, METRIC, LIMIT("100"),
		    { "sql", ARG_SQL, NULL, "the query, such as: SELECT name, base FROM xprof ORDER BY base DESC LIMIT 10", .required = true } } },
	{ "annotate", "Source lines and instructions of a function with their samples. The text of lines is there if the server was started with the folder of the sources.",
	  { "report", "--confined", JSON }, .has_sources = true,
	  .args = { TRACE, METRIC,
		    { "function", ARG_TEXT, "--annotate=", "the function's whole name, or a pattern with '*'", .required = true },
		    FROM, TO, LIMIT("3") } },
};

static const struct mcp_tool *find_tool(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tools); i++)
		if (!strcmp(tools[i].name, name))
			return &tools[i];
	return NULL;
}

bool mcp_tool_exists(const char *name)
{
	return find_tool(name);
}

/* ---- schemas ---- */

static void put_arg(struct json *j, const struct mcp_arg *a)
{
	static const char *const types[] = {
		[ARG_COUNT] = "integer", [ARG_PERCENT] = "number", [ARG_SECONDS] = "number",
		[ARG_ARCS] = NULL,
	};
	size_t i;

	json_object(j, a->name);
	json_str(j, "type", types[a->kind] ? types[a->kind] : "string");
	json_str(j, "description", a->help);
	if (a->kind == ARG_COUNT)
		json_u64(j, "minimum", 1);
	if (a->kind == ARG_PERCENT || a->kind == ARG_SECONDS)
		json_u64(j, "minimum", 0);
	if (a->kind == ARG_PERCENT)
		json_u64(j, "maximum", 100);
	if (a->words) {
		json_array(j, "enum");
		for (i = 0; a->words[i]; i++)
			json_str(j, NULL, a->words[i]);
		json_end(j);
	}
	json_end(j);
}

static void put_tool(struct json *j, const struct mcp_tool *t)
{
	const struct mcp_arg *a;

	json_object(j, NULL);
	json_str(j, "name", t->name);
	json_str(j, "description", t->help);
	json_object(j, "inputSchema");
	json_str(j, "type", "object");
	json_object(j, "properties");
	for (a = t->args; a->name; a++)
		put_arg(j, a);
	json_end(j);
	json_array(j, "required");
	for (a = t->args; a->name; a++)
		if (a->required)
			json_str(j, NULL, a->name);
	json_end(j);
	json_bool(j, "additionalProperties", false);
	json_end(j);
	json_object(j, "annotations");
	json_bool(j, "readOnlyHint", true);
	json_bool(j, "openWorldHint", false);
	json_end(j);
	json_end(j);
}

void mcp_tools_list(struct json *j)
{
	size_t i;

	json_array(j, "tools");
	for (i = 0; i < ARRAY_SIZE(tools); i++)
		put_tool(j, &tools[i]);
	json_end(j);
}

/* ---- from arguments to a command line ---- */

/* Operands come after all options. */
struct line {
	const struct mcp *m;
	struct opt_list options, operands;
};

static void add_argument(struct opt_list *l, char *word)
{
	*VEC_ADD(l->items, l->nr_items, l->alloc_items) = word;
}

static void release_words(struct opt_list *l)
{
	while (l->nr_items)
		free(l->items[--l->nr_items]);
	free(l->items);
}

int mcp_text(struct import_text t, char **s, struct err *e)
{
	struct buf b = BUF_INIT;

	t = jsonin_text(t, &b);
	*s = xstrndup(t.s, t.len);
	buf_release(&b);
	if (strlen(*s) == t.len)
		return 0;
	free(*s);
	*s = NULL;
	return err_set(e, EINVAL, "a string has a zero byte");
}

/* Find a trace by its number from 1, or by its name. */
static const char *mcp_find_trace(const struct mcp *m, const char *name, struct err *e)
{
	char *end;
	unsigned long nr = strtoul(name, &end, 10);
	int i;

	if (*name >= '1' && *name <= '9' && !*end && nr <= (unsigned long)m->traces.nr)
		return m->traces.list[nr - 1];
	for (i = 0; i < m->traces.nr; i++)
		if (!strcmp(m->traces.list[i], name))
			return m->traces.list[i];
	err_set(e, ENOENT, "no trace is called '%.80s': the tool 'traces' lists them", name);
	return NULL;
}

static int add_input(struct line *l, const char *path)
{
	add_argument(&l->options,
		     xasprintf("--%s=%s", import_recognize_file(path) ? "import" : "input", path));
	return 0;
}

static int mcp_add_trace(struct line *l, const struct mcp_arg *a, const char *name, struct err *e)
{
	const char *path = mcp_find_trace(l->m, name, e);

	if (!path)
		return -e->code;
	if (a->kind == ARG_TRACE)
		return add_input(l, path);
	if (strchr(path, ','))		/* which separates several traces there */
		return err_set(e, EINVAL, "a trace with a comma in its name cannot be compared");
	add_argument(&l->operands, xstrdup(path));
	return 0;
}

/* Add names: commas, which separate lists, are also in names of C++, where a '?' replaces them. */
static void add_names(struct line *l, const char *option, const char *names)
{
	char *word = xasprintf("%s%s", option, names), *at;

	for (at = word + strlen(option); (at = strchr(at, ','));)
		*at = '?';
	add_argument(&l->options, word);
}

/* Add the query for the rows of report --xarc of the functions that match a name or pattern. */
static void add_arcs(struct line *l, const char *function)
{
	struct buf sql = BUF_INIT;

	buf_fmt(&sql, "SELECT * FROM arcs WHERE name %s '", strpbrk(function, "*?") ? "GLOB" : "=");
	for (; *function; function++) {
		if (*function == '\'')
			buf_putc(&sql, '\'');
		buf_putc(&sql, *function);
	}
	buf_putc(&sql, '\'');
	add_argument(&l->operands, buf_take(&sql));
}

static int add_word(struct line *l, const struct mcp_arg *a, const char *word, struct err *e)
{
	size_t i;

	for (i = 0; a->words[i]; i++)
		if (!strcmp(a->words[i], word)) {
			add_argument(&l->options, xasprintf("%s%s", a->option, word));
			return 0;
		}
	return err_set(e, EINVAL, "%s: '%.80s' is not a word that the schema lists", a->name, word);
}

static int add_text(struct line *l, const struct mcp_arg *a, const char *text, struct err *e)
{
	switch (a->kind) {
	case ARG_TRACE:
	case ARG_OPERAND:
		return mcp_add_trace(l, a, text, e);
	case ARG_WORD:
		return add_word(l, a, text, e);
	case ARG_NAMES:
		add_names(l, a->option, text);
		break;
	case ARG_ARCS:
		add_arcs(l, text);
		break;
	case ARG_SQL:
		add_argument(&l->operands, xstrdup(text));
		break;
	default:
		add_argument(&l->options, xasprintf("%s%s", a->option, text));
	}
	return 0;
}

static bool takes_number(const struct mcp_arg *a)
{
	return a->kind == ARG_COUNT || a->kind == ARG_PERCENT || a->kind == ARG_SECONDS;
}

static int add_number(struct line *l, const struct mcp_arg *a, double v, struct err *e)
{
	const double max = a->kind == ARG_PERCENT ? 100 : 1e9;

	if (!(v >= 0 && v <= max) || (a->kind == ARG_COUNT && (v < 1 || v != (double)(uint64_t)v)))
		return err_set(e, EINVAL, "%s: a number as the schema has it is expected", a->name);
	add_argument(&l->options, xasprintf(a->kind == ARG_COUNT ? "%s%.0f" : "%s%.9f", a->option, v));
	return 0;
}

static int add_arg(struct line *l, const struct mcp_arg *a, struct jsonin *j, struct err *e)
{
	const char kind = jsonin_peek(j);
	struct jsonin value = jsonin_skip(j);
	char *text;
	int r;

	if (j->bad)
		return 0;
	if (kind != '"' && strchr("[{tfn", kind))
		return err_set(e, EINVAL, "%s: a %s is expected", a->name, takes_number(a) ? "number" : "string");
	if (takes_number(a) && kind != '"')
		return add_number(l, a, jsonin_number(&value), e);
	if (takes_number(a))
		return err_set(e, EINVAL, "%s: a number is expected", a->name);
	if (kind == '"')
		r = mcp_text(jsonin_string(&value), &text, e);
	else if (a->kind == ARG_TRACE || a->kind == ARG_OPERAND)	/* its number */
		r = mcp_text((struct import_text){ value.p, value.end - value.p }, &text, e);
	else
		return err_set(e, EINVAL, "%s: a string is expected", a->name);
	if (!r)
		r = add_text(l, a, text, e);
	free(text);
	return r;
}

/* Check whether the line lacks what the schema requires; a lone trace need not be named. */
static int mcp_add_missing(struct line *l, const struct mcp_tool *t, const bool *given, struct err *e)
{
	const struct mcp_arg *a;
	int r = 0;

	for (a = t->args; a->name && !r; a++) {
		if (given[a - t->args])
			continue;
		if (a->def)
			add_argument(&l->options, xasprintf("%s%s", a->option, a->def));
		else if (a->required)
			r = err_set(e, EINVAL, "%s: this argument is required", a->name);
		else if (a->kind == ARG_TRACE && l->m->traces.nr > 1)
			r = err_set(e, EINVAL, "trace: there are several; the tool 'traces' lists them");
		else if (a->kind == ARG_TRACE)
			r = add_input(l, l->m->traces.list[0]);
	}
	return r;
}

/* Add arguments in the order of the schema, whatever the client's: for operands it matters. */
static int add_args(struct line *l, const struct mcp_tool *t, struct jsonin *args, struct err *e)
{
	struct jsonin values[MAX_ARGS];
	bool given[MAX_ARGS] = { false };
	struct import_text key;
	const struct mcp_arg *a;
	int r = 0;

	for (jsonin_open(args, '{'); jsonin_member(args, &key);) {
		for (a = t->args; a->name && !jsonin_is(key, a->name); a++)
			;
		if (!a->name)
			return err_set(e, EINVAL, "%s has no argument '%.*s'", t->name,
				       (int)MIN(key.len, (size_t)80), key.s);
		jsonin_peek(args);
		values[a - t->args] = jsonin_skip(args);
		given[a - t->args] = true;
	}
	if (args->bad)
		return err_set(e, EINVAL, "the arguments are not a JSON object");
	for (a = t->args; a->name && !r; a++)
		if (given[a - t->args])
			r = add_arg(l, a, &values[a - t->args], e);
	return r ? r : mcp_add_missing(l, t, given, e);
}

static int run_line(void *ctx)
{
	struct opt_list *words = ctx;

	return arcprof_run(words->nr_items - 1, words->items);
}

static int print_traces(void *ctx)
{
	return mcp_traces_print(&((const struct mcp *)ctx)->traces, stdout);
}

/* Name, fixed words, options, "--", operands, NULL; takes the words of the line. */
static int run_tool(struct line *l, const struct mcp_tool *t, struct work_answer *a, struct err *e)
{
	struct opt_list words = { 0 };
	size_t i;
	int r;

	add_argument(&words, xstrdup("arcprof"));
	for (i = 0; i < MAX_FIXED && t->fixed[i]; i++)
		add_argument(&words, xstrdup(t->fixed[i]));
	for (i = 0; t->has_sources && i < l->m->sources.nr_items; i++)
		add_argument(&words, xasprintf("--source=%s", l->m->sources.items[i]));
	for (i = 0; i < l->options.nr_items; i++)
		add_argument(&words, xstrdup(l->options.items[i]));
	add_argument(&words, xstrdup("--"));
	for (i = 0; i < l->operands.nr_items; i++)
		add_argument(&words, xstrdup(l->operands.items[i]));
	add_argument(&words, NULL);
	r = work_run(run_line, &words, MCP_ANSWER_MAX, l->m->timeout_ns, a, e);
	release_words(&words);
	return r;
}

int mcp_tool_call(const struct mcp *m, const char *name, struct jsonin *args, struct work_answer *a,
		  struct err *e)
{
	const struct mcp_tool *t = find_tool(name);
	struct jsonin none = jsonin_init("{}", 2);
	struct line l = { .m = m };
	int r = add_args(&l, t, args ? args : &none, e);

	if (!r && !t->fixed[0])
		r = work_run(print_traces, (void *)m, MCP_ANSWER_MAX, m->timeout_ns, a, e);
	else if (!r)
		r = run_tool(&l, t, a, e);
	release_words(&l.options);
	release_words(&l.operands);
	return r;
}
