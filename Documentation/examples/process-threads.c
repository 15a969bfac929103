/* SPDX-License-Identifier: MIT */
/*
 * process-threads.c - four threads do different amounts of work and measure themselves; their sum is
 * compared with what the process consumed.
 *
 *	cc -pthread process-threads.c -larcprof -o process-threads
 */
#include <arcprof.h>
#include <pthread.h>
#include <stdio.h>

enum { NR_THREADS = 4 };

static volatile double sink[NR_THREADS * 16];
static uint64_t time_ns[NR_THREADS];

static void *work(void *arg)
{
	int n = (int)(long)arg, i;
	struct arcprof_thread *self = arcprof_thread_open();

	for (i = 1; i < 5000000 * (n + 1); i++)
		sink[n * 16] += 1.0 / i;
	if (self)
		time_ns[n] = arcprof_thread_time_ns(self);
	arcprof_thread_close(self);
	return NULL;
}

int main(void)
{
	pthread_t threads[NR_THREADS];
	struct arcprof_values process;
	uint64_t sum = 0;
	long i;

	if (arcprof_init(NULL))
		return 1;
	for (i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (i = 0; i < NR_THREADS; i++) {
		pthread_join(threads[i], NULL);
		printf("thread %ld: %9.3f ms\n", i, time_ns[i] / 1e6);
		sum += time_ns[i];
	}
	if (arcprof_process_read(0, &process))
		return 1;
	printf("threads:  %9.3f ms, process: %9.3f ms (%s)\n", sum / 1e6, process.time_ns / 1e6,
	       arcprof_backend());
	arcprof_term();
	return 0;
}
