/* SPDX-License-Identifier: MIT */
#ifndef AGENT_ARM64_CPU_H
#define AGENT_ARM64_CPU_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

/* Relocations by which a function of another object is imported. */
enum { IMPORT_GOT = R_AARCH64_GLOB_DAT, IMPORT_PLT = R_AARCH64_JUMP_SLOT };

#define CPU_VDSO_CLOCK_GETTIME "__kernel_clock_gettime"

/* glibc and musl keep the vector of thread-local blocks (dtv) here, from the thread pointer. */
#define CPU_DTV { 0, -8 }

/* The empty statements keep the compiler from making calls of memcpy() and memset() of these loops. */
static inline void cpu_copy(void *d, const void *s, size_t n)
{
	typedef uint64_t __attribute__((aligned(1), may_alias)) word;
	char *to = d;
	const char *from = s;

	for (; n >= 8; n -= 8, to += 8, from += 8) {
		*(word *)to = *(const word *)from;
		__asm__ volatile("" : : : "memory");
	}
	for (; n; n--) {
		*to++ = *from++;
		__asm__ volatile("" : : : "memory");
	}
}

static inline void cpu_fill(void *d, int c, size_t n)
{
	typedef uint64_t __attribute__((aligned(1), may_alias)) word;
	const uint64_t bytes = (uint8_t)c * 0x0101010101010101ull;
	char *to = d;

	for (; n >= 8; n -= 8, to += 8) {
		*(word *)to = bytes;
		__asm__ volatile("" : : : "memory");
	}
	for (; n; n--) {
		*to++ = c;
		__asm__ volatile("" : : : "memory");
	}
}

/* Nothing that code interrupted had set makes them fail. */
static inline void cpu_allow_unaligned(void)
{
}

/*
 * Signals that are blocked while samples are taken, as sigset_t has them: SIGILL, SIGTRAP, SIGBUS, SIGFPE,
 * SIGSEGV. A counter's interrupt may come while the kernel looks at a fault of the program's, whose signal is
 * then the second of two. Its handler is to find the code that faulted, HotSpot's a poll of a safepoint say,
 * and not our own entry.
 */
#define CPU_BLOCKED_SIGNALS (1ull << 3 | 1ull << 4 | 1ull << 6 | 1ull << 7 | 1ull << 10)

/* The address that a handler of ours returns to. */
void cpu_restorer(void);

#endif
