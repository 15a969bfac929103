/* SPDX-License-Identifier: MIT */
/* cycles.h - the CPU's own clock in line, for what is linked into other programs too. */
#ifndef ARCH_CYCLES_H
#define ARCH_CYCLES_H

#include <stdint.h>

#if defined(__x86_64__)
static inline uint64_t arch_cycles(void)
{
	return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
static inline uint64_t arch_cycles(void)
{
	uint64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v) : : "memory");
	return v;
}
#else
#error "no clock of this CPU is known"
#endif

#endif
