// SPDX-License-Identifier: GPL-2.0-or-later
/* arch.c - the registers that perf samples on arm64, and its cycle counter (arch.h). */
#ifdef __aarch64__
#include "arch/arch.h"

/* perf and DWARF (AADWARF64) agree on x0-x30 and sp; the pc is perf's 32nd. */
const uint64_t arch_perf_regs_mask = (1ull << 33) - 1;

const uint8_t arch_perf_regs_dwarf[] = {
	0,  1,	2,  3,	4,  5,	6,  7,	8,  9,	10, 11, 12, 13, 14, 15, 16,
	17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
};

const uint64_t arch_own_counter_config1 = 1 << 1;	/* "rdpmc" of the PMU's format */

uint64_t arch_cycle_counter(void)
{
	uint64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
}
#endif
