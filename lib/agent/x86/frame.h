/* SPDX-License-Identifier: MIT */
/*
 * frame.h - hotspot/frame.h for x86-64. Source: HotSpot's cpu/x86/frame_x86.hpp, stubGenerator_x86_64.cpp
 */
#ifndef AGENT_X86_FRAME_H
#define AGENT_X86_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm/memory.h"
#include "jvm/proto.h"
#include "jvm/wall.h"

struct walk_regs {
	uintptr_t pc, sp, fp;
	uintptr_t rax, rbx, rcx, rdx, rdi, r12, r13, r14, r15;
};

enum {
	INTERP_SENDER_SP = -8,
	INTERP_METHOD = -24,
	INTERP_BCP = -64,
	INTERP_BCP_8 = -56,		/* frames of JDK 8 have no mirror */
	INTERP_LOWEST = -72,
	INTERP_SENDER_BENEATH = false,	/* the sender's sp may be below the frame pointer */
	ENTRY_WRAPPER = -48,
	ENTRY_RBX = -56,
	ENTRY_R12 = -64,
	ENTRY_R13 = -72,
	ENTRY_R14 = -80,
	ENTRY_R15 = -88,
	ENTRY_LOWEST = ENTRY_R15,
};

/* A return address as it is in a frame. */
static inline uintptr_t frame_code(uintptr_t p)
{
	return p;
}

/* Return where the interpreter has the next bytecode, most of the time. */
static inline uintptr_t frame_bcp(const struct walk_regs *r)
{
	return r->r13;
}

static inline struct walk_regs frame_regs_of_wall(const struct wall_regs *g)
{
	return (struct walk_regs){
		.pc = g->pc, .sp = g->sp, .fp = g->fp, .rbx = g->rbx,
		.r12 = g->r12, .r13 = g->r13, .r14 = g->r14, .r15 = g->r15,
	};
}

static inline struct walk_regs frame_regs_of_memory(const struct memory_regs *g)
{
	return (struct walk_regs){
		.pc = g->pc, .sp = g->sp, .fp = g->fp, .rbx = g->rbx,
		.r12 = g->r12, .r13 = g->r13, .r14 = g->r14, .r15 = g->r15,
	};
}

/* Store the registers with which native code goes on. */
static inline void frame_keep(struct jvm_rec_segment *s, const struct walk_regs *r)
{
	s->rbx = r->rbx;
	s->r12 = r->r12;
	s->r13 = r->r13;
	s->r14 = r->r14;
	s->r15 = r->r15;
}

/* Store those of the caller of call_stub, whose frame can be loaded at fp; returns bits of JVM_SEG_VALID. */
static inline uint32_t frame_keep_saved(struct jvm_rec_segment *s, uintptr_t fp)
{
	const uintptr_t *words = (const uintptr_t *)fp;

	s->rbx = words[ENTRY_RBX / 8];
	s->r12 = words[ENTRY_R12 / 8];
	s->r13 = words[ENTRY_R13 / 8];
	s->r14 = words[ENTRY_R14 / 8];
	s->r15 = words[ENTRY_R15 / 8];
	return JVM_SEG_VALID;
}

#endif
