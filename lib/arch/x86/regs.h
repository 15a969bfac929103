/* SPDX-License-Identifier: GPL-2.0-or-later */
/* regs.h - DWARF numbers of registers (System V ABI, AMD64 supplement, figure 3.36). */
#ifndef ARCH_X86_REGS_H
#define ARCH_X86_REGS_H

#include <stdint.h>

enum x86_reg {
	X86_RAX,
	X86_RDX,
	X86_RCX,
	X86_RBX,
	X86_RSI,
	X86_RDI,
	X86_RBP,
	X86_RSP,
	X86_R8,
	X86_R9,
	X86_R10,
	X86_R11,
	X86_R12,
	X86_R13,
	X86_R14,
	X86_R15,
	X86_RIP,
	X86_NR_REGS
};

/* The DWARF numbers of the first 16, as instructions number these. */
extern const uint8_t x86_dwarf_reg[16];

#endif
