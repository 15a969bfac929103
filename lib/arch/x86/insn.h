/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * insn.h - lengths and the shape of x86-64 instructions, on any host.
 */
#ifndef ARCH_X86_INSN_H
#define ARCH_X86_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { X86_INSN_MAX = 15 };

struct x86_insn {
	uint8_t len;
	uint8_t map;		/* 0 one byte, 1 0f, 2 0f 38, 3 0f 3a, 4 and more: vector extensions' */
	uint8_t opcode;
	uint8_t rex;		/* 0: none */
	bool has_modrm, vex;
	bool rep;		/* an f2 or f3 came before it */
	uint8_t modrm, sib;	/* sib: only when modrm says so */
	int32_t disp;		/* of a memory operand, sign-extended */
	int64_t imm;		/* also a jump's or call's distance, sign-extended */
};

/* Decode an instruction; return false if it is truncated or not an instruction of 64-bit mode. */
bool x86_insn_decode(const uint8_t *p, size_t len, struct x86_insn *in);

static inline unsigned int x86_reg(const struct x86_insn *in)	/* modrm.reg, all 16 */
{
	return (in->modrm >> 3 & 7) | (in->rex & 4) << 1;
}

static inline unsigned int x86_rm(const struct x86_insn *in)	/* modrm.rm as a register */
{
	return (in->modrm & 7) | (in->rex & 1) << 3;
}

static inline bool x86_is_call(const struct x86_insn *in)
{
	return !in->map && (in->opcode == 0xe8 || (in->opcode == 0xff && (in->modrm >> 3 & 7) == 2));
}

#endif
