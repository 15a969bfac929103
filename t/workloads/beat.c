// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * beat.c - runs for so many microseconds at the beginning of each period, by absolute times, the first half
 * of that in first() and the second in second(); prints how many ms of CPU time each had.
 *
 * usage: beat PERIOD_US RUN_US SECONDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_us(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

#define PART(name)                                                             \
	__attribute__((noinline)) double name(double us)                       \
	{                                                                      \
		double begin = now_us(CLOCK_THREAD_CPUTIME_ID), now;           \
	\
		do {                                                           \
			now = now_us(CLOCK_THREAD_CPUTIME_ID);                 \
		} while (now < begin + us);                                    \
		return now - begin;                                            \
	}

PART(first)
PART(second)

int main(int argc, char **argv)
{
	double period = argc > 3 ? atof(argv[1]) : 10000, run = argc > 3 ? atof(argv[2]) : 1000;
	double at = now_us(CLOCK_MONOTONIC), end = at + (argc > 3 ? atof(argv[3]) : 1) * 1e6, a = 0, b = 0;

	while (at < end) {
		struct timespec t = { (time_t)(at / 1e6), 0 };

		t.tv_nsec = (long)((at - t.tv_sec * 1e6) * 1e3);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		a += first(run / 2);
		b += second(run / 2);
		at += period;
	}
	printf("%.0f %.0f\n", a / 1e3, b / 1e3);
	return 0;
}
