/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rules.h - how to find the caller's registers: what the CFI of one function says, decoded.
 */
#ifndef UNWIND_RULES_H
#define UNWIND_RULES_H

#include "sym/cfi.h"
#include "unwind/unwind.h"

enum rule_kind {
	RULE_UNSET,		/* nothing said: kept when the callee must save it, else unknown */
	RULE_UNDEFINED,
	RULE_SAME,
	RULE_AT_CFA,		/* saved at CFA + val */
	RULE_IS_CFA,		/* is CFA + val */
	RULE_REG,		/* in register reg; of the CFA: reg + val */
	RULE_AT_EXPR,		/* saved where the expression points */
	RULE_IS_EXPR,		/* is what the expression gives */
	RULE_BAD,		/* the CFI does not make sense here */
};

struct rule {
	uint8_t kind;		/* enum rule_kind */
	uint8_t reg;
	int32_t val;		/* of an expression: offset of its length in the section */
};

struct rule_state {
	struct rule cfa;
	struct rule r[UNWIND_NR_REGS];
	bool ra_signed;		/* arm64: the return address carries a signature */
};

/* called once for each range of addresses with the same rules, ascending */
typedef void rules_fn(void *ctx, uint64_t start, uint64_t end, const struct rule_state *s);

/* Runs the instructions of fde; false: damaged (the ranges before were given). */
bool rules_run(const struct cfi *c, const struct cfi_fde *fde, rules_fn *fn, void *ctx);

/* what an expression can read */
struct expr_input {
	const struct unwind_regs *regs;
	const struct unwind_stack *st;
	const uint64_t *initial;	/* on the expression's stack at its start; NULL: nothing is */
};

/*
 * Evaluate the expression whose length is at offset off of the section. Returns false if it is damaged, has
 * an unknown operation, or reads memory that is not there (*missing then says where, else it is 0).
 */
bool expr_eval(const struct cfi *c, uint32_t off, const struct expr_input *in, uint64_t *result,
	       uint64_t *missing);

static inline bool stack_read(const struct unwind_stack *st, uint64_t addr, uint64_t *v)
{
	uint64_t off = addr - st->sp;

	if (st->len < 8 || off > st->len - 8)
		return st->above && addr > st->sp && st->above(st->ctx, addr, v);
	__builtin_memcpy(v, st->data + off, 8);
	return true;
}

#endif
