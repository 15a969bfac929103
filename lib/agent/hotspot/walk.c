// SPDX-License-Identifier: MIT
/*
 * walk.c - walks the stack of an interrupted thread (walk.h).
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
 * What frames look like is in frame.h of each CPU. Only the innermost one can be half built: leave.c of each
 * CPU is about that, and about stubs.
 */
#include "agent/hotspot/cursor.h"
#include "agent/hotspot/leave.h"
#include "agent/hotspot/walk_native.h"
#include "agent/ring.h"

enum {
	WRAPPER_SCAN_WORDS = 64,
	DEEPEST = 1 << 17,	/* frames that are followed: 5 to 10 ms */
};

/* --- what is kept of a deep stack --- */

/* Segments [from, to) are of frames that are left out: those behind them take their places. */
static void drop_segments(struct walk *w, uint32_t from, uint32_t to)
{
	uint32_t i;

	for (i = to; i < w->nr_segments; i++)
		w->segments[from + i - to] = w->segments[i];
	w->nr_segments -= to - from;
	for (i = w->left_out_at; i < w->nr_frames; i++)
		if (w->frames[i].kind_pc >> JVM_FRAME_PC_BITS == JVM_NATIVE && w->frames[i].segment >= to)
			w->frames[i].segment -= to - from;
}

/*
 * Make room for outer frames: when it is needed first, the inner half of the frames stays and a mark
 * follows. Of the frames behind the mark, the inner half is dropped each time.
 */
static void walk_make_room(struct walk *w)
{
	uint32_t at = w->left_out ? w->left_out_at : w->nr_frames / 2, nr = (w->nr_frames - at + 1) / 2, i;
	uint32_t from = w->nr_segments, to = w->nr_segments;

	for (i = at + nr; i-- > at;) {
		if (w->frames[i].kind_pc >> JVM_FRAME_PC_BITS != JVM_NATIVE)
			continue;
		to = from == w->nr_segments ? w->frames[i].segment + 1 : to;
		from = w->frames[i].segment;
	}
	for (i = at + nr; i < w->nr_frames; i++)
		w->frames[at + 1 + i - (at + nr)] = w->frames[i];
	w->nr_frames -= nr - 1;
	w->left_out += nr - !!w->left_out;		/* the mark is one of them */
	w->left_out_at = at;
	w->frames[at] = (struct jvm_rec_frame){
		(uint64_t)JVM_MARK << JVM_FRAME_PC_BITS | w->left_out, .mark = JVM_MARK_LEFT_OUT,
	};
	drop_segments(w, from, to);
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

/* Push native code that was interrupted itself; end: where Java frames begin again, 0: unknown. */
static void push_leaf_segment(struct walk *w, const struct walk_regs *r, uintptr_t end, uint32_t flags)
{
	struct jvm_rec_segment *s = push_segment(w, r->pc, r->sp, r->fp, end);

	if (!s)
		return;
	frame_keep(s, r);
	s->flags = JVM_SEG_VALID | JVM_SEG_EXACT | flags;
}

/* --- is this word a return address? --- */

bool walk_is_return(uintptr_t pc)
{
	struct vm_blob b;

	if (!vm_in_code(pc))
		return false;
	if (pc == vm_global(vm.call_stub_return) || vm_in_range(&vm_known.return_barrier, pc))
		return true;
	if (!vm_find_blob(pc, &b) || pc < b.begin)
		return false;
	return b.kind == VM_BLOB_INTERPRETER || vm_is_deopt_handler(b.addr, pc) ||
	       leave_is_called(pc, b.addr + vm_i32(b.addr, vm.o.blob_size));
}

bool walk_returns_from(const struct walk *w, uintptr_t slot)
{
	return walk_on_stack(w, slot) && walk_is_return(walk_return(w, slot));
}

/* --- interpreter --- */

static int interp_bcp(void)
{
	return vm.is_8 ? INTERP_BCP_8 : INTERP_BCP;
}

bool walk_is_interpreter_frame(const struct walk *w, uintptr_t fp, uintptr_t sp)
{
	enum { MAX_EXPRESSIONS = 65536 * 8 };
	uintptr_t sender;

	if (!walk_on_stack(w, fp + 8) || !walk_on_stack(w, fp + INTERP_LOWEST) || fp < sp)
		return false;
	sender = walk_word(w, fp, INTERP_SENDER_SP);
	if (sender <= fp)
		return INTERP_SENDER_BENEATH && fp - sender < MAX_EXPRESSIONS && !(sender & 7);
	return walk_on_stack(w, sender);
}

enum names_result walk_method_of(struct walk *w, uintptr_t method, enum names_trust trust, uintptr_t bcp,
				 struct method_info *m)
{
	if (unlikely(w->thread.blocked))
		return names_get_of(w->thread.blocked, method, trust, bcp, w->ring, m);
	return names_get(method, trust, bcp, w->ring, m);
}

/* Waits are known from the innermost Java frames alone. */
static void note_waits(struct walk *w, const struct method_info *m)
{
	enum { INNERMOST = 8 };

	if (m->waits && w->nr_frames < INNERMOST && !w->left_out)
		w->waits |= 1u << m->waits;
}

enum names_result walk_push_interpreted(struct walk *w, const struct cursor *c, uintptr_t method,
					enum names_trust trust, uintptr_t bcp, uintptr_t better_bcp)
{
	struct method_info m;
	enum names_result r = walk_method_of(w, method, trust, bcp, &m);
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
	uintptr_t sender = walk_word(w, fp, INTERP_SENDER_SP);

	c->pc = walk_return(w, fp + 8);
	c->sp = sender > fp ? sender : fp + 16;
	c->fp = walk_word(w, fp, 0);
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
	r = walk_push_interpreted(w, c, walk_word(w, fp, INTERP_METHOD), NAMES_IF_BCP,
			     walk_word(w, fp, interp_bcp()), 0);
	if (r == NAMES_NO_ROOM)
		w->no_room = true;
	if (r == NAMES_NOT_A_METHOD)
		goto lost;
	c->pc = walk_return(w, fp + 8);
	c->sp = sp;
	c->fp = fp;
	return r == NAMES_OK;
lost:
	push_mark(w, JVM_MARK_VTHREAD);
	return false;
}

static bool step_interpreter(struct walk *w, struct cursor *c)
{
	uintptr_t better = c->leaf ? frame_bcp(c->leaf) : 0;
	enum names_result r = NAMES_NOT_A_METHOD;
	bool left;

	if (leave_frameless_interpreter(w, c, &left))
		return left;
	if (walk_is_interpreter_frame(w, c->fp, c->sp) && walk_returns_from(w, c->fp + 8))
		r = walk_push_interpreted(w, c, walk_word(w, c->fp, INTERP_METHOD), NAMES_IF_BCP,
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
		return leave_leaf_interpreter(w, c);
	push_mark(w, JVM_MARK_INTERPRETER);
	return false;
}

/* --- compiled code --- */

bool walk_leave_frame(const struct walk *w, struct cursor *c, uintptr_t ret_slot)
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
	if (c->leaf && leave_call_stub(w, c, b))
		return true;
	/* the return address was replaced when the frame was marked for deoptimisation */
	if (!c->leaf && vm.o.nm_orig_pc >= 0 && vm_is_deopt_handler(b->addr, c->pc)) {
		orig = c->sp + vm_i32(b->addr, vm.o.nm_orig_pc);
		if (walk_on_stack(w, orig) &&
		    walk_return(w, orig) - b->begin < (uint32_t)vm_i32(b->addr, vm.o.blob_size))
			pc = walk_return(w, orig) - 1;
	}
	note_waits(w, &m);
	compile_id = vm_i32(b->addr, vm.o.nm_compile_id) | (leave_is_at_frame(c, b) ? JVM_NOT_INLINED : 0);
	push(w, JVM_COMPILED, pc, (struct jvm_rec_frame){ .method = m.id, .compile_id = compile_id });
	if (leave_nmethod(w, c, b, !m.code_size))
		return true;
	push_mark(w, JVM_MARK_NOT_WALKABLE);
	return false;
}

/* --- stubs --- */

static bool leave_stub_to_native(struct walk *w, struct cursor *c, const struct native_frame *f);

static bool step_stub(struct walk *w, struct cursor *c, const struct vm_blob *b)
{
	struct native_frame f;
	uintptr_t slot;

	push_stub(w, frame_pc(c));
	c->stub = c->leaf;
	c->left_stub = true;
	if (c->leaf && leave_to_vm(w, c, b, &f))
		return leave_stub_to_native(w, c, &f);
	if (leave_stub(w, c, b))
		return true;
	if (walk_on_stack(w, c->fp) && c->fp >= c->sp && walk_returns_from(w, c->fp + 8)) {
		slot = c->fp + 8;
		c->fp = walk_word(w, c->fp, 0);
		return_through(w, c, slot);
		return true;
	}
	push_mark(w, JVM_MARK_STUB);
	return false;
}

/* --- between Java and native code --- */

/* Return the pc of an anchor's frame; it may have none of its own. 0: unknown. */
static uintptr_t anchor_code(const struct walk *w, uintptr_t sp, uintptr_t pc)
{
	if (pc)
		return frame_code(pc);
	return walk_on_stack(w, sp - 8) ? walk_return(w, sp - 8) : 0;
}

/* Continue where the thread left Java last, as the anchor that can be loaded at that address says. */
static bool enter_anchor(struct walk *w, struct cursor *c, uintptr_t anchor)
{
	uintptr_t sp = own_word(anchor, vm.o.anchor_sp), pc = own_word(anchor, vm.o.anchor_pc);
	uintptr_t fp = own_word(anchor, vm.o.anchor_fp);

	if (!walk_on_stack(w, sp) || sp < c->sp) {
		push_mark(w, JVM_MARK_ANCHOR);
		return false;
	}
	c->leaf = NULL;
	c->sp = sp;
	c->fp = fp;
	c->pc = anchor_code(w, sp, pc);
	if (!pc && !fp && walk_on_stack(w, sp - 16))
		c->fp = walk_word(w, sp, -16);
	if (!vm_in_code(c->pc)) {
		push_mark(w, JVM_MARK_ANCHOR);
		return false;
	}
	return true;
}

/*
 * A JavaCallWrapper: its first word is the thread, and it keeps the anchor there was before. C++
 * that is about to call Java, or just has, is in Java by its state and has no anchor of its own.
 * What a function has saved may be the thread and an address on the stack, as far apart. But with the
 * wrapper, Java code is beside that, and behind it is where the result goes, to what called this.
 */
bool native_is_call_wrapper(const struct walk *w, uintptr_t slot)
{
	uintptr_t anchor = slot + vm.o.wrapper_anchor, result = anchor + vm.o.anchor_fp + 8, sp, code;
	struct vm_blob b;

	if (!walk_on_stack(w, result) || walk_word(w, slot, 0) != w->thread.thread)
		return false;
	sp = walk_word(w, anchor, vm.o.anchor_sp);
	if (!walk_on_stack(w, sp) || walk_word(w, result, 0) <= result || walk_word(w, result, 0) >= sp)
		return false;
	code = anchor_code(w, sp, walk_word(w, anchor, vm.o.anchor_pc));
	return vm_in_code(code) && vm_find_blob(code, &b);
}

/* C++ called Java through call_stub; beyond it is native code, then Java again or the thread's root. */
static bool step_entry(struct walk *w, struct cursor *c)
{
	uintptr_t fp = c->fp, wrapper, anchor, end;
	struct jvm_rec_segment *s;

	push_stub(w, frame_pc(c));
	if (!walk_on_stack(w, fp + 8) || !walk_on_stack(w, fp + ENTRY_LOWEST) || fp < c->sp ||
	    !walk_on_stack(w, wrapper = walk_word(w, fp, ENTRY_WRAPPER)) ||
	    !walk_on_stack(w, (anchor = wrapper + vm.o.wrapper_anchor) + 24)) {
		push_mark(w, JVM_MARK_STUB);
		return false;
	}
	anchor = walk_at(w, anchor);
	end = own_word(anchor, vm.o.anchor_sp);
	if (end && (end <= fp || !walk_on_stack(w, end)))
		end = 0;
	if (w->nr_frames + 2 > w->max_frames || w->nr_segments == JVM_MAX_SEGMENTS) {
		push_mark(w, JVM_MARK_DEPTH);
		return false;
	}
	s = push_segment(w, walk_return(w, fp + 8), fp + 16, walk_word(w, fp, 0), end ? end : w->stack_hi);
	s->flags = frame_keep_saved(s, walk_at(w, fp)) | (end ? 0 : JVM_SEG_TO_ROOT);
	c->sp = fp + 16;
	return end && enter_anchor(w, c, anchor);
}

/* Leave HotSpot's handler of a fault in Java code, such as an implicit null check: that code comes next. */
static void leave_signal_handler(struct walk *w, struct cursor *c, uintptr_t slot)
{
	uintptr_t end = native_signal_regs(w, slot, &w->interrupted);

	push_leaf_segment(w, c->leaf, end, 0);
	*c = (struct cursor){ w->interrupted.pc, w->interrupted.sp, w->interrupted.fp, &w->interrupted };
}

static bool leave_leaf_call(struct walk *w, struct cursor *c)
{
	struct native_frame f = { c->pc, c->sp, c->fp };
	uintptr_t slot, anchor;

	switch (native_caller(w, c->leaf, &f, &slot)) {
	case CALLER_NONE:
		break;
	case CALLER_SIGNAL:
		leave_signal_handler(w, c, slot);
		return true;
	case CALLER_WRAPPER:
		anchor = walk_at(w, slot) + vm.o.wrapper_anchor;
		push_leaf_segment(w, c->leaf, own_word(anchor, vm.o.anchor_sp), 0);
		return enter_anchor(w, c, anchor);
	case CALLER_JAVA:
		push_leaf_segment(w, c->leaf, f.sp, 0);
		*c = (struct cursor){ f.pc, f.sp, f.fp, .above_leaf_call = true };
		return true;
	}
	push_leaf_segment(w, c->leaf, w->stack_hi, 0);
	push_mark(w, JVM_MARK_LEAF_CALL);
	return false;
}

/* Return where the native code at the cursor ends: the thread's last Java frame, or 0 at its root. */
static uintptr_t last_java_sp(const struct walk *w, const struct cursor *c)
{
	uintptr_t fields = w->thread.fields;
	uintptr_t sp = fields ? own_word(fields + vm.o.jthread_anchor, vm.o.anchor_sp) : 0;

	return sp > c->sp && walk_on_stack(w, sp) ? sp : 0;
}

/* Leave interrupted native code; return true if Java frames follow, with c at the first. */
static bool leave_native(struct walk *w, struct cursor *c)
{
	uintptr_t fields = w->thread.fields, end = last_java_sp(w, c);

	if (!end && fields && own_i32(fields, vm.o.jthread_state) == vm.in_java)
		return leave_leaf_call(w, c);
	push_leaf_segment(w, c->leaf, end ? end : w->stack_hi, end ? 0 : JVM_SEG_TO_ROOT);
	return end && enter_anchor(w, c, fields + vm.o.jthread_anchor);
}

/*
 * Return where the anchor can be loaded that leads from native code at the cursor, which called a stub,
 * to Java; 0 at the thread's root.
 */
static uintptr_t anchor_beneath(const struct walk *w, const struct cursor *c)
{
	uintptr_t fields = w->thread.fields, p = c->sp;
	int i;

	if (last_java_sp(w, c))
		return fields + vm.o.jthread_anchor;
	if (!fields || own_i32(fields, vm.o.jthread_state) != vm.in_java)
		return 0;
	for (i = 0; i < WRAPPER_SCAN_WORDS; i++, p += 8)
		if (native_is_call_wrapper(w, p))
			return walk_at(w, p) + vm.o.wrapper_anchor;
	return 0;
}

/* Return where native code that a stub was called by was itself called by Java without leaving an anchor. */
static bool find_leaf_caller(const struct walk *w, const struct native_frame *of, struct native_frame *f)
{
	const struct walk_regs r = { .pc = of->pc, .sp = of->sp, .fp = of->fp };
	uintptr_t fields = w->thread.fields, slot;

	*f = *of;
	return fields && own_i32(fields, vm.o.jthread_state) == vm.in_java &&
	       native_caller(w, &r, f, &slot) == CALLER_JAVA;
}

/*
 * Do the same as leave_native(), for a stub that native code had called: f is that code's frame, with the
 * registers of the stub.
 */
static bool leave_stub_to_native(struct walk *w, struct cursor *c, const struct native_frame *f)
{
	struct native_frame java = { 0 };
	struct jvm_rec_segment *s;
	uintptr_t anchor, end;

	c->sp = f->sp;
	if (w->copied && !w->thread.fields) {	/* from outside the way on is not known */
		push_mark(w, JVM_MARK_LEAF_CALL);
		return false;
	}
	anchor = anchor_beneath(w, c);
	end = anchor ? own_word(anchor, vm.o.anchor_sp) : find_leaf_caller(w, f, &java) ? java.sp : 0;
	s = push_segment(w, f->pc, c->sp, f->fp, end ? end : w->stack_hi);
	if (!s)
		return false;
	frame_keep(s, c->leaf);
	s->rbx = 0;
	s->flags = (JVM_SEG_VALID & ~1u) | (end ? 0 : JVM_SEG_TO_ROOT);
	if (anchor)
		return enter_anchor(w, c, anchor);
	*c = (struct cursor){ java.pc, java.sp, java.fp, .above_leaf_call = true };
	return end;
}

/* Go to the virtual thread's next frames, in the heap: from here on a copy of them is the stack. */
static bool enter_continuation(struct walk *w, struct cursor *c)
{
	struct cont_copy *k = &w->cont;

	if (w->copied && w->copied->past) {	/* where they were then is unknown */
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

/* Return whether the cursor is at the bottom frame of a chunk; the return address there does not matter. */
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

	if (!vm.cont_entry_return)
		return cont_is_entry(vm_word(b->addr, vm.o.nm_method));
	if (!vm_global(vm.cont_entry_return))
		return false;
	if (unlikely(!load_relaxed(&known)) && vm_find_blob(vm_global(vm.cont_entry_return), &entry))
		store_relaxed(&known, entry.addr);
	return b->addr == load_relaxed(&known);
}

/* Go one frame outwards; return false when the walk is over. */
static bool walk_step(struct walk *w, struct cursor *c)
{
	struct native_frame f;
	struct vm_blob b;

	if (c->pc == vm_global(vm.call_stub_return) || vm_in_range(&vm_known.call_stub, c->pc)) {
		if (!leave_half_entered(w, c, &f))
			return step_entry(w, c);
		push_stub(w, c->pc);
		return leave_stub_to_native(w, c, &f);
	}
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
/* Record registers and stack where a failed walk began, and where it ended, for agent-probe -m. */
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
		/* a step takes two at most, and the mark that ends a walk has its own */
		if (w->nr_frames + 2 > w->max_frames || w->nr_segments == JVM_MAX_SEGMENTS)
			walk_make_room(w);
		if (w->left_out + w->nr_frames >= DEEPEST) {
			push_mark(w, JVM_MARK_DEPTH);
			return;
		}
		c->above_stub = c->left_stub;
		c->left_stub = false;
		if (!walk_step(w, c))
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
	w->left_out = 0;
	/* then it is as good as a thread without Java frames */
	if (!vm.walks)
		w->thread.fields = 0;
}

void walk_stack(struct walk *w, const struct walk_regs *r)
{
	struct cursor c = { r->pc, r->sp, r->fp, r };

	begin_at(w, r->sp);
	if ((vm.walks && vm_in_code(r->pc)) || leave_native(w, &c))
		walk_java(w, &c);
	debug_walk(w, r, &c);
}

#ifdef LOADS_FAR
void walk_from_call(struct walk *w, const struct walk_regs *r, bool is_leaf_call)
{
	struct cursor c = { r->pc, r->sp, r->fp, .above_leaf_call = is_leaf_call };

	begin_at(w, r->sp);
	walk_java(w, &c);
}
#endif

/* Stubs that called into the VM for a compiled method are not part of the program. */
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
	if (!vm.walks)
		push_mark(w, JVM_MARK_NOT_WALKABLE);
	else if (last_java_sp(w, &c) && enter_anchor(w, &c, w->thread.fields + vm.o.jthread_anchor))
		walk_java(w, &c);
	drop_leading_stubs(w);
}
