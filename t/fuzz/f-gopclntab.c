// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * f-gopclntab.c - any bytes as Go's table of functions, in the smallest ELF file that has it, with a page of
 * code at 0x1000; they are the segment in which moduledata and inline trees are looked for, too. The first
 * byte's lowest bit: there is a section table.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "sym/symfile_int.h"
#include "unwind/module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct wrap {
	Elf64_Ehdr eh;
	Elf64_Phdr text, data;
	Elf64_Shdr sec[3];
	char names[16];
	uint8_t table[] __attribute__((aligned(8)));
};

static uint8_t *wrap(const uint8_t *data, size_t len, bool sections)
{
	struct wrap *w = calloc(1, sizeof(*w) + len);

	memcpy(w->eh.e_ident, "\x7f" "ELF\2\1\1", 7);
	w->eh.e_machine = EM_X86_64;
	w->eh.e_phoff = offsetof(struct wrap, text);
	w->eh.e_phnum = 2;
	w->eh.e_phentsize = sizeof(w->text);
	w->eh.e_shoff = sections ? offsetof(struct wrap, sec) : 0;
	w->eh.e_shnum = sections ? 3 : 0;
	w->eh.e_shentsize = sizeof(w->sec[0]);
	w->eh.e_shstrndx = sections ? 1 : 0;
	w->text = (Elf64_Phdr){ PT_LOAD, PF_X, 0, 0x1000, 0x1000, 0x1000, 0x1000, 1 };
	w->data = (Elf64_Phdr){ PT_LOAD, PF_R | PF_W, sizeof(*w), 0x2000, 0x2000, len, len, 1 };
	memcpy(w->names, "\0.gopclntab", 12);
	w->sec[1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct wrap, names),
				  .sh_size = sizeof(w->names) };
	w->sec[2] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_addr = 0x2000,
				  .sh_offset = sizeof(*w), .sh_size = len };
	if (len)
		memcpy(w->table, data, len);
	return (uint8_t *)w;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct unwind_module *m;
	struct srcline l[16];
	struct symfile *f;
	struct symbol s;
	uint8_t *image;
	struct err e;
	uint64_t off;

	if (!len)
		return 0;
	image = wrap(data + 1, len - 1, data[0] & 1);
	if (!symfile_open_memory(&f, image, sizeof(struct wrap) + len - 1, "fuzz", &e)) {
		m = unwind_module_new(f);
		for (off = 0; off < 0x1000; off += 7) {
			symfile_symbol(f, off, &s);
			symfile_lines(f, off, l, 16);
			module_row(m, off);
		}
		unwind_module_free(m);
		symfile_close(f);
	}
	free(image);
	return 0;
}
