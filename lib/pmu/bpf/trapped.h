/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trapped.h - the record by which a clock's BPF program reports a sample to the recorder itself (trap.h). */
#ifndef PMU_BPF_TRAPPED_H
#define PMU_BPF_TRAPPED_H

#include <linux/types.h>

enum { TRAPPED_NR_CPUS = 8192 };	/* as many as any distribution's kernel has */

/* The sample's PERF_SAMPLE_RAW: what an event that a program writes into does not know of the clock. */
struct trapped_sample {
	__u64 period, data_addr;
};

#endif
