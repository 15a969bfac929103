// SPDX-License-Identifier: GPL-2.0-or-later
#include <elf.h>
#include <string.h>

#include "arch/cpu.h"
#include "arch/insn.h"
#include "base/mem.h"
#include "unit.h"
#include "unwind/epilogue.h"

/*
 * A made-up module: an ELF file in memory with a page of code, linked at 0 and mapped at BASE,
 * without rules or with those a test gives.
 */
enum { BASE = 0x400000, CODE = 0x1000, STACK = 0x7f0000, WORDS = 64, OTHER = 0x600000 };

struct file {
	Elf64_Ehdr eh;
	Elf64_Phdr text;
	Elf64_Shdr sec[3];
	char names[16];
	uint8_t rules[512];
	uint8_t pad[CODE - sizeof(Elf64_Ehdr) - sizeof(Elf64_Phdr) - 3 * sizeof(Elf64_Shdr) - 16 - 512];
	uint8_t code[0x1000];
};

static struct file file;
static struct symfile *sf;
static struct unwind_module *mod;
static uint64_t words[WORDS];
static struct unwind_regs regs;
static struct unwind_frame frames[32];
static enum frame_mark end;

static bool find(void *ctx, uint64_t addr, uint32_t *module, uint64_t *off, struct unwind_module **m)
{
	if (addr - OTHER < 4096) {	/* executable, of no file */
		*module = 0;
		*off = addr;
		return true;
	}
	if (addr - BASE >= sizeof(file))
		return false;
	*module = 7;
	*off = addr - BASE;
	*m = mod;
	return true;
}

static struct unwind_space space = { find, NULL, NULL };
static const struct unwind_stack stack = { STACK, (const uint8_t *)words, sizeof(words) };

static void set_up(const uint8_t *rules, size_t len)
{
	struct err e;

	memset(&file, 0, sizeof(file));
	memcpy(file.eh.e_ident, "\x7f" "ELF\2\1\1", 7);
	file.eh.e_machine = EM_X86_64;
	file.eh.e_entry = 0x1f00;
	file.eh.e_phoff = offsetof(struct file, text);
	file.eh.e_phnum = 1;
	file.eh.e_phentsize = sizeof(file.text);
	file.eh.e_shoff = offsetof(struct file, sec);
	file.eh.e_shnum = 3;
	file.eh.e_shentsize = sizeof(file.sec[0]);
	file.eh.e_shstrndx = 1;
	file.text = (Elf64_Phdr){ PT_LOAD, PF_X | PF_R, 0, 0, 0, sizeof(file), sizeof(file), 4096 };
	memcpy(file.names, "\0.eh_frame", 11);
	file.sec[1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct file, names),
		.sh_size = 16 };
	file.sec[2] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_size = len,
				    .sh_offset = offsetof(struct file, rules),
				    .sh_addr = offsetof(struct file, rules) };
	if (len)
		memcpy(file.rules, rules, len);
	memset(file.code, 0x90, sizeof(file.code));
	CHECK_U64(symfile_open_memory(&sf, &file, sizeof(file), "made-up", &e), 0);
	mod = unwind_module_new(sf);
	memset(words, 0, sizeof(words));
	memset(&regs, 0, sizeof(regs));
	regs.valid = 0x1ffff;
	regs.sp = STACK;
}

static void tear_down(void)
{
	unwind_module_free(mod);
	symfile_close(sf);
}

static size_t walk(uint64_t pc)
{
	regs.pc = pc;
	return unwind_walk(&space, &regs, &stack, frames, ARRAY_SIZE(frames), &end);
}

/* Puts a call instruction in front of the return address. */
static uint64_t call_before(uint64_t ra)
{
	file.code[ra - BASE - CODE - 5] = 0xe8;
	return ra;
}

/* CIE: zR, absolute addresses, CFA rsp+8, return address at CFA-8; then one FDE. */
static size_t one_fde(uint8_t *to, uint64_t start, uint64_t len, const char *aug, const uint8_t *ins,
		      size_t nr)
{
	size_t cie_len = 4 + 1 + strlen(aug) + 1 + 3 + 2 + 5, fde_len = 4 + 16 + 1 + nr, at = 0;
	uint8_t cie[64] = { 0 };
	uint32_t w;

	cie_len = (cie_len + 7) & ~7ul;
	w = cie_len;
	memcpy(cie, &w, 4);
	at = 8;
	cie[at++] = 1;
	memcpy(cie + at, aug, strlen(aug) + 1);
	at += strlen(aug) + 1;
	memcpy(cie + at, "\x01\x78\x10\x01\x00\x0c\x07\x08\x90\x01", 10);
	memcpy(to, cie, 4 + cie_len);
	to += 4 + cie_len;
	w = fde_len;
	memcpy(to, &w, 4);
	w = 4 + cie_len + 4;	/* back to the CIE */
	memcpy(to + 4, &w, 4);
	memcpy(to + 8, &start, 8);
	memcpy(to + 16, &len, 8);
	to[24] = 0;
	if (nr)
		memcpy(to + 25, ins, nr);
	return 4 + cie_len + 4 + fde_len;
}

static void set_up_fde(const char *aug, const uint8_t *ins, size_t nr)
{
	uint8_t rules[512] = { 0 };

	set_up(rules, one_fde(rules, CODE, 0x800, aug, ins, nr));
}

TEST(unwind_by_rules_until_the_return_address_is_zero)
{
	set_up_fde("zR", NULL, 0);
	words[0] = BASE + 0x1100;
	words[1] = BASE + 0x1200;
	CHECK_U64(walk(BASE + 0x1050), 3);
	CHECK_U64(end, MARK_NONE);
	CHECK_U64(frames[0].pc, BASE + 0x1050);
	CHECK_U64(frames[1].pc, BASE + 0x10ff);
	CHECK_U64(frames[1].off, 0x10ff);
	CHECK_U64(frames[1].module, 7);
	CHECK_U64(frames[1].sp, STACK + 8);
	CHECK_U64(frames[2].pc, BASE + 0x11ff);
	tear_down();
}

TEST(unwind_undefined_return_address_is_the_root)
{
	set_up_fde("zR", (const uint8_t *)"\x07\x10", 2);
	words[0] = BASE + 0x1100;
	CHECK_U64(walk(BASE + 0x1050), 1);
	CHECK_U64(end, MARK_NONE);
	tear_down();
}

TEST(unwind_restores_saved_registers_and_moves_with_the_rules)
{
	/* rbx at CFA-16 with CFA rsp+16 from the second byte on; before that, CFA rsp+8. */
	static const uint8_t ins[] = { 0x41, 0x0e, 16, 0x83, 2 };

	set_up_fde("zR", ins, sizeof(ins));
	words[0] = 0x1234;
	words[1] = BASE + 0x1000;	/* returns to the first byte: the call is the last of another */
	CHECK_U64(walk(BASE + 0x1001), 2);
	CHECK_U64(regs.r[3], 0x1234);
	CHECK(regs.valid >> 3 & 1);
	CHECK(!(regs.valid & 1));	/* rax is anybody's */
	tear_down();
}

TEST(unwind_stack_that_ends_too_early_is_truncated)
{
	static const uint8_t ins[] = { 0x0e, 0x80, 0x08 };	/* CFA rsp+1024 */

	set_up_fde("zR", ins, sizeof(ins));
	CHECK_U64(walk(BASE + 0x1050), 1);
	CHECK_U64(end, MARK_TRUNCATED_STACK);
	tear_down();
}

static bool word_above(void *ctx, uint64_t addr, uint64_t *v)
{
	*v = *(uint64_t *)ctx;
	return addr == STACK + 1024 - 8;
}

TEST(unwind_a_stack_that_is_continued_above_its_copy)
{
	static const uint8_t ins[] = { 0x0e, 0x80, 0x08 };	/* CFA rsp+1024 */
	uint64_t ra = BASE + 0x1100;
	struct unwind_stack with = stack;

	with.above = word_above;
	with.ctx = &ra;
	set_up_fde("zR", ins, sizeof(ins));
	regs.pc = BASE + 0x1050;
	regs.sp = STACK;
	CHECK_U64(unwind_walk(&space, &regs, &with, frames, ARRAY_SIZE(frames), &end), 2);
	CHECK_U64(frames[1].pc, ra - 1);
	CHECK_U64(frames[1].sp, STACK + 1024);
	CHECK_U64(end, MARK_TRUNCATED_STACK);
	tear_down();
}

TEST(unwind_more_frames_than_asked_is_truncated_depth)
{
	size_t i;

	set_up_fde("zR", NULL, 0);
	for (i = 0; i < WORDS; i++)
		words[i] = BASE + 0x1100;
	CHECK_U64(walk(BASE + 0x1050), ARRAY_SIZE(frames));
	CHECK_U64(end, MARK_TRUNCATED_DEPTH);
	tear_down();
}

TEST(unwind_both_ends_of_a_stack_are_kept)
{
	enum { MAX = 7 };
	struct unwind_ends ends;
	size_t nr, i;

	for (nr = 1; nr < 40; nr++) {
		set_up_fde("zR", NULL, 0);
		for (i = 0; i + 1 < nr; i++)
			words[i] = BASE + 0x1100 + i;
		regs.pc = BASE + 0x1050;
		i = unwind_walk_ends(&space, &regs, &stack, frames, MAX, &ends);
		CHECK_U64(ends.end, MARK_NONE);
		CHECK_U64(i, nr < MAX ? nr : MAX);
		CHECK_U64(ends.left_out, nr - i);
		for (i = 1; i < nr && i < MAX; i++)
			CHECK_U64(frames[i].pc, BASE + 0x1100 + i - 2 + (i < MAX / 2 ? 0 : ends.left_out));
		tear_down();
	}
}

TEST(unwind_a_stack_pointer_that_does_not_grow_ends_the_walk)
{
	static const uint8_t ins[] = { 0x0c, 0x06, 0x00 };	/* CFA rbp+0 */

	set_up_fde("zR", ins, sizeof(ins));
	words[0] = words[1] = BASE + 0x1100;
	regs.r[6] = STACK + 8;		/* once forward, then in place */
	CHECK_U64(walk(BASE + 0x1050), 2);
	CHECK_U64(end, MARK_BAD_UNWIND_INFO);
	tear_down();
}

TEST(unwind_stops_at_the_range_with_that_frame_in_the_registers)
{
	const struct unwind_space stops = { find, .stop_lo = 0x99000000, .stop_hi = 0x99001000 };

	set_up_fde("zR", NULL, 0);
	words[0] = BASE + 0x1100;
	words[1] = 0x99000010;
	regs.pc = BASE + 0x1050;
	CHECK_U64(unwind_walk(&stops, &regs, &stack, frames, 32, &end), 2);
	CHECK_U64(end, MARK_NONE);
	CHECK_U64(regs.pc, 0x99000010);
	CHECK_U64(regs.sp, STACK + 16);
	tear_down();
}

/* Code nobody mapped: the caller knows its frames are two words. */
static bool step_two_words(void *ctx, struct unwind_regs *r, const struct unwind_stack *st)
{
	uint64_t ra;

	if (r->pc >> 24 != 0x99 || !stack_read(st, r->sp + 8, &ra))
		return false;
	r->pc = r->r[16] = ra;
	r->sp = r->r[7] = r->sp + 16;
	return true;
}

TEST(unwind_continues_through_code_that_only_the_caller_knows)
{
	struct unwind_space with_step = { find, step_two_words, NULL };

	set_up_fde("zR", NULL, 0);
	words[0] = 0x99000010;
	words[2] = 0x99000020;
	words[4] = BASE + 0x1100;
	regs.pc = BASE + 0x1050;
	CHECK_U64(unwind_walk(&with_step, &regs, &stack, frames, 32, &end), 4);
	CHECK_U64(end, MARK_NONE);
	CHECK_U64(frames[1].pc, 0x9900000f);
	CHECK_U64(frames[1].module, 0);
	CHECK_U64(frames[2].pc, 0x9900001f);
	CHECK_U64(frames[3].pc, BASE + 0x10ff);
	tear_down();
}

TEST(unwind_signal_frames_give_exact_addresses)
{
	/* A trampoline: CFA is where its expression points, rip and rsp are saved near it. */
	static const uint8_t ins[] = {
		0x0f, 3, 0x77, 0x20, 0x06,		/* CFA: *(rsp+32) */
		0x10, 16, 2, 0x77, 0x10,		/* rip at rsp+16 */
		0x10, 3, 2, 0x77, 0x18,			/* rbx at rsp+24 */
	};

	set_up_fde("zRS", ins, sizeof(ins));
	words[2] = BASE + 0x1900;			/* no rules there */
	words[3] = 0x55;
	words[4] = STACK + 0x100;
	words[0x20] = call_before(BASE + 0x1a00);
	file.code[0x900] = 0xc3;			/* interrupted at its return */
	CHECK_U64(walk(BASE + 0x1050), 3);
	CHECK_U64(frames[1].pc, BASE + 0x1900);
	CHECK(frames[1].signal);
	CHECK_U64(frames[1].sp, STACK + 0x100);
	CHECK(!frames[2].signal);
	CHECK_U64(frames[2].pc, BASE + 0x19ff);
	CHECK_U64(regs.r[3], 0x55);
	tear_down();
}

/* The return address is found by the call of the function; beside it is the caller's frame pointer. */
TEST(unwind_keeps_the_frame_pointer_of_a_function_that_never_returns)
{
	static const uint8_t calls[] = { 0xe8, 0xb0, 0x01, 0, 0 };	/* from 0x150 on to 0x300 */

	set_up(NULL, 0);
	memcpy(file.code + 0x14b, calls, sizeof(calls));
	words[1] = STACK + 6 * 8;
	words[2] = BASE + CODE + 0x150;
	words[6] = STACK + 10 * 8;
	words[7] = OTHER + 0x500;
	regs.r[6] = STACK + 8;
	CHECK_U64(walk(BASE + CODE + 0x310), 3);
	CHECK_U64(end, MARK_NONE);
	CHECK_U64(frames[1].pc, BASE + CODE + 0x14f);
	CHECK_U64(frames[2].pc, OTHER + 0x4ff);
	tear_down();
}

static uint8_t made[4096];	/* at OTHER */

static bool read_made(void *ctx, uint64_t addr, bool calls, void *buf, size_t len)
{
	if (addr - OTHER > sizeof(made) - len)
		return false;
	memcpy(buf, made + (addr - OTHER), len);
	return true;
}

/* Code of a runtime in the middle: no frame pointer, but what is behind the call shows how much it took. */
TEST(unwind_by_the_code_of_a_runtime_whose_return_is_near)
{
	static const uint8_t calls[] = { 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x18, 0xc3 };
	static const uint8_t pops[] = { 0xff, 0xd1, 0x5b, 0x48, 0x83, 0xc4, 0x10, 0xc3 };
	static const uint8_t jumps[] = { 0xff, 0xd1, 0xff, 0xe0, 0x48, 0x83, 0xc4, 0x18, 0xc3 };
	struct unwind_space with_code = { .find = find, .code = read_made };
	uint8_t rules[256];
	size_t len = one_fde(rules, CODE + 0x100, 0x100, "z", NULL, 0), n;

	if (cpu_host != &cpu_x86)
		unit_skip("x86-64 only");
	set_up(rules, len);
	words[0] = OTHER + 0x102;
	words[4] = call_before(BASE + CODE + 0x150);
	words[5] = call_before(BASE + 0x1f10);
	memcpy(made + 0x100, calls, sizeof(calls));
	regs.pc = BASE + CODE + 0x120;
	n = unwind_walk(&with_code, &regs, &stack, frames, ARRAY_SIZE(frames), &end);
	CHECK_U64(end, MARK_NONE);
	CHECK_U64(n, 4);
	CHECK_U64(frames[1].pc, OTHER + 0x101);
	CHECK_U64(frames[2].pc, BASE + CODE + 0x14f);
	CHECK(!frames[2].guessed);
	/* a register that was pushed comes back */
	memcpy(made + 0x100, pops, sizeof(pops));
	tear_down();
	set_up(rules, len);
	words[0] = OTHER + 0x102;
	words[1] = 77;
	words[4] = call_before(BASE + CODE + 0x150);
	words[5] = call_before(BASE + 0x1f10);
	regs.pc = BASE + CODE + 0x120;
	unwind_walk(&with_code, &regs, &stack, frames, ARRAY_SIZE(frames), &end);
	CHECK_U64(end, MARK_NONE);
	CHECK_U64(regs.r[3], 77);
	/* where a jump leads is not known, and no return address that follows no call is taken */
	memcpy(made + 0x100, jumps, sizeof(jumps));
	regs.pc = BASE + CODE + 0x120;
	regs.sp = STACK;
	regs.r[6] = 0x11;	/* no frame pointer, nor the mark of an outermost frame */
	unwind_walk(&with_code, &regs, &stack, frames, ARRAY_SIZE(frames), &end);
	CHECK(end != MARK_NONE);
	memcpy(made + 0x100, calls, sizeof(calls));
	words[4] = BASE + CODE + 0x170;
	regs.pc = BASE + CODE + 0x120;
	regs.sp = STACK;
	regs.r[6] = 0x11;	/* no frame pointer, nor the mark of an outermost frame */
	unwind_walk(&with_code, &regs, &stack, frames, ARRAY_SIZE(frames), &end);
	CHECK(end != MARK_NONE);
	tear_down();
}

/* A return address in described code, behind call *%rax. */
static uint64_t called_by_pointer(uint64_t off)
{
	memcpy(file.code + off - 2, "\xff\xd0", 2);
	return BASE + CODE + off;
}

static const struct unwind_space searching = { .find = find, .code = read_made, .searches = true };

/* From the middle of code that nobody describes, with no frame pointer. */
static size_t walk_from_made(const struct unwind_space *sp)
{
	regs.pc = OTHER + 0x500;
	regs.sp = STACK;
	regs.valid = 0x1ffff;
	regs.r[6] = 0x11;
	return unwind_walk(sp, &regs, &stack, frames, ARRAY_SIZE(frames), &end);
}

static void set_up_search(void)
{
	uint8_t rules[256];

	if (cpu_host != &cpu_x86)
		unit_skip("x86-64 only");
	set_up(rules, one_fde(rules, CODE + 0x100, 0x100, "z", NULL, 0));
	memset(made, 0, sizeof(made));
}

TEST(unwind_by_search_of_the_stack_for_what_leads_to_the_root)
{
	set_up_search();
	words[0] = 0x1234;
	words[1] = call_before(BASE + CODE + 0x150);		/* of a function that is elsewhere */
	words[2] = BASE + CODE + 0x170;				/* behind no call */
	words[3] = called_by_pointer(0x190);			/* from which nothing leads on */
	words[4] = 17;
	words[5] = called_by_pointer(0x1a0);			/* the same: a zero is not a root */
	words[7] = called_by_pointer(0x1b0);
	words[8] = call_before(BASE + 0x1f10);
	CHECK_U64(walk_from_made(&searching), 3);
	CHECK_U64(end, MARK_NONE);
	CHECK_U64(frames[1].pc, BASE + CODE + 0x1af);
	CHECK_U64(frames[1].sp, STACK + 64);
	CHECK(frames[1].searched && !frames[1].guessed && !frames[2].searched);
	CHECK_U64(frames[2].pc, BASE + 0x1f0f);
	/* who does not ask for it gets the reason */
	CHECK_U64(walk_from_made(&(struct unwind_space){ .find = find, .code = read_made }), 1);
	CHECK_U64(end, MARK_NO_UNWIND_INFO);
	tear_down();
}

TEST(unwind_by_search_behind_a_direct_call_of_a_function_that_jumps_anywhere)
{
	static const uint8_t calls[] = { 0xe8, 0x70, 0, 0, 0 };	/* from 0x150 on to 0x1c0 */
	static const uint8_t jumps[] = { 0xeb, 2, 0xc3, 0xc3, 0xff, 0xe0 };
	static const uint8_t plt[] = { 0xff, 0x25, 0, 0, 0, 0 };

	set_up_search();
	words[1] = BASE + CODE + 0x150;
	words[2] = call_before(BASE + 0x1f10);
	memcpy(file.code + 0x14b, calls, sizeof(calls));
	memcpy(file.code + 0x1c0, jumps, sizeof(jumps));
	CHECK_U64(walk_from_made(&searching), 3);
	CHECK_U64(frames[1].pc, BASE + CODE + 0x14f);
	unwind_module_free(mod);
	mod = unwind_module_new(sf);
	memcpy(file.code + 0x1c0, plt, sizeof(plt));
	CHECK_U64(walk_from_made(&searching), 1);
	tear_down();
}

TEST(unwind_by_search_where_rules_of_the_innermost_frame_are_wrong)
{
	struct unwind_space doubts = searching;
	uint64_t wrong[] = { 17, 0, OTHER + 0x700 };
	size_t i;

	set_up_search();
	doubts.doubts = true;
	words[1] = called_by_pointer(0x190);
	words[2] = call_before(BASE + 0x1f10);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		words[0] = wrong[i];
		regs.pc = BASE + CODE + 0x150;
		regs.sp = STACK;
		CHECK_U64(unwind_walk(&doubts, &regs, &stack, frames, ARRAY_SIZE(frames), &end), 3);
		CHECK_U64(end, MARK_NONE);
		CHECK_U64(frames[1].pc, BASE + CODE + 0x18f);
		CHECK(frames[1].searched);
	}
	words[0] = call_before(BASE + 0x1f20);
	regs.pc = BASE + CODE + 0x150;
	regs.sp = STACK;
	CHECK_U64(unwind_walk(&doubts, &regs, &stack, frames, ARRAY_SIZE(frames), &end), 2);
	CHECK(!frames[1].searched);
	tear_down();
}

TEST(unwind_by_search_twice_with_described_code_in_between)
{
	set_up_search();
	memcpy(made + 0x600, "\xff\xd0", 2);
	words[1] = called_by_pointer(0x150);
	words[2] = OTHER + 0x602;
	words[5] = called_by_pointer(0x190);
	words[6] = call_before(BASE + 0x1f10);
	CHECK_U64(walk_from_made(&searching), 5);
	CHECK_U64(end, MARK_NONE);
	CHECK_U64(frames[2].pc, OTHER + 0x601);
	CHECK_U64(frames[3].pc, BASE + CODE + 0x18f);
	CHECK(frames[1].searched && !frames[2].searched && frames[3].searched);
	tear_down();
}

TEST(unwind_the_stack_of_a_process_of_beam)
{
	struct unwind_space beam = searching;

	set_up_search();
	beam.beam_exit = OTHER + 0x800;
	memcpy(made + 0x602, "\xff\xd0", 2);
	words[0] = 0x3b;
	words[1] = OTHER + 0x605;	/* a term */
	words[2] = OTHER + 0x604;
	words[3] = OTHER + 0x700;	/* behind no call */
	words[4] = OTHER + 0x800;	/* what ends the process */
	words[5] = OTHER + 0x604;	/* of another one's heap */
	CHECK_U64(walk_from_made(&beam), 2);
	CHECK_U64(end, MARK_NONE);
	CHECK_U64(frames[1].pc, OTHER + 0x603);
	words[4] = 0;
	words[5] = 0;
	CHECK_U64(walk_from_made(&beam), 2);
	CHECK_U64(end, MARK_TRUNCATED_STACK);
	/* with frame pointers */
	words[2] = 0;
	words[3] = OTHER + 0x800;
	regs.pc = OTHER + 0x500;
	regs.sp = STACK;
	regs.valid = 0x1ffff;
	regs.r[6] = STACK + 16;
	CHECK_U64(unwind_walk(&beam, &regs, &stack, frames, ARRAY_SIZE(frames), &end), 1);
	CHECK_U64(end, MARK_NONE);
	tear_down();
}

/* As a jitdump has it: addresses are relative to the first function's. */
TEST(unwind_by_rules_that_a_runtime_gives_of_its_code)
{
	static const uint8_t ins[] = { 0x0e, 32 };	/* CFA rsp+32 */
	struct unwind_space described = { .find = find, .code = read_made };
	struct unwind_described *d = unwind_described_new();
	uint8_t rules[256];
	size_t len, cut;

	set_up_search();
	len = one_fde(rules, 0x1234, 0x200, "z", ins, sizeof(ins));
	described.described = d;
	words[3] = call_before(BASE + 0x1f10);
	unwind_described_add(d, OTHER + 0x400, 0x200, rules, len);
	CHECK_U64(walk_from_made(&described), 2);
	CHECK_U64(end, MARK_NONE);
	CHECK_U64(frames[1].pc, BASE + 0x1f0f);
	CHECK(!frames[1].guessed && !frames[1].searched);
	words[3]++;				/* behind no call */
	CHECK_U64(walk_from_made(&described), 1);
	words[3]--;
	unwind_described_add(d, OTHER + 0x5ff, 1, NULL, 0);	/* other code is there, too */
	CHECK_U64(walk_from_made(&described), 1);
	unwind_described_add(d, OTHER + 0x400, 0x1ff, rules, len);	/* the rules are of more */
	CHECK_U64(walk_from_made(&described), 1);
	for (cut = 0; cut < len; cut++)
		unwind_described_add(d, OTHER + 0x400 + cut, 0x200, rules, cut);
	unwind_described_free(d);
	tear_down();
}

TEST(unwind_searches_of_any_stack_end)
{
	struct unwind_space beam = searching;
	size_t round, i;

	set_up_search();
	beam.beam_exit = OTHER + 0x800;
	for (i = 0; i < 0x100; i += 2)
		memcpy(file.code + 0x100 + i, "\xff\xd0", 2);
	for (i = 0; i < sizeof(made); i += 2)
		memcpy(made + i, "\xff\xd0", 2);
	for (round = 0; round < 300; round++) {
		for (i = 0; i < WORDS; i++)
			words[i] = unit_random() % 2 ? BASE + CODE + 0x100 + unit_random() % 256 :
						       OTHER + unit_random() % 4096;
		CHECK(walk_from_made(round % 2 ? &searching : &beam) <= ARRAY_SIZE(frames));
	}
	tear_down();
}

TEST(unwind_signal_trampoline_without_rules_is_known_by_its_code)
{
	static const uint8_t restore_rt[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

	set_up(NULL, 0);
	memcpy(file.code + 0x100, restore_rt, sizeof(restore_rt));
	regs.r[6] = STACK;			/* the handler has a frame */
	words[0] = STACK + 0x180;
	words[1] = BASE + 0x1100;
	/* ucontext at STACK+16: general registers from 40 on, rsp the 16th, rip the 17th */
	words[2 + 5 + 15] = STACK + 0x190;
	words[2 + 5 + 16] = BASE + 0x1300;
	words[2 + 5 + 10] = 0;			/* rbp: the outermost frame */
	file.code[0x300] = 0xc3;
	words[0x190 / 8] = call_before(BASE + 0x1400);
	call_before(BASE + 0x1100);
	CHECK_U64(walk(BASE + 0x1050), 4);
	CHECK_U64(end, MARK_NONE);
	CHECK_U64(frames[2].pc, BASE + 0x1300);
	CHECK(frames[2].signal);
	CHECK_U64(frames[3].pc, BASE + 0x13ff);
	tear_down();
}

TEST(unwind_frame_pointers_where_there_are_no_rules)
{
	set_up(NULL, 0);
	regs.r[6] = STACK + 16;
	words[2] = STACK + 64;
	words[3] = call_before(BASE + 0x1100);
	words[8] = 0;				/* the ABI's mark of the outermost frame */
	words[9] = call_before(BASE + 0x1200);
	CHECK_U64(walk(BASE + 0x1050), 3);
	CHECK_U64(end, MARK_NONE);
	CHECK_U64(frames[2].pc, BASE + 0x11ff);
	CHECK_U64(frames[2].sp, STACK + 80);
	tear_down();
}

/* The same in a module for arm64, with a call instruction in front of each return address. */
static void set_up_arm64(uint64_t lr)
{
	static const uint8_t bl[] = { 0, 0, 0, 0x94 };

	set_up(NULL, 0);
	tear_down();
	file.eh.e_machine = EM_AARCH64;
	memcpy(file.code + 0x100 - 4, bl, sizeof(bl));
	memcpy(file.code + 0x200 - 4, bl, sizeof(bl));
	CHECK_U64(symfile_open_memory(&sf, &file, sizeof(file), "made-up", &(struct err){ 0 }), 0);
	mod = unwind_module_new(sf);
	regs.valid = (1ull << 32) - 1;
	regs.r[29] = STACK + 16;
	regs.r[30] = lr;
	words[2] = 0;
	words[3] = BASE + 0x1200;
}

TEST(unwind_a_function_without_rules_has_its_caller_in_the_link_register)
{
	/* of code without a module, signed */
	set_up_arm64(0x55ull << 48 | (OTHER + 0x100));
	CHECK(walk(BASE + 0x1050) >= 2);
	CHECK_U64(frames[1].pc, OTHER + 0xff);
	CHECK_U64(frames[1].sp, STACK);
	tear_down();
	/* its own, of a function that has returned to it: the record has the caller */
	set_up_arm64(BASE + 0x1100);
	CHECK_U64(walk(BASE + 0x1150), 2);
	CHECK_U64(frames[1].pc, BASE + 0x11ff);
	CHECK_U64(frames[1].sp, STACK + 32);
	tear_down();
	/* no call is before it */
	set_up_arm64(BASE + 0x1104);
	CHECK_U64(walk(BASE + 0x1150), 2);
	CHECK_U64(frames[1].pc, BASE + 0x11ff);
	tear_down();
}

TEST(unwind_a_word_that_follows_no_call_is_not_a_return_address)
{
	set_up(NULL, 0);
	regs.r[6] = STACK + 16;
	words[2] = STACK + 64;
	words[3] = BASE + 0x1100;
	CHECK_U64(walk(BASE + 0x1050), 1);
	CHECK_U64(end, MARK_NO_UNWIND_INFO);
	tear_down();
}

TEST(unwind_at_entry_and_after_the_push_the_frame_is_not_there_yet)
{
	set_up(NULL, 0);
	file.code[0x50] = 0x55;
	memcpy(file.code + 0x51, "\x48\x89\xe5", 3);
	regs.r[6] = STACK + 64;
	words[8] = 0;
	words[9] = call_before(BASE + 0x1200);
	words[0] = call_before(BASE + 0x1100);
	CHECK_U64(walk(BASE + 0x1050), 3);
	CHECK_U64(frames[1].pc, BASE + 0x10ff);
	CHECK_U64(frames[2].pc, BASE + 0x11ff);
	CHECK_U64(end, MARK_NONE);
	memset(&regs, 0, sizeof(regs));
	regs.valid = 0x1ffff;
	regs.sp = STACK;
	words[0] = STACK + 64;
	words[1] = BASE + 0x1100;
	CHECK_U64(walk(BASE + 0x1051), 3);
	CHECK_U64(frames[1].pc, BASE + 0x10ff);
	CHECK_U64(frames[2].pc, BASE + 0x11ff);
	tear_down();
}

/*
 * On top of the stack, or in the link register of a CPU that has one.  The made-up module is
 * x86-64's on any host, and takes its stack pointer from register 7.
 */
TEST(unwind_a_call_through_a_wild_pointer_has_a_caller)
{
	set_up_fde("zR", NULL, 0);
	if (cpu_host == &cpu_x86) {
		words[0] = call_before(BASE + 0x1100);
	} else {
		regs.r[30] = call_before(BASE + 0x1100);
		regs.valid |= 1ull << 30;
		regs.r[7] = STACK;
	}
	CHECK_U64(walk(0), 2);
	CHECK_U64(frames[0].module, 0);
	CHECK_U64(frames[1].pc, BASE + 0x10ff);
	CHECK_U64(end, MARK_NONE);
	tear_down();
}

TEST(unwind_the_entry_point_has_no_caller)
{
	set_up(NULL, 0);
	regs.r[6] = STACK + 16;
	words[2] = 1;
	words[3] = call_before(BASE + 0x1f10);
	CHECK_U64(walk(BASE + 0x1050), 2);
	CHECK_U64(end, MARK_NONE);
	tear_down();
}

TEST(unwind_the_first_function_of_a_thread_is_known_by_the_code_behind_its_call)
{
	static const uint8_t keep[] = { 0x64, 0x48, 0x89, 0x04, 0x25, 0x28, 0x06 },
		cltq[] = { 0x48, 0x98, 0x64, 0x48, 0x89, 0x04, 0x25 }, jump[] = { 0xe9, 0x1b, 0, 0, 0 },
		by_pointer[] = { 0xff, 0xd0, 0x89, 0xc7, 0xe8, 0x20, 0, 0, 0 },
		direct[] = { 0xe8, 0x10, 0, 0, 0, 0x89, 0xc7, 0xe8, 0x20, 0, 0, 0 };

	set_up(NULL, 0);
	memcpy(file.code + 0x100, keep, sizeof(keep));
	memcpy(file.code + 0x200, cltq, sizeof(cltq));
	memcpy(file.code + 0x300, jump, sizeof(jump));
	memcpy(file.code + 0x320, keep, sizeof(keep));
	memcpy(file.code + 0x400 - 2, by_pointer, sizeof(by_pointer));
	memcpy(file.code + 0x500 - 5, direct, sizeof(direct));
	CHECK(unwind_is_root(mod, CODE + 0x100 - 1, true));
	CHECK(unwind_is_root(mod, CODE + 0x200 - 1, true));
	CHECK(unwind_is_root(mod, CODE + 0x300 - 1, true));
	CHECK(unwind_is_root(mod, CODE + 0x400 - 1, true));
	CHECK(!unwind_is_root(mod, CODE + 0x500 - 1, true));	/* f(g()) */
	CHECK(!unwind_is_root(mod, CODE + 0x100 - 1, false));	/* interrupted there: its caller is missing */
	CHECK(!unwind_is_root(mod, CODE + 0x600, true));
	CHECK(unwind_is_root(mod, file.eh.e_entry + 5, true));
}

TEST(unwind_a_return_address_that_cannot_be_code_is_not_shown)
{
	set_up_fde("zR", NULL, 0);
	words[0] = 17;
	CHECK_U64(walk(BASE + 0x1050), 1);
	CHECK_U64(end, MARK_BAD_UNWIND_INFO);
	tear_down();
}

TEST(unwind_rows_are_shared_and_gaps_have_none)
{
	static const uint8_t ins[] = { 0x44, 0x0e, 16, 0x44, 0x0e, 8 };

	set_up_fde("zR", ins, sizeof(ins));
	CHECK(module_row(mod, 0x1000) == module_row(mod, 0x1008));
	CHECK(module_row(mod, 0x1000) != module_row(mod, 0x1004));
	CHECK_U64(module_row(mod, 0x1007)->cfa.val, 16);
	CHECK(module_row(mod, 0x17ff));
	CHECK(!module_row(mod, 0x1800));
	CHECK(!module_row(mod, 0xfff));
	CHECK(!module_row(mod, 1ull << 40));
	CHECK_U64(mod->nr_rows, 3);
	tear_down();
}

TEST(unwind_damaged_rules_hold_up_to_the_damage)
{
	static const uint8_t ins[] = { 0x0e, 24, 0x44, 0x3f };	/* an instruction nobody knows */

	set_up_fde("zR", ins, sizeof(ins));
	CHECK_U64(module_row(mod, 0x1003)->cfa.val, 24);
	CHECK(!module_row(mod, 0x1004));
	CHECK_U64(mod->nr_damaged, 1);
	tear_down();
}

/* Puts code at offset at of the page and lets the stack begin with n zero words, then ra. */
static void set_up_code(uint64_t at, const char *code, size_t len, size_t n, uint64_t ra)
{
	set_up(NULL, 0);
	memcpy(file.code + at, code, len);
	words[n] = call_before(ra);
}

#define CODE_AT(at, s, n, ra) set_up_code((at), s, sizeof(s) - 1, (n), (ra))

TEST(unwind_by_the_code_when_there_are_no_rules)
{
	/* jne +2; jmp -4 (for ever); add $8, %rsp; pop %rbx; pop %rbp; ret */
	CODE_AT(0x50, "\x75\x02\xeb\xfc\x48\x83\xc4\x08\x5b\x5d\xc3", 3, BASE + 0x1100);
	words[1] = 0xb;
	words[2] = 0x5;
	file.code[0x100] = 0xf4;		/* the caller never returns */
	CHECK_U64(walk(BASE + 0x1050), 2);
	CHECK_U64(frames[1].pc, BASE + 0x10ff);
	CHECK_U64(regs.r[3], 0xb);
	CHECK_U64(regs.r[6], 0x5);
	CHECK_U64(regs.sp, STACK + 32);
	tear_down();

	/* lea -16(%rbp), %rsp; pop %rbx; pop %r12; pop %rbp; ret */
	CODE_AT(0x50, "\x48\x8d\x65\xf0\x5b\x41\x5c\x5d\xc3", 9, BASE + 0x1100);
	file.code[0x100] = 0xf4;
	words[6] = 1;
	words[7] = 2;
	words[8] = 3;
	regs.r[6] = STACK + 64;
	CHECK_U64(walk(BASE + 0x1050), 2);
	CHECK_U64(regs.r[3], 1);
	CHECK_U64(regs.r[12], 2);
	CHECK_U64(regs.r[6], 3);
	tear_down();
}

TEST(unwind_by_the_code_passes_over_calls_that_do_not_return)
{
	/* je +6; call; push %rbx (another function), ret; target: add $24, %rsp; ret */
	CODE_AT(0x50, "\x74\x07\xe8\x00\x00\x00\x00\x53\xc3\x48\x83\xc4\x18\xc3", 3, BASE + 0x1100);
	file.code[0x100] = 0xf4;
	CHECK_U64(walk(BASE + 0x1050), 2);
	CHECK_U64(frames[1].pc, BASE + 0x10ff);
	CHECK_U64(regs.sp, STACK + 32);
	tear_down();
}

/* Puts A64 instructions at offset 0x50 of the page, in a module for arm64, and walks from the n-th. */
static size_t walk_arm64(const uint32_t *insn, size_t nr, size_t n)
{
	set_up_arm64(BASE + 0x1100);
	memcpy(file.code + 0x50, insn, 4 * nr);
	return walk(BASE + 0x1050 + 4 * n);
}

/* words[2..3] are a frame record that says BASE + 0x1200; the link register has BASE + 0x1100. */
static void check_arm64(const uint32_t *insn, size_t nr, size_t n, uint64_t pc, uint64_t sp)
{
	CHECK(walk_arm64(insn, nr, n) >= 2);
	CHECK_U64(frames[1].pc, BASE + pc);
	CHECK_U64(frames[1].sp, STACK + sp);
	tear_down();
}

TEST(unwind_by_the_code_of_arm64_through_prologue_and_epilogue)
{
	static const uint32_t framed[] = {
		0xd503233f,	/* paciasp */
		0xa9be7bfd,	/* stp x29, x30, [sp, #-32]! */
		0x910003fd,	/* mov x29, sp */
		0xf9000bf3,	/* str x19, [sp, #16] */
		0x94000100,	/* bl */
		0xf9400bf3,	/* ldr x19, [sp, #16] */
		0xa8c27bfd,	/* ldp x29, x30, [sp], #32 */
		0xd50323bf,	/* autiasp */
		0xd65f03c0,	/* ret */
	};
	static const uint32_t split[] = {
		0xd10083ff,	/* sub sp, sp, #32 */
		0xa9017bfd,	/* stp x29, x30, [sp, #16] */
		0x910043fd,	/* add x29, sp, #16 */
		0x94000100,	/* bl */
		0xa9417bfd,	/* ldp x29, x30, [sp, #16] */
		0x910083ff,	/* add sp, sp, #32 */
		0xd65f03c0,	/* ret */
	};
	size_t i;

	/* the record is not there yet, and no more: its caller is in the link register */
	check_arm64(framed, ARRAY_SIZE(framed), 0, 0x10ff, 0);
	check_arm64(framed, ARRAY_SIZE(framed), 1, 0x10ff, 0);
	check_arm64(framed, ARRAY_SIZE(framed), 7, 0x10ff, 0);
	check_arm64(framed, ARRAY_SIZE(framed), 8, 0x10ff, 0);
	check_arm64(split, ARRAY_SIZE(split), 0, 0x10ff, 0);
	check_arm64(split, ARRAY_SIZE(split), 1, 0x10ff, 32);
	check_arm64(split, ARRAY_SIZE(split), 5, 0x10ff, 32);
	check_arm64(split, ARRAY_SIZE(split), 6, 0x10ff, 0);
	/* it is there: the stack has it, whatever the frame pointer says */
	for (i = 2; i <= 4; i++) {
		CHECK(walk_arm64(split, ARRAY_SIZE(split), i) >= 2);
		CHECK_U64(frames[1].pc, BASE + 0x11ff);
		CHECK_U64(frames[1].sp, STACK + 32);
		CHECK_U64(regs.r[29], 0);
		tear_down();
	}
}

TEST(unwind_by_the_code_of_arm64_without_a_frame_pointer)
{
	static const uint32_t early[] = {
		0xf90007fe,	/* str x30, [sp, #8] */
		0xb4000060,	/* cbz x0, +12 */
		0x94000100,	/* bl, which does not return */
		0xa9bf7bfd,	/* stp x29, x30, [sp, #-16]!: another function */
		0xf94007fe,	/* ldr x30, [sp, #8] */
		0x6d4167e8,	/* ldp d8, d25, [sp, #16] */
		0x910083ff,	/* add sp, sp, #32 */
		0xd65f03c0,	/* ret */
	};
	static const uint32_t allocas[] = {
		0xd503201f,	/* nop */
		0xcb2063ff,	/* sub sp, sp, x0 */
		0x910003bf,	/* mov sp, x29 */
		0xf94013f3,	/* ldr x19, [sp, #32] */
		0xa8c37bfd,	/* ldp x29, x30, [sp], #48 */
		0x14000001,	/* b +4 */
		0xd65f0bff,	/* retaa */
	};

	/* stored on the way, and loaded back as it was */
	check_arm64(early, ARRAY_SIZE(early), 0, 0x10ff, 32);
	/* behind the call no register has it */
	set_up_arm64(BASE + 0x1100);
	memcpy(file.code + 0x50, early, sizeof(early));
	words[1] = BASE + 0x1200;
	words[2] = 0;
	CHECK(walk(BASE + 0x1050 + 4 * 4) >= 2);
	CHECK_U64(frames[1].pc, BASE + 0x11ff);
	CHECK_U64(frames[1].sp, STACK + 32);
	tear_down();
	/* the stack pointer comes from the frame pointer */
	set_up_arm64(BASE + 0x1100);
	memcpy(file.code + 0x50, allocas, sizeof(allocas));
	regs.r[29] = STACK + 16;
	words[6] = 0x1919;
	CHECK(walk(BASE + 0x1050 + 4 * 2) >= 2);
	CHECK_U64(frames[1].pc, BASE + 0x11ff);
	CHECK_U64(frames[1].sp, STACK + 64);
	CHECK_U64(regs.r[19], 0x1919);
	tear_down();
}

static void check_expr(const char *ops, size_t len, bool ok, uint64_t want)
{
	uint8_t block[64] = { (uint8_t)len };
	struct cfi c = { .bytes = { .data = block, .len = len + 1 } };
	uint64_t v = 0, missing;

	memcpy(block + 1, ops, len);
	regs.r[7] = STACK;
	regs.valid = 1 << 7;
	words[1] = 0x1122334455667788;
	CHECK_U64(expr_eval(&c, 0, &(struct expr_input){ &regs, &stack, NULL }, &v, &missing), ok);
	if (ok)
		CHECK_U64(v, want);
}

#define EXPR(ops, want) check_expr(ops, sizeof(ops) - 1, true, (want))
#define BAD_EXPR(ops) check_expr(ops, sizeof(ops) - 1, false, 0)

TEST(unwind_expressions)
{
	EXPR("\x77\x08", STACK + 8);
	EXPR("\x77\x78", STACK - 8);
	EXPR("\x77\x08\x06", 0x1122334455667788);
	EXPR("\x77\x08\x94\x02", 0x7788);
	EXPR("\x09\xff", UINT64_MAX);			/* const1s -1 */
	EXPR("\x11\x7f", UINT64_MAX);			/* consts -1 */
	EXPR("\x35\x33\x1b", 1);			/* 5 / 3 */
	EXPR("\x35\x09\xff\x1b", (uint64_t)-5);		/* 5 / -1 */
	EXPR("\x35\x33\x1d", 2);
	EXPR("\x35\x33\x1c", 2);			/* 5 - 3 */
	EXPR("\x31\x0c\x40\x00\x00\x00\x24", 0);	/* 1 << 64 */
	EXPR("\x31\x32\x33\x17", 2);			/* rot: 3 1 2 */
	EXPR("\x31\x32\x16\x1c", 1);			/* swap: 2 - 1 */
	EXPR("\x31\x28\x01\x00\x35\x36", 6);		/* bra over lit5 */
	EXPR("\x35\x36\x2b", 0);			/* 5 > 6 */
	EXPR("\x09\xff\x30\x2d", 1);			/* -1 < 0 */
	/* What every linkage stub says: rsp + 8 + ((rip & 15) >= 11) * 8; rip is unknown here */
	BAD_EXPR("\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22");
	BAD_EXPR("");
	BAD_EXPR("\x06");				/* nothing to follow */
	BAD_EXPR("\x30\x06");				/* address 0 */
	BAD_EXPR("\x35\x30\x1b");			/* 5 / 0 */
	BAD_EXPR("\x35\x30\x1d");
	BAD_EXPR("\x2f\xfd\xff");			/* jumps to itself */
	BAD_EXPR("\x2f\x00\x7f");			/* jumps out */
	BAD_EXPR("\x77");				/* cut short */
	BAD_EXPR("\xe0");
	BAD_EXPR("\x70\x00");				/* rax is not known */
}
