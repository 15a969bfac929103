// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * treetest.c - a tree of calls whose names say their share of the work, in percent. The work of those
 * below mainA is done in tiny calls, that of those below mainB in a loop: measured without
 * calibration, A has more than its share.
 */
#include <stdlib.h>

enum { STEPS = 60 };	/* of a tiny call */

static volatile unsigned int sink;

static inline __attribute__((always_inline, no_instrument_function)) void work(void)
{
	unsigned int x = sink, i;

	for (i = 0; i < STEPS; i++)
		x = x * 1664525 + 1013904223;
	sink = x;
}

static __attribute__((noinline)) void bit(void)
{
	work();
}

static __attribute__((noinline)) void AA10(int unit)
{
	for (int i = 0; i < 10 * unit; i++)
		bit();
}

static __attribute__((noinline)) void AB20(int unit)
{
	for (int i = 0; i < 20 * unit; i++)
		bit();
}

static __attribute__((noinline)) void BA30(int unit)
{
	for (int i = 0; i < 30 * unit; i++)
		work();
}

static __attribute__((noinline)) void BB40(int unit)
{
	for (int i = 0; i < 40 * unit; i++)
		work();
}

static __attribute__((noinline)) void mainA30(int unit)
{
	AA10(unit);
	AB20(unit);
}

static __attribute__((noinline)) void mainB70(int unit)
{
	BA30(unit);
	BB40(unit);
}

int main(int argc, char **argv)
{
	int unit = argc > 1 ? atoi(argv[1]) : 1000;

	for (int i = 0; i < 100; i++) {
		mainA30(unit);
		mainB70(unit);
	}
	return 0;
}
