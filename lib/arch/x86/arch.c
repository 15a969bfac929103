// SPDX-License-Identifier: GPL-2.0-or-later
/* arch.c - the registers that perf samples on x86-64, and its time stamp counter (arch.h). */
#ifdef __x86_64__
#include <asm/perf_regs.h>
#include <x86intrin.h>

#include "arch/arch.h"
#include "arch/x86/regs.h"

/*
 * perf numbers registers its own way (arch/x86/include/uapi/asm/perf_regs.h), unwind rules the DWARF way.
 */
#define BIT(r) (1ull << PERF_REG_X86_##r)

const uint64_t arch_perf_regs_mask =
	BIT(AX) | BIT(BX) | BIT(CX) | BIT(DX) | BIT(SI) | BIT(DI) | BIT(BP) | BIT(SP) | BIT(IP) | BIT(R8) |
	BIT(R9) | BIT(R10) | BIT(R11) | BIT(R12) | BIT(R13) | BIT(R14) | BIT(R15);

const uint8_t arch_perf_regs_dwarf[] = {
	X86_RAX, X86_RBX, X86_RCX, X86_RDX, X86_RSI, X86_RDI, X86_RBP, X86_RSP, X86_RIP, X86_R8,
	X86_R9,	 X86_R10, X86_R11, X86_R12, X86_R13, X86_R14, X86_R15,
};

const uint64_t arch_own_counter_config1 = 0;

uint64_t arch_cycle_counter(void)
{
	return __rdtsc();
}
#endif
