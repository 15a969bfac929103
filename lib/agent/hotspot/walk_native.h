/* SPDX-License-Identifier: MIT */
/* walk_native.h - from native code back to the Java code beneath it. */
#ifndef AGENT_WALK_NATIVE_H
#define AGENT_WALK_NATIVE_H

#include "agent/hotspot/walk.h"

/* The innermost native function: where it is, and libjvm's frame pointer as far as it is one. */
struct native_frame {
	uintptr_t pc, sp, fp;
};

enum native_caller {
	CALLER_NONE,		/* not found */
	CALLER_JAVA,		/* compiled or interpreted code; where is in f */
	/* a handler was called while Java code ran; slot is for native_signal_regs() */
	CALLER_SIGNAL,
	CALLER_WRAPPER,		/* C++ that calls Java; slot is its JavaCallWrapper */
};

/* r: the registers of the innermost function; f: that, and then its caller, of which only fp may be known. */
enum native_caller native_caller(const struct walk *w, const struct walk_regs *r, struct native_frame *f,
				 uintptr_t *slot);
/* Get the registers that the signal interrupted; return where the kernel's record of them ends. */
uintptr_t native_signal_regs(const struct walk *w, uintptr_t slot, struct walk_regs *r);

/* Return whether the word at slot begins a JavaCallWrapper: C++ is about to call Java, or just has. */
bool native_is_call_wrapper(const struct walk *w, uintptr_t slot);

struct ucontext;
/* Return the registers in a signal handler's context. */
struct walk_regs native_regs_of(const struct ucontext *uc);

#endif
