/*
 * bracket.c - three brackets around work(), which calls leaf() 4 times; the same work outside is not
 * traced.
 */
#include <stdio.h>

#include "api/arcprof.h"

static volatile int sink;

__attribute__((noinline)) static void leaf(void) { sink++; }

__attribute__((noinline)) static void work(void)
{
	int i;

	for (i = 0; i < 4; i++)
		leaf();
}

int main(void)
{
	int i, on = 0, off = 0;

	work();
	for (i = 0; i < 3; i++) {
		on += arcprof_itrace_on();
		work();
		off += arcprof_itrace_off();
		work();
	}
	printf("on %d off %d again %d\n", on, off, arcprof_itrace_off());
	return 0;
}
