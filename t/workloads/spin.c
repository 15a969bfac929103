// SPDX-License-Identifier: GPL-2.0-or-later
/* spin <ms> - computes for that much CPU time in burn(), never waits, and prints what main() used, in ms */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

__attribute__((noinline)) static unsigned long burn(unsigned long s)
{
	int i;

	for (i = 0; i < 20000; i++)
		s = s * 6364136223846793005UL + 1442695040888963407UL;
	return s;
}

int main(int argc, char **argv)
{
	double start_ms = cpu_ms(), until = start_ms + (argc > 1 ? atof(argv[1]) : 100);
	volatile unsigned long sink = 1;

	while (cpu_ms() < until)
		sink = burn(sink);
	printf("%.1f\n", cpu_ms() - start_ms);
	return 0;
}
