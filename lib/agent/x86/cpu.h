/* SPDX-License-Identifier: MIT */
#ifndef AGENT_X86_CPU_H
#define AGENT_X86_CPU_H

#include <elf.h>
#include <stddef.h>

/* Relocations by which a function of another object is imported. */
enum { IMPORT_GOT = R_X86_64_GLOB_DAT, IMPORT_PLT = R_X86_64_JUMP_SLOT };

#define CPU_VDSO_CLOCK_GETTIME "__vdso_clock_gettime"

/* Every C library has the vector of thread-local blocks (dtv) here, from the thread pointer. */
#define CPU_DTV { 8 }

/* "rep" is fast enough and cannot be turned into a call. */
static inline void cpu_copy(void *d, const void *s, size_t n)
{
	__asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n) : : "memory");
}

static inline void cpu_fill(void *d, int c, size_t n)
{
	__asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(c) : "memory");
}

/*
 * The kernel clears some flags before a handler runs, but not AC (EFLAGS, bit 18; Intel SDM volume 1,
 * 3.4.3.3): with it each access that is not aligned is a SIGBUS. HotSpot sets it at its start, to find
 * out whether the CPU has it. The red zone of the current function is left alone.
 */
static inline void cpu_allow_unaligned(void)
{
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
			 "pushfq\n\t"
			 "andl $~0x40000, (%%rsp)\n\t"
			 "popfq\n\t"
			 "lea 128(%%rsp), %%rsp"
			 : : : "memory", "cc");
}

/* Signals that are blocked while samples are taken, as sigset_t has them. */
#define CPU_BLOCKED_SIGNALS 0

/* Handlers of ours return to this. */
void cpu_restorer(void);

#endif
