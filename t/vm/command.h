/* SPDX-License-Identifier: GPL-2.0-or-later */
/* command.h - commands that a guest's test programs run, and what these say. */
#ifndef COMMAND_H
#define COMMAND_H

#include <sys/personality.h>
#include <sys/wait.h>
#include "guest.h"

enum { MAX_ARGS = 24 };

/* Starts it with this line of words; what it and its program say goes to files out and err. */
static inline pid_t start(const char *line, const char *out, const char *err)
{
	char words[512], *argv[MAX_ARGS + 1], *save;
	pid_t pid = fork();
	int n = 0;

	if (pid)
		return pid;
	snprintf(words, sizeof(words), "%s", line);
	for (char *w = strtok_r(words, " ", &save); w && n < MAX_ARGS; w = strtok_r(NULL, " ", &save))
		argv[n++] = w;
	argv[n] = NULL;
	personality(ADDR_NO_RANDOMIZE);
	if (!freopen(out, "w", stdout) || !freopen(err, "w", stderr))
		_exit(9);
	execv(argv[0], argv);
	_exit(127);
}

/* The same, to its end: as a shell gives its status. */
static inline int run(const char *line, const char *out, const char *err)
{
	pid_t pid = start(line, out, err);
	int status = -1;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static inline char *slurp(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t len = 0;

	if (!f || getdelim(&text, &len, '\0', f) < 0) {
		free(text);
		text = strdup("");
	}
	if (f)
		fclose(f);
	return text;
}

static inline void show(const char *path)
{
	char *text = slurp(path), *save;

	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		printf("# | %s\n", l);
	free(text);
}

#endif
