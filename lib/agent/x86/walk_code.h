/* SPDX-License-Identifier: MIT */
/*
 * walk_code.h - what a few bytes of HotSpot's x86-64 code tell about a frame: whether it is
 * complete, and what kind of call precedes a return address. All addresses given are in
 * blobs of the code cache, so that their surroundings are mapped.
 */
#ifndef AGENT_X86_WALK_CODE_H
#define AGENT_X86_WALK_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum code_state {
	CODE_FULL,		/* the frame is complete */
	CODE_RETURN_AT_SP,	/* nothing pushed, or all popped */
	CODE_RBP_AT_SP,		/* rbp pushed, nothing else */
	CODE_FULL_RBP_LIVE,	/* space taken, rbp not stored yet: the register is the caller's */
	CODE_RBP_FRAME,		/* rbp points to where the caller's is, below the return address */
	CODE_RETURN_IN_RDX,	/* and nothing pushed */
	CODE_UNKNOWN,
};

/* Return the state of the frame from a method's entry to pc, which is not far behind it. */
enum code_state code_prologue(uintptr_t entry, uintptr_t pc);
/* Return the state of the frame at pc: CODE_FULL if this is not the end of a method. */
enum code_state code_epilogue(uintptr_t pc);

/* Return whether the frame is about to be removed: add rsp, imm; pop rbp. */
bool code_frame_ends(uintptr_t pc);

/*
 * Anywhere in the code that calls a native method, which begins at begin; CODE_UNKNOWN: it is
 * something else.
 */
enum code_state code_native(uintptr_t begin, int frame_complete, uintptr_t pc);

/*
 * Of a stub that begins as C2 begins its own, with just the frame that its blob says; else
 * CODE_UNKNOWN. (Those blobs do not say from where on the frame is complete.)
 */
enum code_state code_compiled_stub(uintptr_t begin, uintptr_t pc, int frame_words);
/*
 * Of a stub that begins as HotSpot's assembler lets those begin that save all registers, or C2's for
 * exceptions.
 */
enum code_state code_framed_stub(uintptr_t begin, uintptr_t pc);
/* pop rdx; jmp r10 or rbx: an exception goes to its handler in the caller, pc is at the jump. */
bool code_jumps_to_handler(uintptr_t pc);
/* pop rcx; jmp rcx: to the handler that rcx has. */
bool code_jumps_to_rcx(uintptr_t pc);
/*
 * C1 throws an exception at pc, where so many bytes can be read: there it loads pc itself, which is
 * taken for the return address.
 */
enum { CODE_THROW_LEN = 10 };
bool code_throws_at(uintptr_t pc);

/* The contents of r13 at pc in an adapter that starts at begin. */
enum code_r13 {
	CODE_R13_OTHER,
	CODE_R13_CALLER_SP,
	CODE_R13_AT_RETURN,	/* it points to the return address, rsp is further down */
};
enum code_r13 code_adapter(uintptr_t begin, uintptr_t pc);

/* The interpreter's last steps, its frame gone: pop r13; mov rsp, rbx. */
bool code_leaves_interpreter(uintptr_t pc);
/*
 * Check for the end of an entry that builds no frame, with the return address in rdi: mov rsp, r13; jmp
 * rdi.
 */
bool code_leaves_by_rdi(uintptr_t pc);
/* Return whether the call that ends at ret goes to code that pushes rbp first of all. */
bool code_call_pushes_rbp(uintptr_t ret);

/*
 * Return how many words the code at pc takes off the stack, first of all: those of the call before it. A
 * whole frame of frame_words does not count.
 */
int code_pops(uintptr_t pc, int frame_words);

/*
 * Return how many words the code at pc takes off the stack while it restores registers,
 * before it does anything else; 0 if it then returns.
 */
int code_restores(uintptr_t pc, int frame_words);

/*
 * Return how many bytes the next "fxrstor [rsp]; add rsp, n" up to end takes off the stack; 0: there
 * is none.
 */
size_t code_saved_fpu(uintptr_t pc, uintptr_t end);

/*
 * Check for the code of a native method after its function has returned: it sets the thread's state to
 * leaving native code.
 */
bool code_returns_to_native_transition(uintptr_t ret);

/* Return how many words the code at pc has pushed for a call that is about to come, or has just returned. */
int code_pushed(uintptr_t pc, int frame_words);

/*
 * The place of a complete frame's stack pointer while C2's String.indexOf() has moved it, which copies
 * short strings at the ends of pages to the stack.
 */
enum code_old_sp {
	CODE_OLD_SP_NONE,	/* pc is not behind the beginning of such code */
	CODE_OLD_SP_IN_RCX,
	CODE_OLD_SP_ON_TOP,
};
enum code_old_sp code_old_sp(uintptr_t begin, uintptr_t pc);

/* A call instruction ends at ret. */
bool code_call_before(uintptr_t ret);
/* Return where the call that ends at ret goes, or 0 if only the registers knew. */
uintptr_t code_call_target(uintptr_t ret);
/* Return whether the call that ends at ret leaves the code cache, or may (through a register). */
bool code_calls_native(uintptr_t ret);
/* Return whether it goes straight to the blob at addr. */
bool code_calls_blob(uintptr_t ret, uintptr_t addr);
/* Return whether it goes to a stub, or may. */
bool code_calls_stub(uintptr_t ret);

#endif
