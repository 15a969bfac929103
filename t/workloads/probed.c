// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * probed.c - calls a function a known number of times: outer() in the main thread N times, in each of two
 * threads N / 2 times, and in a child process N / 4 times. counted() calls getppid(2) each time. Prints how
 * many ns of CPU time a call took in the main thread.
 *
 * usage: probed N
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

__attribute__((noipa)) void counted(void)
{
	sink += getppid();
}

__attribute__((noipa)) void outer(long n)
{
	while (n-- > 0) {
		counted();
		sink++;		/* so that the last call is none that jumps */
	}
}

static void *run(void *arg)
{
	outer((long)arg / 2);
	return NULL;
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 100;
	pthread_t t[2];
	double begin;
	int i;

	begin = now_ns();
	outer(n);
	printf("%.0f\n", (now_ns() - begin) / (double)n);
	fflush(stdout);
	for (i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, run, (void *)n))
			return 1;
	for (i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	if (!fork()) {
		outer(n / 4);
		_exit(0);
	}
	wait(NULL);
	return 0;
}
