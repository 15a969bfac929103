/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * marks.h - kinds of frames, and why a stack has a mark instead of frames, once.  The enumerations of
 * frame.h and the names are made of these rows, for Python as well (share/python/tables).  The numbers
 * are in traces: a new row is the last of its kind.
 *
 * There is no include guard: an includer defines FRAME or MARK before; both are undefined at the end.
 *
 *	FRAME(kind, name)	FRAME_<kind>: how the code ran, as a query and the modules for readers say
 *	MARK(reason, text)	MARK_<reason>, and the name of a function that stands for it
 */
#ifndef FRAME
#define FRAME(...)
#endif
#ifndef MARK
#define MARK(...)
#endif

FRAME(NONE, "none")
FRAME(NATIVE, "native")		/* module, off */
FRAME(KERNEL, "kernel")		/* module (of the kernel image), off */
FRAME(ANON, "anon")		/* proc, addr: in no known module (another runtime's code) */
FRAME(JIT, "jit")		/* proc, addr, method, compile_id, not_inlined */
FRAME(INTERP, "interp")		/* proc, method, bci */
FRAME(STUB, "stub")		/* proc, addr: in a HotSpot stub, adapter or the interpreter itself */
FRAME(MARK, "mark")		/* mark: what is missing here, and why; count: how many, if that is known */
FRAME(METHOD, "method")		/* proc, method, however it runs: in call trees only */
FRAME(NAMED, "named")		/* function, line: known by name alone */
FRAME(SITE, "site")		/* proc, method, place: from there the method calls; in call trees only */

MARK(NONE, "[unwalkable: no reason given]")
/* The copied part of the stack ends before the stack does. */
MARK(TRUNCATED_STACK, "[unwalkable: deeper than the stack copy]")
MARK(TRUNCATED_DEPTH, "[unwalkable: more frames than the limit]")
/* A module without CFI, or code in no module. */
MARK(NO_UNWIND_INFO, "[unwalkable: no unwind information]")
/* The rules led outside the stack or in a circle. */
MARK(BAD_UNWIND_INFO, "[unwalkable: unwind information led astray]")
/* The thread died in the kernel, or user registers are unknown. */
MARK(NO_USER_STACK, "[unwalkable: no user stack]")
/* No HotSpot rule fits the frame. */
MARK(JAVA_NOT_WALKABLE, "[unwalkable: Java frame of no known kind]")
/* The frame is not set up yet, or half gone. */
MARK(JAVA_INTERPRETER, "[unwalkable: interpreter frame half built]")
MARK(JAVA_STUB, "[unwalkable: JVM stub without a frame]")
MARK(JAVA_DEPTH, "[unwalkable: more Java frames than the agent's buffer]")
/* It is frozen there. */
MARK(VTHREAD_CONTINUES, "[unwalkable: rest of the virtual thread is in the heap]")
/* The chunk that defined the stack is lost. */
MARK(DAMAGED, "[unwalkable: damaged part of the trace]")
/* Calls were counted in merged contexts: memory or depth did not suffice. */
MARK(PRUNED, "[pruned]")
/* What a thread did under labels (call_label in table.h) is below this. */
MARK(LABELS, "[labels]")
/* Frame pointers lead to no caller, and no thread begins there. */
MARK(NO_FRAME_POINTER, "[unwalkable: frame pointers end here]")
/*
 * Nothing is missing, but the callers of the frames within, which are in no module, are known by frame
 * pointers alone.
 */
MARK(GUESSED, "[by frame pointers]")
/* Nothing is missing: but the outer frames were read from the process's memory after the sample. */
MARK(READ_LATER, "[read later]")
/* From outside: what was there at the time of the sample is not known any more. */
MARK(JAVA_LATE, "[unwalkable: Java frames not read in time]")
/* Frames in the middle of a stack, which has more than the limit; how many is in the frame. */
MARK(LEFT_OUT, "[... frames ...]")
/* The frames within are in no module, and their caller was searched on the stack: others may be missing. */
MARK(SEARCHED, "[by search of the stack]")

#undef FRAME
#undef MARK
