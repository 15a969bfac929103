/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpi.h - cycles and instructions, counted side by side on each CPU or in a program, and what
 * follows from them.
 *
 * The counter of cycles stands still while a CPU is halted, so cycles per instruction are
 * those of the time it was busy (and of an idle loop that polls instead of halting).
 */
#ifndef PMU_CPI_H
#define PMU_CPI_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "pmu/cpus.h"

struct cpi_count {		/* as the kernel gives it, or a difference of two */
	uint64_t value;
	uint64_t enabled_ns;	/* time in which it should have counted */
	uint64_t running_ns;	/* and did: less than that when events shared a counter */
};

struct cpi_counts {
	struct cpi_count cycles, instructions;
};

struct cpi_counts cpi_diff(const struct cpi_counts *before, const struct cpi_counts *after);

/* Counts of one CPU, or of several together, for the whole of the time. */
struct cpi_sum {
	uint64_t cycles, instructions;
	/* false: a counter that belongs to them never ran, and that sum is meaningless */
	bool cycles_known, instructions_known;
	double share_counted;	/* of the time, 0 to 1; below 1 the counts are estimates from that share */
};

#define CPI_SUM_INIT \
	((struct cpi_sum){ .cycles_known = true, .instructions_known = true, .share_counted = 1 })

void cpi_add(struct cpi_sum *sum, const struct cpi_counts *c);
/* Return the cycles per instruction; NaN when they are not known, or there was no instruction. */
double cpi_ratio(const struct cpi_sum *sum);

/* The counters of one CPU or one program. */
struct cpi_pair {
	int cycles_fd, instructions_fd;		/* -1: that one cannot be counted */
};

struct cpi_set {
	struct cpi_pair *pairs;
	size_t nr_pairs;	/* 0: nothing can be counted */
	bool user_only;		/* this user may not count the kernel's */
	/* code 0: they are counted; else why they are not, on any CPU */
	struct err no_cycles, no_instructions;
};

/* The two events: "cycles" and "instructions"; a test names others. */
struct cpi_events {
	const char *cycles, *instructions;
};
#define CPI_EVENTS ((struct cpi_events){ "cycles", "instructions" })

/*
 * Counts on these CPUs, or in the program held before its first instruction and all that it starts,
 * from its exec() on: both events, or the one of them that there is.  On failure *e says why, with a
 * hint, and the set is empty.
 */
int cpi_open_cpus(struct cpi_set *s, const struct cpi_events *ev, const struct cpus *cpus, struct err *e);
int cpi_open_program(struct cpi_set *s, const struct cpi_events *ev, pid_t pid, struct err *e);
/* Counts of pair i since it was opened; all zero of an event that is not counted. */
int cpi_read(const struct cpi_set *s, size_t i, struct cpi_counts *c, struct err *e);
void cpi_close(struct cpi_set *s);

#endif
