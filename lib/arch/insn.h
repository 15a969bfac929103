/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * insn.h - what an instruction does to the flow of control: its length and the kind of branch
 * it is, for either CPU on any host.
 */
#ifndef ARCH_INSN_H
#define ARCH_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INSN_MAX = 15 };			/* bytes of the longest */

enum insn_kind {
	INSN_PLAIN,			/* goes on with the next one */
	INSN_CALL,
	INSN_CALL_INDIRECT,
	INSN_RETURN,
	INSN_JUMP,
	INSN_JUMP_INDIRECT,
	INSN_COND,			/* a branch that may not be taken */
	INSN_SYSCALL,			/* returns to the next one, unless the kernel wants otherwise */
	INSN_TRAP,			/* int3, int, ud2, brk, ...: raises a signal */
	INSN_IRET,			/* iret, eret and other returns to another level */
	INSN_NR
};

enum insn_flags {
	INSN_REPEATS = 1 << 0,		/* a trap comes after each round; it is one instruction */
	INSN_PUSHES_FLAGS = 1 << 1,	/* a trap flag that is set is stored in memory */
	INSN_EXCLUSIVE_LOAD = 1 << 2,	/* opens a region that a trap breaks (LDXR) */
	INSN_EXCLUSIVE_STORE = 1 << 3,	/* closes it (STXR) */
	INSN_POPS_FLAGS = 1 << 5,	/* the trap flag among them, as far as the kernel knows */
	INSN_SHADOWS = 1 << 4,		/* the trap comes after the next one (mov ss) */
};

struct insn {
	uint8_t len;
	uint8_t kind;			/* enum insn_kind */
	uint8_t flags;
	bool direct;			/* a branch to its own address + rel */
	int64_t rel;
};

/*
 * Decode an instruction; return false if it is truncated or invalid. Then *in is a plain
 * instruction of length 0.
 */
bool insn_decode_x86(const uint8_t *p, size_t len, struct insn *in);
bool insn_decode_arm64(const uint8_t *p, size_t len, struct insn *in);

/* Decode an instruction of the CPU that arcprof was built for. */
bool insn_decode(const uint8_t *p, size_t len, struct insn *in);

/* Check whether control always leaves the straight line at this instruction. */
static inline bool insn_always_branches(const struct insn *in)
{
	return (in->kind >= INSN_CALL && in->kind <= INSN_JUMP_INDIRECT) || in->kind == INSN_IRET;
}

#endif
