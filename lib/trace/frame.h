/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frame.h - one level of a call stack; record.h says what the numbers in it name. */
#ifndef TRACE_FRAME_H
#define TRACE_FRAME_H

#include <stdint.h>

enum frame_kind {
	FRAME_NONE,
	FRAME_NATIVE,	/* a = module, b = file offset */
	FRAME_KERNEL,	/* a = module of the kernel image, b = address */
	FRAME_ANON,	/* a = proc, b = address in no known module (another runtime's code) */
	/*
	 * a = proc, b = address, c = HotSpot compile id, perhaps with FRAME_NOT_INLINED, d = method
	 * compiled (root)
	 */
	FRAME_JIT,
	FRAME_INTERP,	/* a = proc, b = method, c = bytecode index */
	FRAME_STUB,	/* a = proc, b = address in a HotSpot stub, adapter or the interpreter itself */
	FRAME_MARK,	/* b = enum frame_mark: what is missing here, and why */
	FRAME_METHOD,	/* a = proc, b = method, however it runs: in call trees only */
	FRAME_NR
};

/*
 * Of a compile id: the frame was just being built or torn down, so that what the inline table has for
 * b is not meant.
 */
#define FRAME_NOT_INLINED (1u << 31)

/*
 * The address of a caller's frame is the return address minus one, so that it lies inside
 * the call instruction; the innermost frame's is the interrupted instruction.
 */
struct frame {
	uint32_t kind;		/* enum frame_kind */
	uint32_t a;
	uint64_t b;
	uint32_t c;
	uint32_t d;
};

/* Reasons; FRAME_MARK stands where the missing outer frames would. Names in frame.c. */
enum frame_mark {
	MARK_NONE,
	MARK_TRUNCATED_STACK,	/* deeper than the copied part of the stack */
	MARK_TRUNCATED_DEPTH,	/* more frames than the limit */
	MARK_NO_UNWIND_INFO,	/* a module without CFI, or code in no module */
	MARK_BAD_UNWIND_INFO,	/* the rules led outside the stack or in a circle */
	MARK_NO_USER_STACK,	/* the thread died in the kernel, or user registers are unknown */
	MARK_JAVA_NOT_WALKABLE,	/* no HotSpot rule fits the frame */
	MARK_JAVA_INTERPRETER,	/* interpreter frame not set up or half gone */
	MARK_JAVA_STUB,		/* inside a stub without frame */
	MARK_JAVA_DEPTH,	/* deeper than the agent's buffer */
	MARK_VTHREAD_CONTINUES,	/* the rest of a virtual thread is frozen in the heap */
	MARK_DAMAGED,		/* the chunk that defined the stack is lost */
	MARK_PRUNED,		/* calls that were counted, not told apart: memory or depth did not suffice */
	MARK_NR
};

const char *frame_mark_name(uint32_t mark);	/* "[unwalkable: ...]" and the like; never NULL */

#endif
