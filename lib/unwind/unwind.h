/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind.h - from registers and a copy of the stack to the chain of callers.
 *
 * The rules (CFI, .eh_frame or .debug_frame) are decoded once a function, by our own
 * interpreter, into rows that are cached a module and shared by all processes; libdw and
 * libelf only find the sections.  Where a module has no rules, and in code of no module, frame pointers are
 * tried.
 */
#ifndef UNWIND_UNWIND_H
#define UNWIND_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sym/symfile.h"
#include "trace/frame.h"

/* Registers by their DWARF numbers: arch/cpu.h. */
#define UNWIND_NR_REGS 34

struct unwind_regs {
	uint64_t r[UNWIND_NR_REGS];
	uint64_t valid;		/* bit a register */
	uint64_t pc, sp;	/* also in r[], under the CPU's numbers */
	bool exact;		/* set by unwind_walk(): pc was interrupted, and is not a return address */
};

struct unwind_stack {
	uint64_t sp;		/* address of data[0] */
	const uint8_t *data;
	size_t len;
	/* Reads the word at addr, which is above the copy. False: it cannot be read. May be NULL. */
	bool (*above)(void *ctx, uint64_t addr, uint64_t *v);
	void *ctx;
};

/* The unwind rules of one module; safe to share between processes, not between threads. */
struct unwind_module;

/* Return the rules of a file; without any, it unwinds by frame pointer. f is borrowed. */
struct unwind_module *unwind_module_new(struct symfile *f);
void unwind_module_free(struct unwind_module *m);
size_t unwind_module_bytes(const struct unwind_module *m);	/* memory of its cached rows */

/*
 * Return whether a process or thread begins in the function at file offset off, so that it has no caller;
 * calls: off is that of a return address, minus one.
 */
bool unwind_is_root(struct unwind_module *m, uint64_t off, bool calls);

/* The rules of code that is in no module, as the runtime that made it describes them; of one process. */
struct unwind_described;

struct unwind_described *unwind_described_new(void);
void unwind_described_free(struct unwind_described *d);		/* NULL: nothing happens */
/*
 * Add code at addr, of size bytes, in the place of what was there before: its rules are a section .eh_frame
 * of len bytes, whose first function begins at addr. len 0: it has none.
 */
void unwind_described_add(struct unwind_described *d, uint64_t addr, uint64_t size, const void *eh_frame,
			  size_t len);

enum { UNWIND_CODE_MAX = 48 };

/* An address space as the walk needs it. */
struct unwind_space {
	/*
	 * Tells which module holds addr; false when addr is in no executable mapping. *mod may be NULL
	 * (no file to read).
	 */
	bool (*find)(void *ctx, uint64_t addr, uint32_t *module, uint64_t *off, struct unwind_module **mod);
	/*
	 * Asked when addr is in code without a module: lets the caller continue through code it
	 * knows (HotSpot's). Returns true when it has filled *regs with the caller's frame. May be NULL.
	 */
	bool (*step)(void *ctx, struct unwind_regs *regs, const struct unwind_stack *st);
	/*
	 * Reads len bytes, at most UNWIND_CODE_MAX, of code that is in no module, which another runtime has
	 * made; calls: it is before a return address or behind it, and may be of a moment ago. False: it
	 * cannot be read. May be NULL.
	 */
	bool (*code)(void *ctx, uint64_t addr, bool calls, void *buf, size_t len);
	void *ctx;
	/* Rules of code in no module. NULL: none. */
	const struct unwind_described *described;
	/*
	 * Callers of code in no module, of which nothing else is known, are looked for on the stack: who asks
	 * for that shows where. x86-64 only.
	 */
	bool searches;
	/* The same where rules of the innermost frame lead behind no call: there is such code. */
	bool doubts;
	/*
	 * Code in no module is BEAM's, whose processes have stacks of their own: the outermost return address
	 * on these. 0: it is not.
	 */
	uint64_t beam_exit;
	/*
	 * A return address in [stop_lo, stop_hi) ends a walk with MARK_NONE and is not recorded; *regs
	 * then holds that frame's registers (for stitching Java frames).
	 */
	uint64_t stop_lo, stop_hi;
};

struct unwind_frame {
	uint64_t pc;		/* innermost: interrupted address; callers: return address - 1 */
	uint64_t sp;		/* stack pointer in that frame */
	uint64_t off;		/* in module */
	uint32_t module;	/* 0: none */
	bool signal;		/* the frame below was entered by a signal: pc is exact */
	bool guessed;		/* nobody describes the code of the frame below: frame pointers led here */
	bool searched;		/* the same: this one was looked for on the stack */
};

/*
 * Walk from *regs outwards, innermost frame first, at most max frames, and return how many. Sets *end to
 * MARK_NONE when the walk reached the space's stop or the outermost frame: an undefined return address, a
 * zero return address, or the entry point. Otherwise *end is the reason why it ended.
 */
size_t unwind_walk(const struct unwind_space *sp, struct unwind_regs *regs, const struct unwind_stack *st,
		   struct unwind_frame *out, size_t max, enum frame_mark *end);

struct unwind_ends {
	enum frame_mark end;	/* as of unwind_walk() */
	size_t left_out;	/* frames that are missing in between; 0: none */
};

/*
 * Do the same with a stack of any depth, keeping both ends: of more than max frames the first max / 2, and
 * then the last max - max / 2.
 */
size_t unwind_walk_ends(const struct unwind_space *sp, struct unwind_regs *regs,
			const struct unwind_stack *st, struct unwind_frame *out, size_t max,
			struct unwind_ends *ends);

#endif
