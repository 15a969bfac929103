/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clocks.h - which clocks take the samples of a recording: one on each CPU, whose samples a BPF program
 * filters, or one on each thread.
 *
 * Clocks of threads begin a new period in each thread: a thread that is shorter is never seen, and each
 * switch between threads costs. Clocks of CPUs go on, but need rights, and interrupt every CPU.
 */
#ifndef COLLECT_ENGINE_CLOCKS_H
#define COLLECT_ENGINE_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

struct collect;
struct cpuclock;

/* The choice of clocks (--clock). */
enum clock_choice { CLOCK_AUTO, CLOCK_CPU, CLOCK_THREAD };

/*
 * Leave a process out of the clocks of CPUs from now on: its threads have events of their own. Returns false
 * if that is impossible.
 */
bool clocks_leave_out(struct collect *c, int pid);
/* Return the BPF programs that know the processes of this recording, or NULL without BPF. */
struct cpuclock *clocks_bpf(const struct collect *c);
/* Return why there are no clocks of CPUs, or "" if there are or were not wanted. */
const char *clocks_why_not(const struct collect *c);

#endif
