/* SPDX-License-Identifier: GPL-2.0-or-later */
/* regs.h - DWARF numbers of registers (AADWARF64): those of x0 to x30 are their own. */
#ifndef ARCH_ARM64_REGS_H
#define ARCH_ARM64_REGS_H

enum arm64_reg {
	ARM64_X19 = 19,
	ARM64_FP = 29,
	ARM64_LR = 30,
	ARM64_SP = 31,
	ARM64_PC = 32,		/* rules do not know it */
	ARM64_NR_REGS
};

#endif
