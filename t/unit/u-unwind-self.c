// SPDX-License-Identifier: GPL-2.0-or-later
/* This program's own stacks, unwound by its own rules, and by its code in their place. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arch/cpu.h"
#include "arch/insn.h"
#include "base/mem.h"
#include "sym/maps.h"
#include "unit.h"
#include "unwind/epilogue.h"

static struct symfile *sf;
static struct unwind_module *mod;
static struct unwind_frame frames[32];
static enum frame_mark end;

static void tear_down(void)
{
	unwind_module_free(mod);
	symfile_close(sf);
}

static struct maps maps;

static bool find_self(void *ctx, uint64_t addr, uint32_t *module, uint64_t *off, struct unwind_module **m)
{
	const struct map_entry *e = maps_find(&maps, addr);

	if (!e)
		return false;
	*module = 1;
	*off = map_entry_off(e, addr);
	*m = mod;
	return true;
}

static void open_self(void)
{
#ifdef SANITIZED
	unit_skip("the sanitizer's own frames are in the way");
#endif
	FILE *in = fopen("/proc/self/maps", "r");
	uint64_t start, stop, pgoff;
	char line[4096], perm[8];
	struct err e;

	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64, &start, &stop, perm, &pgoff) == 4 &&
		    perm[2] == 'x' && strstr(line, "unit"))
			maps_add(&maps, start, stop, pgoff, 1);
	if (in)
		fclose(in);
	CHECK_U64(symfile_open(&sf, "", "/proc/self/exe", NULL, 0, &e), 0);
	mod = unwind_module_new(sf);
}

enum { COPY = 16384 };

static struct unwind_regs snap_regs;
static uint8_t snap[COPY];
static uint64_t stack_top;
extern void *__libc_stack_end;	/* where _start found argc */

static __attribute__((noinline)) void take_snapshot(void)
{
#if defined(__x86_64__)
	uint64_t pc, sp, fp, rbx, r12, r13, r14, r15;

	__asm__ volatile("lea 0(%%rip), %0; mov %%rsp, %1; mov %%rbp, %2" : "=r"(pc), "=r"(sp), "=r"(fp));
	__asm__ volatile("mov %%rbx, %0; mov %%r12, %1; mov %%r13, %2; mov %%r14, %3; mov %%r15, %4"
			 : "=m"(rbx), "=m"(r12), "=m"(r13), "=m"(r14), "=m"(r15));
	memset(&snap_regs, 0, sizeof(snap_regs));
	snap_regs.pc = pc;
	snap_regs.sp = sp;
	snap_regs.r[6] = fp;
	snap_regs.r[3] = rbx;
	snap_regs.r[12] = r12;
	snap_regs.r[13] = r13;
	snap_regs.r[14] = r14;
	snap_regs.r[15] = r15;
	snap_regs.valid = 0xf0c8;
	memcpy(snap, (void *)sp, MIN(COPY, stack_top - sp));
#elif defined(__aarch64__)
	uint64_t pc, sp;

	memset(&snap_regs, 0, sizeof(snap_regs));
	__asm__ volatile("adr %0, .; mov %1, sp" : "=r"(pc), "=r"(sp));
	__asm__ volatile("stp x19, x20, [%0]; stp x21, x22, [%0, #16]; stp x23, x24, [%0, #32];"
			 "stp x25, x26, [%0, #48]; stp x27, x28, [%0, #64]; stp x29, x30, [%0, #80]"
			 : : "r"(&snap_regs.r[19]) : "memory");
	snap_regs.pc = pc;
	snap_regs.sp = sp;
	snap_regs.valid = ((1ull << 31) - 1) & ~((1ull << 19) - 1);
	memcpy(snap, (void *)sp, MIN(COPY, stack_top - sp));
#endif
}

static int compare_and_snap(const void *a, const void *b)
{
	if (!snap_regs.pc)
		take_snapshot();
	return *(const int *)a - *(const int *)b;
}

static __attribute__((noinline)) int level(int n)
{
	int v[8] = { 5, 3, 8, 1, 9, 2, 7, 4 };

	if (n)
		return level(n - 1) + v[n % 8];
	qsort(v, 8, sizeof(v[0]), compare_and_snap);
	return v[0];
}

static const char *name_of(size_t i)
{
	struct symbol s;

	return symfile_symbol(sf, frames[i].off, &s) ? s.name : "?";
}

static size_t walk_snapshot(size_t len)
{
	static const struct unwind_space self = { find_self, NULL, NULL };
	struct unwind_stack st = { snap_regs.sp, snap, len };
	struct unwind_regs r = snap_regs;

	return unwind_walk(&self, &r, &st, frames, ARRAY_SIZE(frames), &end);
}

TEST(unwind_itself_through_recursion_and_the_library)
{
	size_t nr, i, at, levels = 0;
	bool seen_qsort = false, seen_main = false;

	open_self();
	stack_top = (uint64_t)__libc_stack_end + 8;
	CHECK(level(6) > 0);
	if (!snap_regs.pc)
		unit_skip("no registers on this CPU");
	nr = walk_snapshot(COPY);
	CHECK_U64(end, MARK_NONE);
	CHECK_STR(name_of(0), "take_snapshot");
	CHECK_STR(name_of(1), "compare_and_snap");
	for (i = 2; i < nr; i++) {
		seen_qsort |= strstr(name_of(i), "sort") != NULL;
		seen_main |= !strcmp(name_of(i), "main");
		levels += !strncmp(name_of(i), "level", 5);
	}
	CHECK(seen_qsort);
	CHECK(seen_main);
	CHECK(levels >= 1);
	CHECK_STR(name_of(nr - 1), "_start");

	/* Any shorter copy gives the inner part of the same chain, and says so. */
	for (i = 0; i < COPY; i += 8) {
		uint64_t pcs[32];
		size_t full = nr, got;

		for (at = 0; at < full; at++)
			pcs[at] = frames[at].pc;
		got = walk_snapshot(i);
		CHECK(got <= full);
		CHECK(got == full || end == MARK_TRUNCATED_STACK);
		for (at = 0; at < got; at++)
			CHECK_U64(frames[at].pc, pcs[at]);
		walk_snapshot(COPY);
	}
	CHECK(unwind_module_bytes(mod) > 1000);
	tear_down();
	maps_release(&maps);
}

/* With a frame pointer; their frames have a size that the code tells. */
static __attribute__((noinline)) int framed(int n)
{
	int *volatile frame = __builtin_frame_address(0);
	volatile int room[10] = { n };

	if (n)
		return framed(n - 1) + room[n] + !frame;
	take_snapshot();
	return room[0];
}

TEST(unwind_frames_by_the_code_when_the_frame_pointer_is_not_known)
{
	uint64_t pcs[32];
	size_t nr, got, i;

	open_self();
	stack_top = (uint64_t)__libc_stack_end + 8;
	CHECK(framed(3) >= 0);
	if (!snap_regs.pc || module_cpu(mod) != &cpu_x86)
		unit_skip("x86-64 only");
	nr = walk_snapshot(COPY);
	CHECK_U64(end, MARK_NONE);
	CHECK(nr > 6 && nr <= ARRAY_SIZE(pcs));
	for (i = 0; i < nr; i++)
		pcs[i] = frames[i].pc;
	CHECK(!strncmp(name_of(4), "framed", 6));
	snap_regs.valid = 0;
	memset(snap_regs.r, 0x11, sizeof(snap_regs.r));
	for (i = 0; i < 2; i++) {	/* once more: what was found is kept */
		got = walk_snapshot(COPY);
		CHECK_U64(end, MARK_NONE);
		CHECK_U64(got, nr);
		while (got--)
			CHECK_U64(frames[got].pc, pcs[got]);
	}
	tear_down();
	maps_release(&maps);
}

/* Where the return address is by rules; false: not simply in a register or counted from one. */
static bool address_of(const struct row *row, int *reg, int *off)
{
	const struct cpu *cpu = module_cpu(mod);
	bool in_reg = cpu->ra_in_reg >= 0 && row->ra.kind == RULE_UNSET;

	*reg = in_reg ? cpu->ra_in_reg : row->cfa.reg;
	*off = in_reg ? 0 : row->cfa.val + row->ra.val;
	return row->cfa.kind == RULE_REG && (in_reg || row->ra.kind == RULE_AT_CFA);
}

struct agreement {
	uint64_t nr, none, equal, wrong;
};

/* What was stored may be in its register still. */
static void agree(struct agreement *a, uint64_t off, bool at_call)
{
	const struct row *rules = module_row(mod, off - at_call), *code;
	int reg, by, code_reg, code_by;

	if (!rules || !address_of(rules, &reg, &by))
		return;
	a->nr++;
	code = epilogue_row(mod, off, at_call);
	if (!code || !address_of(code, &code_reg, &code_by) || code->cfa.reg != rules->cfa.reg)
		a->none++;
	else if (code->cfa.val == rules->cfa.val &&
		 (code_reg == module_cpu(mod)->ra_in_reg || (code_reg == reg && code_by == by)))
		a->equal++;
	else
		a->wrong++;
}

/* Of one function; behind its calls they count a second time. */
static void agree_in(const struct cfi_fde *fde, struct agreement *any, struct agreement *calls)
{
	uint64_t at, off = symfile_vaddr_to_off(sf, fde->start);
	const struct cpu *cpu = module_cpu(mod);
	uint8_t code[INSN_MAX + 1];
	struct insn in;

	for (at = fde->start; at < fde->end; at += in.len, off += in.len) {
		if (!module_code(mod, off, code, sizeof(code)) || !cpu->decode(code, sizeof(code), &in))
			return;
		agree(any, off, false);
		if ((in.kind == INSN_CALL || in.kind == INSN_CALL_INDIRECT) && at + in.len < fde->end)
			agree(calls, off + in.len, true);
	}
}

static void print_agreement(const char *where, const struct agreement *a)
{
	printf("# %s: %" PRIu64 ", %" PRIu64 " equal, %" PRIu64 " wrong\n", where, a->nr, a->equal, a->wrong);
}

TEST(unwind_by_the_code_of_this_program_as_by_its_rules)
{
	enum { NR_FUNCTIONS = 400 };
	struct agreement any = { 0 }, calls = { 0 };
	struct cfi_fde fde;
	const struct cfi *c;
	size_t i;

	open_self();
	module_row(mod, 0);		/* reads where functions are */
	c = mod->sections[0].c;
	for (i = 0; c && i < c->nr_entries; i += 1 + c->nr_entries / NR_FUNCTIONS)
		if (cfi_fde_parse(c, c->entries[i].off, &fde))
			agree_in(&fde, &any, &calls);
	print_agreement("at instructions", &any);
	print_agreement("behind calls", &calls);
	CHECK(calls.nr > 100 && any.nr > 1000);
	CHECK(calls.wrong * 200 <= calls.nr);
	CHECK(calls.equal * 10 >= calls.nr * 7);
	CHECK(any.equal * 10 >= any.nr * 7);
	/* elsewhere than behind a call the stack of x86-64 has no alignment by which a wrong path is known */
	CHECK(any.wrong * (module_cpu(mod) == &cpu_x86 ? 10 : 200) <= any.nr);
	tear_down();
	maps_release(&maps);
}

TEST(unwind_bears_any_stack_and_registers)
{
	size_t round, i;

	open_self();
	stack_top = (uint64_t)__libc_stack_end + 8;
	CHECK(level(3) > 0);
	for (round = 0; round < 3000; round++) {
		struct unwind_regs keep = snap_regs;

		for (i = 0; i < 20; i++)
			snap[unit_random() % 2048] = unit_random();
		snap_regs.pc =
			maps.entries[0].start + unit_random() % (maps.entries[0].end - maps.entries[0].start);
		for (i = 0; i < 16; i++)
			if (unit_random() % 4 == 0)
				snap_regs.r[i] = snap_regs.sp + unit_random() % 4096;
		CHECK(walk_snapshot(unit_random() % COPY) <= ARRAY_SIZE(frames));
		snap_regs = keep;
	}
	tear_down();
	maps_release(&maps);
}
