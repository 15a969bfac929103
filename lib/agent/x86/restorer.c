// SPDX-License-Identifier: MIT
/* restorer.c - where a signal's handler returns to: the kernel, which goes on with what was interrupted. */
#include <asm/unistd.h>

#include "agent/cpu.h"

__attribute__((naked)) void cpu_restorer(void)
{
	__asm__ volatile("mov %0, %%eax; syscall" : : "i"(__NR_rt_sigreturn));
}
