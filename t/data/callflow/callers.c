// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions that call an empty one after each thirty to three hundred dependent steps of their own: each is
 * due the same time.
 */
#include <stdio.h>
#include <stdlib.h>

#define STEPS(n)                                                                                   \
	__attribute__((noinline)) static unsigned long leaf##n(unsigned long x) { return x + 1; }  \
	__attribute__((noinline)) static unsigned long s##n(unsigned long x, long total)           \
	{                                                                                          \
		for (long k = 0; k < total / n; k++) {                                             \
			for (int i = 0; i < n; i++)                                                \
				x = x * 6364136223846793005ul + 1442695040888963407ul;             \
			x = leaf##n(x);                                                            \
		}                                                                                  \
		return x;                                                                          \
	}
STEPS(30)
STEPS(60)
STEPS(120)
STEPS(300)
STEPS(1000)

int main(int argc, char **argv)
{
	long total = argc > 1 ? atol(argv[1]) : 60000000;

	return printf("%lu\n", s1000(s300(s120(s60(s30(1, total), total), total), total), total)) < 0;
}
