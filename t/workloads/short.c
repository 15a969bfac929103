// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * short.c - threads, one after the other, each of which runs for so many microseconds of CPU time in spin();
 * prints how many ms of CPU time spin() had, and the process.
 *
 * usage: short THREADS MICROSECONDS
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double length_us, spun_us;

static double now_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

__attribute__((noinline)) static void spin(double us)
{
	double begin = now_us(CLOCK_THREAD_CPUTIME_ID), now;

	do {
		now = now_us(CLOCK_THREAD_CPUTIME_ID);
	} while (now < begin + us);
	spun_us += now - begin;
}

static void *run(void *arg)
{
	spin(length_us);
	return arg;
}

int main(int argc, char **argv)
{
	int nr = argc > 2 ? atoi(argv[1]) : 0, i;
	pthread_t thread;

	length_us = nr ? atof(argv[2]) : 0;
	for (i = 0; i < nr; i++) {
		if (pthread_create(&thread, NULL, run, NULL))
			return 1;
		pthread_join(thread, NULL);
	}
	printf("%.0f %.0f\n", spun_us / 1e3, now_us(CLOCK_PROCESS_CPUTIME_ID) / 1e3);
	return 0;
}
