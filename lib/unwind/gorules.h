/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gorules.h - finds the caller of a Go function by the size of its frame.
 *
 * Goroutines have small stacks. For code that needs a larger one, Go's runtime switches to a stack of the
 * thread, where a new chain of callers begins: at runtime.systemstack and few others (ROW_SWITCHES).
 */
#ifndef UNWIND_GORULES_H
#define UNWIND_GORULES_H

#include "arch/cpu.h"
#include "sym/gopclntab.h"
#include "unwind/rules.h"

/* Return the enum row_flags of a function. */
uint8_t gorules_flags(const char *name);
/*
 * Give the rules of function f, range by range, to fn. Return false at damage; the ranges before it were
 * given.
 */
bool gorules_run(const struct gopcln *t, const struct gopcln_func *f, const struct cpu *cpu, rules_fn *fn,
		 void *ctx);
/* Return where the rules of function i, which were given up to end, have to end. */
uint64_t gorules_end(const struct gopcln *t, size_t i, uint64_t end);
/* Return the register that has the stack pointer in a function that keeps it (ROW_KEEPS_SP). */
uint8_t gorules_sp_reg(const struct cpu *cpu);

#endif
