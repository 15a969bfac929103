/* SPDX-License-Identifier: MIT */
/*
 * walk.h - the stack walker: from the registers of an interrupted thread to its Java frames
 * and the native stretches between them.
 *
 * Native code is not unwound here: its stretches are described, copied into the record and
 * unwound by the recorder, which has the unwind rules of every module.
 */
#ifndef AGENT_WALK_H
#define AGENT_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/hotspot/blocked.h"
#include "agent/hotspot/cont.h"
#include "agent/hotspot/frame.h"
#include "agent/hotspot/scopes.h"
#include "agent/hotspot/vm.h"
#include "jvm/proto.h"

struct walk {
	struct vm_thread thread;
	struct jvm_ring *ring;		/* where the names of new methods go */
	uintptr_t stack_lo, stack_hi;	/* what may be loaded; hi 0: unknown */
	bool bounded;			/* the end of the interrupted stack is known */
	bool frozen;			/* now in a copy of a virtual thread's heap chunk, not on a stack */
	bool no_room;			/* a method's name did not fit: drop the sample */
	/*
	 * of a thread that is blocked: the copy of its stack, NULL: loaded as it is; and how far it is away
	 */
	struct blocked *copied;
	uintptr_t delta;
	uint32_t waits;			/* what its innermost methods wait for: bits 1 << enum names_waits */
	uint32_t nr_frames, max_frames;
	/* of a stack of more than max_frames: frames that are missing, and which frame is the mark of that */
	uint32_t left_out, left_out_at;
	uint32_t nr_segments;
	struct jvm_rec_segment segments[JVM_MAX_SEGMENTS];
	/* of the code that a signal interrupted, whose handler is on the stack */
	struct walk_regs interrupted;
	struct cont_copy cont;
	char scopes[SCOPES_ROOM];		/* for scopes_tell() */
	struct jvm_rec_frame frames[];	/* max_frames + 3 */
};

/* Where the word at p of the stack can be loaded. */
static inline uintptr_t walk_at(const struct walk *w, uintptr_t p) { return p + w->delta; }
static inline uintptr_t walk_word(const struct walk *w, uintptr_t p, int off)
{
	return own_word(walk_at(w, p), off);
}

/* Return whether p is an aligned word of the stack that may be loaded. */
static inline bool walk_on_stack(const struct walk *w, uintptr_t p)
{
	return p >= w->stack_lo && p < w->stack_hi && w->stack_hi - p >= 8 && !(p & 7) &&
	       (likely(!w->copied) || blocked_has(w->copied, p));
}

/* Fills frames and segments; segments' len is what is to be copied from their sp. */
void walk_stack(struct walk *w, const struct walk_regs *r);
/*
 * Do the same from the last Java frame of this thread outwards; sp is below it. Native code and stubs of
 * the VM in between are left out. Without Java frames the result is empty.
 */
void walk_last_java(struct walk *w, uintptr_t sp);

#ifdef LOADS_FAR
/*
 * Do the same from where native code returns to the JVM's code. is_leaf_call: it was called without leaving
 * an anchor.
 */
void walk_from_call(struct walk *w, const struct walk_regs *r, bool is_leaf_call);
#endif

#endif
