// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * deepstack.c - computes beneath many calls, or beneath some with big frames.
 *
 *	deepstack DEPTH BYTES ROUNDS [turns]	each of DEPTH calls has a frame of at least BYTES;
 *						turns: the calls are made anew each round, by two
 *						functions in turn
 *
 * Without turns it ends below all of them: the rest of a stack is read a little later, when other calls could
 * have taken the place of those that had returned.
 */
#include <alloca.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile uint64_t sink;
static int turns;

static __attribute__((noinline)) void bottom(unsigned long rounds)
{
	unsigned long i;

	for (i = 0; i < rounds; i++)
		sink = sink * 31 + i;
	if (!turns)
		_exit(0);
}

static __attribute__((noinline)) void down(unsigned long depth, size_t bytes, unsigned long rounds)
{
	char *room = alloca(bytes + 16);

	room[0] = room[bytes] = 1;
	__asm__ volatile("" : : "r"(room) : "memory");
	if (depth > 1)
		down(depth - 1, bytes, rounds);
	else
		bottom(rounds);
	sink++;
}

static __attribute__((noinline)) void first(unsigned long depth, size_t bytes, unsigned long rounds)
{
	down(depth, bytes, rounds);
	sink++;
}

static __attribute__((noinline)) void second(unsigned long depth, size_t bytes, unsigned long rounds)
{
	down(depth, bytes, rounds);
	sink--;
}

int main(int argc, char **argv)
{
	unsigned long depth, rounds, i;
	size_t bytes;

	if (argc < 4)
		return 1;
	depth = strtoul(argv[1], NULL, 0);
	bytes = strtoul(argv[2], NULL, 0);
	rounds = strtoul(argv[3], NULL, 0);
	turns = argc > 4;
	if (!turns)
		first(depth, bytes, rounds);
	/* a thousandth of the work each time */
	for (i = 0; i < 1000; i++)
		(i % 2 ? second : first)(depth, bytes, rounds / 1000);
	return 0;
}
