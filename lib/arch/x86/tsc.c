// SPDX-License-Identifier: GPL-2.0-or-later
#ifdef __x86_64__
#include <x86intrin.h>

#include "arch/arch.h"

const uint64_t arch_own_counter_config1 = 0;

uint64_t arch_cycle_counter(void)
{
	return __rdtsc();
}
#endif
