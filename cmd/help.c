// SPDX-License-Identifier: GPL-2.0-or-later
/* help.c - "arcprof help": the commands, or the manual page of one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "cmd.h"

struct help_opts {
	bool short_only;
};

static const struct opt help_opts[] = {
	OPT_GROUP("What to show"),
	OPT_FLAG('s', "short", struct help_opts, short_only, "show the options, not the manual page"),
	OPT_END
};

/* Whether man(1) is there and knows the page. */
static bool has_manual(const char *page)
{
	int status, null;
	pid_t pid = fork();

	if (pid < 0)
		return false;
	if (!pid) {
		null = open("/dev/null", O_RDWR);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execlp("man", "man", "-w", page, (char *)NULL);
		_exit(EXIT_NOT_FOUND);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static int show_manual(const char *page)
{
	fflush(stdout);
	execlp("man", "man", page, (char *)NULL);
	log_error("man: %s", strerror(errno));
	return 1;
}

static int unknown_topic(const char *name)
{
	const char *near = command_nearest(name);

	log_error("unknown command '%s'", name);
	if (near)
		log_hint("did you mean 'arcprof help %s'?", near);
	else
		log_hint("'arcprof help' lists the commands");
	return EXIT_USAGE;
}

static int help_run(void *opts, int nr_operands, char **operands)
{
	const struct help_opts *o = opts;
	const struct command *c;
	char *page;

	if (nr_operands > 1) {
		log_error("only one command can be given");
		return EXIT_USAGE;
	}
	if (!nr_operands) {
		arcprof_print_help(stdout);
		return 0;
	}
	c = command_find(operands[0]);
	if (!c)
		return unknown_topic(operands[0]);
	page = xasprintf("arcprof-%s", c->name);
	if (!o->short_only && has_manual(page))
		return show_manual(page);
	command_print_help(c, stdout);
	if (!o->short_only)
		printf("\nThe manual page %s(1) says more; it is not installed here.\n", page);
	free(page);
	return 0;
}

const struct command cmd_help = {
	.name = "help",
	.summary = "list the commands, or explain one",
	.operands = "[<command>]",
	.opts = help_opts,
	.opts_size = sizeof(struct help_opts),
	.run = help_run,
};
