// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cpu.c - DWARF register numbers: the psABI of each CPU.
 */
#include <elf.h>

#include "arch/arch.h"
#include "base/mem.h"
#include "unwind/module.h"

#define BIT(n) (1ull << (n))

static const struct unwind_cpu x86_64 = {
	.nr_regs = 17,
	.ra = 16,
	.sp = 7,
	.pc = 16,
	.saved = BIT(3) | BIT(6) | BIT(12) | BIT(13) | BIT(14) | BIT(15),
	.ra_in_reg = -1,
	.ra_mask = UINT64_MAX,
};

static const struct unwind_cpu arm64 = {
	.nr_regs = 33,
	.ra = 30,
	.sp = 31,
	.pc = 32,
	.saved = BIT(19) | BIT(20) | BIT(21) | BIT(22) | BIT(23) | BIT(24) | BIT(25) | BIT(26) |
		 BIT(27) | BIT(28) | BIT(29) | BIT(30),
	.ra_in_reg = 30,
	.ra_mask = BIT(48) - 1,	/* above: signature and tag */
};

const struct unwind_cpu *unwind_cpu(uint16_t machine)
{
	switch (machine) {
	case EM_X86_64:
		return &x86_64;
	case EM_AARCH64:
		return &arm64;
	default:
		return NULL;
	}
}

const struct unwind_cpu *module_cpu(const struct unwind_module *m)
{
	return m && m->cpu ? m->cpu : unwind_cpu(arch_elf_machine);
}
