// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * guess.c - unwinding without rules.
 *
 * Nothing is believed that does not look like a call: a return address must be executable and,
 * where its module's file can be read, follow a call instruction.
 */
#include <string.h>

#include "unwind/guess.h"

enum {	/* x86-64, DWARF numbers */
	RBP = 6, RSP = 7, RIP = 16,
	UC_GREGS = 40,		/* of struct ucontext: r8 ... */
	NR_GREGS = 17,
	SCAN_WORDS = 64,
	SCAN_FUNCTION = 4096,	/* how far in a function that never returns is looked for its start */
};

enum {	/* arm64 */
	X29 = 29, X30 = 30, SP = 31,
	SIGFRAME_REGS = 312,	/* siginfo 128, ucontext up to the registers 184 */
};

/* DWARF numbers in the order of struct sigcontext. */
static const uint8_t gregs[NR_GREGS] = { 8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16 };

static bool is_arm64(const struct guess *g)
{
	return module_cpu(g->mod)->ra_in_reg >= 0;
}

static enum frame_mark beyond(const struct unwind_stack *st, uint64_t addr)
{
	return addr >= st->sp ? MARK_TRUNCATED_STACK : MARK_BAD_UNWIND_INFO;
}

static bool signal_x86(const struct guess *g, struct unwind_regs *regs, enum frame_mark *why)
{
	uint64_t at = regs->sp + UC_GREGS;
	struct unwind_regs new = { .valid = 0 };
	size_t i;

	for (i = 0; i < NR_GREGS; i++) {
		if (!stack_read(g->st, at + 8 * i, &new.r[gregs[i]])) {
			*why = beyond(g->st, at + 8 * i);
			return false;
		}
		new.valid |= 1ull << gregs[i];
	}
	new.pc = new.r[RIP];
	new.sp = new.r[RSP];
	*regs = new;
	return true;
}

static bool signal_arm64(const struct guess *g, struct unwind_regs *regs, enum frame_mark *why)
{
	uint64_t at = regs->sp + SIGFRAME_REGS;
	struct unwind_regs new = { .valid = 0 };
	size_t i;

	for (i = 0; i <= SP + 1; i++) {
		uint64_t *to = i <= SP ? &new.r[i] : &new.pc;

		if (!stack_read(g->st, at + 8 * i, to)) {
			*why = beyond(g->st, at + 8 * i);
			return false;
		}
	}
	new.valid = (1ull << (SP + 1)) - 1;
	new.sp = new.r[SP];
	*regs = new;
	return true;
}

bool guess_signal(const struct guess *g, struct unwind_regs *regs, enum frame_mark *why)
{
	static const uint8_t x86[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t arm64[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };
	uint8_t code[sizeof(x86)];

	*why = MARK_NONE;
	if (!g->mod)
		return false;
	if (is_arm64(g))
		return module_code(g->mod, g->ra_off, code, sizeof(arm64)) &&
		       !memcmp(code, arm64, sizeof(arm64)) && signal_arm64(g, regs, why);
	return module_code(g->mod, g->ra_off, code, sizeof(x86)) &&
	       !memcmp(code, x86, sizeof(x86)) && signal_x86(g, regs, why);
}

/* The eight bytes before a return address end in a call: e8 rel32, or ff /2 of any length. */
static bool ends_in_call(const uint8_t *p)
{
	size_t len;

	if (p[3] == 0xe8)
		return true;
	for (len = 2; len <= 7; len++)
		if (p[8 - len] == 0xff && (p[9 - len] >> 3 & 7) == 2)
			return true;
	return false;
}

enum trust {
	NO_CODE,		/* cannot be a return address */
	MAYBE_CALL,		/* executable, but its bytes are not ours to read */
	AFTER_CALL,
};

static enum trust judge(const struct guess *g, uint64_t ra)
{
	struct unwind_module *mod = NULL;
	uint32_t module;
	uint64_t off;
	uint8_t code[8];

	if (ra < 4096 || !g->space->find(g->space->ctx, ra - 1, &module, &off, &mod))
		return NO_CODE;
	if (!mod || is_arm64(g) || off < 7 || !module_code(mod, off - 7, code, sizeof(code)))
		return MAYBE_CALL;
	return ends_in_call(code) ? AFTER_CALL : NO_CODE;
}

bool guess_follows_call(const struct guess *g, uint64_t ra)
{
	return judge(g, ra) == AFTER_CALL;
}

static bool plausible(const struct guess *g, uint64_t ra)
{
	return judge(g, ra) != NO_CODE;
}

static bool take_frame(struct unwind_regs *regs, uint64_t ra, uint64_t sp, uint64_t fp, bool have_fp)
{
	regs->pc = regs->r[RIP] = ra;
	regs->sp = regs->r[RSP] = sp;
	regs->valid = 1ull << RIP | 1ull << RSP | (regs->valid & ~(1ull << RBP) & 0xf008) |
		      (have_fp ? 1ull << RBP : 0);
	regs->r[RBP] = fp;
	return true;
}

/*
 * The function has no frame yet, or no longer: the return address is on top of the stack, or
 * below the frame pointer that was just pushed.
 */
static bool no_frame_yet(const struct guess *g, struct unwind_regs *regs)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const uint8_t mov_rbp[] = { 0x48, 0x89, 0xe5 };
	bool have_fp = regs->valid >> RBP & 1;
	uint8_t code[5];	/* one before pc, then those at it */
	uint64_t ra, fp;

	if (!g->mod || !g->off || !module_code(g->mod, g->off - 1, code, sizeof(code)))
		return false;
	if (code[1] == 0x55 || code[1] == 0xc3 || !memcmp(code + 1, endbr64, 4))
		return stack_read(g->st, regs->sp, &ra) && plausible(g, ra) &&
		       take_frame(regs, ra, regs->sp + 8, regs->r[RBP], have_fp);
	if (code[0] == 0x55 && !memcmp(code + 1, mov_rbp, 3))
		return stack_read(g->st, regs->sp, &fp) && stack_read(g->st, regs->sp + 8, &ra) &&
		       plausible(g, ra) && take_frame(regs, ra, regs->sp + 16, fp, true);
	return false;
}

static bool by_frame_pointer(const struct guess *g, struct unwind_regs *regs, bool *at_end,
			     enum frame_mark *why)
{
	uint64_t fp = regs->r[RBP], ra, next;

	if (!(regs->valid >> RBP & 1) || (fp && (fp < regs->sp || fp & 7)))
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
	/* What the caller has in rbp may be anything, when it has rules and needs no frame pointer. */
	switch (judge(g, ra)) {
	case AFTER_CALL:
		return take_frame(regs, ra, fp + 16, next, true);
	case MAYBE_CALL:
		return (!next || next > fp) && take_frame(regs, ra, fp + 16, next, true);
	default:
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
	return stack_read(g->st, regs->sp + 8, &ra) && judge(g, ra) == AFTER_CALL &&
	       take_frame(regs, ra, regs->sp + 16, regs->r[RBP], regs->valid >> RBP & 1);
}

/* A leaf without a frame, or a jump through a wild pointer: who called is on top of the stack. */
static bool by_top_of_stack(const struct guess *g, struct unwind_regs *regs)
{
	uint64_t ra;

	return g->interrupted && stack_read(g->st, regs->sp, &ra) && plausible(g, ra) &&
	       take_frame(regs, ra, regs->sp + 8, regs->r[RBP], regs->valid >> RBP & 1);
}

/* musl: a thread returns to mov %eax, %edi; xor %eax, %eax; mov $60, %al; syscall */
static bool is_thread_exit(const struct unwind_module *mod, uint64_t off)
{
	static const uint8_t want[] = { 0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05 };
	uint8_t code[sizeof(want)];

	return module_code(mod, off, code, sizeof(code)) && !memcmp(code, want, sizeof(want));
}

bool guess_is_root(const struct guess *g)
{
	return g->mod && (module_is_entry(g->mod, g->off) ||
			  (!g->interrupted && !is_arm64(g) && is_thread_exit(g->mod, g->ra_off)));
}

/* The word at ra is behind a direct call, in the same module, of a function that begins near. */
static bool calls_us(const struct guess *g, const struct unwind_module *mod, uint64_t off)
{
	uint8_t code[5];
	int32_t rel;

	if (mod != g->mod || off < 5 || !module_code(mod, off - 5, code, sizeof(code)) || code[0] != 0xe8)
		return false;
	memcpy(&rel, code + 1, 4);
	return off + rel <= g->off && g->off - (off + rel) < SCAN_FUNCTION;
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
		    (judge(g, ra) == AFTER_CALL &&
		     (module_is_entry(mod, off) || is_thread_exit(mod, off + 1))))
			return take_frame(regs, ra, addr + 8, regs->r[RBP], false);
	}
	return false;
}

/* A jump through a wild pointer: the call left its address in the link register. */
static bool by_link_register(const struct guess *g, struct unwind_regs *regs)
{
	uint64_t ra = regs->r[X30] & module_cpu(NULL)->ra_mask, off;
	struct unwind_module *mod = NULL;
	uint32_t module;

	if (!g->interrupted || !(regs->valid >> X30 & 1) ||
	    g->space->find(g->space->ctx, regs->pc, &module, &off, &mod) || !plausible(g, ra))
		return false;
	regs->pc = ra;
	return true;
}

static bool guess_arm64(const struct guess *g, struct unwind_regs *regs, bool *at_end,
			enum frame_mark *why)
{
	uint64_t fp = regs->r[X29], next, ra;

	if (by_link_register(g, regs))
		return true;
	if (!(regs->valid >> X29 & 1) || !fp || fp < regs->sp || fp & 15) {
		*at_end = !fp && !g->interrupted;
		return false;
	}
	if (!stack_read(g->st, fp, &next) || !stack_read(g->st, fp + 8, &ra)) {
		*why = beyond(g->st, fp);
		return false;
	}
	ra &= module_cpu(g->mod)->ra_mask;
	if (!plausible(g, ra))
		return false;
	regs->pc = regs->r[X30] = ra;
	regs->sp = regs->r[SP] = fp + 16;
	regs->r[X29] = next;
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
	if (by_frame_pointer(g, regs, at_end, why))
		return true;
	return !*at_end && by_top_of_stack(g, regs);
}
