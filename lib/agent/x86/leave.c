// SPDX-License-Identifier: MIT
/*
 * leave.c - from code of HotSpot's to its caller (leave.h), x86-64.
 *
 * Runs in a signal handler, by the rules of walk.c.
 */
#include "agent/hotspot/cursor.h"
#include "agent/hotspot/leave.h"
#include "agent/x86/walk_code.h"

enum { STUB_SCAN_WORDS = 96 };

/* ---- interpreter ---- */

/*
 * The frame is entered but not yet (completely) built, or already torn down. On entry rbx or the
 * half-built frame has the method, and r13 the caller's sp; on exit the method is gone, and r13 has the
 * return address, rbx the caller's sp.
 */
bool leave_leaf_interpreter(struct walk *w, struct cursor *c)
{
	const struct walk_regs *r = c->leaf;
	uintptr_t slot;
	int i;

	if (walk_push_interpreted(w, c, r->rbx, NAMES_IF_LINKED, 0, 0) == NAMES_NO_ROOM) {
		w->no_room = true;
		return false;
	}
	if (!w->nr_frames)
		push_stub(w, c->pc);
	/* torn down up to the return address */
	if (code_leaves_interpreter(c->pc) && walk_returns_from(w, r->sp) && walk_on_stack(w, r->rbx)) {
		c->pc = walk_word(w, r->sp, 0);
		c->sp = r->rbx;
		return true;
	}
	/* Reference.get(), CRC32.update() */
	if (code_leaves_by_rdi(c->pc) && walk_is_return(r->rdi) && walk_on_stack(w, r->r13)) {
		c->pc = r->rdi;
		c->sp = r->r13;
		return true;
	}
	/*
	 * rbp pushed and set: the frame is as far as its return address, perhaps its sender's sp.
	 * While r13 has that, a frame beyond it is the caller's.
	 */
	if (!(walk_on_stack(w, r->r13) && r->r13 <= r->fp) && walk_on_stack(w, r->fp) && r->fp >= r->sp &&
	    r->fp - r->sp <= -INTERP_LOWEST &&
	    walk_returns_from(w, r->fp + 8)) {
		uintptr_t sender = r->fp > r->sp ? walk_word(w, r->fp, INTERP_SENDER_SP) : r->r13;

		if (walk_on_stack(w, sender) && sender > r->fp) {
			c->pc = walk_word(w, r->fp, 8);
			c->fp = walk_word(w, r->fp, 0);
			c->sp = sender;
			return true;
		}
	}
	if (walk_is_return(r->r13) && walk_on_stack(w, r->rbx)) {
		c->pc = r->r13;
		c->sp = r->rbx;
		return true;
	}
	if (walk_is_return(r->rax) && walk_on_stack(w, r->r13)) {
		c->pc = r->rax;
		c->sp = r->r13;
		return true;
	}
	for (i = 0, slot = r->sp; i < 16; i++, slot += 8)
		if (walk_returns_from(w, slot)) {
			return_through(w, c, slot);
			if (walk_on_stack(w, r->r13) && r->r13 > c->sp && r->r13 - c->sp < 2048)
				c->sp = r->r13;
			return true;
		}
	push_mark(w, JVM_MARK_INTERPRETER);
	return false;
}

/* Return whether pc is in the entry code of the method in rbx. */
static bool enters_method(struct walk *w, const struct cursor *c)
{
	struct method_info m;

	return walk_method_of(w, c->leaf->rbx, NAMES_IF_LINKED, 0, &m) == NAMES_OK;
}

/*
 * The interpreter's entry of a method that has a stub for it (Math.sin, CRC32.update) builds
 * no frame: the return address is below the sender's sp in r13. Elsewhere r13 is a bcp.
 */
static bool leave_intrinsic_entry(struct walk *w, struct cursor *c)
{
	uintptr_t r13 = c->stub->r13;

	if (!vm_in_range(&vm_known.method_entry, c->pc) || r13 <= c->sp || r13 - c->sp > 256 ||
	    !walk_returns_from(w, r13 - 8))
		return false;
	push_stub(w, frame_pc(c));
	if (walk_on_stack(w, c->fp) && c->fp >= c->sp && c->fp < r13)
		c->fp = walk_word(w, c->fp, 0);
	return_through(w, c, r13 - 8);
	return true;
}

bool leave_frameless_interpreter(struct walk *w, struct cursor *c, bool *left)
{
	/* while a method is being entered, rbp may still be its caller's */
	if (c->leaf && vm_in_range(&vm_known.method_entry, c->pc) &&
	    walk_is_interpreter_frame(w, c->fp, c->sp) &&
	    walk_word(w, c->fp, INTERP_METHOD) != c->leaf->rbx && enters_method(w, c)) {
		*left = leave_leaf_interpreter(w, c);
		return true;
	}
	*left = c->stub && leave_intrinsic_entry(w, c);
	return *left;
}

/* ---- compiled code ---- */

static bool in_stub_section(const struct vm_blob *b, uintptr_t pc)
{
	return vm.o.nm_stub_offset >= 0 && pc >= b->addr + vm_i32(b->addr, vm.o.nm_stub_offset);
}

/* Return how far the innermost frame of compiled code is built, from the code around pc. */
static enum code_state nmethod_state(const struct vm_blob *b, uintptr_t pc, bool native)
{
	const struct vm_offsets *o = &vm.o;
	uintptr_t entry = b->begin, osr;
	enum code_state s = native ? code_native(b->begin, b->frame_complete, pc) : CODE_UNKNOWN;

	if (s != CODE_UNKNOWN)
		return s;
	s = code_epilogue(pc);
	if (s != CODE_FULL)
		return s;
	if (in_stub_section(b, pc))
		return CODE_UNKNOWN;
	if (o->nm_verified_entry >= 0)
		entry = vm_word(b->addr, o->nm_verified_entry);
	else if (o->nm_verified_offset >= 0)
		entry = b->begin + vm_u16(b->addr, o->nm_verified_offset);
	if (pc < entry)
		return CODE_RETURN_AT_SP;
	if (pc < entry + 64 || b->frame_complete < 0 || pc < b->begin + b->frame_complete)
		s = code_prologue(entry, pc);
	if (s == CODE_FULL && o->nm_osr_entry >= 0 && o->nm_entry_bci >= 0 &&
	    vm_i32(b->addr, o->nm_entry_bci) >= 0) {
		osr = vm_word(b->addr, o->nm_osr_entry);
		if (pc >= osr && pc < osr + 64)
			s = code_prologue(osr, pc);
	}
	return s;
}

/*
 * The frame's own stack pointer as String.indexOf() has saved it. Words beneath it that look like return
 * addresses are left from calls before.
 */
static bool leave_moved_sp(struct walk *w, struct cursor *c, const struct vm_blob *b)
{
	enum { MOST = 9 * 8 };		/* two strings, and what is pushed */
	uintptr_t old = 0;

	switch (code_old_sp(b->begin, c->pc)) {
	case CODE_OLD_SP_NONE:
		return false;
	case CODE_OLD_SP_IN_RCX:
		old = c->leaf->rcx;
		break;
	case CODE_OLD_SP_ON_TOP:
		old = walk_on_stack(w, c->sp) ? walk_word(w, c->sp, 0) : 0;
		break;
	}
	return old > c->sp && old - c->sp <= MOST && walk_leave_frame(w, c, old + b->frame_size * 8ul - 8);
}

/*
 * What the code says is tried first; then what else a frame may look like: pushes inside an
 * intrinsic on top of a complete frame (up to four), no frame, only rbp pushed.
 */
static bool leave_leaf_nmethod(struct walk *w, struct cursor *c, const struct vm_blob *b, bool native)
{
	uintptr_t sp = c->sp, full = sp + b->frame_size * 8ul - 8;
	enum code_state s = nmethod_state(b, c->pc, native);
	int i;

	if (s == CODE_RBP_FRAME && c->fp >= sp && walk_leave_frame(w, c, c->fp + 8))
		return true;

	if (s == CODE_RETURN_AT_SP || s == CODE_UNKNOWN || b->frame_size <= 0) {
		if (walk_returns_from(w, sp)) {
			return_through(w, c, sp);
			return true;
		}
	}
	if (s == CODE_RBP_AT_SP && walk_leave_frame(w, c, sp + 8))
		return true;
	if (s == CODE_FULL_RBP_LIVE && walk_returns_from(w, full)) {
		return_through(w, c, full);
		return true;
	}
	if (b->frame_size > 0 && leave_moved_sp(w, c, b))
		return true;
	if (b->frame_size > 0 && walk_leave_frame(w, c, full + code_pushed(c->pc, b->frame_size) * 8ul))
		return true;
	for (i = 0; i <= 4 && b->frame_size > 0; i++)
		if (walk_leave_frame(w, c, full + i * 8ul))
			return true;
	for (i = 0; i < 3; i++)
		if (walk_returns_from(w, sp + i * 8ul)) {
			if (i == 1)
				c->fp = walk_word(w, sp, 0);
			return_through(w, c, sp + i * 8ul);
			return true;
		}
	return false;
}

bool leave_call_stub(struct walk *w, struct cursor *c, const struct vm_blob *b)
{
	if (!in_stub_section(b, c->pc) || !walk_returns_from(w, c->sp) ||
	    !code_calls_blob(walk_word(w, c->sp, 0), b->addr))
		return false;
	push_stub(w, c->pc);
	return_through(w, c, c->sp);
	return true;
}

bool leave_is_at_frame(const struct cursor *c, const struct vm_blob *b)
{
	enum code_state s;

	if (!c->leaf)
		return false;
	if (code_frame_ends(c->pc))
		return true;
	s = nmethod_state(b, c->pc, false);
	return s == CODE_RETURN_AT_SP || s == CODE_RBP_AT_SP || s == CODE_FULL_RBP_LIVE;
}

bool leave_nmethod(struct walk *w, struct cursor *c, const struct vm_blob *b, bool native)
{
	/* what was pushed for the call is popped when it returns */
	if (c->above_stub)
		c->sp += code_pops(c->pc, b->frame_size) * 8ul;
	/* and what was saved around a call into the VM, as barriers do it */
	if (c->above_leaf_call)
		c->sp += code_restores(c->pc, b->frame_size) * 8ul;
	if (c->above_leaf_call && b->frame_size <= 0 && walk_leave_frame(w, c, c->sp))
		return true;
	if (c->leaf)
		return leave_leaf_nmethod(w, c, b, native);
	return b->frame_size > 0 && walk_leave_frame(w, c, c->sp + b->frame_size * 8ul - 8);
}

/* ---- stubs and adapters ---- */

/* The word at slot is where a call from Java to the stub in b returns to. */
static bool returns_from_stub(const struct walk *w, uintptr_t slot, const struct vm_blob *b, bool surely)
{
	return walk_returns_from(w, slot) && (surely ? code_calls_blob(walk_word(w, slot, 0), b->addr) :
						  code_calls_stub(walk_word(w, slot, 0)));
}

/* Return where a call to the stub returns to: the word on top, or above rbp, which most big stubs set up. */
static uintptr_t near_call(const struct walk *w, const struct cursor *c, const struct vm_blob *b, bool surely)
{
	uintptr_t slot = c->fp + 8;

	if (returns_from_stub(w, c->sp, b, surely))
		return c->sp;
	return walk_on_stack(w, c->fp) && c->fp >= c->sp && returns_from_stub(w, slot, b, surely) ? slot : 0;
}

static bool leave_near_call(const struct walk *w, struct cursor *c, const struct vm_blob *b, bool surely)
{
	uintptr_t slot = c->fp + 8;

	/* the barrier at a method's entry has pushed -1 first */
	if (walk_on_stack(w, slot + 8) && c->fp >= c->sp && walk_word(w, slot, 0) == UINTPTR_MAX &&
	    walk_returns_from(w, slot + 8)) {
		c->fp = walk_word(w, c->fp, 0);
		return_through(w, c, slot + 8);
		return true;
	}
	slot = near_call(w, c, b, surely);
	if (!slot)
		return false;
	if (slot != c->sp)
		c->fp = walk_word(w, c->fp, 0);
	return_through(w, c, slot);
	return true;
}

/* Return whether the word at slot is where a call from Java to a function of libjvm returns to. */
static bool returns_from_libjvm(const struct walk *w, uintptr_t slot)
{
	return walk_returns_from(w, slot) &&
	       code_call_target(walk_word(w, slot, 0)) - vm.text_lo < vm.text_hi - vm.text_lo;
}

/*
 * Leave the stub if Java code called a function of libjvm that has jumped on to it: SharedRuntime::drem()
 * does so to fmod().
 */
static bool leave_tail_call(const struct walk *w, struct cursor *c)
{
	if (walk_on_stack(w, c->fp) && c->fp >= c->sp && returns_from_libjvm(w, c->fp + 8))
		return walk_leave_frame(w, c, c->fp + 8);
	/* rbp is not yet saved, or restored; or has just been saved */
	if (returns_from_libjvm(w, c->sp)) {
		return_through(w, c, c->sp);
		return true;
	}
	return returns_from_libjvm(w, c->sp + 8) && walk_leave_frame(w, c, c->sp + 8);
}

/*
 * Find the caller of a stub whose frame is not described: right there, otherwise the first one up the stack.
 */
static bool leave_called_stub(const struct walk *w, struct cursor *c, const struct vm_blob *b, bool surely)
{
	uintptr_t slot;
	int i;

	if (leave_near_call(w, c, b, surely))
		return true;
	for (i = 1; i < STUB_SCAN_WORDS; i++) {
		slot = c->sp + i * 8ul;
		if (!returns_from_stub(w, slot, b, surely))
			continue;
		if (code_call_pushes_rbp(walk_word(w, slot, 0)))
			c->fp = walk_word(w, slot, -8);
		return_through(w, c, slot);
		return true;
	}
	return false;
}

/*
 * Leave an adapter between two calling conventions: the return address is on top of the stack, for a
 * moment in rax. From compiled to interpreted code, arguments are laid out below the caller's sp, which
 * is in r13 then.
 */
static bool leave_adapter(struct walk *w, struct cursor *c, const struct vm_blob *b)
{
	const struct walk_regs *r = c->leaf;
	enum code_r13 state = r ? code_adapter(b->begin, c->pc) : CODE_R13_OTHER;
	uintptr_t caller_sp = 0;

	if (state != CODE_R13_OTHER && !walk_on_stack(w, r->r13))
		state = CODE_R13_OTHER;
	if (state == CODE_R13_AT_RETURN && walk_returns_from(w, r->r13)) {
		return_through(w, c, r->r13);
		return true;
	}
	if (state == CODE_R13_CALLER_SP)
		caller_sp = r->r13;
	if (walk_returns_from(w, c->sp))
		return_through(w, c, c->sp);
	else if (r && walk_is_return(r->rax))
		c->pc = r->rax;
	else
		return false;
	if (caller_sp > c->sp)
		c->sp = caller_sp;
	return true;
}

/*
 * Leave an adapter that called the VM. To have it make the caller's call go to where it should, all
 * registers are saved below the caller's stack pointer, which is in r13; for a barrier, on top of
 * the return address.
 */
static bool leave_calling_adapter(const struct walk *w, struct cursor *c, const struct vm_blob *b)
{
	enum { R13 = 2 * 8, RBP = 10 * 8 };
	uintptr_t end = b->addr + vm_i32(b->addr, vm.o.blob_size), saved, slot;
	int words = code_restores(c->pc, 0);
	size_t fpu;

	if (words && walk_returns_from(w, c->sp + words * 8ul)) {
		return_through(w, c, c->sp + words * 8ul);
		return true;
	}
	fpu = code_saved_fpu(c->pc, end);
	saved = c->sp + fpu;
	if (!fpu || !walk_on_stack(w, saved + RBP))
		return false;
	slot = walk_word(w, saved, R13);
	if (slot <= saved || !walk_returns_from(w, slot))
		return false;
	c->fp = walk_word(w, saved, RBP);
	return_through(w, c, slot);
	return true;
}

/* Leave code without a frame, or with something small above the return address. */
static bool leave_frameless(struct walk *w, struct cursor *c)
{
	int i;

	for (i = 0; i < 3; i++)
		if (walk_returns_from(w, c->sp + i * 8ul)) {
			return_through(w, c, c->sp + i * 8ul);
			return true;
		}
	return false;
}

/*
 * Leave a stub that restores all registers at its end: above them are the flags, rbp and the
 * return address. Bits 1 (always) and 9 (interrupts) of the flags are set, none above 21.
 */
static bool leave_saved_registers(const struct walk *w, struct cursor *c)
{
	uintptr_t slot;
	int i;

	for (i = 2, slot = c->sp + 16; i < 24 && walk_on_stack(w, slot); i++, slot += 8)
		if ((walk_word(w, slot, -16) & ~0x3ffdfdul) == 0x202 && walk_returns_from(w, slot)) {
			c->fp = walk_word(w, slot, -8);
			return_through(w, c, slot);
			return true;
		}
	return false;
}

/*
 * Leave a stub whose code says how far its frame is built: C2's are as its methods are, others begin with
 * push rbp.
 */
static bool leave_decoded_stub(const struct walk *w, struct cursor *c, const struct vm_blob *b)
{
	enum { MAX_FRAME = 4096 };
	uintptr_t full = c->sp + (b->frame_size > 0 ? b->frame_size * 8ul - 8 : MAX_FRAME);
	enum code_state s = CODE_UNKNOWN;

	if (c->leaf && b->frame_size > 0)
		s = code_compiled_stub(b->begin, c->pc, b->frame_size);
	if (s == CODE_UNKNOWN && b->kind == VM_BLOB_STUB)
		s = code_framed_stub(b->begin, c->pc);
	switch (s) {
	case CODE_FULL:
		return walk_leave_frame(w, c, full);
	case CODE_RBP_AT_SP:
		return walk_leave_frame(w, c, c->sp + 8);
	case CODE_RBP_FRAME:
		return c->fp >= c->sp && c->fp < full && walk_leave_frame(w, c, c->fp + 8);
	case CODE_RETURN_IN_RDX:
		return c->leaf && walk_is_return(c->leaf->rdx) && leave_to(c, c->leaf->rdx);
	case CODE_FULL_RBP_LIVE:
		if (!walk_returns_from(w, full))
			return false;
		return_through(w, c, full);
		return true;
	case CODE_RETURN_AT_SP:
		if (!walk_returns_from(w, c->sp))
			return false;
		return_through(w, c, c->sp);
		return true;
	case CODE_UNKNOWN:
		break;
	}
	return false;
}

static bool leave_framed_stub(struct walk *w, struct cursor *c, const struct vm_blob *b)
{
	uintptr_t full = c->sp + b->frame_size * 8ul - 8;

	if (b->frame_size <= 0)
		return !c->leaf && leave_frameless(w, c);
	if (!c->leaf)
		return walk_leave_frame(w, c, full);
	if (b->frame_complete >= 0 && c->pc >= b->begin + b->frame_complete &&
	    code_epilogue(c->pc) == CODE_FULL && walk_leave_frame(w, c, full))
		return true;
	return leave_saved_registers(w, c) || leave_frameless(w, c) || walk_leave_frame(w, c, full);
}

/*
 * Continue at an address in compiled code that is not a return address but the next instruction to execute.
 */
static bool go_on_at(struct cursor *c, uintptr_t pc)
{
	struct vm_blob b;

	if (!vm_find_blob(pc, &b) || b.kind != VM_BLOB_NMETHOD || pc < b.begin)
		return false;
	c->pc = pc + 1;
	c->left_stub = false;	/* nothing was pushed for a call, for there was none */
	return true;
}

static bool leave_through_handler(const struct walk *w, struct cursor *c, uintptr_t slot)
{
	if (walk_returns_from(w, slot)) {
		return_through(w, c, slot);
		return true;
	}
	if (!walk_on_stack(w, slot) || !go_on_at(c, walk_word(w, slot, 0)))
		return false;
	c->sp = slot + 8;
	return true;
}

/* Leave a stub that overwrites its own return address, in the frame that rbp points to. */
static bool leave_handler_stub(const struct walk *w, struct cursor *c, const struct vm_blob *b)
{
	uintptr_t full = c->sp + b->frame_size * 8ul - 8, slot = c->fp + 8;

	if (c->leaf && code_jumps_to_rcx(c->pc))
		return go_on_at(c, c->leaf->rcx);
	if (c->leaf &&
	    (code_framed_stub(b->begin, c->pc) == CODE_RETURN_AT_SP || code_jumps_to_rcx(c->pc + 1)))
		return leave_through_handler(w, c, c->sp);
	if (walk_on_stack(w, c->fp) && c->fp >= c->sp && (slot <= full || b->frame_size <= 0)) {
		c->fp = walk_word(w, c->fp, 0);
		return leave_through_handler(w, c, slot);
	}
	return !c->leaf && b->frame_size > 0 && leave_through_handler(w, c, full);
}

static bool leave_leaf_stub(struct walk *w, struct cursor *c, const struct vm_blob *b)
{
	if (leave_decoded_stub(w, c, b))
		return true;
	/* a call of the VM's may go elsewhere by now, so that what else has the stub's frame comes first */
	if (b->kind == VM_BLOB_STUB && (leave_near_call(w, c, b, true) || leave_saved_registers(w, c)))
		return true;
	if (b->kind == VM_BLOB_ROUTINES && !near_call(w, c, b, true) && leave_tail_call(w, c))
		return true;
	return leave_called_stub(w, c, b, true) ||
	       (b->kind == VM_BLOB_ROUTINES && leave_called_stub(w, c, b, false)) ||
	       leave_framed_stub(w, c, b) || leave_frameless(w, c);
}

bool leave_stub(struct walk *w, struct cursor *c, const struct vm_blob *b)
{
	if (b->kind == VM_BLOB_DISPATCH)
		return c->leaf && leave_frameless(w, c);
	if (b->kind == VM_BLOB_HANDLER)
		return leave_handler_stub(w, c, b) || (c->leaf && leave_saved_registers(w, c));
	if (b->kind == VM_BLOB_ADAPTER)
		return (c->above_leaf_call && leave_calling_adapter(w, c, b)) || leave_adapter(w, c, b) ||
		       leave_frameless(w, c);
	if (c->leaf && code_jumps_to_handler(c->pc) && walk_is_return(c->leaf->rdx))
		return leave_to(c, c->leaf->rdx);
	if (c->leaf)
		return leave_leaf_stub(w, c, b);
	return (c->above_leaf_call && leave_decoded_stub(w, c, b)) ||
	       (b->kind == VM_BLOB_ROUTINES && leave_called_stub(w, c, b, true)) ||
	       leave_framed_stub(w, c, b) || leave_called_stub(w, c, b, false);
}

/* ---- from native code ---- */

/* The first word on top that returns to libjvm, unless one of Java's is beneath it. */
static bool leave_to_native(const struct walk *w, const struct cursor *c, struct native_frame *f)
{
	uintptr_t slot = c->sp, ret;
	int i;

	for (i = 0; i < 8 && walk_on_stack(w, slot); i++, slot += 8) {
		ret = walk_word(w, slot, 0);
		if (ret >= vm.text_lo + 8 && ret < vm.text_hi && code_call_before(ret)) {
			*f = (struct native_frame){ ret, slot + 8, c->leaf->fp };
			if (i && c->leaf->fp == slot - 8)
				f->fp = walk_word(w, slot, -8);
			return true;
		}
		if (walk_is_return(ret))
			return false;
	}
	return false;
}

/* The stub's own frame may have words of old calls where it has written nothing yet. */
bool leave_to_vm(const struct walk *w, const struct cursor *c, const struct vm_blob *b,
		 struct native_frame *f)
{
	return !near_call(w, c, b, true) && leave_to_native(w, c, f);
}

bool leave_half_entered(const struct walk *w, const struct cursor *c, struct native_frame *f)
{
	enum { PROLOGUE = 4 };	/* push rbp; mov rbp, rsp */

	return c->leaf && (c->pc - vm_known.call_stub.lo < PROLOGUE || code_epilogue(c->pc) != CODE_FULL) &&
	       leave_to_native(w, c, f);
}

bool leave_is_called(uintptr_t pc, uintptr_t blob_end)
{
	return code_call_before(pc) || (pc + CODE_THROW_LEN <= blob_end && code_throws_at(pc));
}
