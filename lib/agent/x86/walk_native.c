// SPDX-License-Identifier: MIT
/*
 * walk_native.c - who called the native code that a thread is in: code of the JVM's that called it
 * without leaving an anchor, C++ that is about to call Java, or what a signal interrupted whose
 * handler is running.
 *
 * Runs in a signal handler, by the rules of walk.c.
 */
#include <asm/sigcontext.h>
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/ucontext.h>

#include "agent/hotspot/cursor.h"
#include "agent/hotspot/walk_native.h"
#include "agent/x86/walk_code.h"

enum { SCAN_WORDS = 2048 };	/* of native stack that are searched */

/*
 * The registers at a signal, as the kernel leaves them on the stack: struct ucontext above the return
 * address.
 */
enum {
	SIGNAL_R12 = 8 + 40 + 4 * 8,
	SIGNAL_R13 = SIGNAL_R12 + 8,
	SIGNAL_R14 = SIGNAL_R12 + 16,
	SIGNAL_R15 = SIGNAL_R12 + 24,
	SIGNAL_RDI = SIGNAL_R12 + 32,
	SIGNAL_RBP = 8 + 40 + 10 * 8,
	SIGNAL_RBX = SIGNAL_RBP + 8,
	SIGNAL_RDX = SIGNAL_RBP + 16,
	SIGNAL_RAX = SIGNAL_RBP + 24,
	SIGNAL_RCX = SIGNAL_RBP + 32,
	SIGNAL_RSP = SIGNAL_RBP + 40,
	SIGNAL_RIP = SIGNAL_RBP + 48,
	SIGNAL_END = SIGNAL_RIP + 16,
};

static bool has_java_context(const struct walk *w, uintptr_t slot)
{
	struct vm_blob b;

	return walk_on_stack(w, slot + SIGNAL_END) && vm_in_code(walk_word(w, slot, SIGNAL_RIP)) &&
	       walk_on_stack(w, walk_word(w, slot, SIGNAL_RSP)) && walk_word(w, slot, SIGNAL_RSP) > slot &&
	       vm_find_blob(walk_word(w, slot, SIGNAL_RIP), &b);
}

/* Slot has the return address of a handler that was called while Java code ran. */
static bool is_signal_frame(const struct walk *w, uintptr_t slot)
{
	return vm.signal_return && walk_on_stack(w, slot) && walk_word(w, slot, 0) == vm.signal_return &&
	       has_java_context(w, slot);
}

/* Return whether compiled code that continues at ret, with this sp, has a caller where its frame says. */
static bool has_whole_frame(const struct walk *w, uintptr_t ret, uintptr_t sp)
{
	struct vm_blob b;

	if (!vm_find_blob(ret, &b) || b.kind != VM_BLOB_NMETHOD || b.frame_size <= 0)
		return true;
	sp += code_restores(ret, b.frame_size) * 8ul;
	return walk_returns_from(w, sp + b.frame_size * 8ul - 8);
}

/*
 * Return whether the word at slot is the return address of native code that Java called, or of a signal's
 * handler.
 */
static bool leads_to_java(const struct walk *w, uintptr_t slot)
{
	uintptr_t ret = walk_word(w, slot, 0);

	if (ret == vm.signal_return)
		return is_signal_frame(w, slot);
	return ret != vm_global(vm.call_stub_return) && walk_returns_from(w, slot) &&
	       code_calls_native(ret) && !code_returns_to_native_transition(ret) &&
	       has_whole_frame(w, ret, slot + 8);
}

/* Check whether fp is of call_stub: the native code beyond has called the Java code that is looked for. */
static bool enters_java(const struct walk *w, uintptr_t fp)
{
	return walk_on_stack(w, fp + ENTRY_WRAPPER) &&
	       native_is_call_wrapper(w, walk_word(w, fp, ENTRY_WRAPPER));
}

/*
 * Find the caller of native code that Java called without leaving an anchor (runtime leaf functions,
 * barriers, libm). libjvm and large functions of libraries keep frame pointers. If their chain is whole, it
 * leads back to Java or to a signal's handler.
 */
static bool follow_frame_pointers(const struct walk *w, uintptr_t sp, uintptr_t *fp, uintptr_t *slot)
{
	uintptr_t at = *fp, ret;
	int i;

	for (i = 0; i < 64; i++) {
		if (!walk_on_stack(w, at) || !walk_on_stack(w, at + 8) || at < sp)
			return false;
		ret = walk_word(w, at, 8);
		if (vm_in_code(ret) || ret == vm.signal_return) {
			if (!leads_to_java(w, at + 8))
				return false;
			*slot = at + 8;
			*fp = walk_word(w, at, 0);
			return true;
		}
		if (enters_java(w, at))
			return false;
		sp = at + 16;
		at = walk_word(w, at, 0);
	}
	return false;
}

/* Do the same when the innermost functions keep none: they have saved the one of their caller in libjvm. */
static bool find_frame_pointers(const struct walk *w, uintptr_t sp, uintptr_t *fp, uintptr_t *slot)
{
	uintptr_t at;
	int i;

	for (i = 0; i < SCAN_WORDS && walk_on_stack(w, sp); i++, sp += 8) {
		at = walk_word(w, sp, 0);
		if (at <= sp || !walk_on_stack(w, at + 8) ||
		    walk_word(w, at, 8) - vm.text_lo >= vm.text_hi - vm.text_lo ||
		    !follow_frame_pointers(w, sp + 8, &at, slot))
			continue;
		*fp = at;
		return true;
	}
	return false;
}

/*
 * Not every word that looks like a return address is in use. But a call out of compiled code into native
 * code is rare in what old calls left behind: the first such wins.
 */
static enum native_caller scan_for_caller(const struct walk *w, struct native_frame *f, uintptr_t *slot)
{
	uintptr_t p = f->sp;
	int i;

	for (i = 0; i < SCAN_WORDS && walk_on_stack(w, p); i++, p += 8) {
		*slot = p;
		if (is_signal_frame(w, p))
			return CALLER_SIGNAL;
		if (native_is_call_wrapper(w, p))
			return CALLER_WRAPPER;
		if (!leads_to_java(w, p))
			continue;
		/* what libjvm pushes first */
		if (p > f->sp && walk_on_stack(w, walk_word(w, p, -8)))
			f->fp = walk_word(w, p, -8);
		return CALLER_JAVA;
	}
	return CALLER_NONE;
}

struct walk_regs native_regs_of(const struct ucontext *uc)
{
	const struct sigcontext_64 *g = (const void *)&uc->uc_mcontext;

	return (struct walk_regs){
		.pc = g->ip, .sp = g->sp, .fp = g->bp, .rax = g->ax, .rbx = g->bx, .rcx = g->cx, .rdx = g->dx,
		.rdi = g->di, .r12 = g->r12, .r13 = g->r13, .r14 = g->r14, .r15 = g->r15,
	};
}

static enum native_caller find_caller(const struct walk *w, struct native_frame *f, uintptr_t *slot)
{
	enum { RESTORER_LEN = 9 };

	/* the handler has returned, and the signal is about to */
	*slot = f->sp - 8;
	if (f->pc - vm.signal_return < RESTORER_LEN && has_java_context(w, *slot))
		return CALLER_SIGNAL;
	*slot = f->sp;
	if (is_signal_frame(w, f->sp))
		return CALLER_SIGNAL;
	if (follow_frame_pointers(w, f->sp, &f->fp, slot))
		return is_signal_frame(w, *slot) ? CALLER_SIGNAL : CALLER_JAVA;
	/* at the very entry of the function, before it has pushed anything */
	*slot = f->sp;
	if (leads_to_java(w, f->sp))
		return CALLER_JAVA;
	if (find_frame_pointers(w, f->sp, &f->fp, slot))
		return is_signal_frame(w, *slot) ? CALLER_SIGNAL : CALLER_JAVA;
	return scan_for_caller(w, f, slot);
}

enum native_caller native_caller(const struct walk *w, const struct walk_regs *r, struct native_frame *f,
				 uintptr_t *slot)
{
	enum native_caller caller = find_caller(w, f, slot);

	(void)r;
	if (caller == CALLER_JAVA) {
		f->pc = walk_word(w, *slot, 0);
		f->sp = *slot + 8;
	}
	return caller;
}

uintptr_t native_signal_regs(const struct walk *w, uintptr_t slot, struct walk_regs *r)
{
	*r = (struct walk_regs){
		.pc = walk_word(w, slot, SIGNAL_RIP),
		.sp = walk_word(w, slot, SIGNAL_RSP),
		.fp = walk_word(w, slot, SIGNAL_RBP),
		.rax = walk_word(w, slot, SIGNAL_RAX),
		.rdi = walk_word(w, slot, SIGNAL_RDI),
		.rbx = walk_word(w, slot, SIGNAL_RBX),
		.rcx = walk_word(w, slot, SIGNAL_RCX),
		.rdx = walk_word(w, slot, SIGNAL_RDX),
		.r12 = walk_word(w, slot, SIGNAL_R12),
		.r13 = walk_word(w, slot, SIGNAL_R13),
		.r14 = walk_word(w, slot, SIGNAL_R14),
		.r15 = walk_word(w, slot, SIGNAL_R15),
	};
	return slot + SIGNAL_END;
}
