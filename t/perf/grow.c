// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * grow.c - a program of any number of threads or processes, each with a little work, for growth.sh.
 *
 * usage: grow threads|processes <n>
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AT_ONCE = 100, LOOPS = 300000 };

static void work(void)
{
	volatile unsigned long x = 0;
	int i;

	for (i = 0; i < LOOPS; i++)
		x += i;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all = PTHREAD_COND_INITIALIZER;
static long nr_left;

/* All live at once: the last one to come lets them go. */
static void *thread(void *arg)
{
	work();
	pthread_mutex_lock(&lock);
	if (!--nr_left)
		pthread_cond_broadcast(&all);
	while (nr_left)
		pthread_cond_wait(&all, &lock);
	pthread_mutex_unlock(&lock);
	return arg;
}

static int threads(long n)
{
	pthread_t *t = calloc(n, sizeof(*t));
	pthread_attr_t a;
	long i;

	nr_left = n;
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 64 << 10);
	for (i = 0; t && i < n; i++) {
		if (pthread_create(&t[i], &a, thread, NULL)) {
			fprintf(stderr, "grow: thread %ld cannot be made\n", i);
			return 1;
		}
	}
	for (i = 0; t && i < n; i++)
		pthread_join(t[i], NULL);
	free(t);
	return 0;
}

static int processes(long n, char *self)
{
	long i, nr_alive = 0;

	for (i = 0; i < n || nr_alive; i++) {
		pid_t pid = i < n ? fork() : -1;

		if (!pid) {
			execl("/proc/self/exe", self, "work", "1", NULL);
			_exit(1);
		}
		nr_alive += pid > 0;
		if ((nr_alive >= AT_ONCE || i >= n) && wait(NULL) > 0)
			nr_alive--;
	}
	return 0;
}

int main(int argc, char **argv)
{
	long n = argc == 3 ? atol(argv[2]) : 0;

	if (n < 1) {
		fprintf(stderr, "usage: grow threads|processes <n>\n");
		return 2;
	}
	if (!strcmp(argv[1], "threads"))
		return threads(n);
	if (!strcmp(argv[1], "processes"))
		return processes(n, argv[0]);
	work();
	return 0;
}
