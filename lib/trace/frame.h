/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frame.h - one level of a call stack; record.h says what the numbers in it name. */
#ifndef TRACE_FRAME_H
#define TRACE_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum frame_kind {
	FRAME_NONE,
	FRAME_NATIVE,		/* module, off */
	FRAME_KERNEL,		/* module (of the kernel image), off */
	FRAME_ANON,		/* proc, addr: in no known module (another runtime's code) */
	FRAME_JIT,		/* proc, addr, method, compile_id, not_inlined */
	FRAME_INTERP,		/* proc, method, bci */
	FRAME_STUB,		/* proc, addr: in a HotSpot stub, adapter or the interpreter itself */
	FRAME_MARK,		/* mark: what is missing here, and why */
	FRAME_METHOD,		/* proc, method, however it runs: in call trees only */
	FRAME_NAMED,		/* function, line: known by name alone */
	FRAME_NR
};

/*
 * The kind, below FRAME_NR, says which of the other members are used; the rest are 0. There is no
 * padding either, so that frames are compared and hashed as bytes.
 *
 * The address of a caller's frame is the return address minus one, so that it lies inside
 * the call instruction; the innermost frame's is the interrupted instruction.
 */
struct frame {
	enum frame_kind kind;
	union {
		uint32_t module;
		uint32_t proc;
		uint32_t function;
	};
	union {
		uint64_t off;		/* in the module's file; of the kernel, the address */
		uint64_t addr;		/* in the process */
		uint64_t bci;
		uint64_t line;		/* 0: not known */
		uint64_t mark;		/* enum frame_mark, or a later arcprof's */
	};
	uint32_t method;		/* of FRAME_JIT the compiled one, not what is inlined; 0 unknown */
	uint32_t compile_id : 31;	/* HotSpot's */
	/*
	 * The frame was just being built or torn down: it is of the method alone, whatever the inline
	 * table has for addr.
	 */
	uint32_t not_inlined : 1;
};

_Static_assert(sizeof(struct frame) == 24, "no padding");

static inline bool frame_equal(const struct frame *x, const struct frame *y)
{
	return !memcmp(x, y, sizeof(*x));
}

/* A frame as a trace stores it; what the words mean depends on the kind (arcprof-trace(5), "frames"). */
struct frame_words {
	uint32_t kind, a;
	uint64_t b;
	uint32_t c, d;
};

struct frame_words frame_words(const struct frame *f);
/* Of any words: what a kind does not have is ignored, and an unknown kind is a mark without a reason. */
struct frame frame_from_words(const struct frame_words *w);

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
	MARK_PRUNED,		/* calls counted in merged contexts: memory or depth did not suffice */
	MARK_LABELS,		/* what a thread did while it had labels (call.label) */
	MARK_NO_FRAME_POINTER,	/* frame pointers lead to no caller, and no thread begins there */
	MARK_NR
};

const char *frame_mark_name(uint32_t mark);	/* "[unwalkable: ...]" and the like; never NULL */

#endif
