// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * diff-rates.c - how often "arcprof diff" calls noise a change, and finds a change of 2 %, of many simulated
 * recordings: what Documentation/technical/difference.adoc says of each kind.
 *
 *	diff-rates [<comparisons>]	400 of each kind
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "unit/simulate.h"

static const struct {
	const char *name;
	unsigned int nr_runs;
	struct simulate_sampling s;
} cases[] = {
	{ "1 run", 1, { SIMULATE_SAMPLES, 1, 0, false } },
	{ "1 run, bursts of 4", 1, { SIMULATE_SAMPLES, 4, 0, false } },
	{ "1 run, runs differ by 10 %", 1, { SIMULATE_SAMPLES, 1, .1, false } },
	{ "3 runs", 3, { SIMULATE_SAMPLES, 1, 0, false } },
	{ "3 runs, bursts of 4", 3, { SIMULATE_SAMPLES, 4, 0, false } },
	{ "3 runs, runs differ by 10 %", 3, { SIMULATE_SAMPLES, 1, .1, false } },
	{ "5 runs, runs differ by 10 %", 5, { SIMULATE_SAMPLES, 1, .1, false } },
	{ "2 runs, runs differ by 10 %", 2, { SIMULATE_SAMPLES, 1, .1, false } },
	{ "2 runs, a third is Java", 2, { SIMULATE_SAMPLES, 1, 0, true } },
	{ "3 runs, a third is Java", 3, { SIMULATE_SAMPLES, 1, 0, true } },
};

int main(int argc, char **argv)
{
	unsigned int nr = argc > 1 ? strtoul(argv[1], NULL, 10) : 400, i, covered, alarms, found;

	if (!nr)
		return 2;
	simulate_seed(0x5eed0003);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		alarms = simulate_false_alarms(nr, cases[i].nr_runs, &cases[i].s, DIFF_BY_FUNCTION);
		found = simulate_times_found(nr, cases[i].nr_runs, &cases[i].s, .02, &covered);
		printf("%-28s %5.1f %% false alarms, %5.1f %% found, %5.1f %% of intervals hold\n",
		       cases[i].name, 100. * alarms / nr, 100. * found / nr, 100. * covered / nr);
	}
	return 0;
}
