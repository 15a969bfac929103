/*
 * Calls of known number, with work of known shares below them in a function that has no hooks: of 6 parts 1 is
 * below once(), 3 below thrice(), 2 at the end of the recursion deep(). between() has no hooks either, and is
 * on the stack between main() and half of once(). Usage: graft ROUNDS WORK DEPTH
 */
#include <stdio.h>
#include <stdlib.h>

#define PLAIN __attribute__((noinline, no_instrument_function))
#define KEEP __attribute__((noinline))

static volatile unsigned sink;

PLAIN static void part(int n)
{
	for (int i = 0; i < n; i++)
		sink = sink * 3 + 1;
}

static inline void leaf(int n)
{
	part(n);
	sink++;
}

KEEP static void once(int n)
{
	leaf(n);
	sink++;
}

KEEP static void thrice(int n)
{
	leaf(n);
	leaf(n);
	leaf(n);
	sink++;
}

KEEP static int deep(int levels, int n)
{
	if (levels)
		return 1 + deep(levels - 1, n);
	leaf(2 * n);
	return 1;
}

PLAIN static void between(void (*f)(int), int n)
{
	f(n);
	sink++;
}

int main(int argc, char **argv)
{
	int rounds = atoi(argv[1]), work = atoi(argv[2]), depth = atoi(argv[3]);

	for (int i = 0; i < rounds; i++) {
		if (i % 2)
			once(work);
		else
			between(once, work);
		thrice(work);
		deep(depth, work);
	}
	return 0;
}
