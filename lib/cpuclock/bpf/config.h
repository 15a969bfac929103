/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config.h - what the loader and the BPF programs tell each other. */
#ifndef CPUCLOCK_BPF_CONFIG_H
#define CPUCLOCK_BPF_CONFIG_H

#include <linux/types.h>

enum {
	CPUCLOCK_NR_PROCESSES = 1 << 13,
	CPUCLOCK_NR_EXITING = 1 << 12,
	CPUCLOCK_NR_TRAPS = 1 << 12,	/* a power of two */
	CPUCLOCK_ENDS_BYTES = 1 << 18,	/* of ends that nobody has read */
};

struct cpuclock_process {	/* that is recorded, by its number */
	__u64 start_ns;		/* of its first thread; 0: whichever has the number */
	__u32 agent;		/* an agent in it walks the stacks of samples */
	__u32 pad;
};

struct cpuclock_config {		/* constants to the programs */
	__u32 all;		/* of the machine: the list has only processes with an agent */
};

struct cpuclock_control {
	__u64 nr_untold;	/* threads that ended while there was no room to report them, */
	__u64 untold_ns;	/* and what they had used */
	__u32 nr_refused;	/* processes that found no room in the list */
	__u32 pad;
};

struct cpuclock_end {		/* a thread has ended */
	__u64 time_ns;		/* CLOCK_MONOTONIC */
	__u64 used_ns;		/* what the kernel had charged it in its life, from its fork on */
	__u32 pid, tid;
};

#endif
