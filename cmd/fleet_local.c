// SPDX-License-Identifier: GPL-2.0-or-later
/* fleet_local.c - "arcprof fleet report" and "budget": what other commands make of what is fetched. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "budget.h"
#include "cmd.h"
#include "fleet.h"

/* Run a command with the options from behind "--", and those that name its files; NULL ends them. */
static int run_command(const struct command *command, char *const *files, int nr, char **operands,
		       const char *name)
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
	} else if (left) {
		log_error("'%s' is no option of arcprof %s", argv[all - left], command->name);
		status = EXIT_USAGE;
	} else {
		if (command == &cmd_budget)
			((struct budget_opts *)c.values)->name = name;
		status = command->run(c.values, 0, NULL);
	}
	command_opts_release(&c);
	free(argv);
	return status;
}

/* A folder for files that are fetched and not kept; NULL: said why not. The caller frees and removes it. */
static char *make_folder(void)
{
	const char *dir = getenv("TMPDIR");
	char *folder = xasprintf("%s/arcprof-fleet.XXXXXX", dir && *dir ? dir : "/tmp");

	if (mkdtemp(folder))
		return folder;
	log_error("%s: %s", folder, strerror(errno));
	free(folder);
	return NULL;
}

/* What has been said wrong of --xprof and --function; NULL: nothing. */
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
	char *folder, *path, *input;
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
	folder = make_folder();
	if (!folder)
		return 1;
	path = xasprintf("%s/fleet.data", folder);
	input = xasprintf("--input=%s", path);
	status = fleet_fetch(o, operands[0], path);
	if (!status)
		status = run_command(&cmd_report, (char *[]){ input, NULL }, nr - 1, operands + 1, NULL);
	unlink(path);
	rmdir(folder);
	free(input);
	free(path);
	free(folder);
	return status;
}

/* Return what is wrong with budget's options, or NULL. */
static const char *bad_budget(const struct fleet_opts *o, int nr)
{
	if (!nr)
		return "budget takes a URL or a folder, and -- -f <limits>";
	if (o->output || o->limit || o->format || o->xprof || o->function)
		return "--output and --format of a budget come behind --; --limit, --xprof and --function are for report";
	return o->earlier_ns && !o->since ? "--earlier is that span of time, so much earlier: --since is missing" : NULL;
}

/* Fetch what growth is compared with: other rows, an earlier span of time, or both. */
static int fetch_baseline(const struct fleet_opts *o, const char *from, const char *path)
{
	struct fleet_opts before = *o;

	before.shift_ns = o->earlier_ns;
	if (o->against)
		before.where = o->against;
	return fleet_fetch(&before, from, path);
}

int fleet_budget(const struct fleet_opts *o, int nr, char **operands)
{
	bool has_baseline = o->against || o->earlier_ns;
	const char *bad = bad_budget(o, nr);
	char *folder, *path, *base, *files[3] = { NULL };
	int status;

	if (bad) {
		log_error("%s", bad);
		return EXIT_USAGE;
	}
	folder = make_folder();
	if (!folder)
		return 1;
	path = xasprintf("%s/fleet.data", folder);
	base = xasprintf("%s/baseline.data", folder);
	files[0] = xasprintf("--input=%s", path);
	status = fleet_fetch(o, operands[0], path);
	if (!status && has_baseline) {
		files[1] = xasprintf("--baseline=%s", base);
		status = fetch_baseline(o, operands[0], base);
	}
	if (!status)
		status = run_command(&cmd_budget, files, nr - 1, operands + 1, operands[0]);
	unlink(base);
	unlink(path);
	rmdir(folder);
	free(files[0]);
	free(files[1]);
	free(base);
	free(path);
	free(folder);
	return status;
}
