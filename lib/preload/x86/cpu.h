/* SPDX-License-Identifier: MIT */
#ifndef PRELOAD_X86_CPU_H
#define PRELOAD_X86_CPU_H

/* The caller's registers, to the struct memory_regs that r points to. */
#define CPU_REGS(r)                                        \
	__asm__ volatile("lea 0(%%rip), %%rax\n\t"         \
			 "mov %%rax, 0(%0)\n\t"            \
			 "mov %%rsp, 8(%0)\n\t"            \
			 "mov %%rbp, 16(%0)\n\t"           \
			 "mov %%rbx, 24(%0)\n\t"           \
			 "mov %%r12, 32(%0)\n\t"           \
			 "mov %%r13, 40(%0)\n\t"           \
			 "mov %%r14, 48(%0)\n\t"           \
			 "mov %%r15, 56(%0)"               \
			 : : "r"(r) : "rax", "memory")

#endif
