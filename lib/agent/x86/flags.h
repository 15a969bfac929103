/* SPDX-License-Identifier: MIT */
/* flags.h - what a signal handler inherits of the interrupted code's flags. */
#ifndef AGENT_X86_FLAGS_H
#define AGENT_X86_FLAGS_H

/*
 * The kernel clears some flags before a handler runs, but not AC (EFLAGS, bit 18; Intel SDM volume 1,
 * 3.4.3.3): with it each access that is not aligned is a SIGBUS. HotSpot sets it at its start, to find
 * out whether the CPU has it. The red zone of the function in hand is left alone.
 */
static inline void flags_allow_unaligned(void)
{
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
			 "pushfq\n\t"
			 "andl $~0x40000, (%%rsp)\n\t"
			 "popfq\n\t"
			 "lea 128(%%rsp), %%rsp"
			 : : : "memory", "cc");
}

#endif
