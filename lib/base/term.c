// SPDX-License-Identifier: GPL-2.0-or-later
/* term.c - asks the terminal, once, and starts the user's pager. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/opt.h"
#include "base/term.h"

const char *const term_color_words[] = { "auto", "always", "never", NULL };

static const char *const sequences[TERM_NR] = {
	[TERM_PLAIN] = "\033[0m", [TERM_BOLD] = "\033[1m",    [TERM_DIM] = "\033[2m",
	[TERM_UNDERLINE] = "\033[4m", [TERM_RED] = "\033[31m",
	[TERM_GREEN] = "\033[32m", [TERM_YELLOW] = "\033[33m", [TERM_CYAN] = "\033[36m",
};

static struct {
	bool tty;
	bool color, error_color;
	int width;
} term;

void term_setup(enum term_color color)
{
	const char *no = getenv("NO_COLOR"), *name = getenv("TERM"), *columns = getenv("COLUMNS");
	bool can = !(no && *no) && name && strcmp(name, "dumb");
	struct winsize size;
	uint64_t width;
	struct err e;

	term.tty = isatty(STDOUT_FILENO);
	term.color = color == TERM_COLOR_ALWAYS || (color == TERM_COLOR_AUTO && can && term.tty);
	term.error_color =
		color == TERM_COLOR_ALWAYS || (color == TERM_COLOR_AUTO && can && isatty(STDERR_FILENO));
	if (!term.tty)
		return;
	if (columns && !opt_parse_u64(columns, &width, &e) && width >= 20 && width <= 10000)
		term.width = width;
	else if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		term.width = size.ws_col;
	else
		term.width = 80;
}

bool term_is_tty(void)
{
	return term.tty;
}

int term_width(void)
{
	return term.width;
}

const char *term_style(enum term_style s)
{
	return term.color ? sequences[s] : "";
}

const char *term_error_style(enum term_style s)
{
	return term.error_color ? sequences[s] : "";
}

static pid_t pager_pid;

static const char *pager_command(void)
{
	const char *s = getenv("ARCPROF_PAGER");

	if (!s)
		s = getenv("PAGER");
	if (!s)
		return "less";
	return *s && strcmp(s, "cat") ? s : NULL;
}

/* Called in the child; never returns. */
static void run_pager(const char *command, int in, int failed)
{
	dup2(in, STDIN_FILENO);
	close(in);
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	setenv("LESS", "FRX", 0);	/* leave when it fits, pass colours, keep the screen */
	setenv("LV", "-c", 0);
	if (!strpbrk(command, " \t\n|&;<>()$`\\\"'*?[#~=%"))
		execlp(command, command, (char *)NULL);
	else
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	if (write(failed, "", 1) < 0)
		_exit(126);
	_exit(127);
}

void pager_finish(void)
{
	int status;

	if (!pager_pid)
		return;
	fflush(stdout);
	close(STDOUT_FILENO);	/* the end of file the pager waits for */
	while (waitpid(pager_pid, &status, 0) < 0 && errno == EINTR)
		;
	pager_pid = 0;
}

void pager_start(void)
{
	const char *command = pager_command();
	int to_pager[2], failed[2];
	char byte;

	if (!command || pager_pid)
		return;
	if (pipe2(to_pager, O_CLOEXEC) < 0)
		return;
	if (pipe2(failed, O_CLOEXEC) < 0)
		goto close_to_pager;
	fflush(stdout);
	pager_pid = fork();
	if (!pager_pid)
		run_pager(command, to_pager[0], failed[1]);
	close(failed[1]);
	if (pager_pid < 0 || read(failed[0], &byte, 1) > 0) {	/* no such program: print directly */
		if (pager_pid > 0)
			waitpid(pager_pid, NULL, 0);
		pager_pid = 0;
	} else {
		dup2(to_pager[1], STDOUT_FILENO);
		signal(SIGINT, SIG_IGN);	/* ^C belongs to the pager */
		atexit(pager_finish);
	}
	close(failed[0]);
close_to_pager:
	close(to_pager[0]);
	close(to_pager[1]);
}
