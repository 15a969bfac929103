// SPDX-License-Identifier: MIT
/*
 * walk_native.c - who called the native code that a thread is in: code of the JVM's that called it
 * without leaving an anchor, C++ that is about to call Java, or what a signal interrupted whose
 * handler is running. arm64.
 *
 * A function's record (x29, x30) is at the bottom of its frame, so that it does not tell the caller's sp:
 * that is where a frame of the caller's fits, above the record.
 *
 * Runs in a signal handler, by the rules of walk.c.
 */
#include <asm/sigcontext.h>
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/ucontext.h>

#include "agent/arm64/insn.h"
#include "agent/hotspot/cursor.h"
#include "agent/hotspot/walk_native.h"

enum {
	SCAN_WORDS = 2048,	/* of native stack that are searched */
	MAX_RECORDS = 64,
	FRAME_WORDS = 512,	/* of the function that Java called */
};

/* Offsets in struct sigcontext from its registers on, that is, from x0. */
enum {
	CONTEXT_SP = offsetof(struct sigcontext, sp) - offsetof(struct sigcontext, regs),
	CONTEXT_PC = offsetof(struct sigcontext, pc) - offsetof(struct sigcontext, regs),
	CONTEXT_END = offsetof(struct sigcontext, pstate) - offsetof(struct sigcontext, regs) + 8,
	/* where the floating-point registers follow */
	CONTEXT_EXTRA = offsetof(struct sigcontext, __reserved) - offsetof(struct sigcontext, regs),
};

static uintptr_t context_reg(const struct walk *w, uintptr_t regs, int nr)
{
	return walk_word(w, regs, nr * 8);
}

struct walk_regs native_regs_of(const struct ucontext *uc)
{
	const struct sigcontext *g = &uc->uc_mcontext;

	return (struct walk_regs){
		.pc = g->pc, .sp = g->sp, .fp = g->regs[29], .lr = g->regs[30], .x9 = g->regs[9],
		.x12 = g->regs[12], .x13 = g->regs[13], .x19 = g->regs[19], .x20 = g->regs[20],
		.x22 = g->regs[22],
	};
}

/* The kernel leaves registers above the stack of a handler; p has where floating-point registers begin. */
static bool is_context(const struct walk *w, uintptr_t p)
{
	const uint64_t head = FPSIMD_MAGIC | (uint64_t)sizeof(struct fpsimd_context) << 32;
	uintptr_t regs = p - CONTEXT_EXTRA;
	struct vm_blob b;

	return walk_word(w, p, 0) == head && walk_on_stack(w, regs) &&
	       vm_in_code(walk_word(w, regs, CONTEXT_PC)) &&
	       walk_on_stack(w, walk_word(w, regs, CONTEXT_SP)) && walk_word(w, regs, CONTEXT_SP) > p &&
	       vm_find_blob(walk_word(w, regs, CONTEXT_PC), &b);
}

/* Search from a handler's frame on; 0: what it interrupted is not Java. */
static uintptr_t find_context(const struct walk *w, uintptr_t p)
{
	int i;

	for (i = 0; i < SCAN_WORDS && walk_on_stack(w, p); i++, p += 8)
		if (is_context(w, p))
			return p - CONTEXT_EXTRA;
	return 0;
}

/* Return whether code calls a function outside the code cache, or may. */
static bool calls_native(uintptr_t ret)
{
	return insn_calls_register(insn_at(ret - INSN_LEN)) ||
	       (insn_calls(insn_at(ret - INSN_LEN)) && !vm_in_code(insn_target(ret - INSN_LEN)));
}

static bool leads_to_java(uintptr_t ret)
{
	return ret != vm_global(vm.call_stub_return) && walk_is_return(ret) && calls_native(ret);
}

/* add sp, sp, #16: of a pair that was pushed for the call, to show the way */
static bool pops_pair(uintptr_t ret)
{
	return insn_at(ret) == 0x910043ff;
}

/* Return where the sp of the caller was, whose code is at ret, searched from there on. 0: nowhere. */
static uintptr_t caller_sp(const struct walk *w, uintptr_t ret, uintptr_t from)
{
	struct vm_blob b;
	uintptr_t sp;
	int i;

	if (!vm_find_blob(ret, &b) || b.kind != VM_BLOB_NMETHOD || b.frame_size <= 0)
		return from;
	for (i = 0, sp = (from + 15) & ~15ul; i < FRAME_WORDS; i += 2, sp += 16) {
		if (pops_pair(ret) && walk_on_stack(w, sp + 8) && walk_return(w, sp + 8) == ret &&
		    !walk_word(w, sp, 0))
			return sp + 16;
		if (walk_returns_from(w, sp + b.frame_size * 8ul - 8))
			return sp;
	}
	return 0;
}

static bool found(const struct walk *w, struct native_frame *f, uintptr_t ret, uintptr_t from, uintptr_t fp)
{
	uintptr_t sp = caller_sp(w, ret, from);

	if (!sp)
		return false;
	*f = (struct native_frame){ ret, sp, fp };
	return true;
}

/* While x30 leads to Java, the function has called nothing yet, or is about to return. */
static bool by_lr(const struct walk *w, uintptr_t lr, struct native_frame *f)
{
	bool has_record = walk_on_stack(w, f->fp + 8) && f->fp >= f->sp && walk_return(w, f->fp + 8) == lr;

	return leads_to_java(lr) && found(w, f, lr, has_record ? f->fp + 16 : f->sp,
					  has_record ? walk_word(w, f->fp, 0) : f->fp);
}

/* Walk the chain of frame records, which Java code does not continue. */
static enum native_caller by_records(const struct walk *w, struct native_frame *f, uintptr_t *slot)
{
	uintptr_t at = f->fp, sp = f->sp, ret;
	int i;

	for (i = 0; i < MAX_RECORDS && walk_on_stack(w, at) && walk_on_stack(w, at + 8) && at >= sp; i++) {
		ret = walk_return(w, at + 8);
		if (ret == vm.signal_return) {
			*slot = find_context(w, at + 16);
			return *slot ? CALLER_SIGNAL : CALLER_NONE;
		}
		if (vm_in_code(ret))
			return leads_to_java(ret) && found(w, f, ret, at + 16, walk_word(w, at, 0)) ?
				       CALLER_JAVA : CALLER_NONE;
		sp = at + 16;
		at = walk_word(w, at, 0);
	}
	return CALLER_NONE;
}

/*
 * Not every word that looks like a return address is in use. But a call out of compiled code into native
 * code is rare in what old calls left behind: the first such wins.
 */
static enum native_caller by_scan(const struct walk *w, struct native_frame *f, uintptr_t *slot)
{
	uintptr_t p = f->sp;
	int i;

	for (i = 0; i < SCAN_WORDS && walk_on_stack(w, p); i++, p += 8) {
		*slot = p;
		if (is_context(w, p)) {
			*slot = p - CONTEXT_EXTRA;
			return CALLER_SIGNAL;
		}
		if (native_is_call_wrapper(w, p))
			return CALLER_WRAPPER;
		/* a record is aligned as sp is, and x30 is its second word */
		if (p & 8 && p > f->sp && walk_on_stack(w, p) && leads_to_java(walk_return(w, p)) &&
		    found(w, f, walk_return(w, p), p + 8, walk_word(w, p, -8)))
			return CALLER_JAVA;
	}
	return CALLER_NONE;
}

enum native_caller native_caller(const struct walk *w, const struct walk_regs *r, struct native_frame *f,
				 uintptr_t *slot)
{
	enum native_caller caller;

	if (by_lr(w, frame_code(r->lr), f))
		return CALLER_JAVA;
	if (frame_code(r->lr) == vm.signal_return && (*slot = find_context(w, f->sp)))
		return CALLER_SIGNAL;
	caller = by_records(w, f, slot);
	return caller != CALLER_NONE ? caller : by_scan(w, f, slot);
}

uintptr_t native_signal_regs(const struct walk *w, uintptr_t slot, struct walk_regs *r)
{
	*r = (struct walk_regs){
		.pc = walk_word(w, slot, CONTEXT_PC),
		.sp = walk_word(w, slot, CONTEXT_SP),
		.fp = context_reg(w, slot, 29),
		.lr = context_reg(w, slot, 30),
		.x9 = context_reg(w, slot, 9),
		.x12 = context_reg(w, slot, 12),
		.x13 = context_reg(w, slot, 13),
		.x19 = context_reg(w, slot, 19),
		.x20 = context_reg(w, slot, 20),
		.x22 = context_reg(w, slot, 22),
	};
	return slot + CONTEXT_END;
}
