/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * guess.h - the caller where no rules say: signal trampolines by their instructions, frame
 * pointers, functions that have not built their frame yet.
 */
#ifndef UNWIND_GUESS_H
#define UNWIND_GUESS_H

#include "unwind/module.h"

struct guess {
	const struct unwind_space *space;
	const struct unwind_stack *st;
	struct unwind_module *mod;	/* of the frame, or NULL */
	uint64_t off;			/* in mod */
	uint64_t ra_off;		/* of the return address itself (off + 1 of a caller) */
	bool interrupted;		/* anywhere in its code, not at a call */
};

/* Return whether the frame is a signal trampoline; then *regs becomes the interrupted one. */
bool guess_signal(const struct guess *g, struct unwind_regs *regs, enum frame_mark *why);
/* Return whether the frame is the first of its process or thread, which has no caller. */
bool guess_is_root(const struct guess *g);
/*
 * Find the caller of a function that never returns, by the words on the stack. Its return address is in the
 * code that starts a process or thread, or after a direct call of the function.
 */
bool guess_by_scan(const struct guess *g, struct unwind_regs *regs);
/* Return whether ra follows a call, as far as the bytes before it can be read. */
bool guess_follows_call(const struct guess *g, uint64_t ra);
/* Return the same, but true if its bytes are not ours to read. */
bool guess_may_follow_call(const struct guess *g, uint64_t ra);
/* Return whether addr is executable, and in no module. */
bool guess_is_of_runtime(const struct guess *g, uint64_t addr);
/*
 * Return whether ra follows a call that may have led into code of no module: by an address in a register or
 * in memory, or of a function that jumps to such an address. x86-64 only.
 */
bool guess_may_enter(const struct guess *g, uint64_t ra);
/* Set *regs to the caller's, or *why to the reason why not. *at_end: the frame has no caller. */
bool guess_caller(const struct guess *g, struct unwind_regs *regs, bool *at_end, enum frame_mark *why);
/*
 * Do the same for an interrupted function without a frame: take whatever follows a call on top of the
 * stack.
 */
bool guess_by_top_of_stack(const struct guess *g, struct unwind_regs *regs);

#endif
