// SPDX-License-Identifier: GPL-2.0-or-later
#ifdef __aarch64__
#include "arch/arch.h"

const uint64_t arch_own_counter_config1 = 1 << 1;	/* "rdpmc" of the PMU's format */

uint64_t arch_cycle_counter(void)
{
	uint64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
}
#endif
