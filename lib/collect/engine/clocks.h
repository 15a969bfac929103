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

#include "base/err.h"

struct collect;
struct cpuclock;

/* What is asked for (--clock). */
enum clock_choice { CLOCK_AUTO, CLOCK_CPU, CLOCK_THREAD };

/*
 * Chooses, before the rings are opened. Fails only when clocks of CPUs were asked for and cannot be had; *e
 * says why.
 */
int clocks_open(struct collect *c, struct err *e);
/* BPF programs for evconf.filter_fd and trap_filter_fd, of clocks or of the source "wall"; 0: none. */
int clocks_filter(const struct collect *c);
int clocks_trap_filter(const struct collect *c);
/* From now on the agent of that process walks the stacks of its samples; false: it cannot. */
bool clocks_trap(struct collect *c, int pid);
/* Clocks of CPUs leave that process out from now on: its threads have events of their own. False: or not. */
bool clocks_leave_out(struct collect *c, int pid);
/* What knows the processes of this recording; NULL: there is no BPF. */
struct cpuclock *clocks_bpf(const struct collect *c);
/* Why there are no clocks of CPUs; "": there are, or nobody wanted them. */
const char *clocks_why_not(const struct collect *c);
/* Says in the trace which were chosen, and why. */
void clocks_labels(const struct collect *c);

#endif
