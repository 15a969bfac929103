// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * follow_arm64.c - what A64 instructions do to the stack pointer and to the return address (follow.h).
 *
 * The return address is in the link register until the function stores it, and again once it has loaded it
 * back: at the return it is known where it was when the path began. A call overwrites the register.
 * What a function stores on the way, because the path began in its first instructions, is not on the stack
 * yet: loaded from there, a register is what it was.
 *
 * Source: Arm Architecture Reference Manual, A64 base instruction encodings.
 */
#include <string.h>

#include "arch/arm64/regs.h"
#include "arch/insn.h"
#include "unwind/follow.h"

enum {
	PACIASP = 0xd503233f, PACIBSP = 0xd503237f, BTI = 0xd503241f, BTI_MASK = 0xffffff3f,
};

/* A load or a store, of one register or a pair. */
struct access {
	bool is_load, is_pair, is_vector;
	bool writes_back, after;	/* the base register, by off; only after the access */
	uint8_t bytes;			/* of each register */
	uint8_t base, reg, second;
	int32_t off;
};

static int32_t bits(uint32_t w, int at, int nr)
{
	return w >> at & ((1u << nr) - 1);
}

static int32_t signed_bits(uint32_t w, int at, int nr)
{
	return (int32_t)(w << (32 - at - nr)) >> (32 - nr);
}

/* Decode ldp, stp and the like: the size of general registers is in another bit than that of vectors. */
static void pair(uint32_t w, struct access *a)
{
	int how = bits(w, 23, 2), size = bits(w, 30, 2);

	a->is_pair = true;
	a->is_load = w >> 22 & 1;
	a->bytes = a->is_vector ? 4 << size : size & 2 ? 8 : 4;
	a->second = bits(w, 10, 5);
	a->off = signed_bits(w, 15, 7) * a->bytes;
	a->writes_back = how & 1;
	a->after = how == 1;
}

/* Decode ldr, str and the like. Returns false if the address depends on another register. */
static bool single(uint32_t w, struct access *a)
{
	int size = bits(w, 30, 2), opc = bits(w, 22, 2), how = bits(w, 10, 2);

	a->bytes = 1 << size;
	if (a->is_vector && opc & 2)
		a->bytes = 16;
	a->is_load = a->is_vector ? opc & 1 : opc != 0;
	if (w >> 24 & 1) {
		a->off = bits(w, 10, 12) * a->bytes;
		return true;
	}
	if (w >> 21 & 1)
		return false;
	a->off = signed_bits(w, 12, 9);
	a->writes_back = how & 1;
	a->after = how == 1;
	return true;
}

static bool decode_access(uint32_t w, struct access *a)
{
	*a = (struct access){ .is_vector = w >> 26 & 1, .base = bits(w, 5, 5), .reg = bits(w, 0, 5) };
	if ((w & 0x3a000000) == 0x28000000)
		pair(w, a);
	else if ((w & 0x3a000000) != 0x38000000 || !single(w, a))
		return false;
	return true;
}

static bool is_kept_by_callees(unsigned int reg)
{
	return reg >= ARM64_X19 && reg <= ARM64_LR;
}

static bool arm64_set_has(uint32_t set, unsigned int reg)
{
	return set >> reg & 1;
}

/* Note that the register has an unknown value now. */
static void arm64_forget_reg(struct path *p, unsigned int reg)
{
	if (!is_kept_by_callees(reg))
		return;
	p->saved &= ~(1u << reg);
	p->lost |= 1u << reg;
	if (reg == ARM64_FP)
		p->fp_known = false;
}

/* Load a register: what was stored on the way comes back as it was; else it is from before. */
static void arm64_load_reg(struct path *p, unsigned int reg, int64_t at)
{
	uint32_t bit = 1u << reg;

	if (p->kept & bit && p->kept_at[reg] == at) {
		p->saved = (p->saved & ~bit) | (p->kept_saved & bit);
		p->at[reg] = p->kept_from[reg];
		p->lost &= ~bit;
		p->fp_known |= reg == ARM64_FP && !(p->saved & bit);
		return;
	}
	arm64_forget_reg(p, reg);
	if ((p->base == ARM64_SP && at < 0) || at != (int32_t)at)
		return;
	p->lost &= ~bit;
	p->saved |= bit;
	p->at[reg] = at;
}

static void arm64_store_reg(struct path *p, unsigned int reg, int64_t at)
{
	uint32_t bit = 1u << reg;

	if (p->lost & bit || at != (int32_t)at) {
		p->kept &= p->kept_at[reg] == at ? ~bit : ~0u;
		return;
	}
	p->kept |= bit;
	p->kept_at[reg] = at;
	p->kept_saved = (p->kept_saved & ~bit) | (p->saved & bit);
	p->kept_from[reg] = p->at[reg];
}

static void touch(struct path *p, const struct access *a, unsigned int reg, int64_t at, bool known)
{
	if (!is_kept_by_callees(reg))
		return;
	known &= a->bytes == 8;
	if (a->is_load && known)
		arm64_load_reg(p, reg, at);
	else if (a->is_load)
		arm64_forget_reg(p, reg);
	else if (known)
		arm64_store_reg(p, reg, at);
}

/*
 * Set the stack pointer from the frame pointer; what was found on the way by another register is void then.
 */
static enum follow_outcome from_frame_pointer(struct path *p, int64_t off)
{
	if (!p->fp_known)
		return FOLLOW_DEAD;
	if (p->base == ARM64_SP)
		p->saved = p->kept = 0;
	p->base = ARM64_FP;
	p->sp = off;
	return FOLLOW_ON;
}

static enum follow_outcome run_access(struct path *p, const struct access *a)
{
	bool by_sp = a->base == ARM64_SP;
	bool known = by_sp || (a->base == ARM64_FP && p->fp_known && p->base == ARM64_FP);
	int64_t base = by_sp ? p->sp : 0, at = base + (a->after ? 0 : a->off);

	if (a->writes_back && by_sp)
		p->sp += a->off;
	if (a->is_vector)
		return FOLLOW_ON;
	if (a->is_load && a->base == ARM64_FP && a->reg == ARM64_LR && !known)
		return FOLLOW_DEAD;
	touch(p, a, a->reg, at, known);
	if (a->is_pair)
		touch(p, a, a->second, at + a->bytes, known);
	return FOLLOW_ON;
}

/* add and sub with an immediate, of 64 bits: the only ones where register 31 is the stack pointer. */
static enum follow_outcome add_immediate(struct path *p, uint32_t w)
{
	unsigned int to = bits(w, 0, 5), from = bits(w, 5, 5);
	int64_t v = (int64_t)bits(w, 10, 12) << (w >> 22 & 1 ? 12 : 0);

	v = w >> 30 & 1 ? -v : v;
	if (to != ARM64_SP) {
		arm64_forget_reg(p, to);
		return FOLLOW_ON;
	}
	if (from == ARM64_FP)
		return from_frame_pointer(p, v);
	if (from != ARM64_SP)
		return FOLLOW_DEAD;
	p->sp += v;
	return FOLLOW_ON;
}

/*
 * Run an instruction that computes: few set the stack pointer otherwise, and none of these to a known value.
 */
static enum follow_outcome compute(struct path *p, uint32_t w)
{
	if ((w & 0xbf800000) == 0x91000000)
		return add_immediate(p, w);
	if ((w & 0xbfe0001f) == 0x8b20001f || (w & 0xff80001f) == 0x9200001f)
		return FOLLOW_DEAD;
	arm64_forget_reg(p, bits(w, 0, 5));
	return FOLLOW_ON;
}

static bool begins_function(uint32_t w)
{
	struct access a;

	if (w == PACIASP || w == PACIBSP || (w & BTI_MASK) == BTI)
		return true;
	return decode_access(w, &a) && !a.is_load && a.writes_back && !a.after && a.base == ARM64_SP &&
	       a.off < 0;
}

static enum follow_outcome run_branch(struct path *p, const struct insn *in, struct follow *f)
{
	switch (in->kind) {
	case INSN_RETURN:
		return FOLLOW_RETURNED;
	case INSN_JUMP:
		p->pc += in->rel - 4;
		return FOLLOW_ON;
	case INSN_COND:
		f->branch = p->pc + in->rel - 4;
		return FOLLOW_ON;
	case INSN_CALL:
	case INSN_CALL_INDIRECT:
		f->is_call = true;
		arm64_forget_reg(p, ARM64_LR);
		return FOLLOW_ON;
	case INSN_SYSCALL:
		return FOLLOW_ON;
	default:
		return FOLLOW_DEAD;
	}
}

static struct follow arm64_follow_insn(struct path *p, const uint8_t *code, size_t len, bool after_call)
{
	struct follow f = { .outcome = FOLLOW_DEAD };
	struct access a;
	struct insn in;
	uint32_t w;

	if (!insn_decode_arm64(code, len, &in))
		return f;
	memcpy(&w, code, 4);
	if (after_call) {
		if (begins_function(w))
			return f;
		arm64_forget_reg(p, ARM64_LR);
	}
	p->pc += 4;
	if (in.kind != INSN_PLAIN)
		f.outcome = run_branch(p, &in, &f);
	else if (decode_access(w, &a))
		f.outcome = run_access(p, &a);
	else if ((w >> 26 & 7) == 4 || (w >> 25 & 7) == 5)
		f.outcome = compute(p, w);
	else
		f.outcome = FOLLOW_ON;
	return f;
}

/*
 * Return whether the path is sound: the stack pointer is aligned to 16 bytes wherever it is used; the address
 * that was loaded is below it.
 */
static bool arm64_path_is_sound(const struct path *p, bool at_call)
{
	bool is_loaded = arm64_set_has(p->saved, ARM64_LR);

	if (arm64_set_has(p->lost, ARM64_LR) || p->sp & 15 || p->sp != (int32_t)p->sp ||
	    (is_loaded && (int64_t)p->at[ARM64_LR] + 8 > p->sp))
		return false;
	if (p->base != ARM64_SP)
		return is_loaded;
	return p->sp > 0 || (!p->sp && !at_call);
}

static void to_state(const struct path *p, struct rule_state *s)
{
	unsigned int i;

	memset(s, 0, sizeof(*s));
	s->cfa = (struct rule){ RULE_REG, p->base, (int32_t)p->sp };
	for (i = ARM64_X19; i <= ARM64_LR; i++)
		if (arm64_set_has(p->saved, i))
			s->r[i] = (struct rule){ RULE_AT_CFA, 0, (int32_t)(p->at[i] - p->sp) };
		else if (arm64_set_has(p->lost, i))
			s->r[i] = (struct rule){ RULE_UNDEFINED, 0, 0 };
}

const struct follow_cpu follow_arm64 = { ARM64_SP, arm64_follow_insn, arm64_path_is_sound, to_state };
