// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shares.c - spends its CPU time in five functions in the proportion 16:8:4:2:1, half of it
 * directly and half in a callee that they share; prints the shares it caused.
 *
 * usage: shares [ROUNDS]	a round is about 6 ms
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static volatile uint64_t sink;

__attribute__((noinline)) void shared(unsigned long n)
{
	uint64_t x = n;

	while (n--)
		x = x * 6364136223846793005ull + 1442695040888963407ull;
	sink += x;
}

/* The same loop in each, so that equal counts take equal time. */
#define WORKER(name)                                                            \
	__attribute__((noinline)) void name(unsigned long n)                    \
	{                                                                       \
		uint64_t x = n;                                                 \
		unsigned long i = n;                                            \
	\
		while (i--)                                                     \
			x = x * 6364136223846793005ull + 1442695040888963407ull; \
		sink += x;                                                      \
		shared(n);                                                      \
		sink++; /* or the call would be a jump: no arc */               \
	}

WORKER(sixteen)
WORKER(eight)
WORKER(four)
WORKER(two)
WORKER(one)

int main(int argc, char **argv)
{
	unsigned long unit = 1000000;
	int rounds = argc > 1 ? atoi(argv[1]) : 30;

	while (rounds-- > 0) {
		sixteen(16 * unit / 10);
		eight(8 * unit / 10);
		four(4 * unit / 10);
		two(2 * unit / 10);
		one(1 * unit / 10);
	}
	puts("sixteen 51.61 eight 25.81 four 12.90 two 6.45 one 3.23 shared 50.00");
	return 0;
}
