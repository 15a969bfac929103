/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gorules.h - how to find the caller of a Go function: by how much it has on the stack.
 *
 * Goroutines have small stacks. For what needs a larger one, Go's runtime goes to a stack of the thread's,
 * where a chain of callers then begins: at runtime.systemstack and few others (ROW_SWITCHES).
 */
#ifndef UNWIND_GORULES_H
#define UNWIND_GORULES_H

#include "arch/cpu.h"
#include "sym/gopclntab.h"
#include "unwind/rules.h"

/* Return the enum row_flags of a function. */
uint8_t gorules_flags(const char *name);
/* Return false if damaged (the ranges before were given). */
bool gorules_run(const struct gopcln *t, const struct gopcln_func *f, const struct cpu *cpu, rules_fn *fn,
		 void *ctx);
/* Return where the rules of function i, which were given up to end, have to end. */
uint64_t gorules_end(const struct gopcln *t, size_t i, uint64_t end);
/* Return the register that has the stack pointer in a function that keeps it (ROW_KEEPS_SP). */
uint8_t gorules_sp_reg(const struct cpu *cpu);

#endif
