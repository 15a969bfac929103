// SPDX-License-Identifier: GPL-2.0-or-later
/* f-elf.c - any bytes as an ELF file: symbols, lines, rules, walks. */
#include "sym/symfile_int.h"
#include "unwind/module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct unwind_module *mod;

static bool find(void *ctx, uint64_t addr, uint32_t *module, uint64_t *off, struct unwind_module **m)
{
	*module = 1;
	*off = addr & 0xffff;
	*m = mod;
	return addr < 0x20000;
}

static void walk_from(uint64_t pc, const uint8_t *data, size_t len)
{
	static const struct unwind_space space = { find, NULL, NULL };
	struct unwind_stack st = { 0x7000, data, len };
	struct unwind_regs regs = { .valid = 0x1ffff, .pc = pc, .sp = 0x7000 };
	struct unwind_frame f[32];
	enum frame_mark end;
	int i;

	for (i = 0; i < 16; i++)
		regs.r[i] = 0x7000 + 16 * i;
	unwind_walk(&space, &regs, &st, f, 32, &end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct srcline l[16];
	struct buf name = BUF_INIT;
	struct symfile *f;
	struct symbol s;
	struct err e;
	uint64_t off, at[8];

	if (symfile_open_memory(&f, data, len, "fuzz", &e))
		return 0;
	mod = unwind_module_new(f);
	symfile_symbol_source(f);
	for (off = 0; off < len && off < 1 << 16; off += 1 + off % 61) {
		symfile_symbol(f, off, &s);
		symfile_lines(f, off, l, 16);
		module_row(mod, off);
	}
	for (off = 0; off < 1 << 14; off += 1237) {
		buf_reset(&name);
		symfile_object(f, off, &name);
	}
	buf_release(&name);
	if (!symfile_function(f, "f", &off, &e))
		symfile_returns(f, off, at, 8, &e);
	for (off = 0; off < len && off < 1 << 16; off += 97)
		walk_from(off, data, len);
	unwind_module_free(mod);
	symfile_close(f);
	return 0;
}
