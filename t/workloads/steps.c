// SPDX-License-Identifier: GPL-2.0-or-later
/* Seconds long: computes for 2.4 ms in one function and 1 ms in another, of CPU time, and sleeps for 1 ms. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void compute_until(uint64_t cpu_ns)
{
	volatile uint64_t x = 0;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < cpu_ns)
		for (int i = 0; i < 1000; i++)
			x += i;
}

__attribute__((noinline)) uint64_t first(uint64_t cpu_ns)
{
	compute_until(cpu_ns + 2400000);
	return cpu_ns + 2400000;
}

__attribute__((noinline)) uint64_t second(uint64_t cpu_ns)
{
	compute_until(cpu_ns + 1000000);
	return cpu_ns + 1000000;
}

int main(int argc, char **argv)
{
	const struct timespec brief = { 0, 1000000 };
	uint64_t end_ns = now_ns(CLOCK_MONOTONIC) + (argc > 1 ? atof(argv[1]) : 1) * 1e9;
	uint64_t cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);

	while (now_ns(CLOCK_MONOTONIC) < end_ns) {
		cpu_ns = second(first(cpu_ns));
		nanosleep(&brief, NULL);
		cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
	}
	return 0;
}
