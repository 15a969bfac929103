// SPDX-License-Identifier: GPL-2.0-or-later
/* cpu.c - describes x86-64 to any host (cpu.h). */
#include <elf.h>

#include "arch/cpu.h"
#include "arch/insn.h"
#include "arch/x86/regs.h"

#define BIT(r) (1ull << X86_##r)

const struct cpu cpu_x86 = {
	.name = "x86_64",
	.elf_machine = EM_X86_64,
	.nr_regs = X86_NR_REGS,
	.ra = X86_RIP,
	.sp = X86_RSP,
	.pc = X86_RIP,
	.saved = BIT(RBX) | BIT(RBP) | BIT(R12) | BIT(R13) | BIT(R14) | BIT(R15),
	.ra_in_reg = -1,
	.ra_mask = UINT64_MAX,
	.decode = insn_decode_x86,
};

const uint8_t x86_dwarf_reg[16] = {
	X86_RAX, X86_RCX, X86_RDX, X86_RBX, X86_RSP, X86_RBP, X86_RSI, X86_RDI,
	X86_R8,	 X86_R9,  X86_R10, X86_R11, X86_R12, X86_R13, X86_R14, X86_R15,
};

#ifdef __x86_64__
const struct cpu *const cpu_host = &cpu_x86;
#endif
