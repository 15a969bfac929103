// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sleeps.c - sleeps so many times and computes in between; then prints what the kernel counted of
 * its only thread meanwhile: sleeps, voluntary and involuntary context switches, its CPU time, and
 * from /proc/self/schedstat its time on a CPU and its wait for one, in ns.
 *
 * usage: sleeps TIMES LOOPS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static volatile uint64_t sink;

struct counts {
	long voluntary, involuntary;
	unsigned long long cpu_ns, ran_ns, waited_ns;
};

static void count(struct counts *c)
{
	struct timespec ts;
	struct rusage r;
	FILE *f;

	c->ran_ns = c->waited_ns = 0;
	f = fopen("/proc/self/schedstat", "r");
	if (f) {
		if (fscanf(f, "%llu %llu", &c->ran_ns, &c->waited_ns) != 2)
			c->ran_ns = 0;
		fclose(f);
	}
	getrusage(RUSAGE_SELF, &r);
	c->voluntary = r.ru_nvcsw;
	c->involuntary = r.ru_nivcsw;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	c->cpu_ns = ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	long times = argc > 1 ? atol(argv[1]) : 100, loops = argc > 2 ? atol(argv[2]) : 100000, i, k;
	struct timespec ms = { 0, 1000000 };
	struct counts before, after;
	uint64_t x = times;

	count(&before);
	for (i = 0; i < times; i++) {
		nanosleep(&ms, NULL);
		for (k = 0; k < loops; k++)
			x = x * 6364136223846793005u + 1442695040888963407u;
	}
	sink = x;
	count(&after);
	printf("%ld %ld %ld %llu %llu %llu\n", times, after.voluntary - before.voluntary,
	       after.involuntary - before.involuntary, after.cpu_ns - before.cpu_ns,
	       after.ran_ns - before.ran_ns, after.waited_ns - before.waited_ns);
	return 0;
}
