/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * idle.h - what each CPU did: idle, busy, or in interrupts, from /proc/stat.
 *
 * Its columns (proc(5)) are taken together like this:
 *	idle	idle, iowait: nothing was there to run
 *	intr	irq, softirq
 *	busy	user, nice, system (guest and guest_nice are in them already), and steal: somebody
 *		wanted the CPU then, and the hypervisor ran another guest
 * The kernel keeps them in ticks of USER_HZ, 10 ms on all of today's machines.
 */
#ifndef PMU_IDLE_H
#define PMU_IDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct idle_cpu {
	uint32_t cpu;
	uint64_t idle, busy, intr;	/* ticks */
	uint64_t steal;			/* the part of busy that the hypervisor took */
};

struct idle_stat {
	/* CLOCK_MONOTONIC when it was read; of a difference: the time between */
	uint64_t time_ns;
	struct idle_cpu *cpus;		/* ascending; those that were online */
	size_t nr_cpus, alloc_cpus;
};

struct idle_share {			/* percent */
	double idle, busy, intr;
	bool known;			/* false: not one tick passed; the rest is 0 */
};

/* Return the length of a tick. */
uint64_t idle_tick_ns(void);

/* Read; both replace what *s has; it must be released with idle_release(). */
int idle_read(struct idle_stat *s, struct err *e);
/* Parse the text of /proc/stat; time_ns stays as it is. */
int idle_parse(const char *text, struct idle_stat *s, struct err *e);
void idle_release(struct idle_stat *s);

/*
 * Compute what passed between two readings, for the CPUs in both. The kernel lets idle and iowait step
 * back by a tick now and then; that counts as nothing.
 */
void idle_diff(const struct idle_stat *before, const struct idle_stat *after, struct idle_stat *diff);
/* Return the CPU of that number, or NULL. */
const struct idle_cpu *idle_find(const struct idle_stat *s, uint32_t cpu);

/* Return the shares of a difference in the CPU's own ticks, so that they add up to 100. */
struct idle_share idle_share(const struct idle_cpu *diff);
/* Return the mean over the CPUs. */
struct idle_share idle_mean(const struct idle_stat *diff);

#endif
