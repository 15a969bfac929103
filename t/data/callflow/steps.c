// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The same work in calls of ten to a thousand dependent steps: each function is due the same time, and
 * the caller none.
 */
#include <stdio.h>
#include <stdlib.h>

#define STEPS(n)                                                                        \
	__attribute__((noinline)) static unsigned long s##n(unsigned long x)            \
	{                                                                               \
		for (int i = 0; i < n; i++)                                             \
			x = x * 6364136223846793005ul + 1442695040888963407ul;          \
		return x;                                                               \
	}
STEPS(10)
STEPS(30)
STEPS(60)
STEPS(120)
STEPS(300)
STEPS(1000)

#define CALLS(n)                              \
	for (long i = 0; i < total / n; i++)  \
		x = s##n(x);

__attribute__((noinline)) static unsigned long caller(unsigned long x, long total)
{
	CALLS(10)
	CALLS(30)
	CALLS(60)
	CALLS(120)
	CALLS(300)
	CALLS(1000)
	return x;
}

int main(int argc, char **argv)
{
	return printf("%lu\n", caller(1, argc > 1 ? atol(argv[1]) : 60000000)) < 0;
}
