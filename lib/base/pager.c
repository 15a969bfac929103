// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pager.h"

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
