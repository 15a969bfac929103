/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpu.h - the clock of this CPU, and whether there is code to trace its instructions. */
#ifndef ARCPROF_CPU_H
#define ARCPROF_CPU_H

#include <linux/math64.h>
#include <linux/time64.h>
#include <asm/msr.h>
#include <asm/tsc.h>
#include "arcprof_uapi.h"

#ifdef CONFIG_X86_64
#define ARCPROF_ITRACE
#endif

enum { CPU_CLOCK = ARCPROF_CLOCK_TSC };

static inline u64 cpu_cycles(void)
{
	return rdtsc();
}

static inline bool cpu_has_clock(void)
{
	return tsc_khz;
}

/* Return the nanoseconds of one cycle, times 2^shift. */
static inline u64 cpu_clock_mult(unsigned int shift)
{
	return div64_u64((u64)NSEC_PER_MSEC << shift, tsc_khz);
}

#endif
