// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * places.c - a thread that waits at more places than there are sites (lib/jvm/wall.h): most of the time at
 * one, and in between once at each of a dozen depths of its stack and once, for longer, in wait_rare(). For
 * SECONDS; prints what it waited in wait_deep() and wait_rare(), in ms.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { NR_DEPTHS = 12 };

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static double waited(unsigned int us)
{
	double start = now_ms();

	usleep(us);
	return now_ms() - start;
}

__attribute__((noinline)) static double wait_often(void)
{
	return waited(2000) + 0;
}

__attribute__((noinline)) static double wait_rare(void)
{
	return waited(4000) + 0;
}

__attribute__((noinline)) static double wait_deep(int depth)
{
	volatile char room[64];

	room[0] = depth;
	return depth ? wait_deep(depth - 1) + room[0] * 0 : waited(300) + 0;
}

int main(int argc, char **argv)
{
	double end = now_ms() + (argc > 1 ? atof(argv[1]) : 1) * 1e3, deep = 0, rare = 0;
	int i;

	while (now_ms() < end) {
		for (i = 0; i < 20; i++)
			wait_often();
		for (i = 0; i < NR_DEPTHS; i++)
			deep += wait_deep(i);
		rare += wait_rare();
	}
	printf("wait_deep %.1f\nwait_rare %.1f\n", deep, rare);
	return 0;
}
