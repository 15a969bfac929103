/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deaf.h - CPUs on which the kernel takes no samples while they are idle.
 *
 * Seen on a virtual machine after hours of recording, until it was started again: a CPU counted what
 * happened in interrupts while it was idle, but gave no samples of it, whoever asked (arcprof, perf),
 * and lost none by its own count.  Wakeups by timers, interrupts and each switch away from idle are
 * then missing on that CPU.
 */
#ifndef PMU_DEAF_H
#define PMU_DEAF_H

#include "pmu/cpus.h"

/*
 * Adds to deaf those CPUs that this thread may run on where it was woken, time and again, without a
 * sample of sched_wakeup; takes about 2 ms for each of them.  CPUs that are never idle meanwhile are
 * not found.  0, or -errno: it cannot be tried.
 */
int deaf_find(struct cpus *deaf);

#endif
