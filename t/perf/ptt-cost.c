// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ptt-cost - what per-thread time costs, in ns.
 *
 *	ptt-cost read BACKEND	reading the own time, and the other ways to ask for it
 *	ptt-cost switch		a context switch, of two threads that pass a byte to and fro on one CPU;
 *				their CPU time, so that what others do in between is not in it
 *	ptt-cost switch MS	the same, so long after the threads are there
 *
 * Each figure is the least of many runs: what comes in between only adds.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "api/arcprof.h"
#include "base/clock.h"

enum { RUNS = 15, CALLS = 20000, TURNS = 5000 };

static struct arcprof_thread *self;
static int perf_fd;

static uint64_t read_arcprof(void)
{
	return arcprof_thread_time_ns(self);
}

static uint64_t read_all_values(void)
{
	struct arcprof_values v;

	arcprof_thread_read(self, &v);
	return v.time_ns;
}

static uint64_t read_thread_clock(void)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t read_perf_fd(void)
{
	uint64_t v = 0;

	return read(perf_fd, &v, sizeof(v)) == sizeof(v) ? v : 0;
}

static void time_reads(const char *name, uint64_t (*f)(void))
{
	volatile uint64_t sink = 0;
	double best = 1e18, ns;
	uint64_t start;
	int i, k;

	for (i = 0; i < RUNS; i++) {
		start = clock_mono_ns();
		for (k = 0; k < CALLS; k++)
			sink += f();
		ns = (double)(clock_mono_ns() - start) / CALLS;
		best = ns < best ? ns : best;
	}
	printf("%-44s %8.1f ns\n", name, best);
}

static int reads(const char *backend)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK,
					.size = sizeof(attr), .exclude_kernel = 1 };
	char name[64];
	int r = arcprof_init(backend);

	self = r ? NULL : arcprof_thread_open();
	if (!self) {
		fprintf(stderr, "ptt-cost: %s: %s\n", backend, strerror(r ? -r : ESRCH));
		return 1;
	}
	perf_fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	snprintf(name, sizeof(name), "arcprof_thread_time_ns(), %s", arcprof_backend());
	time_reads(name, read_arcprof);
	snprintf(name, sizeof(name), "arcprof_thread_read(), %s", arcprof_backend());
	time_reads(name, read_all_values);
	time_reads("clock_gettime(CLOCK_MONOTONIC)", clock_mono_ns);
	time_reads("clock_gettime(CLOCK_THREAD_CPUTIME_ID)", read_thread_clock);
	if (perf_fd >= 0)
		time_reads("read() of a perf event (task-clock)", read_perf_fd);
	arcprof_thread_close(self);
	arcprof_term();
	return 0;
}

static void one_cpu(void)
{
	cpu_set_t s;

	CPU_ZERO(&s);
	CPU_SET(0, &s);
	sched_setaffinity(0, sizeof(s), &s);
}

static int to[2], from[2];

static void *echo(void *arg)
{
	char c;

	one_cpu();
	while (read(to[0], &c, 1) == 1)
		if (write(from[1], &c, 1) != 1)
			break;
	return NULL;
}

static int switches(int wait_ms)
{
	double best = 1e18, ns;
	pthread_t t;
	uint64_t start;
	char c = 0;
	int i, k;

	one_cpu();
	if (pipe(to) || pipe(from) || pthread_create(&t, NULL, echo, NULL))
		return 1;
	usleep(wait_ms * 1000);
	for (i = 0; i < RUNS; i++) {
		start = clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
		for (k = 0; k < TURNS; k++)
			if (write(to[1], &c, 1) != 1 || read(from[0], &c, 1) != 1)
				return 1;
		ns = (double)(clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) - start) / (2 * TURNS);
		best = ns < best ? ns : best;
	}
	close(to[1]);
	pthread_join(t, NULL);
	printf("%.0f\n", best);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "read"))
		return reads(argv[2]);
	if (argc >= 2 && argc <= 3 && !strcmp(argv[1], "switch"))
		return switches(argc == 3 ? atoi(argv[2]) : 0);
	fprintf(stderr, "usage: ptt-cost read <backend> | switch [MS]\n");
	return 2;
}
