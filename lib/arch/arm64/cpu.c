// SPDX-License-Identifier: GPL-2.0-or-later
/* cpu.c - describes arm64 to any host (cpu.h). */
#include <elf.h>

#include "arch/arm64/regs.h"
#include "arch/cpu.h"
#include "arch/insn.h"

const struct cpu cpu_arm64 = {
	.name = "aarch64",
	.elf_machine = EM_AARCH64,
	.nr_regs = ARM64_NR_REGS,
	.ra = ARM64_LR,
	.sp = ARM64_SP,
	.pc = ARM64_PC,
	.saved = (2ull << ARM64_LR) - (1ull << ARM64_X19),	/* x19 to x30 */
	.ra_in_reg = ARM64_LR,
	.ra_mask = (1ull << 48) - 1,	/* above: signature and tag */
	.decode = insn_decode_arm64,
};

#ifdef __aarch64__
const struct cpu *const cpu_host = &cpu_arm64;
#endif
