// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * f-cfi.c - any bytes as call frame information.  The first byte says which section, the rest
 * is wrapped in the smallest ELF file that has it and text of a page at 0x1000.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "sym/symfile_int.h"
#include "unwind/module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct wrap {
	Elf64_Ehdr eh;
	Elf64_Phdr text;
	Elf64_Shdr sec[3];
	char names[32];
	uint8_t section[];
};

static uint8_t *wrap(const uint8_t *data, size_t len, bool eh)
{
	struct wrap *w = calloc(1, sizeof(*w) + len);

	memcpy(w->eh.e_ident, "\x7f" "ELF\2\1\1", 7);
	w->eh.e_machine = EM_X86_64;
	w->eh.e_phoff = offsetof(struct wrap, text);
	w->eh.e_phnum = 1;
	w->eh.e_phentsize = sizeof(w->text);
	w->eh.e_shoff = offsetof(struct wrap, sec);
	w->eh.e_shnum = 3;
	w->eh.e_shentsize = sizeof(w->sec[0]);
	w->eh.e_shstrndx = 1;
	w->text = (Elf64_Phdr){ PT_LOAD, PF_X, 0, 0x1000, 0x1000, 0x1000, 0x1000, 1 };
	memcpy(w->names, "\0.eh_frame\0.debug_frame", 23);
	w->sec[1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct wrap, names),
				  .sh_size = sizeof(w->names) };
	w->sec[2] = (Elf64_Shdr){ .sh_name = eh ? 1 : 11, .sh_type = SHT_PROGBITS, .sh_addr = 0x2000,
				  .sh_offset = sizeof(*w), .sh_size = len };
	memcpy(w->section, data, len);
	return (uint8_t *)w;
}

static struct unwind_module *mod;

static bool find(void *ctx, uint64_t addr, uint32_t *module, uint64_t *off, struct unwind_module **m)
{
	*module = 1;
	*off = addr - 0x1000;
	*m = mod;
	return addr - 0x1000 < 0x1000;
}

static void walk_from(uint64_t pc)
{
	static const struct unwind_space space = { find, NULL, NULL };
	static uint64_t words[256];
	struct unwind_stack st = { 0x7000, (uint8_t *)words, sizeof(words) };
	struct unwind_regs regs = { .valid = 0x1ffff, .pc = pc, .sp = 0x7000 };
	struct unwind_frame f[32];
	enum frame_mark end;
	size_t i;

	for (i = 0; i < 256; i++)
		words[i] = i & 1 ? 0x1000 + i * 8 : 0x7000 + i * 8;
	for (i = 0; i < 16; i++)
		regs.r[i] = 0x7000 + 16 * i;
	unwind_walk(&space, &regs, &st, f, 32, &end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct symfile *f;
	struct symbol s;
	uint8_t *image;
	struct err e;
	uint64_t off;
	bool eh;

	if (!len)
		return 0;
	eh = data[0] & 1;
	image = wrap(data + 1, len - 1, eh);
	if (!symfile_open_memory(&f, image, sizeof(struct wrap) + len - 1, "fuzz", &e)) {
		mod = unwind_module_new(f);
		for (off = 0; off < 0x1000; off += 7) {
			symfile_symbol(f, off, &s);
			module_row(mod, off);
			walk_from(0x1000 + off);
		}
		unwind_module_free(mod);
		symfile_close(f);
	}
	free(image);
	return 0;
}
