// SPDX-License-Identifier: GPL-2.0-or-later
/* help.c - "arcprof help": the commands, or a page of the manual, which the binary has in it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/near.h"
#include "base/term.h"
#include "cmd.h"
#include "manual/manual.h"

struct help_opts {
	bool short_only;
};

static const struct opt help_opts[] = {
	OPT_GROUP("What to show"),
	OPT_FLAG('s', "short", struct help_opts, short_only, "show the options, not the manual page"),
	OPT_END
};

static const char prefix[] = "arcprof-";

/* "arcprof-record" and "record" are the same. */
static const char *without_prefix(const char *name)
{
	return strncmp(name, prefix, sizeof(prefix) - 1) ? name : name + sizeof(prefix) - 1;
}

/* List the pages that belong to no command, as "help" takes them, a line each. */
static void list_others(const struct manual *m, struct buf *out)
{
	struct buf names = BUF_INIT;
	char *name, *at = NULL;

	manual_list(m, &names);
	for (name = strtok_r(names.data, "\n", &at); name; name = strtok_r(NULL, "\n", &at))
		if (!command_find(without_prefix(name)))
			buf_fmt(out, "%s\n", without_prefix(name));
	buf_release(&names);
}

void help_print_pages(FILE *out)
{
	struct buf names = BUF_INIT;
	struct manual m;
	struct err e;

	if (manual_open(&m, &e))
		return;
	list_others(&m, &names);
	fputs(names.data, out);
	buf_release(&names);
	manual_release(&m);
}

static int unknown_topic(const struct manual *m, const char *name)
{
	const char *command = command_nearest(name);
	struct near n = near_init(name);
	struct buf others = BUF_INIT;
	char *page, *at = NULL;

	if (command)
		near_try(&n, command);
	list_others(m, &others);
	for (page = strtok_r(others.data, "\n", &at); page; page = strtok_r(NULL, "\n", &at))
		near_try(&n, page);
	log_error("unknown command '%s'", name);
	if (n.best)
		log_hint("did you mean 'arcprof help %s'?", n.best);
	else
		log_hint("'arcprof help' lists the commands");
	buf_release(&others);
	return EXIT_USAGE;
}

static int show_page(const struct manual *m, const char *name)
{
	enum { WIDTH_OF_FILES = 80, MOST = 100 };	/* longer lines are hard to read */
	int width = term_width() ? term_width() : WIDTH_OF_FILES;
	bool is_first = !strcmp(name, "arcprof");
	char *file = xasprintf("%s%s", is_first ? "" : prefix, name);
	struct buf page = BUF_INIT;
	int r = 0;

	if (manual_page(m, file, describe_part, &page))
		manual_print(&page, MIN(width, (int)MOST), stdout);
	else
		r = unknown_topic(m, name);
	buf_release(&page);
	free(file);
	return r;
}

static int help_run(void *opts, int nr_operands, char **operands)
{
	const struct help_opts *o = opts;
	const struct command *c;
	struct manual m;
	struct err e;
	int r;

	if (nr_operands > 1) {
		log_error("only one command can be given");
		return EXIT_USAGE;
	}
	if (!nr_operands) {
		arcprof_print_help(stdout);
		return 0;
	}
	c = command_find(operands[0]);
	if (c && o->short_only) {
		command_print_help(c, stdout);
		return 0;
	}
	if (manual_open(&m, &e))
		return log_err(&e);
	r = show_page(&m, without_prefix(operands[0]));
	manual_release(&m);
	return r;
}

const struct command cmd_help = {
	.name = "help",
	.summary = "list the commands, or show a page of the manual",
	.operands = "[<command>|<page>]",
	.flags = CMD_PAGER,
	.opts = help_opts,
	.opts_size = sizeof(struct help_opts),
	.run = help_run,
};
