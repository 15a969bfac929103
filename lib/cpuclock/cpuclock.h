/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpuclock.h - BPF programs that know the processes of a recording: which samples of a CPU's clock are of
 * them, and what each of their threads had used of CPUs when it ended.
 *
 * A clock of a CPU goes on when threads change, so that threads shorter than its period get their share of
 * samples. The programs go with the process that loaded them.
 */
#ifndef CPUCLOCK_CPUCLOCK_H
#define CPUCLOCK_CPUCLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "cpuclock/bpf/config.h"

struct cpuclock;

/*
 * Follow these processes, and from then on all that they start; pids NULL: all of the machine, without the
 * CPU time of ended threads. -ENOTSUP: this kernel cannot, or we are in a PID namespace, where numbers are
 * not those of the kernel; -EPERM: this user may not. *e says what would help.
 */
int cpuclock_open(struct cpuclock **c, const int *pids, size_t nr_pids, struct err *e);
void cpuclock_close(struct cpuclock *c);	/* NULL: nothing */

/* Return a BPF program for perf events of CPUs, which lets through samples of recorded processes. */
int cpuclock_filter(const struct cpuclock *c);
/*
 * Return the file for samples of processes for which cpuclock_trap() was called. The BPF program writes them
 * there instead of letting them through. It then sends a SIGTRAP to the thread when it returns to user code:
 * si_code is SI_KERNEL, and si_value the time, CLOCK_MONOTONIC. The file is a BPF_MAP_TYPE_PERF_EVENT_ARRAY
 * with entries of struct trapped_sample; a CPU without an event there has no such samples. 0: this kernel
 * cannot (before 6.18).
 */
int cpuclock_trapped(const struct cpuclock *c);
/*
 * Note a recorded process that handles the signal, until it executes another program. Without events to write
 * into nothing takes its samples any more. Returns -errno.
 */
int cpuclock_trap(struct cpuclock *c, int pid);

/* Gives each thread that has ended since the last call, in the order of their ends on each CPU. */
void cpuclock_ends(struct cpuclock *c, void (*each)(void *ctx, const struct cpuclock_end *end), void *ctx);
/* Return the number of ended threads for whose report there was no room; *ns: what they had used. */
uint64_t cpuclock_untold(const struct cpuclock *c, uint64_t *ns);
/* Return the number of processes whose samples were not let through, as there were too many. */
uint32_t cpuclock_refused(const struct cpuclock *c);

#endif
