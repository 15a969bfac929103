// SPDX-License-Identifier: GPL-2.0-or-later
#ifdef __x86_64__
#include <x86intrin.h>

#include "arch/arch.h"

uint64_t arch_cycle_counter(void)
{
	return __rdtsc();
}
#endif
