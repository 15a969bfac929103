// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rules.c - the interpreter of call frame instructions (DWARF 5, section 6.4.2).
 *
 * Invariants:
 *  [1] the address only grows while a function's instructions run;
 *  [2] registers above UNWIND_NR_REGS (vector registers) have no rules and are skipped.
 */
#include <string.h>

#include "base/mem.h"
#include "sym/leb.h"
#include "unwind/rules.h"

enum { REMEMBER_MAX = 16 };

enum {	/* the top two bits say, else the whole byte */
	CFA_ADVANCE = 0x40, CFA_OFFSET = 0x80, CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00, CFA_SET_LOC, CFA_ADVANCE1, CFA_ADVANCE2, CFA_ADVANCE4, CFA_OFFSET_EXT,
	CFA_RESTORE_EXT, CFA_UNDEFINED, CFA_SAME_VALUE, CFA_REGISTER, CFA_REMEMBER,
	CFA_RESTORE_STATE, CFA_DEF_CFA, CFA_DEF_CFA_REG, CFA_DEF_CFA_OFF, CFA_DEF_CFA_EXPR,
	CFA_EXPR, CFA_OFFSET_EXT_SF, CFA_DEF_CFA_SF, CFA_DEF_CFA_OFF_SF, CFA_VAL_OFFSET,
	CFA_VAL_OFFSET_SF, CFA_VAL_EXPR,
	CFA_NEGATE_RA_STATE = 0x2d, CFA_ARGS_SIZE = 0x2e, CFA_NEGATIVE_OFFSET_EXT = 0x2f,
};

struct machine {
	const struct cfi *c;
	const struct cfi_fde *fde;
	struct span s;
	struct rule_state now, initial;
	struct rule_state stack[REMEMBER_MAX];
	size_t depth;
	uint64_t pc;
	bool in_cie;
	rules_fn *fn;
	void *ctx;
};

static struct rule offset_rule(uint8_t kind, uint8_t reg, int64_t val)
{
	if (val != (int32_t)val)
		kind = RULE_BAD;
	return (struct rule){ kind, reg, val };
}

static void set(struct machine *m, uint64_t reg, struct rule r)
{
	if (reg < UNWIND_NR_REGS)	/* [2] */
		m->now.r[reg] = r;
}

static void set_cfa(struct machine *m, uint64_t reg, int64_t off)
{
	m->now.cfa = reg < UNWIND_NR_REGS ? offset_rule(RULE_REG, reg, off) :
					    (struct rule){ RULE_BAD, 0, 0 };
}

static void advance(struct machine *m, uint64_t to)
{
	if (to < m->pc || m->in_cie) {	/* [1] */
		m->s.bad = true;
		return;
	}
	if (to > m->pc && m->pc < m->fde->end)
		m->fn(m->ctx, m->pc, MIN(to, m->fde->end), &m->now);
	m->pc = to;
}

static void advance_by(struct machine *m, uint64_t units)
{
	advance(m, m->pc + units * m->fde->cie.code_align);
}

static int64_t factored(struct machine *m, bool is_signed)
{
	int64_t v = is_signed ? leb_signed(&m->s) : (int64_t)leb_unsigned(&m->s);

	return (int64_t)((uint64_t)v * (uint64_t)m->fde->cie.data_align);
}

static void rules_restore(struct machine *m, uint64_t reg)
{
	if (reg < UNWIND_NR_REGS)
		m->now.r[reg] = m->initial.r[reg];
}

/* Skips a block; its rule holds where its length is. */
static struct rule block(struct machine *m, uint8_t kind)
{
	uint64_t at = m->s.p - m->c->bytes.data, len = leb_unsigned(&m->s);

	if (m->s.bad || len > span_left(&m->s) || at > INT32_MAX)
		m->s.bad = true;
	else
		m->s.p += len;
	return (struct rule){ kind, 0, at };
}

static void rules_remember(struct machine *m)
{
	if (m->depth == REMEMBER_MAX)
		m->s.bad = true;
	else
		m->stack[m->depth++] = m->now;
}

static void restore_state(struct machine *m)
{
	if (!m->depth)
		m->s.bad = true;
	else
		m->now = m->stack[--m->depth];
}

static void run_cfa(struct machine *m, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case CFA_DEF_CFA:
		reg = leb_unsigned(&m->s);
		set_cfa(m, reg, leb_unsigned(&m->s));
		break;
	case CFA_DEF_CFA_SF:
		reg = leb_unsigned(&m->s);
		set_cfa(m, reg, factored(m, true));
		break;
	case CFA_DEF_CFA_REG:
		reg = leb_unsigned(&m->s);
		set_cfa(m, m->now.cfa.kind == RULE_REG ? reg : UNWIND_NR_REGS, m->now.cfa.val);
		break;
	case CFA_DEF_CFA_OFF:
		set_cfa(m, m->now.cfa.kind == RULE_REG ? m->now.cfa.reg : UNWIND_NR_REGS,
			leb_unsigned(&m->s));
		break;
	case CFA_DEF_CFA_OFF_SF:
		set_cfa(m, m->now.cfa.kind == RULE_REG ? m->now.cfa.reg : UNWIND_NR_REGS,
			factored(m, true));
		break;
	case CFA_DEF_CFA_EXPR:
		m->now.cfa = block(m, RULE_IS_EXPR);
		break;
	}
}

static void run_register(struct machine *m, uint8_t op)
{
	uint64_t reg = leb_unsigned(&m->s), other;

	switch (op) {
	case CFA_OFFSET_EXT:
		set(m, reg, offset_rule(RULE_AT_CFA, 0, factored(m, false)));
		break;
	case CFA_OFFSET_EXT_SF:
		set(m, reg, offset_rule(RULE_AT_CFA, 0, factored(m, true)));
		break;
	case CFA_NEGATIVE_OFFSET_EXT:
		set(m, reg, offset_rule(RULE_AT_CFA, 0, -factored(m, false)));
		break;
	case CFA_VAL_OFFSET:
		set(m, reg, offset_rule(RULE_IS_CFA, 0, factored(m, false)));
		break;
	case CFA_VAL_OFFSET_SF:
		set(m, reg, offset_rule(RULE_IS_CFA, 0, factored(m, true)));
		break;
	case CFA_RESTORE_EXT:
		rules_restore(m, reg);
		break;
	case CFA_UNDEFINED:
		set(m, reg, (struct rule){ RULE_UNDEFINED, 0, 0 });
		break;
	case CFA_SAME_VALUE:
		set(m, reg, (struct rule){ RULE_SAME, 0, 0 });
		break;
	case CFA_REGISTER:
		other = leb_unsigned(&m->s);
		set(m, reg, (struct rule){ other < UNWIND_NR_REGS ? RULE_REG : RULE_BAD, other, 0 });
		break;
	case CFA_EXPR:
		set(m, reg, block(m, RULE_AT_EXPR));
		break;
	case CFA_VAL_EXPR:
		set(m, reg, block(m, RULE_IS_EXPR));
		break;
	default:
		m->s.bad = true;
	}
}

static void rules_run_one(struct machine *m)
{
	uint8_t op = span_u8(&m->s);

	switch (op & 0xc0) {
	case CFA_ADVANCE:
		advance_by(m, op & 0x3f);
		return;
	case CFA_OFFSET:
		set(m, op & 0x3f, offset_rule(RULE_AT_CFA, 0, factored(m, false)));
		return;
	case CFA_RESTORE:
		rules_restore(m, op & 0x3f);
		return;
	}
	switch (op) {
	case CFA_NOP:
		break;
	case CFA_SET_LOC:
		advance(m, cfi_read_address(m->c, &m->s, m->fde));
		break;
	case CFA_ADVANCE1:
		advance_by(m, span_u8(&m->s));
		break;
	case CFA_ADVANCE2:
		advance_by(m, span_u16(&m->s));
		break;
	case CFA_ADVANCE4:
		advance_by(m, span_u32(&m->s));
		break;
	case CFA_REMEMBER:
		rules_remember(m);
		break;
	case CFA_RESTORE_STATE:
		restore_state(m);
		break;
	case CFA_NEGATE_RA_STATE:	/* on SPARC a register window; of our CPUs only arm64 has it */
		m->now.ra_signed = !m->now.ra_signed;
		break;
	case CFA_ARGS_SIZE:
		leb_unsigned(&m->s);
		break;
	case CFA_DEF_CFA:
	case CFA_DEF_CFA_SF:
	case CFA_DEF_CFA_REG:
	case CFA_DEF_CFA_OFF:
	case CFA_DEF_CFA_OFF_SF:
	case CFA_DEF_CFA_EXPR:
		run_cfa(m, op);
		break;
	default:
		run_register(m, op);
	}
}

bool rules_run(const struct cfi *c, const struct cfi_fde *fde, rules_fn *fn, void *ctx)
{
	struct machine m;

	m.c = c;
	m.fde = fde;
	m.depth = 0;
	m.pc = fde->start;
	m.fn = fn;
	m.ctx = ctx;
	memset(&m.now, 0, sizeof(m.now));
	m.now.cfa.kind = RULE_BAD;
	m.initial = m.now;
	m.s = span_init(fde->cie.instr, fde->cie.instr_len);
	m.in_cie = true;
	while (!m.s.bad && m.s.p < m.s.end)
		rules_run_one(&m);
	if (m.s.bad)
		return false;
	m.initial = m.now;
	m.in_cie = false;
	m.s = span_init(fde->instr, fde->instr_len);
	while (!m.s.bad && m.s.p < m.s.end)
		rules_run_one(&m);
	if (m.s.bad)
		return false;
	if (m.pc < fde->end)
		fn(ctx, m.pc, fde->end, &m.now);
	return true;
}
