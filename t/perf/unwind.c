// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unwind.c - how long one walk takes, and lines: run by hand.
 *
 *	unwind [FILE]		FILE: also times symbols, and lines of 10 000 addresses in it
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "base/clock.h"
#include "base/mem.h"
#include "sym/maps.h"
#include "sym/symfile_int.h"
#include "unwind/unwind.h"

enum {
	FRAMES = 12,
	COPY = 32 * 1024,
	WALKS = 1000000,
	LOOKUPS = 10000,
};

static struct maps maps;
static struct symfile *self;
static struct unwind_module *mod;
static struct unwind_regs regs;
static uint8_t copy[COPY];
static volatile int sink;
static uint64_t stack_top;
extern void *__libc_stack_end;	/* where _start found argc */

static bool find(void *ctx, uint64_t addr, uint32_t *module, uint64_t *off, struct unwind_module **m)
{
	const struct map_entry *e = maps_find(&maps, addr);

	if (!e)
		return false;
	*module = e->module;
	*off = map_entry_off(e, addr);
	*m = mod;
	return true;
}

static const struct unwind_space space = { find, NULL, NULL };

static void read_maps(void)
{
	FILE *in = fopen("/proc/self/maps", "r");
	uint64_t start, end, pgoff;
	char line[4096], perm[8];

	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64, &start, &end, perm, &pgoff) == 4 &&
		    perm[2] == 'x' && !strstr(line, "[v"))
			maps_add(&maps, start, end, pgoff, 1);
	if (in)
		fclose(in);
}

static size_t walk(enum frame_mark *end)
{
	struct unwind_frame f[64];
	struct unwind_regs r = regs;
	struct unwind_stack st = { regs.sp, copy, COPY };

	return unwind_walk(&space, &r, &st, f, 64, end);
}

static void measure(void)
{
	uint64_t t;
	enum frame_mark end;
	size_t nr = walk(&end), i;

	t = clock_mono_ns();
	for (i = 0; i < WALKS; i++)
		sink += (int)walk(&end);
	t = clock_mono_ns() - t;
	printf("warm: %zu frames%s, %.0f walks/s, %.0f ns a walk, %.1f ns a frame\n", nr,
	       end == MARK_NONE ? ", complete" : "", WALKS * 1e9 / t, (double)t / WALKS,
	       (double)t / WALKS / nr);
	t = clock_mono_ns();
	for (i = 0; i < 100; i++) {
		unwind_module_free(mod);
		mod = unwind_module_new(self);
		walk(&end);
	}
	t = clock_mono_ns() - t;
	printf("cold rows: %.0f ns a walk, %.1f ns a frame\n", t / 100., t / 100. / nr);
}

static __attribute__((noinline)) int deep(int n)
{
	static const int order[17] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
		REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP,
	};
	ucontext_t uc;
	int i;

	if (n)
		return deep(n - 1) + sink;
	getcontext(&uc);
	for (i = 0; i < 17; i++)
		regs.r[i] = uc.uc_mcontext.gregs[order[i]];
	regs.valid = (1 << 17) - 1;
	regs.pc = regs.r[16];
	regs.sp = regs.r[7];
	memcpy(copy, (void *)regs.sp, MIN(COPY, stack_top - regs.sp));
	measure();
	return 0;
}

static void time_file(const char *path)
{
	struct symfile *f;
	struct symbol s;
	struct srcline l[32];
	struct err e;
	uint64_t t = clock_mono_ns();
	size_t i, levels = 0, found = 0;

	if (symfile_open(&f, "", path, NULL, 0, &e)) {
		printf("%s\n", e.msg);
		return;
	}
	symfile_symbol_source(f);
	printf("symbols: %zu in %.2f ms\n", f->symtab.nr_entries, (clock_mono_ns() - t) / 1e6);
	t = clock_mono_ns();
	for (i = 0; i < LOOKUPS && f->symtab.nr_entries; i++) {
		const struct symtab_entry *x = &f->symtab.entries[i * 7919 % f->symtab.nr_entries];
		size_t nr = symfile_lines(f, symfile_vaddr_to_off(f, x->addr + x->size / 2), l, 32);

		levels += nr;
		found += nr > 0;
	}
	t = clock_mono_ns() - t;
	printf("lines: %d addresses in as many functions, %zu found, %zu levels, %.2f s, %.0f addresses/s\n",
	       LOOKUPS, found, levels, t / 1e9, LOOKUPS * 1e9 / t);
	t = clock_mono_ns();
	for (i = 0; i < LOOKUPS && f->symtab.nr_entries; i++)
		sink += symfile_symbol(f, i * 7919 * 16 % f->im.len, &s);
	printf("symbol: %.0f ns each\n", (double)(clock_mono_ns() - t) / LOOKUPS);
	symfile_close(f);
}

int main(int argc, char **argv)
{
	struct err e;

	if (symfile_open(&self, "", "/proc/self/exe", NULL, 0, &e))
		return 1;
	mod = unwind_module_new(self);
	read_maps();
	stack_top = (uint64_t)__libc_stack_end + 8;
	deep(FRAMES - 5);
	if (argc > 1)
		time_file(argv[1]);
	unwind_module_free(mod);
	symfile_close(self);
	return 0;
}
