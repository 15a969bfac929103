// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * guess.c - unwinding without rules.
 *
 * Nothing is believed that does not look like a call: a return address must be executable and,
 * where its module's file can be read, follow a call instruction.
 */
#include <string.h>

#include "arch/arm64/code.h"
#include "arch/arm64/regs.h"
#include "arch/x86/code.h"
#include "arch/x86/insn.h"
#include "unwind/guess.h"

enum {
	SCAN_WORDS = 64,
	SCAN_FUNCTION = 4096,	/* how far in a function that never returns is looked for its start */
	ENTRY_BYTES = 256,	/* of a function that may lead into code of a runtime */
};

static bool is_arm64(const struct guess *g)
{
	return module_cpu(g->mod) == &cpu_arm64;
}

static enum frame_mark beyond(const struct unwind_stack *st, uint64_t addr)
{
	return addr >= st->sp ? MARK_TRUNCATED_STACK : MARK_BAD_UNWIND_INFO;
}

static bool signal_x86(const struct guess *g, struct unwind_regs *regs, enum frame_mark *why)
{
	uint64_t at = regs->sp + X86_SIGFRAME_REGS;
	struct unwind_regs new = { .valid = 0 };
	size_t i;

	for (i = 0; i < X86_NR_REGS; i++) {
		if (!stack_read(g->st, at + 8 * i, &new.r[x86_sigframe_regs[i]])) {
			*why = beyond(g->st, at + 8 * i);
			return false;
		}
		new.valid |= 1ull << x86_sigframe_regs[i];
	}
	new.pc = new.r[X86_RIP];
	new.sp = new.r[X86_RSP];
	*regs = new;
	return true;
}

static bool signal_arm64(const struct guess *g, struct unwind_regs *regs, enum frame_mark *why)
{
	uint64_t at = regs->sp + ARM64_SIGFRAME_REGS;
	struct unwind_regs new = { .valid = 0 };
	size_t i;

	for (i = 0; i <= ARM64_SP + 1; i++) {
		uint64_t *to = i <= ARM64_SP ? &new.r[i] : &new.pc;

		if (!stack_read(g->st, at + 8 * i, to)) {
			*why = beyond(g->st, at + 8 * i);
			return false;
		}
	}
	new.valid = (1ull << (ARM64_SP + 1)) - 1;
	new.sp = new.r[ARM64_SP];
	*regs = new;
	return true;
}

bool guess_signal(const struct guess *g, struct unwind_regs *regs, enum frame_mark *why)
{
	uint8_t a64[ARM64_SIGRETURN], x86[X86_SIGRETURN];

	*why = MARK_NONE;
	if (!g->mod)
		return false;
	if (is_arm64(g))
		return module_code(g->mod, g->ra_off, a64, sizeof(a64)) && arm64_is_sigreturn(a64) &&
		       signal_arm64(g, regs, why);
	return module_code(g->mod, g->ra_off, x86, sizeof(x86)) && x86_is_sigreturn(x86) &&
	       signal_x86(g, regs, why);
}

enum trust {
	NO_CODE,		/* cannot be a return address */
	MAYBE_CALL,		/* executable, but its bytes are not ours to read */
	AFTER_CALL,
};

/* Return the same of code in no module. */
static enum trust judge_unknown(const struct guess *g, uint64_t ra)
{
	const struct unwind_space *s = g->space;
	uint8_t code[X86_CALL_MAX];

	if (cpu_host == &cpu_arm64)
		return !s->code || !s->code(s->ctx, ra - ARM64_CALL, true, code, ARM64_CALL) ? MAYBE_CALL :
		       arm64_is_call(code) ? AFTER_CALL : NO_CODE;
	if (!s->code || !s->code(s->ctx, ra - sizeof(code), true, code, sizeof(code)))
		return MAYBE_CALL;
	return x86_ends_in_call(code) ? AFTER_CALL : NO_CODE;
}

static enum trust judge_return(const struct guess *g, uint64_t ra)
{
	struct unwind_module *mod = NULL;
	uint32_t module = 0;
	uint64_t off;
	uint8_t code[X86_CALL_MAX];

	if (ra < 4096 || !g->space->find(g->space->ctx, ra - 1, &module, &off, &mod))
		return NO_CODE;
	if (!mod && !module)
		return judge_unknown(g, ra);
	if (!mod || off < 7)
		return MAYBE_CALL;
	if (module_cpu(mod) == &cpu_arm64)
		return !module_code(mod, off + 1 - ARM64_CALL, code, ARM64_CALL) ? MAYBE_CALL :
		       arm64_is_call(code) ? AFTER_CALL : NO_CODE;
	if (!module_code(mod, off - 7, code, sizeof(code)))
		return MAYBE_CALL;
	return x86_ends_in_call(code) ? AFTER_CALL : NO_CODE;
}

bool guess_follows_call(const struct guess *g, uint64_t ra)
{
	return judge_return(g, ra) == AFTER_CALL;
}

/* Return whether it is jmp *: through a register or a table, but not the linkage table's to another file. */
static bool jumps_by_pointer(const struct x86_insn *in)
{
	return !in->map && !in->vex && in->opcode == 0xff && (in->modrm >> 3 & 7) == 4 &&
	       (in->modrm & 0xc7) != 5;
}

/*
 * Return whether the function at off has no rules, as what begins to run code of a runtime may; or jumps
 * there.
 */
static bool leads_anywhere(struct unwind_module *mod, uint64_t off)
{
	uint8_t code[ENTRY_BYTES + X86_INSN_MAX];
	size_t len = sizeof(code), at = 0;
	struct x86_insn in;

	if (!module_row(mod, off))
		return true;
	while (len >= X86_INSN_MAX && !module_code(mod, off, code, len))
		len /= 2;
	while (at + X86_INSN_MAX <= len && x86_insn_decode(code + at, len - at, &in)) {
		if (jumps_by_pointer(&in))
			return true;
		at += in.len;
		if (!in.map && (in.opcode == 0xe9 || in.opcode == 0xeb)) {
			if (in.imm < 0 || (uint64_t)in.imm >= len - at)
				return false;
			at += in.imm;
		} else if (!in.map && in.opcode == 0xc3) {
			return false;
		}
	}
	return false;
}

bool guess_may_enter(const struct guess *g, uint64_t ra)
{
	struct unwind_module *mod = NULL;
	uint8_t code[X86_CALL_MAX];
	uint64_t off, to;
	uint32_t module, *known;
	int32_t rel;

	if (ra < 4096 || !g->space->find(g->space->ctx, ra - 1, &module, &off, &mod) || !mod ||
	    module_cpu(mod) != &cpu_x86 || off + 1 < sizeof(code) || !module_row(mod, off) ||
	    !module_code(mod, off + 1 - sizeof(code), code, sizeof(code)) || !x86_ends_in_call(code))
		return false;
	if (!x86_is_direct_call(code + sizeof(code) - X86_CALL_DIRECT, &rel))
		return true;
	to = off + 1 + rel;
	if (symfile_off_to_vaddr(mod->f, to) == UINT64_MAX)
		return false;
	known = map_put(&mod->entries, to);
	if (*known == MAP_NONE)
		*known = leads_anywhere(mod, to);
	return *known;
}

bool guess_may_follow_call(const struct guess *g, uint64_t ra)
{
	return judge_return(g, ra) != NO_CODE;
}

static bool take_frame(struct unwind_regs *regs, uint64_t ra, uint64_t sp, uint64_t fp, bool have_fp)
{
	regs->pc = regs->r[X86_RIP] = ra;
	regs->sp = regs->r[X86_RSP] = sp;
	regs->valid &= cpu_x86.saved & ~(1ull << X86_RBP);
	regs->valid |= 1ull << X86_RIP | 1ull << X86_RSP | (have_fp ? 1ull << X86_RBP : 0);
	regs->r[X86_RBP] = fp;
	return true;
}

/*
 * Find a caller of a function that has no frame yet, or no longer: the return address is on top of the stack,
 * or below the frame pointer that was just pushed.
 */
static bool no_frame_yet(const struct guess *g, struct unwind_regs *regs)
{
	bool have_fp = regs->valid >> X86_RBP & 1;
	const struct unwind_space *s = g->space;
	uint8_t code[1 + X86_START];	/* one before pc, then those at it */
	uint64_t ra, fp;

	if (g->mod ? !g->off || !module_code(g->mod, g->off - 1, code, sizeof(code)) :
		     !s->code || !s->code(s->ctx, regs->pc - 1, false, code, sizeof(code)))
		return false;
	if (x86_is_without_frame(code + 1))
		return stack_read(g->st, regs->sp, &ra) && guess_may_follow_call(g, ra) &&
		       take_frame(regs, ra, regs->sp + 8, regs->r[X86_RBP], have_fp);
	if (x86_is_frame_setup(code))
		return stack_read(g->st, regs->sp, &fp) && stack_read(g->st, regs->sp + 8, &ra) &&
		       guess_may_follow_call(g, ra) && take_frame(regs, ra, regs->sp + 16, fp, true);
	return false;
}

bool guess_is_of_runtime(const struct guess *g, uint64_t addr)
{
	struct unwind_module *mod = NULL;
	uint32_t module = 0;
	uint64_t off;

	return addr >= 4096 && g->space->find(g->space->ctx, addr, &module, &off, &mod) && !module && !mod;
}

static bool by_frame_pointer(const struct guess *g, struct unwind_regs *regs, bool *at_end,
			     enum frame_mark *why)
{
	uint64_t fp = regs->r[X86_RBP], ra, next;

	if (!(regs->valid >> X86_RBP & 1) || (fp && (fp < regs->sp || fp & 7)))
		return false;
	if (!fp) {
		*at_end = !g->interrupted;	/* the ABI's mark of the outermost frame */
		return false;
	}
	if (!stack_read(g->st, fp, &next) || !stack_read(g->st, fp + 8, &ra)) {
		if (fp - regs->sp < 1 << 20)	/* not any number */
			*why = beyond(g->st, fp);
		return false;
	}
	if (!ra && !next) {
		*at_end = true;
		return false;
	}
	/* the caller's rbp may be anything, if it has rules and needs no frame pointer */
	switch (judge_return(g, ra)) {
	case AFTER_CALL:
		return take_frame(regs, ra, fp + 16, next, true);
	case MAYBE_CALL:
		return (!next || next > fp) && take_frame(regs, ra, fp + 16, next, true);
	default:
		*at_end = ra && ra == g->space->beam_exit;
		return false;
	}
}

/* .init and .fini are made of pieces, without rules: they lower the stack by a word and call. */
static bool in_init_section(const struct guess *g, struct unwind_regs *regs)
{
	const struct image *im;
	const struct image_section *s;
	uint64_t ra;

	if (!g->mod)
		return false;
	im = symfile_image(g->mod->f);
	s = image_section_at(im, symfile_off_to_vaddr(g->mod->f, g->off));
	if (!s || (strcmp(s->name, ".init") && strcmp(s->name, ".fini")))
		return false;
	return stack_read(g->st, regs->sp + 8, &ra) && judge_return(g, ra) == AFTER_CALL &&
	       take_frame(regs, ra, regs->sp + 16, regs->r[X86_RBP], regs->valid >> X86_RBP & 1);
}

/* For a leaf without a frame, or a jump through a wild pointer, the return address is on top of the stack. */
bool guess_by_top_of_stack(const struct guess *g, struct unwind_regs *regs)
{
	uint64_t ra;

	return g->interrupted && !is_arm64(g) && stack_read(g->st, regs->sp, &ra) &&
	       guess_may_follow_call(g, ra) &&
	       take_frame(regs, ra, regs->sp + 8, regs->r[X86_RBP], regs->valid >> X86_RBP & 1);
}

static bool is_thread_exit(const struct unwind_module *mod, uint64_t off)
{
	uint8_t code[X86_THREAD_EXIT];

	return module_code(mod, off, code, sizeof(code)) && x86_is_thread_exit(code);
}

bool guess_is_root(const struct guess *g)
{
	return g->mod && (module_is_entry(g->mod, g->off) ||
			  (!g->interrupted && !is_arm64(g) && is_thread_exit(g->mod, g->ra_off)));
}

/* Return whether the word at ra follows a direct call, in the same module, of a function that begins near. */
static bool calls_us(const struct guess *g, const struct unwind_module *mod, uint64_t off)
{
	uint8_t code[X86_CALL_DIRECT];
	int32_t rel;

	if (mod != g->mod || off < sizeof(code) ||
	    !module_code(mod, off - sizeof(code), code, sizeof(code)) ||
	    !x86_is_direct_call(code, &rel))
		return false;
	return off + rel <= g->off && g->off - (off + rel) < SCAN_FUNCTION;
}

/*
 * Take the return address at addr: a frame pointer beside it is the function's own, one above is a caller's.
 */
static bool take_scanned(const struct guess *g, struct unwind_regs *regs, uint64_t ra, uint64_t addr)
{
	uint64_t fp = regs->r[X86_RBP];
	bool have_fp = regs->valid >> X86_RBP & 1 &&
		       (fp > addr || (fp == addr - 8 && stack_read(g->st, fp, &fp)));

	return take_frame(regs, ra, addr + 8, fp, have_fp);
}

bool guess_by_scan(const struct guess *g, struct unwind_regs *regs)
{
	struct unwind_module *mod;
	uint64_t addr, ra, off;
	uint32_t module;
	size_t i;

	if (!g->mod || is_arm64(g))
		return false;
	for (i = 0, addr = regs->sp; i < SCAN_WORDS; i++, addr += 8) {
		mod = NULL;
		if (!stack_read(g->st, addr, &ra))
			return false;
		if (ra < 4096 || !g->space->find(g->space->ctx, ra - 1, &module, &off, &mod) || !mod)
			continue;
		if (calls_us(g, mod, off + 1) ||
		    (judge_return(g, ra) == AFTER_CALL &&
		     (module_is_entry(mod, off) || is_thread_exit(mod, off + 1))))
			return take_scanned(g, regs, ra, addr);
	}
	return false;
}

/*
 * Return whether the frame is built, with this return address: a function that has called nothing since has
 * it in both places.
 */
static bool is_in_record(const struct guess *g, const struct unwind_regs *regs, uint64_t ra)
{
	uint64_t saved;

	return regs->valid >> ARM64_FP & 1 && stack_read(g->st, regs->r[ARM64_FP] + 8, &saved) &&
	       (saved & module_cpu(g->mod)->ra_mask) == ra;
}

/*
 * Return whether the register has a return address in a function without rules, as after its call of another
 * one.
 */
static bool is_own_code(const struct guess *g, uint64_t ra)
{
	struct unwind_module *mod = NULL;
	uint32_t module;
	uint64_t off;

	return g->space->find(g->space->ctx, ra - 1, &module, &off, &mod) && mod == g->mod &&
	       !module_row(mod, off) && off + SCAN_FUNCTION > g->off && off < g->off + SCAN_FUNCTION;
}

/*
 * Take the caller from the link register: of a function that has not stored it, as those in assembler and of
 * the linkage table, or of a jump through a wild pointer.
 */
static bool by_link_register(const struct guess *g, struct unwind_regs *regs)
{
	uint64_t ra = regs->r[ARM64_LR] & module_cpu(g->mod)->ra_mask, off;
	struct unwind_module *mod = NULL;
	uint32_t module;

	if (!g->interrupted || !(regs->valid >> ARM64_LR & 1) || !guess_may_follow_call(g, ra))
		return false;
	if (g->mod ? is_in_record(g, regs, ra) || is_own_code(g, ra) :
		     g->space->find(g->space->ctx, regs->pc, &module, &off, &mod))
		return false;
	regs->pc = ra;
	return true;
}

static bool guess_arm64(const struct guess *g, struct unwind_regs *regs, bool *at_end,
			enum frame_mark *why)
{
	uint64_t fp = regs->r[ARM64_FP], next, ra;

	if (by_link_register(g, regs))
		return true;
	if (!(regs->valid >> ARM64_FP & 1) || !fp || fp < regs->sp || fp & 15) {
		*at_end = !fp && !g->interrupted;
		return false;
	}
	if (!stack_read(g->st, fp, &next) || !stack_read(g->st, fp + 8, &ra)) {
		*why = beyond(g->st, fp);
		return false;
	}
	ra &= module_cpu(g->mod)->ra_mask;
	if (!guess_may_follow_call(g, ra))
		return false;
	regs->pc = regs->r[ARM64_LR] = ra;
	regs->sp = regs->r[ARM64_SP] = fp + 16;
	regs->r[ARM64_FP] = next;
	return true;
}

bool guess_caller(const struct guess *g, struct unwind_regs *regs, bool *at_end, enum frame_mark *why)
{
	*at_end = false;
	*why = MARK_NO_UNWIND_INFO;
	if (is_arm64(g))
		return guess_arm64(g, regs, at_end, why);
	if ((g->interrupted && no_frame_yet(g, regs)) || in_init_section(g, regs))
		return true;
	return by_frame_pointer(g, regs, at_end, why);
}
