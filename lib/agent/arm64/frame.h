/* SPDX-License-Identifier: MIT */
/*
 * frame.h - hotspot/frame.h for arm64. Source: HotSpot's cpu/aarch64/frame_aarch64.hpp (the same from JDK 11
 * to 27), stubGenerator_aarch64.cpp.
 */
#ifndef AGENT_ARM64_FRAME_H
#define AGENT_ARM64_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "jvm/memory.h"
#include "jvm/proto.h"
#include "jvm/wall.h"

struct walk_regs {
	uintptr_t pc, sp, fp;	/* fp: x29 */
	uintptr_t lr;		/* x30: where a frame that is not built yet, or gone, returns to */
	uintptr_t x9, x12, x13, x19, x20, x22;
};

enum {
	INTERP_SENDER_SP = -8,
	INTERP_METHOD = -24,
	INTERP_BCP = -72,
	INTERP_BCP_8 = -56,		/* frames of JDK 8 have neither mirror nor padding */
	INTERP_LOWEST = -80,
	/* an interpreted caller's sp is below its whole expression stack, and its callee gets what is free */
	INTERP_SENDER_BENEATH = true,
	ENTRY_WRAPPER = -64,
	ENTRY_LOWEST = ENTRY_WRAPPER,
};

/* A return address as it is in a frame: above 48 bits may be its signature (pointer authentication). */
static inline uintptr_t frame_code(uintptr_t p)
{
	return p & 0xffffffffffffull;
}

/* Return where the next bytecode is, which the interpreter has in this register most of the time. */
static inline uintptr_t frame_bcp(const struct walk_regs *r)
{
	return r->x22;
}

static inline struct walk_regs frame_regs_of_wall(const struct wall_regs *g)
{
	return (struct walk_regs){ .pc = g->pc, .sp = g->sp, .fp = g->fp, .lr = g->rbx };
}

static inline struct walk_regs frame_regs_of_memory(const struct memory_regs *g)
{
	return (struct walk_regs){ .pc = g->pc, .sp = g->sp, .fp = g->fp, .lr = g->rbx };
}

/* Store the registers with which native code goes on. */
static inline void frame_keep(struct jvm_rec_segment *s, const struct walk_regs *r)
{
	s->rbx = r->lr;
}

/* The caller of call_stub needs none of what that has saved: its frames are found by sp and x29. */
static inline uint32_t frame_keep_saved(struct jvm_rec_segment *s, uintptr_t fp)
{
	(void)s;
	(void)fp;
	return JVM_SEG_VALID & ~1u;
}

#endif
