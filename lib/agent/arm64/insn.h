/* SPDX-License-Identifier: MIT */
/*
 * insn.h - the few instructions by which frames are built and left (Arm Architecture Reference Manual, C4.1).
 */
#ifndef AGENT_ARM64_INSN_H
#define AGENT_ARM64_INSN_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/hotspot/load.h"

enum { INSN_LEN = 4 };

static inline uint32_t insn_at(uintptr_t pc) { return vm_i32(pc, 0); }

/* bl; blr, also those that authenticate */
static inline bool insn_calls(uint32_t i)
{
	return (i & 0xfc000000) == 0x94000000 || (i & 0xfffffc1f) == 0xd63f0000 ||
	       (i & 0xfefff800) == 0xd63f0800;
}

static inline bool insn_calls_register(uint32_t i) { return insn_calls(i) && i >> 26 != 0x25; }

/* Return where the bl, or b, at pc goes. */
static inline uintptr_t insn_target(uintptr_t pc)
{
	return pc + ((int64_t)((uint64_t)insn_at(pc) << 38) >> 36);
}

/* ret, of any register; retaa, retab */
static inline bool insn_returns(uint32_t i)
{
	return (i & 0xfffffc1f) == 0xd65f0000 || (i & 0xfffffbff) == 0xd65f0bff;
}

/* b; br */
static inline bool insn_jumps(uint32_t i)
{
	return (i & 0xfc000000) == 0x14000000 || (i & 0xfffffc1f) == 0xd61f0000;
}

/* stp x29, x30, [sp, #imm]; with pre-index: [sp, #imm]! */
static inline bool insn_stores_record(uint32_t i) { return (i & 0xffc07fff) == 0xa9007bfd; }
static inline bool insn_pushes_record(uint32_t i) { return (i & 0xffc07fff) == 0xa9807bfd; }
/* ldp x29, x30, [sp, #imm]; with post-index: [sp], #imm */
static inline bool insn_loads_record(uint32_t i) { return (i & 0xffc07fff) == 0xa9407bfd; }
static inline bool insn_pops_record(uint32_t i) { return (i & 0xffc07fff) == 0xa8c07bfd; }

/* sub sp, sp, #imm; sub sp, sp, register; the same of add */
static inline bool insn_sub_sp(uint32_t i) { return (i & 0xff8003ff) == 0xd10003ff; }
static inline bool insn_sub_sp_reg(uint32_t i) { return (i & 0xffe0ffff) == 0xcb2063ff; }
static inline bool insn_add_sp(uint32_t i) { return (i & 0xff8003ff) == 0x910003ff; }
static inline bool insn_add_sp_reg(uint32_t i) { return (i & 0xffe0ffff) == 0x8b2063ff; }
static inline uintptr_t insn_sp_imm(uint32_t i)
{
	return (uintptr_t)(i >> 10 & 0xfff) << (i >> 22 & 1 ? 12 : 0);
}

/* Return by how much it moves sp by a number in it, which loads and stores with an index do as well. */
static inline int64_t insn_moves_sp(uint32_t i)
{
	int32_t pair = (int32_t)(i << 10) >> 25, one = (int32_t)(i << 11) >> 23;

	if (insn_add_sp(i))
		return insn_sp_imm(i);
	if (insn_sub_sp(i))
		return -(int64_t)insn_sp_imm(i);
	/* pairs of X or D, and of Q: pre-index and post-index, stp and ldp */
	if ((i & 0xfe8003e0) == 0xa88003e0 || (i & 0xfe8003e0) == 0x6c8003e0)
		return pair * 8;
	if ((i & 0xfe8003e0) == 0xac8003e0)
		return pair * 16;
	/* one X */
	return (i & 0xffa007e0) == 0xf80007e0 ? one : 0;
}


/* Return how far above sp a load of x30 reads, alone or in a pair; negative if it is no such load. */
static inline int64_t insn_loads_lr(uint32_t i)
{
	int32_t pair = (int32_t)(i << 10) >> 25;
	bool post = (i & 0xffc003e0) == 0xa8c003e0;

	if (post || (i & 0xffc003e0) == 0xa94003e0)
		return (i & 31) == 30 ? (post ? 0 : pair * 8) :
		       (i >> 10 & 31) == 30 ? (post ? 8 : pair * 8 + 8) : -1;
	if ((i & 0xffe00fff) == 0xf84007fe)
		return 0;
	return (i & 0xffc003ff) == 0xf94003fe ? (int64_t)(i >> 10 & 0xfff) * 8 : -1;
}

/* mov sp, x29 */
static inline bool insn_sp_from_fp(uint32_t i) { return i == 0x910003bf; }
/* add x29, sp, #imm: the frame pointer is that of this frame from here on */
static inline bool insn_sets_fp(uint32_t i) { return (i & 0xff8003ff) == 0x910003fd; }
/* mov x13, sp; mov x19, sp: the sp of a compiled caller, which the interpreter gives back */
static inline bool insn_keeps_sp(uint32_t i) { return i == 0x910003ed || i == 0x910003f3; }

#endif
