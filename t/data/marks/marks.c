// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * marks.c - marks and phases, as many as it prints. "marks THREADS EACH": so many threads, each with so many
 * marks; a child marks, too. "marks cost N": the least time of a mark, of rounds of N.
 */
#include <arcprof.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int each;

static void *run(void *name)
{
	int i;

	for (i = 0; i < each; i++)
		arcprof_mark(name);
	return NULL;
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Rounds are apart, so that the recorder makes room meanwhile. */
static int cost(int n)
{
	double best = 1e18, begun;
	int round, i;

	for (round = 0; round < 50; round++) {
		begun = now_ns();
		for (i = 0; i < n; i++)
			arcprof_mark("timed");
		begun = (now_ns() - begun) / n;
		best = begun < best ? begun : best;
		usleep(10000);
	}
	printf("%.1f\n", best);
	return 0;
}

int main(int argc, char **argv)
{
	int nr = argc > 2 ? atoi(argv[1]) : 0, i;
	pthread_t *t = calloc(nr + 1, sizeof(*t));
	uint64_t begun = arcprof_phase_begin();

	each = argc > 2 ? atoi(argv[2]) : 0;
	if (argc > 2 && !strcmp(argv[1], "cost"))
		return cost(each);
	for (i = 0; i < 3; i++)
		arcprof_mark_value("step", i);
	for (i = 0; i < nr; i++)
		pthread_create(&t[i], NULL, run, "from a thread");
	for (i = 0; i < nr; i++)
		pthread_join(t[i], NULL);
	if (!fork()) {
		arcprof_mark("child");
		_exit(0);
	}
	wait(NULL);
	usleep(20000);
	arcprof_phase_end(begun, "all, of \"it\"");
	printf("%d from a thread\n3 step\n1 child\n1 all\n", nr * each);
	free(t);
	return 0;
}
