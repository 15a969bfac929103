// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf_regs.c - perf numbers registers its own way (arch/x86/include/uapi/asm/perf_regs.h),
 * unwind rules the DWARF way (System V ABI, AMD64 supplement, figure 3.36).
 */
#ifdef __x86_64__
#include <asm/perf_regs.h>
#include <elf.h>

#include "arch/arch.h"

const uint16_t arch_elf_machine = EM_X86_64;

#define BIT(r) (1ull << PERF_REG_X86_##r)

const uint64_t arch_perf_regs_mask =
	BIT(AX) | BIT(BX) | BIT(CX) | BIT(DX) | BIT(SI) | BIT(DI) | BIT(BP) | BIT(SP) | BIT(IP) | BIT(R8) |
	BIT(R9) | BIT(R10) | BIT(R11) | BIT(R12) | BIT(R13) | BIT(R14) | BIT(R15);

const uint8_t arch_perf_regs_dwarf[] = {
	0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15,
};

const uint8_t arch_dwarf_pc = 16, arch_dwarf_sp = 7;
#endif
