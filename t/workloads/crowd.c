// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * crowd.c - many short lives: crowd processes N, crowd threads N, crowd execs N (one process that
 * becomes a new image N times).  Ends with status 3.
 */
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void *live(void *arg)
{
	return arg;
}

static void threads(int n)
{
	pthread_t t[50];
	int i, k;

	for (; n > 0; n -= k) {
		k = n < 50 ? n : 50;
		for (i = 0; i < k; i++)
			if (pthread_create(&t[i], NULL, live, NULL))
				exit(1);
		for (i = 0; i < k; i++)
			pthread_join(t[i], NULL);
	}
}

static void processes(const char *self, int n)
{
	char *argv[] = { (char *)self, NULL };
	pid_t pid;

	while (n--) {
		if (posix_spawn(&pid, self, NULL, NULL, argv, environ))
			exit(1);
		waitpid(pid, NULL, 0);
	}
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0;

	if (n && !strcmp(argv[1], "threads"))
		threads(n);
	else if (n && !strcmp(argv[1], "processes"))
		processes("/proc/self/exe", n);
	else if (n && !strcmp(argv[1], "execs")) {
		char left[16];

		snprintf(left, sizeof(left), "%d", n - 1);
		execl("/proc/self/exe", argv[0], "execs", left, NULL);
		return 1;
	}
	return 3;
}
