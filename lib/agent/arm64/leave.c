// SPDX-License-Identifier: MIT
/*
 * leave.c - from code of HotSpot's to its caller (leave.h), arm64.
 *
 * A call puts the return address into x30, and it is on the stack only when the frame's record (x29, x30) was
 * stored: so of the innermost frame the question is which of both has it, and where its caller's sp was.
 *
 * Source: HotSpot's cpu/aarch64/: build_frame() and remove_frame() in macroAssembler_aarch64.cpp, the same of
 * native methods in sharedRuntime_aarch64.cpp, generate_fixed_frame() in
 * templateInterpreterGenerator_aarch64.cpp, remove_activation() in interp_masm_aarch64.cpp.
 *
 * Runs in a signal handler, by the rules of walk.c.
 */
#include "agent/arm64/insn.h"
#include "agent/hotspot/cursor.h"
#include "agent/hotspot/leave.h"

enum {
	STUB_SCAN_WORDS = 96,
	MAX_STUB_FRAME = 4096,
	EPILOGUE = 12,		/* instructions from where a frame goes to the return, at most */
};

/* Bytes that were put on the stack for the call that returns to pc: they are taken off there. */
static uintptr_t pushed_for_call(const struct vm_blob *b, uintptr_t pc)
{
	uint32_t insn = insn_at(pc);
	int64_t n = insn_moves_sp(insn);

	return n > 0 && n != b->frame_size * 8 && !insn_pops_record(insn) ? n : 0;
}

/* Return whether a frame of the code that is returned to at pc could begin at sp. */
static bool fits(const struct walk *w, uintptr_t pc, uintptr_t sp)
{
	struct vm_blob b;

	if (sp & 15 || !walk_on_stack(w, sp) || !vm_find_blob(pc, &b))
		return false;
	if (b.kind != VM_BLOB_NMETHOD || b.frame_size <= 0)
		return true;
	return walk_returns_from(w, sp + pushed_for_call(&b, pc) + b.frame_size * 8ul - 8);
}

/* Go to the caller in x30, whose sp was as given, or above what a few pairs of registers take. */
static bool leave_by_lr(const struct walk *w, struct cursor *c, uintptr_t sp)
{
	enum { PAIRS = 32 };
	uintptr_t pc = frame_code(c->leaf->lr);
	int i;

	if (!walk_is_return(pc))
		return false;
	c->pc = pc;
	c->sp = sp;
	for (i = 0; i < PAIRS; i++)
		if (fits(w, pc, sp + i * 16ul)) {
			c->sp = sp + i * 16ul;
			break;
		}
	return true;
}

/* Leave the frame by the frame record that x29 points to. */
static bool leave_by_fp(const struct walk *w, struct cursor *c)
{
	uintptr_t fp = c->fp;

	if (!walk_on_stack(w, fp) || fp < c->sp || fp - c->sp >= MAX_STUB_FRAME ||
	    !walk_returns_from(w, fp + 8))
		return false;
	c->fp = walk_word(w, fp, 0);
	return_through(w, c, fp + 8);
	return true;
}

/* ---- interpreter ---- */

enum interpreter_state {
	INTERPRETER_FRAME,	/* x29 points to the frame */
	INTERPRETER_BEFORE,	/* x29 is the caller's: a method is entered */
	INTERPRETER_LINKED,	/* x29 points to the frame, which has no sender's sp yet */
	INTERPRETER_LEFT,	/* x29 is the caller's again */
};

/* stp xzr, x13 or x19, [sp, #64]: the sender's sp; the frame is complete from there on */
static bool stores_sender_sp(uint32_t i)
{
	return i == 0xa90437ff || i == 0xa9044fff;
}

/* Each kind of entry is a codelet of its own, in which frames are built once or not at all. */
static enum interpreter_state entry_state(uintptr_t pc)
{
	uintptr_t at = vm_known.method_entry.lo, end, built = 0;
	int size;

	for (; (size = vm_i32(at, vm.o.codelet_size)) > 0; at += size)
		if (pc - at < (uint32_t)size)
			break;
	if (size <= 0)
		return INTERPRETER_FRAME;
	for (end = at + size; at + INSN_LEN <= end && at < pc; at += INSN_LEN) {
		if (insn_sets_fp(insn_at(at)) && !built)
			built = at;
		if (built && stores_sender_sp(insn_at(at)))
			return INTERPRETER_FRAME;
	}
	return built ? INTERPRETER_LINKED : INTERPRETER_BEFORE;
}

/* mov sp, x29; ldp x29, x30, [sp], #16; and a few more up to the return */
static bool has_left(uintptr_t pc, uintptr_t begin)
{
	uintptr_t at;
	int i;

	for (i = 0, at = pc - INSN_LEN; i < EPILOGUE && at >= begin; i++, at -= INSN_LEN) {
		uint32_t insn = insn_at(at);

		if (insn_pops_record(insn))
			return true;
		if (insn_returns(insn) || insn_jumps(insn) || insn_calls(insn))
			break;
	}
	return false;
}

static enum interpreter_state interpreter_state(const struct cursor *c)
{
	struct vm_blob b;

	if (!vm_find_blob(c->pc, &b))
		return INTERPRETER_FRAME;
	if (has_left(c->pc, b.begin))
		return INTERPRETER_LEFT;
	return vm_in_range(&vm_known.method_entry, c->pc) ? entry_state(c->pc) : INTERPRETER_FRAME;
}

/* Its frame is not there: the return address is in x30, the caller's sp in one of the registers, or is sp. */
static bool leave_by_registers(const struct walk *w, struct cursor *c, const uintptr_t *sps, int nr)
{
	uintptr_t pc = frame_code(c->leaf->lr);
	int i;

	if (!walk_is_return(pc))
		return false;
	c->pc = pc;
	for (i = 0; i < nr; i++)
		if (sps[i] >= c->sp && fits(w, pc, sps[i] & ~15ul)) {
			c->sp = sps[i] & ~15ul;
			break;
		}
	return true;
}

bool leave_leaf_interpreter(struct walk *w, struct cursor *c)
{
	const struct walk_regs *r = c->leaf;
	const uintptr_t sps[] = { r->x19, r->x13, c->sp, r->x20 };

	if (walk_push_interpreted(w, c, r->x12, NAMES_IF_LINKED, 0, 0) == NAMES_NO_ROOM) {
		w->no_room = true;
		return false;
	}
	if (!w->nr_frames)
		push_stub(w, c->pc);
	if (leave_by_registers(w, c, sps, ARRAY_SIZE(sps)))
		return true;
	push_mark(w, JVM_MARK_INTERPRETER);
	return false;
}

static bool leave_left(struct walk *w, struct cursor *c)
{
	const struct walk_regs *r = c->leaf;
	/* mov x20, x9 comes first; the sender's sp is in x9 until then */
	const bool moved = insn_at(c->pc) != 0xaa0903f4;
	const uintptr_t sps[] = { moved ? r->x20 : r->x9, r->x9, c->sp };

	push_stub(w, c->pc);
	if (leave_by_registers(w, c, sps, ARRAY_SIZE(sps)))
		return true;
	push_mark(w, JVM_MARK_INTERPRETER);
	return false;
}

/*
 * The entry of a method that has a stub for it (Math.sin): it keeps its return address in x19, and sp is its
 * caller's.
 */
static bool leave_intrinsic_entry(struct walk *w, struct cursor *c)
{
	uintptr_t x19 = frame_code(c->stub->x19);

	if (!vm_in_range(&vm_known.method_entry, c->pc) || entry_state(c->pc) != INTERPRETER_BEFORE ||
	    !walk_is_return(x19))
		return false;
	push_stub(w, frame_pc(c));
	return leave_to(c, x19);
}

bool leave_frameless_interpreter(struct walk *w, struct cursor *c, bool *left)
{
	if (!c->leaf) {
		*left = c->stub && leave_intrinsic_entry(w, c);
		return *left;
	}
	switch (interpreter_state(c)) {
	case INTERPRETER_FRAME:
		return false;
	case INTERPRETER_LINKED:
		*left = leave_leaf_interpreter(w, c);
		if (*left && walk_on_stack(w, c->fp))
			c->fp = walk_word(w, c->fp, 0);
		return true;
	case INTERPRETER_BEFORE:
		*left = leave_leaf_interpreter(w, c);
		return true;
	case INTERPRETER_LEFT:
		*left = leave_left(w, c);
		return true;
	}
	return false;
}

/* ---- compiled code ---- */

/* The progress in building the innermost frame, or in removing it. */
struct built {
	enum {
		BUILT,		/* complete */
		BUILT_RECORD,	/* x29 and x30 are stored at sp, and no more space is taken */
		BUILT_NOTHING,	/* x30 has the return address */
	} how;
	uintptr_t taken;	/* BUILT_NOTHING: space that is taken already */
};

/* Follow the code from an entry, where nothing is built, to pc. */
static struct built prologue(uintptr_t entry, uintptr_t pc)
{
	struct built s = { BUILT_NOTHING, 0 };
	uintptr_t at;

	for (at = entry; at < pc; at += INSN_LEN) {
		uint32_t i = insn_at(at);

		if (insn_stores_record(i))
			return (struct built){ BUILT, 0 };
		if (insn_pushes_record(i))
			s.how = BUILT_RECORD;
		else if (insn_sub_sp(i) || insn_sub_sp_reg(i)) {
			if (s.how == BUILT_RECORD)
				return (struct built){ BUILT, 0 };
			s.taken += insn_sub_sp(i) ? insn_sp_imm(i) : 0;
		}
	}
	return s;
}

static bool moves_sp_back(uint32_t i)
{
	return insn_add_sp(i) || insn_add_sp_reg(i) || insn_sp_from_fp(i);
}

/*
 * Return whether the frame was left by the instructions just before pc, which is on the way to a return or a
 * jump.
 */
static bool frame_was_left(const struct vm_blob *b, uintptr_t pc)
{
	uintptr_t at;
	int i;

	for (i = 0, at = pc - INSN_LEN; i < EPILOGUE && at > b->begin; i++, at -= INSN_LEN) {
		uint32_t insn = insn_at(at);

		if (insn_pops_record(insn) ||
		    (insn_add_sp(insn) && insn_sp_imm(insn) == b->frame_size * 8ul &&
		     insn_loads_record(insn_at(at - INSN_LEN))))
			return true;
		if (insn_returns(insn) || insn_jumps(insn) || insn_calls(insn))
			break;
	}
	return false;
}

/*
 * Check for the out-of-line code of a return that has found a safepoint: adr x8, pc; str x8, [x28,
 * saved_exception_pc]; a jump.
 */
static bool is_return_poll(const struct vm_blob *b, uintptr_t pc)
{
	uintptr_t at;
	int i;

	for (i = -1, at = pc + INSN_LEN; i < 4 && at > b->begin; i++, at -= INSN_LEN) {
		if ((insn_at(at) & 0xffc003ff) == 0xf9000388 &&
		    (insn_at(at - INSN_LEN) & 0x9f00001f) == 0x10000008)
			return true;
		if (i > 0 && (insn_jumps(insn_at(at)) || insn_calls(insn_at(at))))
			break;
	}
	return false;
}

static struct built epilogue(const struct vm_blob *b, uintptr_t pc, uintptr_t end)
{
	const struct built nothing = { BUILT_NOTHING, 0 };
	struct built s = { BUILT, 0 };
	uintptr_t at;
	int i;

	for (i = 0, at = pc; i < EPILOGUE && at + INSN_LEN <= end; i++, at += INSN_LEN) {
		uint32_t insn = insn_at(at);

		if (insn_returns(insn))
			return nothing;
		if (insn_loads_record(insn) || moves_sp_back(insn))
			return s;
		if (insn_pops_record(insn)) {
			if (i == 0 && at > b->begin && moves_sp_back(insn_at(at - INSN_LEN)))
				s.how = BUILT_RECORD;
			return s;
		}
		if (insn_jumps(insn) || insn_calls(insn))
			break;
	}
	return frame_was_left(b, pc) || is_return_poll(b, pc) ? nothing : s;
}

static bool in_stub_section(const struct vm_blob *b, uintptr_t pc)
{
	return vm.o.nm_stub_offset >= 0 && pc >= b->addr + vm_i32(b->addr, vm.o.nm_stub_offset);
}

static struct built nmethod_state(const struct vm_blob *b, uintptr_t pc)
{
	enum { OSR_PROLOGUE = 128 };
	const struct vm_offsets *o = &vm.o;
	uintptr_t entry = b->begin, osr;

	if (o->nm_verified_entry >= 0)
		entry = vm_word(b->addr, o->nm_verified_entry);
	else if (o->nm_verified_offset >= 0)
		entry = b->begin + vm_u16(b->addr, o->nm_verified_offset);
	if (pc < entry)
		return (struct built){ BUILT_NOTHING, 0 };
	if (b->frame_complete > 0 && pc < b->begin + b->frame_complete)
		return prologue(entry, pc);
	if (o->nm_osr_entry >= 0 && o->nm_entry_bci >= 0 && vm_i32(b->addr, o->nm_entry_bci) >= 0) {
		osr = vm_word(b->addr, o->nm_osr_entry);
		if (pc >= osr && pc < osr + OSR_PROLOGUE)
			return prologue(osr, pc);
	}
	return epilogue(b, pc, b->addr + vm_i32(b->addr, vm.o.blob_size));
}

/* Return how many bytes are on the stack for a call that is about to come, or has just returned. */
static uintptr_t pushed_now(const struct vm_blob *b, uintptr_t pc)
{
	enum { FARTHEST = 4 };
	int64_t n = insn_moves_sp(insn_at(pc)), pushed = 0;
	uintptr_t at;
	int i;

	if (n > 0 && !insn_add_sp(insn_at(pc)) && !insn_pops_record(insn_at(pc)))
		return n;
	for (i = 0, at = pc - INSN_LEN; i < FARTHEST && at > b->begin; i++, at -= INSN_LEN) {
		uint32_t insn = insn_at(at);

		if (insn_calls(insn) || insn_jumps(insn) || insn_pushes_record(insn) || insn_sub_sp(insn))
			break;
		pushed -= insn_moves_sp(insn);
	}
	return pushed > 0 ? pushed : 0;
}

/* Try what the code says first, then what else a frame may look like. */
static bool leave_leaf_nmethod(struct walk *w, struct cursor *c, const struct vm_blob *b)
{
	uintptr_t full = c->sp + b->frame_size * 8ul - 8;
	struct built s = nmethod_state(b, c->pc);
	int i;

	if (s.how == BUILT_NOTHING && leave_by_lr(w, c, c->sp + s.taken))
		return true;
	if (s.how == BUILT_RECORD && walk_leave_frame(w, c, c->sp + 8))
		return true;
	if (b->frame_size > 0 && walk_leave_frame(w, c, full + pushed_now(b, c->pc)))
		return true;
	for (i = 0; i <= 4 && b->frame_size > 0; i++)
		if (walk_leave_frame(w, c, full + i * 16ul))
			return true;
	return leave_by_lr(w, c, c->sp);
}

bool leave_call_stub(struct walk *w, struct cursor *c, const struct vm_blob *b)
{
	enum { MAX_STUB = 64 };
	uintptr_t lr = frame_code(c->leaf->lr), size = vm_i32(b->addr, vm.o.blob_size);

	if (!in_stub_section(b, c->pc) || lr - b->begin >= size || lr == b->begin || lr & 3 ||
	    insn_at(lr - INSN_LEN) >> 26 != 0x25 || c->pc - insn_target(lr - INSN_LEN) >= MAX_STUB)
		return false;
	push_stub(w, c->pc);
	return leave_to(c, lr);
}

bool leave_is_at_frame(const struct cursor *c, const struct vm_blob *b)
{
	return c->leaf && (nmethod_state(b, c->pc).how != BUILT || moves_sp_back(insn_at(c->pc)) ||
			   insn_loads_record(insn_at(c->pc)));
}

bool leave_nmethod(struct walk *w, struct cursor *c, const struct vm_blob *b, bool native)
{
	enum { PUSHED = 64 };
	uintptr_t full = c->sp + b->frame_size * 8ul - 8;
	int i, nr = c->above_stub || c->above_leaf_call ? PUSHED : 1;

	(void)native;
	if (c->leaf)
		return leave_leaf_nmethod(w, c, b);
	if (c->above_stub)
		full += pushed_for_call(b, c->pc);
	/* and what else may be there */
	for (i = 0; i < nr && b->frame_size > 0; i++)
		if (walk_leave_frame(w, c, full + i * 16ul))
			return true;
	return false;
}

/* ---- stubs and adapters ---- */

/* The way in which the code at a pc, on its way out, restores x30: bytes above sp. */
struct way_out {
	int64_t lr, fp;		/* where x30 is, and x29; negative: nowhere */
	int64_t taken;		/* what is taken off the stack in all */
};

static struct way_out way_out(const struct vm_blob *b, uintptr_t pc)
{
	enum { FARTHEST = 32 };
	uintptr_t end = b->addr + vm_i32(b->addr, vm.o.blob_size), at;
	struct way_out o = { -1, -1, 0 };
	int64_t lr;
	int i;

	for (i = 0, at = pc; i < FARTHEST && at + INSN_LEN <= end; i++, at += INSN_LEN) {
		uint32_t insn = insn_at(at);

		if (insn_returns(insn) || insn_jumps(insn) || insn_calls(insn))
			break;
		lr = insn_loads_lr(insn);
		if (lr >= 0)
			o.lr = o.taken + lr;
		if (insn_loads_record(insn) || insn_pops_record(insn))
			o.fp = o.lr - 8;
		o.taken += insn_moves_sp(insn);
	}
	return o;
}

/* A stub that called a function: from the cursor's sp on, where its way out loads a return address. */
static bool leave_by_way_out(const struct walk *w, struct cursor *c, const struct vm_blob *b)
{
	enum { PAIRS = 32 };
	const struct way_out o = way_out(b, c->pc);
	uintptr_t sp = c->sp;
	int i;

	for (i = 0; i < PAIRS && o.lr >= 0 && o.taken > o.lr; i++, sp += 16) {
		if (!walk_returns_from(w, sp + o.lr))
			continue;
		if (o.fp >= 0)
			c->fp = walk_word(w, sp + o.fp, 0);
		c->pc = walk_return(w, sp + o.lr);
		c->sp = sp + o.taken;
		return true;
	}
	return false;
}

/* Leave by the first return address up the stack. */
static bool leave_by_scan(const struct walk *w, struct cursor *c)
{
	uintptr_t slot = c->sp + 8;
	int i;

	for (i = 0; i < STUB_SCAN_WORDS; i += 2, slot += 16)
		if (walk_returns_from(w, slot)) {
			c->fp = walk_word(w, slot, -8);
			return_through(w, c, slot);
			return true;
		}
	return false;
}

/*
 * Between two calling conventions nothing is stored. From compiled to interpreted code, arguments are laid
 * out below the caller's sp, which is kept before.
 */
static bool leave_adapter(const struct walk *w, struct cursor *c, const struct vm_blob *b)
{
	enum { MAX_ADAPTER = 2048 };
	const struct walk_regs *r = c->leaf;
	bool kept = false;
	uintptr_t at;

	for (at = c->pc - INSN_LEN; at >= b->begin && c->pc - at < MAX_ADAPTER && !insn_jumps(insn_at(at));
	     at -= INSN_LEN)
		kept = kept || insn_keeps_sp(insn_at(at));
	if (kept) {
		const uintptr_t sps[] = { r->x19, r->x13, c->sp };

		return leave_by_registers(w, c, sps, ARRAY_SIZE(sps));
	}
	return leave_by_registers(w, c, (const uintptr_t[]){ c->sp, r->x19, r->x13 }, 3);
}

/*
 * Return what a stub without a frame has pushed, and takes back on its way to the return; 0 also if that
 * way is not straight.
 */
static uintptr_t taken_until_return(const struct vm_blob *b, uintptr_t pc)
{
	enum { FARTHEST = 64 };
	uintptr_t end = b->addr + vm_i32(b->addr, vm.o.blob_size), at;
	int64_t taken = 0;
	int i;

	for (i = 0, at = pc; i < FARTHEST && at + INSN_LEN <= end; i++, at += INSN_LEN) {
		uint32_t insn = insn_at(at);

		if (insn_returns(insn))
			return taken > 0 ? taken : 0;
		if (insn_jumps(insn) || insn_calls(insn))
			break;
		taken += insn_moves_sp(insn);
	}
	return 0;
}

/* While x30 leads to Java, it is where the stub returns to: what a stub calls is not Java. */
static bool leave_leaf_stub(const struct walk *w, struct cursor *c, const struct vm_blob *b)
{
	uintptr_t lr = frame_code(c->leaf->lr), full = c->sp + b->frame_size * 8ul - 8;
	uint32_t size = vm_i32(b->addr, vm.o.blob_size);

	if (!walk_is_return(lr) || lr - b->addr < size) {
		if (b->frame_size > 0 && walk_leave_frame(w, c, full))
			return true;
		return leave_by_fp(w, c) || leave_by_scan(w, c);
	}
	if (walk_on_stack(w, c->fp + 8) && c->fp >= c->sp && walk_return(w, c->fp + 8) == lr &&
	    leave_by_fp(w, c))
		return true;
	if (b->frame_size > 0 && walk_on_stack(w, full) && walk_return(w, full) == lr)
		return walk_leave_frame(w, c, full);
	return leave_by_lr(w, c, c->sp + taken_until_return(b, c->pc));
}

/* A poll's handler writes over its own return address: with the next instruction of the code that polled. */
static bool leave_through_handler(const struct walk *w, struct cursor *c, uintptr_t slot)
{
	struct vm_blob b;
	uintptr_t pc;

	if (walk_leave_frame(w, c, slot))
		return true;
	if (!walk_on_stack(w, slot) || !walk_on_stack(w, slot - 8))
		return false;
	pc = walk_return(w, slot);
	if (!vm_find_blob(pc, &b) || b.kind != VM_BLOB_NMETHOD || pc < b.begin)
		return false;
	c->fp = walk_word(w, slot, -8);
	c->sp = slot + 8;
	c->pc = pc + 1;
	c->left_stub = false;	/* nothing was pushed for a call, for there was none */
	return true;
}

static bool leave_handler_stub(const struct walk *w, struct cursor *c, const struct vm_blob *b)
{
	uintptr_t full = c->sp + b->frame_size * 8ul - 8;

	if (b->frame_size > 0 && leave_through_handler(w, c, full))
		return true;
	if (walk_on_stack(w, c->fp) && c->fp >= c->sp && c->fp - c->sp < MAX_STUB_FRAME &&
	    leave_through_handler(w, c, c->fp + 8))
		return true;
	return c->leaf && leave_by_lr(w, c, c->sp);
}

bool leave_stub(struct walk *w, struct cursor *c, const struct vm_blob *b)
{
	if (b->kind == VM_BLOB_HANDLER)
		return leave_handler_stub(w, c, b);
	if (!c->leaf)
		return (c->above_leaf_call && b->kind == VM_BLOB_STUB && leave_by_way_out(w, c, b)) ||
		       (b->frame_size > 0 && walk_leave_frame(w, c, c->sp + b->frame_size * 8ul - 8)) ||
		       leave_by_fp(w, c) || leave_by_scan(w, c);
	if (b->kind == VM_BLOB_DISPATCH || b->kind == VM_BLOB_ADAPTER)
		return leave_adapter(w, c, b) || leave_by_fp(w, c);
	return leave_leaf_stub(w, c, b);
}

/* ---- from native code ---- */

bool leave_to_vm(const struct walk *w, const struct cursor *c, const struct vm_blob *b,
		 struct native_frame *f)
{
	uintptr_t lr = frame_code(c->leaf->lr);

	(void)b;
	if (lr < vm.text_lo + INSN_LEN || lr >= vm.text_hi)
		return false;
	*f = (struct native_frame){ lr, c->sp, c->fp };
	if (walk_on_stack(w, c->fp + 8) && c->fp >= c->sp && c->fp - c->sp < MAX_STUB_FRAME &&
	    walk_return(w, c->fp + 8) == lr)
		*f = (struct native_frame){ lr, c->fp + 16, walk_word(w, c->fp, 0) };
	return true;
}

/* stp x0, ..., [x29, ...], or str: the wrapper is in its place */
static bool stores_wrapper(uint32_t i)
{
	return (i & 0xffc003ff) == 0xa90003a0 || (i & 0xffe00fff) == 0xf80003a0;
}

bool leave_half_entered(const struct walk *w, const struct cursor *c, struct native_frame *f)
{
	enum { PROLOGUE = 24 };
	uintptr_t at = vm_known.call_stub.lo, pc = c->pc;
	bool record = false, linked = false;
	int i;

	if (!c->leaf)
		return false;
	*f = (struct native_frame){ frame_code(c->leaf->lr), c->sp, c->fp };
	if (insn_returns(insn_at(pc)))
		return true;
	for (i = 0; i < PROLOGUE && at < pc; i++, at += INSN_LEN) {
		if (linked && stores_wrapper(insn_at(at)))
			return false;
		record |= insn_pushes_record(insn_at(at));
		linked |= insn_sets_fp(insn_at(at));
	}
	if (i == PROLOGUE)
		return false;
	at = linked ? c->fp : c->sp;
	if (record && walk_on_stack(w, at)) {
		f->fp = walk_word(w, at, 0);
		f->sp = at + 16;
	}
	return true;
}

bool leave_is_called(uintptr_t pc, uintptr_t blob_end)
{
	int i;

	if (pc & 3)
		return false;
	if (insn_calls(insn_at(pc - INSN_LEN)))
		return true;
	/* adr x3, pc: C1 throws an exception there */
	if (pc + INSN_LEN <= blob_end && insn_at(pc) == 0x10000003)
		return true;
	/* adr x30, pc, and a jump some instructions later */
	for (i = 1; i <= 4; i++)
		if (insn_at(pc - i * INSN_LEN) == (0x1000001e | (uint32_t)i << 5))
			return true;
	return false;
}
