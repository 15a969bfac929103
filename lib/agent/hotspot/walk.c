// SPDX-License-Identifier: MIT
/*
 * walk.c - walks the stack of an interrupted thread (walk.h), x86-64.
 *
 * Runs in a signal handler: no lock, no allocation, no call out of the agent. Or in another thread than the
 * one that it walks, which is blocked then (blocked.h).
 *
 * Loads:
 *  [1] the stack between the interrupted sp and the thread's stack base is mapped, or copied when it is
 *      another thread's; every address is checked against those bounds (on_stack) before it is loaded;
 *  [2] a code blob is looked at only through vm_find_blob(), which stays in committed code
 *      cache; a blob that a return address on this stack points into is alive;
 *  [3] what may be a Method* is left to names_get(), which knows how to doubt.
 *
 * Frames (source: HotSpot's cpu/x86/frame_x86.cpp, frame.inline.hpp, stubGenerator):
 *   nmethod      sp + frame_size words: [-8] return address, [-16] saved rbp
 *   interpreter  rbp: [0] rbp, [8] return address, [-8] sender's sp, [-24] method, [-64] bcp
 *   call_stub    rbp: [-48] JavaCallWrapper, [-56] rbx, [-64..-88] r12..r15: C++ called Java
 *   stubs        frame_size when the blob has one, else rbp or nothing
 * Only the innermost frame can be half built; the leaf_*() functions are about that.
 */
#include "agent/hotspot/names.h"
#include "agent/hotspot/walk.h"
#include "agent/hotspot/walk_native.h"
#include "agent/ring.h"
#include "agent/x86/walk_code.h"

enum {
	INTERP_SENDER_SP = -8,
	INTERP_METHOD = -24,
	INTERP_BCP = -64,		/* one word less in JDK 8, whose frames have no mirror */
	INTERP_LOWEST = -72,
	ENTRY_WRAPPER = -48,
	ENTRY_RBX = -56,
	ENTRY_R12 = -64,
	ENTRY_R13 = -72,
	ENTRY_R14 = -80,
	ENTRY_R15 = -88,
	STUB_SCAN_WORDS = 96,
	WRAPPER_SCAN_WORDS = 64,
};

/* A frame being looked at. */
struct cursor {
	uintptr_t pc, sp, fp;
	const struct walk_regs *leaf;	/* NULL in all but the innermost frame */
	const struct walk_regs *stub;	/* the frame before was a stub, the innermost of all: its registers */
	bool above_stub;		/* the frame before was a stub */
	bool left_stub;			/* the frame just left was one */
	bool above_leaf_call;		/* native code was interrupted that this frame called directly */
};

/* f: what its kind has beside a pc. */
static void push(struct walk *w, enum jvm_frame_kind kind, uintptr_t pc, struct jvm_rec_frame f)
{
	f.kind_pc = (uint64_t)kind << JVM_FRAME_PC_BITS | (pc & ((1ull << JVM_FRAME_PC_BITS) - 1));
	w->frames[w->nr_frames++] = f;
}

static void push_stub(struct walk *w, uintptr_t pc)
{
	push(w, JVM_STUB, pc, (struct jvm_rec_frame){ 0 });
}

/* There is always room for the mark that ends a walk. Says where it gave up, to those who mend it. */
#define push_mark(w, why) push(w, JVM_MARK, 0, (struct jvm_rec_frame){ .line = __LINE__, .mark = why })

static uintptr_t frame_pc(const struct cursor *c)
{
	return c->leaf ? c->pc : c->pc - 1;
}

static struct jvm_rec_segment *push_segment(struct walk *w, uintptr_t pc, uintptr_t sp, uintptr_t fp,
					    uintptr_t end)
{
	struct jvm_rec_segment *s;

	if (w->nr_segments == JVM_MAX_SEGMENTS)
		return NULL;
	s = &w->segments[w->nr_segments];
	*s = (struct jvm_rec_segment){ .pc = pc, .sp = sp, .fp = fp, .len = UINT32_MAX };
	if (end && end - sp < UINT32_MAX)
		s->len = end - sp;
	push(w, JVM_NATIVE, pc, (struct jvm_rec_frame){ .segment = w->nr_segments++ });
	return s;
}

/* Native code that was interrupted itself; end 0: unknown, else where Java frames begin again. */
static void push_leaf_segment(struct walk *w, const struct walk_regs *r, uintptr_t end, uint32_t flags)
{
	struct jvm_rec_segment *s = push_segment(w, r->pc, r->sp, r->fp, end);

	if (!s)
		return;
	s->rbx = r->rbx;
	s->r12 = r->r12;
	s->r13 = r->r13;
	s->r14 = r->r14;
	s->r15 = r->r15;
	s->flags = JVM_SEG_VALID | JVM_SEG_EXACT | flags;
}

/* --- is this word a return address? --- */

static bool is_return_address(uintptr_t pc)
{
	struct vm_blob b;

	if (!vm_in_code(pc))
		return false;
	if (pc == *vm.call_stub_return || vm_in_range(&vm_known.return_barrier, pc))
		return true;
	if (!vm_find_blob(pc, &b) || pc < b.begin)
		return false;
	return b.kind == VM_BLOB_INTERPRETER || vm_is_deopt_handler(b.addr, pc) || code_call_before(pc) ||
	       (pc + CODE_THROW_LEN <= b.addr + vm_i32(b.addr, vm.o.blob_size) && code_throws_at(pc));
}

bool walk_returns_from(const struct walk *w, uintptr_t slot)
{
	return walk_on_stack(w, slot) && is_return_address(walk_word(w, slot, 0));
}

static bool leave_to(struct cursor *c, uintptr_t pc)
{
	c->pc = pc;
	return true;
}

/* The caller's pc is at slot, its sp just above. */
static void return_through(const struct walk *w, struct cursor *c, uintptr_t slot)
{
	c->pc = walk_word(w, slot, 0);
	c->sp = slot + 8;
}

/* --- interpreter --- */

static int interp_bcp(void)
{
	return INTERP_BCP + (vm.is_8 ? 8 : 0);
}

static bool is_interpreter_frame(const struct walk *w, uintptr_t fp, uintptr_t sp)
{
	uintptr_t sender;

	if (!walk_on_stack(w, fp + 8) || !walk_on_stack(w, fp + INTERP_LOWEST) || fp < sp)
		return false;
	sender = walk_word(w, fp, INTERP_SENDER_SP);
	return sender > fp && walk_on_stack(w, sender);
}

static enum names_result method_of(struct walk *w, uintptr_t method, enum names_trust trust, uintptr_t bcp,
				   struct method_info *m)
{
	if (unlikely(w->thread.blocked))
		return names_get_of(w->thread.blocked, method, trust, bcp, w->ring, m);
	return names_get(method, trust, bcp, w->ring, m);
}

/* Only the innermost Java frames tell what a thread waits for. */
static void note_waits(struct walk *w, const struct method_info *m)
{
	enum { INNERMOST = 8 };

	if (m->waits && w->nr_frames < INNERMOST)
		w->waits |= 1u << m->waits;
}

static enum names_result push_interpreted(struct walk *w, const struct cursor *c, uintptr_t method,
					  enum names_trust trust, uintptr_t bcp, uintptr_t better_bcp)
{
	struct method_info m;
	enum names_result r = method_of(w, method, trust, bcp, &m);
	uint32_t bci = 0;

	if (r != NAMES_OK)
		return r;
	note_waits(w, &m);
	if (better_bcp - m.code < m.code_size)
		bcp = better_bcp;
	if (bcp - m.code < m.code_size)
		bci = bcp - m.code;
	push(w, JVM_INTERPRETED, frame_pc(c), (struct jvm_rec_frame){ .method = m.id, .bci = bci });
	return NAMES_OK;
}

static void leave_interpreter(const struct walk *w, struct cursor *c, uintptr_t fp)
{
	c->pc = walk_word(w, fp, 8);
	c->sp = walk_word(w, fp, INTERP_SENDER_SP);
	c->fp = walk_word(w, fp, 0);
}

/*
 * Entered, frame not yet (completely) built, or already torn down: rbx or the half-built
 * frame has the method, r13 the caller's sp on entry; on exit the method is gone and r13 has
 * the return address, rbx the caller's sp.
 */
static bool leaf_interpreter(struct walk *w, struct cursor *c)
{
	const struct walk_regs *r = c->leaf;
	uintptr_t slot;
	int i;

	if (push_interpreted(w, c, r->rbx, NAMES_IF_LINKED, 0, 0) == NAMES_NO_ROOM) {
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
	if (code_leaves_by_rdi(c->pc) && is_return_address(r->rdi) && walk_on_stack(w, r->r13)) {
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
	if (is_return_address(r->r13) && walk_on_stack(w, r->rbx)) {
		c->pc = r->r13;
		c->sp = r->rbx;
		return true;
	}
	if (is_return_address(r->rax) && walk_on_stack(w, r->r13)) {
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

/* In the entry code of the method in rbx. */
static bool enters_method(struct walk *w, const struct cursor *c)
{
	struct method_info m;

	return method_of(w, c->leaf->rbx, NAMES_IF_LINKED, 0, &m) == NAMES_OK;
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

/*
 * In a heap chunk: rbp and the sender's sp are in words relative to where they are stored and
 * to the frame (stackChunkFrameStream_x86.inline.hpp). c->fp is where rbp is stored.
 */
static bool step_frozen_interpreter(struct walk *w, struct cursor *c)
{
	uintptr_t fp = walk_on_stack(w, c->fp) ? c->fp + walk_word(w, c->fp, 0) * 8 : 0, sp;
	enum names_result r;

	if (!walk_on_stack(w, fp + 8) || !walk_on_stack(w, fp + INTERP_LOWEST))
		goto lost;
	sp = fp + walk_word(w, fp, INTERP_SENDER_SP) * 8;
	if (sp <= fp || sp > w->stack_hi)
		goto lost;
	r = push_interpreted(w, c, walk_word(w, fp, INTERP_METHOD), NAMES_IF_BCP,
			     walk_word(w, fp, interp_bcp()), 0);
	if (r == NAMES_NO_ROOM)
		w->no_room = true;
	if (r == NAMES_NOT_A_METHOD)
		goto lost;
	c->pc = walk_word(w, fp, 8);
	c->sp = sp;
	c->fp = fp;
	return r == NAMES_OK;
lost:
	push_mark(w, JVM_MARK_VTHREAD);
	return false;
}

static bool step_interpreter(struct walk *w, struct cursor *c)
{
	uintptr_t better = c->leaf ? c->leaf->r13 : 0;
	enum names_result r = NAMES_NOT_A_METHOD;

	/* while a method is being entered, rbp may still be its caller's */
	if (c->leaf && vm_in_range(&vm_known.method_entry, c->pc) && is_interpreter_frame(w, c->fp, c->sp) &&
	    walk_word(w, c->fp, INTERP_METHOD) != c->leaf->rbx && enters_method(w, c))
		return leaf_interpreter(w, c);
	if (c->stub && leave_intrinsic_entry(w, c))
		return true;
	if (is_interpreter_frame(w, c->fp, c->sp) && walk_returns_from(w, c->fp + 8))
		r = push_interpreted(w, c, walk_word(w, c->fp, INTERP_METHOD), NAMES_IF_BCP,
				     walk_word(w, c->fp, interp_bcp()), better);
	if (r == NAMES_OK) {
		leave_interpreter(w, c, c->fp);
		return true;
	}
	if (r == NAMES_NO_ROOM) {
		w->no_room = true;
		return false;
	}
	if (c->leaf)
		return leaf_interpreter(w, c);
	push_mark(w, JVM_MARK_INTERPRETER);
	return false;
}

/* --- compiled code --- */

static bool leave_frame(const struct walk *w, struct cursor *c, uintptr_t ret_slot)
{
	/* the bottom frame of a chunk returns nowhere */
	bool bottom = w->frozen && ret_slot + 8 >= w->cont.end && walk_on_stack(w, ret_slot);

	if (!bottom && !walk_returns_from(w, ret_slot))
		return false;
	/* frozen interpreter frames are found by where their rbp is stored, not by its value */
	if (w->frozen)
		c->fp = ret_slot - 8;
	else if (walk_on_stack(w, ret_slot - 8) && ret_slot - 8 >= c->sp)
		c->fp = walk_word(w, ret_slot, -8);
	return_through(w, c, ret_slot);
	return true;
}

static bool in_stub_section(const struct vm_blob *b, uintptr_t pc)
{
	return vm.o.nm_stub_offset >= 0 && pc >= b->addr + vm_i32(b->addr, vm.o.nm_stub_offset);
}

/* How far the innermost frame of compiled code is built, from the code around pc. */
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
 * What the code says is tried first; then what else a frame may look like: pushes inside an
 * intrinsic on top of a complete frame (up to four), no frame, only rbp pushed.
 */
static bool leave_leaf_nmethod(struct walk *w, struct cursor *c, const struct vm_blob *b, bool native)
{
	uintptr_t sp = c->sp, full = sp + b->frame_size * 8ul - 8;
	enum code_state s = nmethod_state(b, c->pc, native);
	int i;

	if (s == CODE_RBP_FRAME && c->fp >= sp && leave_frame(w, c, c->fp + 8))
		return true;

	if (s == CODE_RETURN_AT_SP || s == CODE_UNKNOWN || b->frame_size <= 0) {
		if (walk_returns_from(w, sp)) {
			return_through(w, c, sp);
			return true;
		}
	}
	if (s == CODE_RBP_AT_SP && leave_frame(w, c, sp + 8))
		return true;
	if (s == CODE_FULL_RBP_LIVE && walk_returns_from(w, full)) {
		return_through(w, c, full);
		return true;
	}
	if (b->frame_size > 0 && leave_frame(w, c, full + code_pushed(c->pc, b->frame_size) * 8ul))
		return true;
	for (i = 0; i <= 4 && b->frame_size > 0; i++)
		if (leave_frame(w, c, full + i * 8ul))
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

/* On its way out: a call of the method goes to the interpreter by way of a stub at its own end. */
static bool in_call_stub_of(const struct walk *w, const struct cursor *c, const struct vm_blob *b)
{
	return in_stub_section(b, c->pc) && walk_returns_from(w, c->sp) &&
	       code_calls_blob(vm_word(c->sp, 0), b->addr);
}

/*
 * Interrupted where the method's own frame is built or goes: the compiler describes the next thing
 * that it did instead.
 */
static bool is_at_frame(const struct cursor *c, const struct vm_blob *b)
{
	enum code_state s;

	if (!c->leaf)
		return false;
	if (code_frame_ends(c->pc))
		return true;
	s = nmethod_state(b, c->pc, false);
	return s == CODE_RETURN_AT_SP || s == CODE_RBP_AT_SP || s == CODE_FULL_RBP_LIVE;
}

/*
 * A compile id is given once: of another thread's code it saves looking at the method, which costs a system
 * call.
 */
static enum names_result compiled_method(struct walk *w, const struct cursor *c, const struct vm_blob *b,
					 struct method_info *m)
{
	uintptr_t method = vm_word(b->addr, vm.o.nm_method);
	uint32_t id = vm_i32(b->addr, vm.o.nm_compile_id);
	struct blocked_code *known;
	enum names_result r;

	if (likely(!w->thread.blocked))
		return names_get(method, NAMES_ALIVE, 0, w->ring, m);
	known = &w->thread.blocked->code[id % BLOCKED_NR_CODES];
	if (!c->leaf && known->compile_id == id && known->method) {
		*m = (struct method_info){ .id = known->method, .waits = known->waits };
		return NAMES_OK;
	}
	r = names_get_of(w->thread.blocked, method, NAMES_ALIVE, 0, w->ring, m);
	if (r == NAMES_OK && blocked_holds(w->thread.blocked))
		*known = (struct blocked_code){ id, m->id, m->waits };
	return r;
}

static bool step_nmethod(struct walk *w, struct cursor *c, const struct vm_blob *b)
{
	struct method_info m = { 0 };
	enum names_result r = compiled_method(w, c, b, &m);
	uintptr_t pc = frame_pc(c), orig;
	uint32_t compile_id;

	if (r == NAMES_NO_ROOM) {
		w->no_room = true;
		return false;
	}
	if (c->leaf && in_call_stub_of(w, c, b)) {
		push_stub(w, c->pc);
		return_through(w, c, c->sp);
		return true;
	}
	/* the return address was replaced when the frame was marked for deoptimisation */
	if (!c->leaf && vm.o.nm_orig_pc >= 0 && vm_is_deopt_handler(b->addr, c->pc)) {
		orig = c->sp + vm_i32(b->addr, vm.o.nm_orig_pc);
		if (walk_on_stack(w, orig) &&
		    vm_word(orig, 0) - b->begin < (uint32_t)vm_i32(b->addr, vm.o.blob_size))
			pc = walk_word(w, orig, 0) - 1;
	}
	note_waits(w, &m);
	compile_id = vm_i32(b->addr, vm.o.nm_compile_id) | (is_at_frame(c, b) ? JVM_NOT_INLINED : 0);
	push(w, JVM_COMPILED, pc, (struct jvm_rec_frame){ .method = m.id, .compile_id = compile_id });
	/* what was pushed for the call is popped when it returns */
	if (c->above_stub)
		c->sp += code_pops(c->pc, b->frame_size) * 8ul;
	/* and what was saved around a call into the VM, as barriers do it */
	if (c->above_leaf_call)
		c->sp += code_restores(c->pc, b->frame_size) * 8ul;
	if (c->above_leaf_call && b->frame_size <= 0 && leave_frame(w, c, c->sp))
		return true;
	if (c->leaf ? leave_leaf_nmethod(w, c, b, !m.code_size) :
		      b->frame_size > 0 && leave_frame(w, c, c->sp + b->frame_size * 8ul - 8))
		return true;
	push_mark(w, JVM_MARK_NOT_WALKABLE);
	return false;
}

/* --- stubs and adapters --- */

/* The word at slot is where a call from Java to the stub in b returns to. */
static bool returns_from_stub(const struct walk *w, uintptr_t slot, const struct vm_blob *b, bool surely)
{
	return walk_returns_from(w, slot) && (surely ? code_calls_blob(vm_word(slot, 0), b->addr) :
						  code_calls_stub(walk_word(w, slot, 0)));
}

/* The return address of a call to the stub is on top, or above rbp, which most big stubs set up. */
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
	if (returns_from_stub(w, c->sp, b, surely)) {
		return_through(w, c, c->sp);
		return true;
	}
	if (walk_on_stack(w, c->fp) && c->fp >= c->sp && returns_from_stub(w, slot, b, surely)) {
		c->fp = walk_word(w, c->fp, 0);
		return_through(w, c, slot);
		return true;
	}
	return false;
}

/* The caller of a stub whose frame is not described: there, otherwise the first one up the stack. */
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

/* The VM called the stub: its return address is in libjvm. Continues there. */
static bool stub_called_by_vm(const struct walk *w, const struct cursor *c, uintptr_t *slot)
{
	int i;

	for (i = 0; i < 8 && walk_on_stack(w, c->sp + i * 8ul); i++) {
		uintptr_t ret = walk_word(w, c->sp, i * 8);

		if (ret >= vm.text_lo + 8 && ret < vm.text_hi && code_call_before(ret)) {
			*slot = c->sp + i * 8ul;
			return true;
		}
		if (is_return_address(ret))
			return false;
	}
	return false;
}

/*
 * Between two calling conventions: the return address is on top of the stack, for a moment
 * in rax. From compiled to interpreted code, arguments are laid out below the caller's sp,
 * which is in r13 then.
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
	else if (r && is_return_address(r->rax))
		c->pc = r->rax;
	else
		return false;
	if (caller_sp > c->sp)
		c->sp = caller_sp;
	return true;
}

/*
 * An adapter that called the VM. To have it make the caller's call go to where it should, all
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

/* No frame, or something small above the return address. */
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
 * In a stub that restores all registers at its end: above them are the flags, rbp and the
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
 * A stub whose code says how far its frame is built: C2's are as its methods are, others begin with
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
		return leave_frame(w, c, full);
	case CODE_RBP_AT_SP:
		return leave_frame(w, c, c->sp + 8);
	case CODE_RBP_FRAME:
		return c->fp >= c->sp && c->fp < full && leave_frame(w, c, c->fp + 8);
	case CODE_RETURN_IN_RDX:
		return c->leaf && is_return_address(c->leaf->rdx) && leave_to(c, c->leaf->rdx);
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
		return leave_frame(w, c, full);
	if (b->frame_complete >= 0 && c->pc >= b->begin + b->frame_complete &&
	    code_epilogue(c->pc) == CODE_FULL && leave_frame(w, c, full))
		return true;
	return leave_saved_registers(w, c) || leave_frameless(w, c) || leave_frame(w, c, full);
}

/* An address in compiled code that is not a return address: the next instruction to execute. */
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

/* The stub writes over its own return address, in the frame that rbp points to. */
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

static bool leave_stub_to_native(struct walk *w, struct cursor *c, uintptr_t slot);

static bool leave_leaf_stub(struct walk *w, struct cursor *c, const struct vm_blob *b)
{
	if (leave_decoded_stub(w, c, b))
		return true;
	/* a call of the VM's may go elsewhere by now, so that what else has the stub's frame comes first */
	if (b->kind == VM_BLOB_STUB && (leave_near_call(w, c, b, true) || leave_saved_registers(w, c)))
		return true;
	return leave_called_stub(w, c, b, true) ||
	       (b->kind == VM_BLOB_ROUTINES && leave_called_stub(w, c, b, false)) ||
	       leave_framed_stub(w, c, b) || leave_frameless(w, c);
}

static bool step_stub(struct walk *w, struct cursor *c, const struct vm_blob *b)
{
	uintptr_t slot;
	bool left;

	push_stub(w, frame_pc(c));
	c->stub = c->leaf;
	c->left_stub = true;
	if (c->leaf && stub_called_by_vm(w, c, &slot))
		return leave_stub_to_native(w, c, slot);
	if (b->kind == VM_BLOB_DISPATCH)
		left = c->leaf && leave_frameless(w, c);
	else if (b->kind == VM_BLOB_HANDLER)
		left = leave_handler_stub(w, c, b) || (c->leaf && leave_saved_registers(w, c));
	else if (b->kind == VM_BLOB_ADAPTER)
		left = (c->above_leaf_call && leave_calling_adapter(w, c, b)) ||
		        leave_adapter(w, c, b) || leave_frameless(w, c);
	else if (c->leaf && code_jumps_to_handler(c->pc) && is_return_address(c->leaf->rdx))
		left = leave_to(c, c->leaf->rdx);
	else if (c->leaf)
		left = leave_leaf_stub(w, c, b);
	else
		left = (c->above_leaf_call && leave_decoded_stub(w, c, b)) ||
		       (b->kind == VM_BLOB_ROUTINES && leave_called_stub(w, c, b, true)) ||
		       leave_framed_stub(w, c, b) || leave_called_stub(w, c, b, false);
	if (!left && walk_on_stack(w, c->fp) && c->fp >= c->sp && walk_returns_from(w, c->fp + 8)) {
		slot = c->fp + 8;
		c->fp = walk_word(w, c->fp, 0);
		return_through(w, c, slot);
		left = true;
	}
	if (!left)
		push_mark(w, JVM_MARK_STUB);
	return left;
}

/* --- between Java and native code --- */

/* Continues where the thread left Java last, as the anchor that can be loaded at that address says. */
static bool enter_anchor(struct walk *w, struct cursor *c, uintptr_t anchor)
{
	uintptr_t sp = vm_word(anchor, vm.o.anchor_sp), pc = vm_word(anchor, vm.o.anchor_pc);
	uintptr_t fp = vm_word(anchor, vm.o.anchor_fp);

	if (!walk_on_stack(w, sp) || sp < c->sp) {
		push_mark(w, JVM_MARK_ANCHOR);
		return false;
	}
	c->leaf = NULL;
	c->sp = sp;
	c->fp = fp;
	c->pc = pc;
	if (!pc && walk_on_stack(w, sp - 8))
		c->pc = walk_word(w, sp, -8);
	if (!pc && !fp && walk_on_stack(w, sp - 16))
		c->fp = walk_word(w, sp, -16);
	if (!vm_in_code(c->pc)) {
		push_mark(w, JVM_MARK_ANCHOR);
		return false;
	}
	return true;
}

/* C++ called Java through call_stub; beyond it is native code, then Java again or the thread's root. */
static bool step_entry(struct walk *w, struct cursor *c)
{
	uintptr_t fp = c->fp, wrapper, anchor, end;
	struct jvm_rec_segment *s;

	push_stub(w, frame_pc(c));
	if (!walk_on_stack(w, fp + 8) || !walk_on_stack(w, fp + ENTRY_R15) || fp < c->sp ||
	    !walk_on_stack(w, wrapper = walk_word(w, fp, ENTRY_WRAPPER)) ||
	    !walk_on_stack(w, (anchor = wrapper + vm.o.wrapper_anchor) + 24)) {
		push_mark(w, JVM_MARK_STUB);
		return false;
	}
	anchor = walk_at(w, anchor);
	end = vm_word(anchor, vm.o.anchor_sp);
	if (end && (end <= fp || !walk_on_stack(w, end)))
		end = 0;
	if (w->nr_frames + 2 > w->max_frames || w->nr_segments == JVM_MAX_SEGMENTS) {
		push_mark(w, JVM_MARK_DEPTH);
		return false;
	}
	s = push_segment(w, walk_word(w, fp, 8), fp + 16, walk_word(w, fp, 0), end ? end : w->stack_hi);
	s->rbx = walk_word(w, fp, ENTRY_RBX);
	s->r12 = walk_word(w, fp, ENTRY_R12);
	s->r13 = walk_word(w, fp, ENTRY_R13);
	s->r14 = walk_word(w, fp, ENTRY_R14);
	s->r15 = walk_word(w, fp, ENTRY_R15);
	s->flags = JVM_SEG_VALID | (end ? 0 : JVM_SEG_TO_ROOT);
	c->sp = fp + 16;
	return end && enter_anchor(w, c, anchor);
}

/* HotSpot looks after a fault of Java code, an implicit null check say: that code is what comes next. */
static void leave_signal_handler(struct walk *w, struct cursor *c, uintptr_t slot)
{
	uintptr_t end = native_signal_regs(w, slot, &w->interrupted);

	push_leaf_segment(w, c->leaf, end, 0);
	*c = (struct cursor){ w->interrupted.pc, w->interrupted.sp, w->interrupted.fp, &w->interrupted };
}

static enum native_caller find_native_caller(const struct walk *w, struct cursor *c, uintptr_t *slot)
{
	struct native_frame f = { c->pc, c->sp, c->fp };
	enum native_caller caller = native_caller(w, &f, slot);

	c->fp = f.fp;
	return caller;
}

static bool leave_leaf_call(struct walk *w, struct cursor *c)
{
	uintptr_t slot, anchor;

	switch (find_native_caller(w, c, &slot)) {
	case CALLER_NONE:
		break;
	case CALLER_SIGNAL:
		leave_signal_handler(w, c, slot);
		return true;
	case CALLER_WRAPPER:
		anchor = walk_at(w, slot) + vm.o.wrapper_anchor;
		push_leaf_segment(w, c->leaf, vm_word(anchor, vm.o.anchor_sp), 0);
		return enter_anchor(w, c, anchor);
	case CALLER_JAVA:
		push_leaf_segment(w, c->leaf, slot + 8, 0);
		c->leaf = NULL;
		c->above_leaf_call = true;
		return_through(w, c, slot);
		return true;
	}
	push_leaf_segment(w, c->leaf, w->stack_hi, 0);
	push_mark(w, JVM_MARK_LEAF_CALL);
	return false;
}

/* Where the native code at the cursor ends: the thread's last Java frame, or 0, its root. */
static uintptr_t last_java_sp(const struct walk *w, const struct cursor *c)
{
	uintptr_t fields = w->thread.fields;
	uintptr_t sp = fields ? vm_word(fields + vm.o.jthread_anchor, vm.o.anchor_sp) : 0;

	return sp > c->sp && walk_on_stack(w, sp) ? sp : 0;
}

/* Interrupted in native code; returns true when Java frames follow, with c at the first. */
static bool leave_native(struct walk *w, struct cursor *c)
{
	uintptr_t fields = w->thread.fields, end = last_java_sp(w, c);

	if (!end && fields && vm_i32(fields, vm.o.jthread_state) == VM_IN_JAVA)
		return leave_leaf_call(w, c);
	push_leaf_segment(w, c->leaf, end ? end : w->stack_hi, end ? 0 : JVM_SEG_TO_ROOT);
	return end && enter_anchor(w, c, fields + vm.o.jthread_anchor);
}

/*
 * Where the anchor can be loaded that leads from native code at the cursor, which called a stub, to Java;
 * 0: it is the thread's root.
 */
static uintptr_t anchor_beneath(const struct walk *w, const struct cursor *c)
{
	uintptr_t fields = w->thread.fields, p = c->sp;
	int i;

	if (last_java_sp(w, c))
		return fields + vm.o.jthread_anchor;
	if (!fields || vm_i32(fields, vm.o.jthread_state) != VM_IN_JAVA)
		return 0;
	for (i = 0; i < WRAPPER_SCAN_WORDS; i++, p += 8)
		if (native_is_call_wrapper(w, p))
			return walk_at(w, p) + vm.o.wrapper_anchor;
	return 0;
}

/* As leave_native(), for a stub that native code had called: slot has the return address. */
static bool leave_stub_to_native(struct walk *w, struct cursor *c, uintptr_t slot)
{
	const struct walk_regs *r = c->leaf;
	struct jvm_rec_segment *s;
	uintptr_t anchor;

	c->sp = slot + 8;
	anchor = anchor_beneath(w, c);
	s = push_segment(w, walk_word(w, slot, 0), c->sp, r->fp,
			 anchor ? vm_word(anchor, vm.o.anchor_sp) : w->stack_hi);
	if (!s)
		return false;
	s->r12 = r->r12;
	s->r13 = r->r13;
	s->r14 = r->r14;
	s->r15 = r->r15;
	s->flags = (JVM_SEG_VALID & ~1u) | (anchor ? 0 : JVM_SEG_TO_ROOT);
	return anchor && enter_anchor(w, c, anchor);
}

/* The virtual thread's next frames are in the heap: from here on a copy of them is the stack. */
static bool enter_continuation(struct walk *w, struct cursor *c)
{
	struct cont_copy *k = &w->cont;

	if (w->copied && w->copied->past) {	/* where they were then, nobody knows */
		push_mark(w, JVM_MARK_VTHREAD);
		return false;
	}
	switch (cont_load(&w->thread, k, w->frozen)) {
	case CONT_ROOT:
		return false;
	case CONT_LOST:
		push_mark(w, JVM_MARK_VTHREAD);
		return false;
	case CONT_LOADED:
		break;
	}
	w->frozen = true;
	w->copied = NULL;
	w->delta = 0;
	w->stack_lo = (uintptr_t)k->words;
	w->stack_hi = k->end;
	*c = (struct cursor){ .pc = k->pc, .sp = k->sp, .fp = k->sp - 16 };
	return true;
}

/* Beyond the bottom frame of a chunk; what its return address is there, does not matter. */
static bool chunk_ends(const struct walk *w, const struct cursor *c)
{
	return w->frozen && (c->sp + 8 >= w->cont.end || c->fp + 16 >= w->cont.end);
}

/*
 * Continuation.enterSpecial() calls from two places: for compiled callers, which the VM exports, and
 * for others.
 */
static bool is_cont_entry(const struct vm_blob *b)
{
	static uintptr_t known;		/* the blob; it is never freed */
	struct vm_blob entry;

	if (!vm.cont_entry_return || !*vm.cont_entry_return)
		return false;
	if (unlikely(!load_relaxed(&known)) && vm_find_blob(*vm.cont_entry_return, &entry))
		store_relaxed(&known, entry.addr);
	return b->addr == load_relaxed(&known);
}

/* In call_stub, with its frame not yet built or gone: slot has its return address. */
static bool is_half_entered(struct walk *w, const struct cursor *c, uintptr_t *slot)
{
	enum { PROLOGUE = 4 };	/* push rbp; mov rbp, rsp */

	if (!c->leaf || (c->pc - vm_known.call_stub.lo >= PROLOGUE && code_epilogue(c->pc) == CODE_FULL) ||
	    !stub_called_by_vm(w, c, slot))
		return false;
	push_stub(w, c->pc);
	return true;
}

/* One frame outwards; false: the walk is over. */
static bool step(struct walk *w, struct cursor *c)
{
	struct vm_blob b;
	uintptr_t slot;

	if (c->pc == *vm.call_stub_return || vm_in_range(&vm_known.call_stub, c->pc))
		return is_half_entered(w, c, &slot) ? leave_stub_to_native(w, c, slot) : step_entry(w, c);
	if (vm_in_range(&vm_known.return_barrier, c->pc) || chunk_ends(w, c))
		return enter_continuation(w, c);
	if (!vm_find_blob(c->pc, &b)) {
		push_mark(w, JVM_MARK_NOT_WALKABLE);
		return false;
	}
	switch (b.kind) {
	case VM_BLOB_INTERPRETER:
		return w->frozen ? step_frozen_interpreter(w, c) : step_interpreter(w, c);
	case VM_BLOB_NMETHOD:
		if (is_cont_entry(&b)) {
			if (!w->nr_frames)
				push_stub(w, frame_pc(c));
			return false;	/* what it calls is the root of a virtual thread */
		}
		return step_nmethod(w, c, &b);
	default:
		return step_stub(w, c, &b);
	}
}

#ifdef WALK_DEBUG
/* For agent-probe -m: registers and stack where a walk that failed had begun, and where it ended. */
static void debug_walk(struct walk *w, const struct walk_regs *r, const struct cursor *c)
{
	struct jvm_rec_segment *s;

	if (!w->nr_frames || w->frames[w->nr_frames - 1].kind_pc >> JVM_FRAME_PC_BITS != JVM_MARK ||
	    w->nr_segments + 2 > JVM_MAX_SEGMENTS)
		return;
	push_leaf_segment(w, r, r->sp + 512 < w->stack_hi ? r->sp + 512 : w->stack_hi, 0);
	if (walk_on_stack(w, c->sp)) {
		s = push_segment(w, c->pc, c->sp, c->fp,
				 c->sp + 512 < w->stack_hi ? c->sp + 512 : w->stack_hi);
		s->flags = 0;
		if (walk_on_stack(w, c->fp - 64) && walk_on_stack(w, c->fp + 8)) {
			s->rbx = walk_word(w, c->fp, INTERP_METHOD);
			s->r12 = walk_word(w, c->fp, INTERP_SENDER_SP);
			s->r13 = walk_word(w, c->fp, interp_bcp());
			s->r14 = walk_word(w, c->fp, 8);
		}
	}
}
#else
#define debug_walk(w, r, c) do { } while (0)
#endif

static void walk_java(struct walk *w, struct cursor *c)
{
	for (;;) {
		if (w->nr_frames >= w->max_frames) {
			push_mark(w, JVM_MARK_DEPTH);
			return;
		}
		c->above_stub = c->left_stub;
		c->left_stub = false;
		if (!step(w, c))
			return;
		if (!c->left_stub)
			c->stub = NULL;
		c->above_leaf_call = false;
		c->leaf = NULL;
		if (!vm_in_code(c->pc) && !chunk_ends(w, c)) {
			push_mark(w, JVM_MARK_NOT_WALKABLE);
			return;
		}
	}
}

static void begin_at(struct walk *w, uintptr_t sp)
{
	w->stack_lo = sp & ~7ul;
	w->stack_hi = w->thread.stack_base;
	w->bounded = w->stack_hi;
	w->frozen = false;
	w->copied = w->thread.blocked;
	w->delta = w->copied ? (uintptr_t)w->copied->stack - w->copied->lo : 0;
	w->waits = 0;
}

void walk_stack(struct walk *w, const struct walk_regs *r)
{
	struct cursor c = { r->pc, r->sp, r->fp, r };

	begin_at(w, r->sp);
	if ((vm.ok && vm_in_code(r->pc)) || leave_native(w, &c))
		walk_java(w, &c);
	debug_walk(w, r, &c);
}

/* What called into the VM for a compiled method is no part of the program. */
static void drop_leading_stubs(struct walk *w)
{
	uint32_t nr = 0, i;

	while (nr < w->nr_frames && w->frames[nr].kind_pc >> JVM_FRAME_PC_BITS == JVM_STUB)
		nr++;
	w->nr_frames -= nr;
	for (i = 0; nr && i < w->nr_frames; i++)
		w->frames[i] = w->frames[i + nr];
}

void walk_last_java(struct walk *w, uintptr_t sp)
{
	struct cursor c = { .sp = sp };

	begin_at(w, sp);
	if (vm.ok && last_java_sp(w, &c) && enter_anchor(w, &c, w->thread.fields + vm.o.jthread_anchor))
		walk_java(w, &c);
	drop_leading_stubs(w);
}
