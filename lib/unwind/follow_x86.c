// SPDX-License-Identifier: GPL-2.0-or-later
/* follow_x86.c - what x86-64 instructions do to the stack pointer (follow.h). */
#include <string.h>

#include "arch/x86/insn.h"
#include "arch/x86/regs.h"
#include "unwind/follow.h"

enum { RSP = 4, RBP = 5, NR_REGS = 16 };	/* as instructions number them */

static void x86_pop_reg(struct path *p, unsigned int reg)
{
	/* what was pushed on the way comes back as it was */
	if (p->base == RBP || p->sp >= 0) {
		p->saved |= 1u << reg;
		p->at[reg] = (int32_t)p->sp;
	}
	if (reg == RBP)
		p->fp_known = false;
	p->sp += 8;
}

/* Run rsp = rbp + disp. */
static enum follow_outcome from_frame_pointer(struct path *p, int32_t disp)
{
	if (!p->fp_known)
		return FOLLOW_DEAD;
	if (p->base == RSP)
		p->saved = 0;	/* counted from another register */
	p->base = RBP;
	p->sp = disp;
	return FOLLOW_ON;
}

/* Run lea ..., %rsp. */
static enum follow_outcome lea_sp(struct path *p, const struct x86_insn *in)
{
	unsigned int base = x86_rm(in);

	if ((in->modrm & 7) == 4) {	/* SIB: no index may be there */
		if (in->sib >> 3 != RSP || in->rex & 2)
			return FOLLOW_DEAD;
		base = (in->sib & 7) | (in->rex & 1) << 3;
	}
	if (base == RBP && in->modrm >> 6)
		return from_frame_pointer(p, in->disp);
	if (base != RSP)
		return FOLLOW_DEAD;
	p->sp += in->disp;
	return FOLLOW_ON;
}

/* add, sub and their kin with an immediate, on rsp */
static enum follow_outcome arithmetic_sp(struct path *p, const struct x86_insn *in)
{
	switch (in->modrm >> 3 & 7) {
	case 0:
		p->sp += in->imm;
		return FOLLOW_ON;
	case 5:
		p->sp -= in->imm;
		return FOLLOW_ON;
	case 7:			/* cmp */
		return FOLLOW_ON;
	default:
		return FOLLOW_DEAD;
	}
}

static enum follow_outcome x86_follow_group_ff(struct path *p, const struct x86_insn *in)
{
	switch (in->modrm >> 3 & 7) {
	case 6:
		p->sp -= 8;
		return FOLLOW_ON;
	case 4:
	case 5:
		return FOLLOW_DEAD;	/* a jump to an unknown address */
	default:
		return FOLLOW_ON;	/* call, inc, dec */
	}
}

/* Run instructions with a ModRM byte that may change rsp or rbp. */
static enum follow_outcome run_modrm(struct path *p, const struct x86_insn *in)
{
	bool is_reg = in->modrm >> 6 == 3;

	switch (in->opcode) {
	case 0x83:
	case 0x81:
		return is_reg && x86_rm(in) == RSP ? arithmetic_sp(p, in) : FOLLOW_ON;
	case 0x8d:
		if (x86_reg(in) == RBP)
			p->fp_known = false;
		return x86_reg(in) == RSP ? lea_sp(p, in) : FOLLOW_ON;
	case 0x8f:
		p->sp += 8;
		return FOLLOW_ON;
	case 0xff:
		return x86_follow_group_ff(p, in);
	case 0x89:		/* mov reg, rm */
		if (is_reg && x86_rm(in) == RSP)
			return x86_reg(in) == RBP ? from_frame_pointer(p, 0) : FOLLOW_DEAD;
		if (is_reg && x86_rm(in) == RBP)
			p->fp_known = false;
		return FOLLOW_ON;
	case 0x8b:		/* mov rm, reg */
		if (x86_reg(in) == RSP)
			return is_reg && x86_rm(in) == RBP ? from_frame_pointer(p, 0) : FOLLOW_DEAD;
		if (x86_reg(in) == RBP)
			p->fp_known = false;
		return FOLLOW_ON;
	case 0x01:
	case 0x29:
	case 0x21:
	case 0x87:
		return is_reg && x86_rm(in) == RSP ? FOLLOW_DEAD : FOLLOW_ON;
	case 0x03:
	case 0x2b:
		return x86_reg(in) == RSP ? FOLLOW_DEAD : FOLLOW_ON;
	default:
		return FOLLOW_ON;
	}
}

static enum follow_outcome run_one_byte(struct path *p, const struct x86_insn *in, uint64_t *branch)
{
	switch (in->opcode) {
	case 0x50 ... 0x57:
		p->sp -= 8;
		return FOLLOW_ON;
	case 0x58 ... 0x5f:
		x86_pop_reg(p, (in->opcode & 7) | (in->rex & 1) << 3);
		return FOLLOW_ON;
	case 0x68:
	case 0x6a:
	case 0x9c:
		p->sp -= 8;
		return FOLLOW_ON;
	case 0x9d:
		p->sp += 8;
		return FOLLOW_ON;
	case 0xc9:		/* leave */
		if (from_frame_pointer(p, 0) == FOLLOW_DEAD)
			return FOLLOW_DEAD;
		x86_pop_reg(p, RBP);
		return FOLLOW_ON;
	case 0xc2:
	case 0xc3:
		return FOLLOW_RETURNED;
	case 0xe9:
	case 0xeb:
		p->pc += in->imm;
		return FOLLOW_ON;
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		*branch = p->pc + in->imm;
		return FOLLOW_ON;
	case 0xcc:
	case 0xf4:
	case 0xcf:
	case 0xcb:
	case 0xca:
	case 0xc8:
		return FOLLOW_DEAD;
	default:
		return in->has_modrm ? run_modrm(p, in) : FOLLOW_ON;
	}
}

/*
 * Return whether it begins a function: behind a call that does not return the next one begins, most often by
 * saving a register; pushing one of those as an argument is rare.
 */
static bool begins_function(const struct x86_insn *in)
{
	unsigned int reg = (in->opcode & 7) | (in->rex & 1) << 3;

	return !in->map && in->opcode >= 0x50 && in->opcode <= 0x57 &&
	       (reg == 3 || reg == RBP || reg >= 12);
}

static struct follow x86_follow_insn(struct path *p, const uint8_t *code, size_t len, bool after_call)
{
	struct follow f = { .outcome = FOLLOW_DEAD };
	struct x86_insn in;

	if (!x86_insn_decode(code, len, &in) || (after_call && begins_function(&in)))
		return f;
	f.is_call = x86_is_call(&in);
	f.outcome = FOLLOW_ON;
	p->pc += in.len;
	if (in.vex || in.map > 1)
		return f;
	if (in.map == 0)
		f.outcome = run_one_byte(p, &in, &f.branch);
	else if (in.opcode == 0x0b)
		f.outcome = FOLLOW_DEAD;	/* ud2 */
	else if (in.opcode >> 4 == 8)
		f.branch = p->pc + in.imm;
	return f;
}

/*
 * Return whether the path is sound: below where it began there is no return address. At a call the stack is
 * aligned to 16 bytes, and so was the caller's. Another function's return, reached behind a call that does
 * not return, is nearly always 8 off.
 */
static bool x86_path_is_sound(const struct path *p, bool at_call)
{
	if (p->base != RSP)
		return true;
	return p->sp >= 0 && (!at_call || !((p->sp + 8) & 15));
}

static void to_state(const struct path *p, struct rule_state *s)
{
	int64_t cfa = p->sp + 8;
	unsigned int i;

	memset(s, 0, sizeof(*s));
	s->cfa = (struct rule){ cfa == (int32_t)cfa ? RULE_REG : RULE_BAD, x86_dwarf_reg[p->base],
				(int32_t)cfa };
	s->r[X86_RIP] = (struct rule){ RULE_AT_CFA, 0, -8 };
	for (i = 0; i < NR_REGS; i++)
		if (p->saved >> i & 1 && i != RSP)
			s->r[x86_dwarf_reg[i]] = (struct rule){ RULE_AT_CFA, 0, (int32_t)(p->at[i] - cfa) };
}

const struct follow_cpu follow_x86 = { RSP, x86_follow_insn, x86_path_is_sound, to_state };
