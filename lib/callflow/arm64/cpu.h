/* SPDX-License-Identifier: MIT */
#ifndef CALLFLOW_ARM64_CPU_H
#define CALLFLOW_ARM64_CPU_H

#include <stdint.h>

static inline uint64_t cpu_tsc(void)
{
	uint64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
}

/* The same when all instructions before have done their work. */
static inline uint64_t cpu_tsc_after_all(void)
{
	__asm__ volatile("isb" : : : "memory");
	return cpu_tsc();
}

#define CPU_COUNTER(n)                                                                              \
	case n:                                                                                     \
		__asm__ volatile("mrs %0, pmevcntr" #n "_el0" : "=r"(v));                           \
		break

/*
 * Read a performance counter by the index that perf_event_mmap_page gives, less one; 31 is the cycle counter.
 */
static inline uint64_t cpu_counter(uint32_t index)
{
	uint64_t v = 0;

	__asm__ volatile("isb" : : : "memory");
	switch (index) {
	CPU_COUNTER(0);
	CPU_COUNTER(1);
	CPU_COUNTER(2);
	CPU_COUNTER(3);
	CPU_COUNTER(4);
	CPU_COUNTER(5);
	CPU_COUNTER(6);
	CPU_COUNTER(7);
	CPU_COUNTER(8);
	CPU_COUNTER(9);
	CPU_COUNTER(10);
	case 31:
		__asm__ volatile("mrs %0, pmccntr_el0" : "=r"(v));
		break;
	}
	return v;
}

#undef CPU_COUNTER

static inline void cpu_pause(void)
{
	__asm__ volatile("yield");
}

static inline long cpu_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr, x0 __asm__("x0") = a, x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c, x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4),
			 "r"(x5) : "memory");
	return x0;
}

#endif
