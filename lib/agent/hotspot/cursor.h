/* SPDX-License-Identifier: MIT */
/*
 * cursor.h - what the walker's files share: walk.c, which goes from frame to frame, and leave.c of each CPU.
 */
#ifndef AGENT_CURSOR_H
#define AGENT_CURSOR_H

#include "agent/hotspot/names.h"
#include "agent/hotspot/walk.h"

/* A frame being looked at. */
struct cursor {
	uintptr_t pc, sp, fp;
	const struct walk_regs *leaf;	/* NULL in all but the innermost frame */
	const struct walk_regs *stub;	/* the frame before was a stub, the innermost of all: its registers */
	bool above_stub;		/* the frame before was a stub */
	bool left_stub;			/* the frame just left was one */
	bool above_leaf_call;		/* native code was interrupted that this frame called directly */
};

/* f: what its kind has beside a pc. */
static inline void push(struct walk *w, enum jvm_frame_kind kind, uintptr_t pc, struct jvm_rec_frame f)
{
	f.kind_pc = (uint64_t)kind << JVM_FRAME_PC_BITS | (pc & ((1ull << JVM_FRAME_PC_BITS) - 1));
	w->frames[w->nr_frames++] = f;
}

static inline void push_stub(struct walk *w, uintptr_t pc)
{
	push(w, JVM_STUB, pc, (struct jvm_rec_frame){ 0 });
}

/* There is always room for the mark that ends a walk. Says where it gave up, to those who mend it. */
#define push_mark(w, why) push(w, JVM_MARK, 0, (struct jvm_rec_frame){ .line = __LINE__, .mark = why })

static inline uintptr_t frame_pc(const struct cursor *c)
{
	return c->leaf ? c->pc : c->pc - 1;
}

/* Return the return address at slot. */
static inline uintptr_t walk_return(const struct walk *w, uintptr_t slot)
{
	return frame_code(walk_word(w, slot, 0));
}

static inline bool leave_to(struct cursor *c, uintptr_t pc)
{
	c->pc = pc;
	return true;
}

/* Go to the caller, whose pc is at slot and whose sp is just above. */
static inline void return_through(const struct walk *w, struct cursor *c, uintptr_t slot)
{
	c->pc = walk_return(w, slot);
	c->sp = slot + 8;
}

/* ---- walk.c ---- */

/* Return whether pc is a return address into the JVM's code. */
bool walk_is_return(uintptr_t pc);
/* Return whether the word at slot is one. */
bool walk_returns_from(const struct walk *w, uintptr_t slot);
/*
 * Go to the caller, whose return address is at ret_slot, above the saved frame pointer. Returns false if
 * there is none.
 */
bool walk_leave_frame(const struct walk *w, struct cursor *c, uintptr_t ret_slot);
bool walk_is_interpreter_frame(const struct walk *w, uintptr_t fp, uintptr_t sp);
enum names_result walk_method_of(struct walk *w, uintptr_t method, enum names_trust trust, uintptr_t bcp,
				 struct method_info *m);
/* better_bcp: in a register, if it is in the method. */
enum names_result walk_push_interpreted(struct walk *w, const struct cursor *c, uintptr_t method,
					enum names_trust trust, uintptr_t bcp, uintptr_t better_bcp);

#endif
