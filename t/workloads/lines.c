// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lines.c - spends nine tenths of its CPU time in one line of a function, and one tenth in a function
 * that is inlined; prints the numbers of both lines and the share of each.
 *
 * usage: lines [ROUNDS]	a round is about 1 ms
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static volatile uint64_t sink;

#define STEP(x) ((x) = (x) * 6364136223846793005ull + 1442695040888963407ull)
#define EIGHT(x) STEP(x), STEP(x), STEP(x), STEP(x), STEP(x), STEP(x), STEP(x), STEP(x)
#define MANY(x) EIGHT(x), EIGHT(x), EIGHT(x), EIGHT(x)

enum { HOT_LINE = __LINE__ + 6, INLINED_LINE = HOT_LINE + 8 };
__attribute__((noinline)) void hot(unsigned long n)
{
	uint64_t x = n;

	while (n--)
		MANY(x);	/* HOT_LINE */
	sink += x;
}

static inline __attribute__((always_inline)) void inlined(unsigned long n)
{
	uint64_t x = n;

	while (n--) MANY(x);	/* INLINED_LINE */
	sink += x;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 100, i;

	for (i = 0; i < rounds; i++) {
		hot(9 * 1000);
		inlined(1000);
	}
	printf("hot %d 90\ninlined %d 10\n", HOT_LINE, INLINED_LINE);
	return 0;
}
