/* SPDX-License-Identifier: MIT */
#ifndef PRELOAD_ARM64_CPU_H
#define PRELOAD_ARM64_CPU_H

/* The caller's registers, to the struct memory_regs that r points to: frames are found by these. */
#define CPU_REGS(r)                                        \
	__asm__ volatile("adr x16, .\n\t"                  \
			 "mov x17, sp\n\t"                 \
			 "stp x16, x17, [%0]\n\t"          \
			 "stp x29, x30, [%0, #16]\n\t"     \
			 "stp xzr, xzr, [%0, #32]\n\t"     \
			 "stp xzr, xzr, [%0, #48]"         \
			 : : "r"(r) : "x16", "x17", "memory")

#endif
