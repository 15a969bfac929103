/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpu.h - the clock of this CPU; there is no code to trace its instructions. */
#ifndef ARCPROF_CPU_H
#define ARCPROF_CPU_H

#include <linux/math64.h>
#include <linux/time64.h>
#include <asm/arch_timer.h>
#include <asm/sysreg.h>
#include "arcprof_uapi.h"

enum { CPU_CLOCK = ARCPROF_CLOCK_CNTVCT };

static inline u64 cpu_cycles(void)
{
	return read_sysreg(cntvct_el0);
}

static inline bool cpu_has_clock(void)
{
	return true;
}

/* Return the nanoseconds of one cycle, times 2^shift. */
static inline u64 cpu_clock_mult(unsigned int shift)
{
	/* 10^9 << 34 is what fits; frequencies are at least 10^6 */
	return div64_u64((u64)NSEC_PER_SEC << 34, arch_timer_get_cntfrq()) << (shift - 34);
}

#endif
