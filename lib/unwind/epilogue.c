// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * epilogue.c - how far the return address is, by running to it.
 *
 * musl and busybox, the base of many containers, have neither rules nor frame pointers.  But a
 * function must bring the stack pointer back to its return address before it returns, and pop
 * the registers it saved on the way.  So the code is followed from where it stands, through
 * jumps, past calls, only counting what it does to the stack pointer, until a return; what was
 * counted is a rule like any other: CFA = rsp + n (or rbp + n, after leave), registers at the
 * places they are popped from.
 *
 * A path that ends in nothing (a call that does not return and then another function, a jump
 * through a table) is given up for the next branch that was passed by.
 */
#include <string.h>

#include "arch/x86/insn.h"
#include "arch/x86/regs.h"
#include "base/mem.h"
#include "unwind/epilogue.h"

enum {
	RSP = 4, RBP = 5,	/* as instructions number them */
	STEPS_MAX = 4000,
	BRANCHES_MAX = 32,
	RETURNS_MAX = 4,
	SEEN = 8192,			/* more than twice the steps, a power of two */
	CODE_WINDOW = 2048,
	KEPT_MAX = 1 << 16,	/* then start over */
};

struct path {
	uint64_t pc;		/* file offset */
	int64_t sp;		/* from the base register's value at the start */
	uint8_t base;		/* RSP or RBP */
	uint8_t fp_known;	/* rbp is still what it was at the start */
	uint16_t saved;		/* bit a register that was popped */
	int32_t at[16];		/* where from */
};

struct run {
	struct unwind_module *m;
	struct path now, branches[BRANCHES_MAX];
	size_t nr_branches;
	int steps;
	bool at_call;			/* the start is behind a call */
	bool after_call;		/* so is the next instruction */
	uint64_t seen[SEEN];		/* where any path was: pc + 1, 0 free */
	uint8_t code[CODE_WINDOW];
	uint64_t code_off;
	size_t code_len;
};

enum outcome { GO_ON, RETURNED, DEAD };

/* The instruction at r->now.pc. */
static bool fetch(struct run *r, struct x86_insn *in)
{
	uint64_t pc = r->now.pc;
	size_t len = CODE_WINDOW;

	if (pc < r->code_off || pc + X86_INSN_MAX > r->code_off + r->code_len) {
		while (len >= 16 && !module_code(r->m, pc, r->code, len))
			len /= 2;
		if (len < 16)
			return false;
		r->code_off = pc;
		r->code_len = len;
	}
	return x86_insn_decode(r->code + (pc - r->code_off), r->code_len - (pc - r->code_off), in);
}

static void pop(struct path *p, unsigned int reg)
{
	/* What was pushed on the way comes back as it was. */
	if (p->base == RBP || p->sp >= 0) {
		p->saved |= 1u << reg;
		p->at[reg] = (int32_t)p->sp;
	}
	if (reg == RBP)
		p->fp_known = false;
	p->sp += 8;
}

/* rsp = rbp + disp */
static enum outcome from_frame_pointer(struct path *p, int32_t disp)
{
	if (!p->fp_known)
		return DEAD;
	if (p->base == RSP)
		p->saved = 0;	/* counted from another register */
	p->base = RBP;
	p->sp = disp;
	return GO_ON;
}

/* lea ..., %rsp */
static enum outcome lea_sp(struct path *p, const struct x86_insn *in)
{
	unsigned int base = x86_rm(in);

	if ((in->modrm & 7) == 4) {	/* SIB: no index may be there */
		if (in->sib >> 3 != RSP || in->rex & 2)
			return DEAD;
		base = (in->sib & 7) | (in->rex & 1) << 3;
	}
	if (base == RBP && in->modrm >> 6)
		return from_frame_pointer(p, in->disp);
	if (base != RSP)
		return DEAD;
	p->sp += in->disp;
	return GO_ON;
}

/* add, sub and their kin with an immediate, on rsp */
static enum outcome arithmetic_sp(struct path *p, const struct x86_insn *in)
{
	switch (in->modrm >> 3 & 7) {
	case 0:
		p->sp += in->imm;
		return GO_ON;
	case 5:
		p->sp -= in->imm;
		return GO_ON;
	case 7:			/* cmp */
		return GO_ON;
	default:
		return DEAD;
	}
}

static enum outcome group_ff(struct path *p, const struct x86_insn *in)
{
	switch (in->modrm >> 3 & 7) {
	case 6:
		p->sp -= 8;
		return GO_ON;
	case 4:
	case 5:
		return DEAD;	/* a jump to where nobody knows */
	default:
		return GO_ON;	/* call, inc, dec */
	}
}

/* Instructions with a ModRM byte that may change rsp or rbp. */
static enum outcome run_modrm(struct path *p, const struct x86_insn *in)
{
	bool is_reg = in->modrm >> 6 == 3;

	switch (in->opcode) {
	case 0x83:
	case 0x81:
		return is_reg && x86_rm(in) == RSP ? arithmetic_sp(p, in) : GO_ON;
	case 0x8d:
		if (x86_reg(in) == RBP)
			p->fp_known = false;
		return x86_reg(in) == RSP ? lea_sp(p, in) : GO_ON;
	case 0x8f:
		p->sp += 8;
		return GO_ON;
	case 0xff:
		return group_ff(p, in);
	case 0x89:		/* mov reg, rm */
		if (is_reg && x86_rm(in) == RSP)
			return x86_reg(in) == RBP ? from_frame_pointer(p, 0) : DEAD;
		if (is_reg && x86_rm(in) == RBP)
			p->fp_known = false;
		return GO_ON;
	case 0x8b:		/* mov rm, reg */
		if (x86_reg(in) == RSP)
			return is_reg && x86_rm(in) == RBP ? from_frame_pointer(p, 0) : DEAD;
		if (x86_reg(in) == RBP)
			p->fp_known = false;
		return GO_ON;
	case 0x01:
	case 0x29:
	case 0x21:
	case 0x87:
		return is_reg && x86_rm(in) == RSP ? DEAD : GO_ON;
	case 0x03:
	case 0x2b:
		return x86_reg(in) == RSP ? DEAD : GO_ON;
	default:
		return GO_ON;
	}
}

static void branch(struct run *r, uint64_t to)
{
	if (r->nr_branches == BRANCHES_MAX)
		return;
	r->branches[r->nr_branches] = r->now;
	r->branches[r->nr_branches++].pc = to;
}

static enum outcome run_one_byte(struct run *r, const struct x86_insn *in)
{
	struct path *p = &r->now;

	switch (in->opcode) {
	case 0x50 ... 0x57:
		p->sp -= 8;
		return GO_ON;
	case 0x58 ... 0x5f:
		pop(p, (in->opcode & 7) | (in->rex & 1) << 3);
		return GO_ON;
	case 0x68:
	case 0x6a:
	case 0x9c:
		p->sp -= 8;
		return GO_ON;
	case 0x9d:
		p->sp += 8;
		return GO_ON;
	case 0xc9:		/* leave */
		if (from_frame_pointer(p, 0) == DEAD)
			return DEAD;
		pop(p, RBP);
		return GO_ON;
	case 0xc2:
	case 0xc3:
		return RETURNED;
	case 0xe9:
	case 0xeb:
		p->pc += in->imm;
		return GO_ON;
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		branch(r, p->pc + in->imm);
		return GO_ON;
	case 0xcc:
	case 0xf4:
	case 0xcf:
	case 0xcb:
	case 0xca:
	case 0xc8:
		return DEAD;
	default:
		return in->has_modrm ? run_modrm(p, in) : GO_ON;
	}
}

/* Paths that meet have the same depth of stack, so the second one tells nothing new. */
static bool was_here(struct run *r)
{
	uint64_t key = r->now.pc + 1;
	size_t i = hash_u64(key) & (SEEN - 1);

	while (r->seen[i] && r->seen[i] != key)
		i = (i + 1) & (SEEN - 1);
	if (r->seen[i])
		return true;
	r->seen[i] = key;
	return false;
}

/*
 * Behind a call that does not return the next function begins, most often by saving a register;
 * pushing one of those as an argument is rare.
 */
static bool begins_function(const struct x86_insn *in)
{
	unsigned int reg = (in->opcode & 7) | (in->rex & 1) << 3;

	return !in->map && in->opcode >= 0x50 && in->opcode <= 0x57 &&
	       (reg == 3 || reg == RBP || reg >= 12);
}

static enum outcome run_one(struct run *r)
{
	struct x86_insn in;

	if (was_here(r) || !fetch(r, &in) || (r->after_call && begins_function(&in))) {
		r->after_call = false;
		return DEAD;
	}
	r->after_call = x86_is_call(&in);
	r->now.pc += in.len;
	if (in.vex || in.map > 1)
		return GO_ON;
	if (in.map == 0)
		return run_one_byte(r, &in);
	if (in.opcode == 0x0b)
		return DEAD;	/* ud2 */
	if (in.opcode >> 4 == 8)
		branch(r, r->now.pc + in.imm);
	return GO_ON;
}

/*
 * Below where it began there is no return address.  At a call the stack is aligned to 16 bytes,
 * and so was the caller's: another function's return, reached behind a call that does not
 * return, is nearly always 8 off.
 */
static bool is_sound(const struct run *r)
{
	if (r->now.base != RSP)
		return true;
	return r->now.sp >= 0 && (!r->at_call || !((r->now.sp + 8) & 15));
}

/* The next return on any path; false: there is none within the steps. */
static bool next_return(struct run *r)
{
	while (r->steps++ < STEPS_MAX) {
		switch (run_one(r)) {
		case RETURNED:
			if (is_sound(r))
				return true;
			__attribute__((fallthrough));
		case DEAD:
			if (!r->nr_branches)
				return false;
			r->now = r->branches[--r->nr_branches];
			break;
		case GO_ON:
			break;
		}
	}
	return false;
}

/*
 * A path that ran past a call that does not return comes to some other function's return, at
 * another depth: so the first depth that two returns agree on counts, else the first of all.
 */
static bool choose_return(struct run *r, struct path *chosen)
{
	struct path seen[RETURNS_MAX];
	size_t nr = 0, i;

	while (nr < RETURNS_MAX && next_return(r)) {
		seen[nr] = r->now;
		for (i = 0; i < nr; i++) {
			if (seen[i].base == r->now.base && seen[i].sp == r->now.sp) {
				*chosen = seen[i];
				return true;
			}
		}
		nr++;
		if (!r->nr_branches)
			break;
		r->now = r->branches[--r->nr_branches];
	}
	*chosen = seen[0];
	return nr;
}

static void to_state(const struct path *p, struct rule_state *s)
{
	int64_t cfa = p->sp + 8;
	unsigned int i;

	memset(s, 0, sizeof(*s));
	s->cfa = (struct rule){ cfa == (int32_t)cfa ? RULE_REG : RULE_BAD, x86_dwarf_reg[p->base],
				(int32_t)cfa };
	s->r[X86_RIP] = (struct rule){ RULE_AT_CFA, 0, -8 };
	for (i = 0; i < 16; i++)
		if (p->saved >> i & 1 && i != RSP)
			s->r[x86_dwarf_reg[i]] = (struct rule){ RULE_AT_CFA, 0, (int32_t)(p->at[i] - cfa) };
}

static uint32_t find_row(struct unwind_module *m, uint64_t off, bool at_call)
{
	struct run *r = xcalloc(1, sizeof(*r));
	struct rule_state s;
	struct path p;
	bool found;

	r->m = m;
	r->now = (struct path){ .pc = off, .base = RSP, .fp_known = true };
	r->at_call = r->after_call = at_call;
	found = choose_return(r, &p);
	free(r);
	if (!found)
		return 0;
	to_state(&p, &s);
	return module_add_row(m, &s);
}

const struct row *epilogue_row(struct unwind_module *m, uint64_t off, bool at_call)
{
	uint32_t *id;

	if (m->cpu != &cpu_x86)
		return NULL;
	if (m->derived.nr > KEPT_MAX)
		map_reset(&m->derived);
	id = map_put(&m->derived, off);
	if (*id == MAP_NONE) {
		uint32_t row = find_row(m, off, at_call);

		*map_put(&m->derived, off) = row;
		return m->rows[row];
	}
	return m->rows[*id];
}

/* Any path from the start will do: those that meet have the same depth. 0: none leads there. */
static uint32_t find_depth(struct unwind_module *m, uint64_t start, uint64_t off)
{
	struct run *r = xcalloc(1, sizeof(*r));
	int64_t depth = 0;

	r->m = m;
	r->now = (struct path){ .pc = start, .base = RSP };
	while (r->now.pc != off && r->steps++ < STEPS_MAX) {
		if (run_one(r) == GO_ON)
			continue;
		if (!r->nr_branches)
			break;
		r->now = r->branches[--r->nr_branches];
	}
	if (r->now.pc == off && r->now.base == RSP)
		depth = 8 - r->now.sp;
	free(r);
	return depth >= 8 && depth < 1 << 24 ? depth : 0;
}

bool epilogue_cfa(struct unwind_module *m, uint64_t off, uint64_t ra_off, uint64_t *depth)
{
	uint64_t start;
	uint32_t *id, found;

	if (m->cpu != &cpu_x86)
		return false;
	if (m->depths.nr > KEPT_MAX)
		map_reset(&m->depths);
	id = map_put(&m->depths, ra_off);
	found = *id;
	if (found == MAP_NONE) {
		found = module_function_start(m, off, &start) ? find_depth(m, start, ra_off) : 0;
		*map_put(&m->depths, ra_off) = found;
	}
	*depth = found;
	return found;
}
