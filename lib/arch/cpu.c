// SPDX-License-Identifier: GPL-2.0-or-later
/* cpu.c - the table of the CPUs that files and traces can be of (cpu.h). */
#include <string.h>

#include "arch/cpu.h"
#include "base/mem.h"

static const struct cpu *const cpus[] = { &cpu_x86, &cpu_arm64 };

const struct cpu *cpu_of_machine(uint16_t elf_machine)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cpus); i++)
		if (cpus[i]->elf_machine == elf_machine)
			return cpus[i];
	return NULL;
}

const struct cpu *cpu_named(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cpus); i++)
		if (!strcmp(cpus[i]->name, name))
			return cpus[i];
	return NULL;
}
