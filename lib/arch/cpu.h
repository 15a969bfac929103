/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpu.h - what is to know of either CPU on any host: files and traces of both can be read anywhere.
 */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct insn;

/* Registers are named by their DWARF numbers: arch/x86/regs.h, arch/arm64/regs.h. */
struct cpu {
	const char *name;	/* as uname says it */
	uint16_t elf_machine;	/* EM_... */
	uint8_t nr_regs;
	uint8_t ra, sp, pc;	/* pc: one beyond the registers where rules do not know it */
	uint64_t saved;		/* bit a register that callees preserve */
	int8_t ra_in_reg;	/* register that holds the return address at entry, -1: on the stack */
	uint64_t ra_mask;	/* bits of a return address that count */
	bool (*decode)(const uint8_t *p, size_t len, struct insn *in);	/* arch/insn.h */
};

extern const struct cpu cpu_x86, cpu_arm64;
extern const struct cpu *const cpu_host;	/* that arcprof was built for */

/* Return the CPU of an ELF machine, NULL for others. */
const struct cpu *cpu_of_machine(uint16_t elf_machine);
const struct cpu *cpu_named(const char *name);

#endif
