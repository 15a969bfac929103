/* SPDX-License-Identifier: MIT */
#ifndef CALLFLOW_X86_CPU_H
#define CALLFLOW_X86_CPU_H

#include <stdint.h>

static inline uint64_t cpu_tsc(void)
{
	uint32_t lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (uint64_t)hi << 32 | lo;
}

/* The same when all instructions before have done their work. */
static inline uint64_t cpu_tsc_after_all(void)
{
	__asm__ volatile("lfence" : : : "memory");
	return cpu_tsc();
}

/* Read a performance counter by the index that perf_event_mmap_page gives, less one. */
static inline uint64_t cpu_counter(uint32_t index)
{
	uint32_t lo, hi;

	__asm__ volatile("rdpmc" : "=a"(lo), "=d"(hi) : "c"(index));
	return (uint64_t)hi << 32 | lo;
}

static inline void cpu_pause(void)
{
	__builtin_ia32_pause();
}

static inline long cpu_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

#endif
