// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * passing.c - short processes, each of a program of its own: a copy of this file. The copies go at the end.
 *
 * usage: passing <folder> <count> <first> <ms> [<at-a-time>]
 * Prints how many ended as they should.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned int sink;

static double now_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

/* On the CPU for that long. */
static int burn(double ms)
{
	unsigned int i;

	while (now_ms(CLOCK_PROCESS_CPUTIME_ID) < ms)
		for (i = 0; i < 10000; i++)
			sink += i;
	return 42;
}

static int copy_self(const char *to)
{
	int in = open("/proc/self/exe", O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_EXCL, 0700);
	struct stat st;
	int ok = in >= 0 && out >= 0 && !fstat(in, &st) && sendfile(out, in, NULL, st.st_size) == st.st_size;

	close(in);
	close(out);
	return ok;
}

static void path_of(char path[static 4096], const char *folder, long nr)
{
	snprintf(path, 4096, "%s/program-%ld", folder, nr);
}

static pid_t start(const char *folder, long nr, const char *ms)
{
	char path[4096];
	pid_t pid;

	path_of(path, folder, nr);
	if (!copy_self(path)) {
		perror(path);
		exit(1);
	}
	pid = fork();
	if (pid)
		return pid;
	execl(path, "program", "--burn", ms, (char *)NULL);
	_exit(1);
}

int main(int argc, char **argv)
{
	long count, first, at_a_time, i, begun = 0, ended = 0, good = 0;
	pid_t *pids;

	if (argc == 3 && !strcmp(argv[1], "--burn"))
		return burn(atof(argv[2]));
	if (argc < 5)
		return 2;
	count = atol(argv[2]);
	first = atol(argv[3]);
	at_a_time = argc > 5 ? atol(argv[5]) : 1;
	pids = calloc(count, sizeof(*pids));
	while (ended < count) {
		int status;
		pid_t pid;

		while (begun < count && begun - ended < at_a_time) {
			pids[begun] = start(argv[1], first + begun, argv[4]);
			begun++;
		}
		pid = wait(&status);
		for (i = 0; i < begun && pids[i] != pid; i++)
			;
		if (i < begun)
			pids[i] = 0;
		good += WIFEXITED(status) && WEXITSTATUS(status) == 42;
		ended++;
	}
	sleep(1);		/* who records them has opened them by then */
	for (i = 0; i < count; i++) {
		char path[4096];

		path_of(path, argv[1], first + i);
		unlink(path);
	}
	free(pids);
	printf("%ld\n", good);
	return good != count;
}
