// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * runs.c - runs env(1) with one variable, or itself for a lack of env's, in the way that its argument
 * says.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *argv_of_env[] = { "env", NULL }, *one[] = { "MINE=1", NULL };

static int wait_for(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid ? WEXITSTATUS(status) : 99;
}

int main(int argc, char **argv)
{
	const char *how = argv[1];
	pid_t pid = -1;

	if (!strcmp(how, "missing")) {
		/* errors come back as they are */
		if (execve("/nonexistent", argv_of_env, one) != -1 || errno != ENOENT)
			return 1;
		return posix_spawn(&pid, "/nonexistent", NULL, NULL, argv_of_env, one) == ENOENT ? 0 : 1;
	}
	if (!strcmp(how, "spawn"))
		return posix_spawn(&pid, "/usr/bin/env", NULL, NULL, argv_of_env, one) ? 98 : wait_for(pid);
	if (!strcmp(how, "spawnp"))
		return posix_spawnp(&pid, "env", NULL, NULL, argv_of_env, one) ? 98 : wait_for(pid);
	if (!strcmp(how, "execve"))
		execve("/usr/bin/env", argv_of_env, one);
	if (!strcmp(how, "execvpe"))
		execvpe("env", argv_of_env, one);
	if (!strcmp(how, "execv")) {
		environ = one;
		execv("/usr/bin/env", argv_of_env);
	}
	if (!strcmp(how, "execvp")) {
		clearenv();
		execvp("env", argv_of_env);
	}
	if (!strcmp(how, "fork-null")) {
		pid = fork();
		if (pid)
			return wait_for(pid);
		execve("/usr/bin/env", argv_of_env, NULL);
	}
	return 97;
}
