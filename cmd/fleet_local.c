// SPDX-License-Identifier: GPL-2.0-or-later
/* fleet_local.c - "arcprof fleet report", "diff", "view" and "budget": other commands on what is fetched. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd.h"
#include "fleet.h"
#include "reuse.h"

/*
 * Run a command with the options from behind "--", and those that name its files, of which the last nr_files
 * are operands; NULL ends them.
 */
static int run_command(const struct command *command, char *const *files, int nr_files, int nr,
		       char **operands, const char *name)
{
	enum { MAX_FILES = 2 };
	struct command_opts c;
	struct err e = { 0 };
	char **argv = xcalloc(nr + MAX_FILES, sizeof(*argv));
	int all = nr, left, status;

	memcpy(argv, operands, nr * sizeof(*argv));
	for (; *files; files++)
		argv[all++] = *files;
	command_opts_init(&c, command);
	if (opt_parse(c.table, c.values, all, argv, false, &left, &e)) {
		log_error("%s", e.msg);
		status = EXIT_USAGE;
	} else if (left != nr_files) {
		log_error("'%s' is no option of arcprof %s", argv[all - left], command->name);
		status = EXIT_USAGE;
	} else {
		if (command == &cmd_budget)
			((struct budget_opts *)c.values)->name = name;
		status = command->run(c.values, left, argv + all - left);
	}
	command_opts_release(&c);
	free(argv);
	return status;
}

/* Files that are fetched and not kept, in a folder of their own. */
struct files {
	char *folder, *path, *base;
};

/* Name a file by what it has: reports of differences say these names. */
static char *name_file(const char *folder, const char *prefix, const char *text)
{
	enum { MOST = 100 };
	char *path = xasprintf("%s/%s%.*s", folder, prefix, MOST, text), *s;

	for (s = path + strlen(folder) + 1; *s; s++)
		if (*s == '/' || (unsigned char)*s < ' ' || (unsigned char)*s > '~')
			*s = '_';
	return path;
}

static void name_files(struct files *f, const struct fleet_opts *o)
{
	struct buf labels = BUF_INIT, earlier = BUF_INIT;
	size_t i;

	for (i = 0; i < o->labels.nr_items; i++)
		buf_fmt(&labels, "%s%s", i ? "," : "", o->labels.items[i]);
	opt_put_time(&earlier, o->earlier_ns);
	buf_str(&earlier, " earlier");
	f->path = name_file(f->folder, "rows of ", o->where ? o->where : labels.len ? labels.data : "fleet");
	f->base = name_file(f->folder, "against ", o->against ? o->against : earlier.data);
	buf_release(&labels);
	buf_release(&earlier);
}

/* Make the files; return false after printing why not. */
static bool files_open(struct files *f, const struct fleet_opts *o)
{
	const char *dir = getenv("TMPDIR");

	f->folder = xasprintf("%s/arcprof-fleet.XXXXXX", dir && *dir ? dir : "/tmp");
	if (!mkdtemp(f->folder)) {
		log_error("%s: %s", f->folder, strerror(errno));
		free(f->folder);
		return false;
	}
	name_files(f, o);
	return true;
}

/* Remove the file, and the one before it, which a new fetch has renamed to ".old". */
static void drop_file(const char *path)
{
	char *old = xasprintf("%s.old", path);

	unlink(old);
	unlink(path);
	free(old);
}

static void files_drop(struct files *f)
{
	drop_file(f->base);
	drop_file(f->path);
	rmdir(f->folder);
	free(f->base);
	free(f->path);
	free(f->folder);
}

/* Return what is wrong with --xprof and --function, or NULL. */
static const char *bad_question(const struct fleet_opts *o, int nr, char **operands)
{
	bool asks = o->xprof || o->function;

	if (!asks)
		return o->limit || o->format || o->choice.sort || o->choice.columns.nr_items ?
			"--limit, --columns, --sort and --format of a report come behind --" : NULL;
	if (o->xprof && o->function)
		return "cannot be combined: --xprof and --function";
	if (o->output)
		return "cannot be combined: --output, and --xprof or --function";
	if (!http_is_url(operands[0]))
		return "--xprof and --function are for a server; of a folder: -- --xprof, or -- --xarc";
	return nr > 1 ? "a server makes --xprof and --function itself: no report options behind --" : NULL;
}

int fleet_report(const struct fleet_opts *o, int nr, char **operands)
{
	const char *bad;
	struct err e = { 0 };
	struct files f;
	char *input;
	int status;

	if (!nr || o->output) {
		log_error(nr ? "--output is for fetch; 'fleet report ... -- --output <file>' writes the report" :
			       "report takes a URL or a folder");
		return EXIT_USAGE;
	}
	if ((bad = bad_question(o, nr, operands))) {
		log_error("%s", bad);
		return EXIT_USAGE;
	}
	if (o->xprof || o->function) {
		const struct http_server server = fleet_server(o, operands[0]);

		return fleet_ask(o, &server, &e) ? log_err(&e) : 0;
	}
	if (!files_open(&f, o))
		return 1;
	input = xasprintf("--input=%s", f.path);
	status = fleet_fetch(o, operands[0], f.path);
	if (!status)
		status = run_command(&cmd_report, (char *[]){ input, NULL }, 0, nr - 1, operands + 1, NULL);
	free(input);
	files_drop(&f);
	return status;
}

/* Return what is wrong with the options of a command that may compare, or NULL. */
static const char *bad_comparison(const struct fleet_opts *o)
{
	if (o->output || o->limit || o->format || o->xprof || o->function || o->choice.sort ||
	    o->choice.columns.nr_items)
		return "--output, --format, --limit, --columns and --sort come behind --; --xprof and --function are for report";
	return o->earlier_ns && !o->since ? "--earlier is that span of time, so much earlier: --since is missing" : NULL;
}

static bool has_baseline(const struct fleet_opts *o)
{
	return o->against || o->earlier_ns;
}

/* Fetch what is compared with: other rows, an earlier span of time, or both. */
static int fetch_baseline(const struct fleet_opts *o, const char *from, const char *path)
{
	struct fleet_opts before = *o;

	before.shift_ns = o->earlier_ns;
	if (o->against) {
		before.where = o->against;
		before.labels.nr_items = 0;
	}
	return fleet_fetch(&before, from, path);
}

/* Fetch again; if that fails, which has been said, what was fetched before stays. */
static void fetch_anew(const struct fleet_opts *o, const char *from, const struct files *f)
{
	fleet_fetch(o, from, f->path);
	if (has_baseline(o))
		fetch_baseline(o, from, f->base);
}

/* Start a process that fetches at an interval: a served page is remade when its trace changes. */
static pid_t start_fetching(const struct fleet_opts *o, const char *from, const struct files *f)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	for (;;) {
		clock_sleep_ns(o->every_ns);
		fetch_anew(o, from, f);
	}
}

static void stop_fetching(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGTERM);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/*
 * Fetch, and what is compared with if there is any; then run a command with both. It takes them as it names
 * them: options before the names of the files, or "" of operands.
 */
struct comparer {
	const struct command *command;
	const char *path_option, *base_option;
	const char *needs;		/* said when operands are missing */
	bool must_compare;
};

static int compare(const struct comparer *c, const struct fleet_opts *o, int nr, char **operands)
{
	const char *bad = nr ? bad_comparison(o) : c->needs;
	char *files[3] = { NULL };
	struct files f;
	pid_t fetcher = 0;
	int status;

	if (!bad && c->must_compare && !has_baseline(o))
		bad = "--against or --earlier must say what is compared with";
	if (bad) {
		log_error("%s", bad);
		return EXIT_USAGE;
	}
	if (!files_open(&f, o))
		return 1;
	status = fleet_fetch(o, operands[0], f.path);
	if (!status && has_baseline(o)) {
		files[0] = xasprintf("%s%s", c->base_option, f.base);
		status = fetch_baseline(o, operands[0], f.base);
	}
	files[has_baseline(o)] = xasprintf("%s%s", c->path_option, f.path);
	if (!status) {
		fflush(NULL);
		if (c->command == &cmd_view && o->every_ns)
			fetcher = start_fetching(o, operands[0], &f);
		status = run_command(c->command, files, *c->path_option ? 0 : 2, nr - 1, operands + 1,
				     operands[0]);
		stop_fetching(fetcher);
	}
	free(files[0]);
	free(files[1]);
	files_drop(&f);
	return status;
}

int fleet_budget(const struct fleet_opts *o, int nr, char **operands)
{
	static const struct comparer budget = { &cmd_budget, "--input=", "--baseline=",
						"budget takes a URL or a folder, and -- -f <limits>", false };

	return compare(&budget, o, nr, operands);
}

int fleet_diff(const struct fleet_opts *o, int nr, char **operands)
{
	static const struct comparer diff = { &cmd_diff, "", "", "diff takes a URL or a folder", true };

	return compare(&diff, o, nr, operands);
}

/* The page of a difference has what is compared with as A, as that of "arcprof diff". */
int fleet_view(const struct fleet_opts *o, int nr, char **operands)
{
	static const struct comparer page = { &cmd_view, "--input=", NULL, "view takes a URL or a folder", false };
	static const struct comparer both = { &cmd_view, "--diff=", "--input=", "view takes a URL or a folder", false };

	return compare(has_baseline(o) ? &both : &page, o, nr, operands);
}
