// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * plt.c - names for the stubs through which a module calls others.
 *
 * A stub jumps through a slot of the global offset table, and a relocation says whose address
 * the dynamic linker puts there.  So the stub's own instructions are read for the slot they
 * use: that holds for every layout (.plt, .plt.sec, .plt.got) and any order of relocations.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "sym/symtab.h"

enum {
	STUB_MAX = 32,		/* bytes */
	NAME_MAX_SHOWN = 1024,
};

struct plt {
	struct symtab *t;
	const struct image *im;
	struct map slots;	/* address of the slot -> index of its relocation */
	Elf64_Rela *relas;
	size_t nr_relas, alloc_relas;
	struct image_bytes syms, strs;
};

static void take_relocs(struct plt *p, const struct image_section *s)
{
	struct image_bytes b;
	struct err e;
	Elf64_Rela r;
	size_t i;

	if (!s || image_load(p->im, s, &b, &e))
		return;
	for (i = 0; i + sizeof(r) <= b.len; i += sizeof(r)) {
		uint32_t type;

		memcpy(&r, b.data + i, sizeof(r));
		type = ELF64_R_TYPE(r.r_info);
		if (p->im->machine == EM_X86_64 ? type != R_X86_64_JUMP_SLOT &&
		    type != R_X86_64_GLOB_DAT && type != R_X86_64_IRELATIVE :
		    type != R_AARCH64_JUMP_SLOT && type != R_AARCH64_GLOB_DAT &&
		    type != R_AARCH64_IRELATIVE)
			continue;
		VEC_GROW(p->relas, p->nr_relas, p->alloc_relas);
		*map_put(&p->slots, r.r_offset) = p->nr_relas;
		p->relas[p->nr_relas++] = r;
	}
	image_bytes_release(&b);
}

/*
 * Return the name of the slot's target, or NULL without one. An IRELATIVE slot has the name of its
 * resolver.
 */
static const char *slot_name(const struct plt *p, uint64_t slot, char *out, size_t max)
{
	uint32_t i = map_get(&p->slots, slot), sym;
	const struct symtab_entry *s;
	Elf64_Sym es;

	if (i == MAP_NONE)
		return NULL;
	sym = ELF64_R_SYM(p->relas[i].r_info);
	if (!sym) {
		s = symtab_find(p->t, p->relas[i].r_addend);
		if (!s || s->addr != (uint64_t)p->relas[i].r_addend)
			return NULL;
		snprintf(out, max, "%s@plt", symtab_name(p->t, s));
		return out;
	}
	if ((sym + 1ull) * sizeof(es) > p->syms.len)
		return NULL;
	memcpy(&es, p->syms.data + sym * sizeof(es), sizeof(es));
	if (es.st_name >= p->strs.len || !p->strs.data[es.st_name])
		return NULL;
	snprintf(out, max, "%.*s@plt", (int)MIN(p->strs.len - es.st_name, NAME_MAX_SHOWN),
		 (const char *)p->strs.data + es.st_name);
	return out;
}

/* Return the slot of endbr64, then jmp *disp(%rip), with or without a bnd prefix. */
static uint64_t slot_x86(const uint8_t *code, size_t len, uint64_t addr)
{
	size_t i = 0;
	int32_t disp;

	if (len >= 4 && !memcmp(code, "\xf3\x0f\x1e\xfa", 4))
		i = 4;
	if (i < len && code[i] == 0xf2)
		i++;
	if (i + 6 > len || code[i] != 0xff || code[i + 1] != 0x25)
		return 0;
	memcpy(&disp, code + i + 2, 4);
	return addr + i + 6 + disp;
}

/* Return the slot of bti c, then adrp x16, page; ldr x17, [x16, offset]. */
static uint64_t slot_arm64(const uint8_t *code, size_t len, uint64_t addr)
{
	uint32_t adrp, ldr;
	size_t i = 0;
	int64_t page;

	if (len >= 4 && !memcmp(code, "\x5f\x24\x03\xd5", 4))
		i = 4;
	if (i + 8 > len)
		return 0;
	memcpy(&adrp, code + i, 4);
	memcpy(&ldr, code + i + 4, 4);
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return 0;
	page = (int64_t)((uint64_t)(adrp >> 5 & 0x7ffff) << 45) >> 31 | (adrp >> 29 & 3) << 12;
	return ((addr + i) & ~0xfffull) + page + (ldr >> 10 & 0xfff) * 8;
}

static void take_stubs(struct plt *p, const struct image_section *s, size_t stub)
{
	char name[NAME_MAX_SHOWN + 8];
	struct image_bytes b;
	struct err e;
	size_t i;

	if (!s || image_load(p->im, s, &b, &e))
		return;
	for (i = 0; i + stub <= b.len; i += stub) {
		uint64_t slot = p->im->machine == EM_X86_64 ?
			slot_x86(b.data + i, stub, s->addr + i) :
			slot_arm64(b.data + i, stub, s->addr + i);
		const char *n = slot ? slot_name(p, slot, name, sizeof(name)) : NULL;

		if (n)
			symtab_add(p->t, s->addr + i, stub, n);
	}
	image_bytes_release(&b);
}

void plt_add(struct symtab *t, const struct image *im)
{
	bool x86 = im->machine == EM_X86_64;
	const struct image_section *dynsym = image_section(im, ".dynsym");
	struct plt p = { .t = t, .im = im, .slots = MAP_INIT };
	struct err e;

	if (!im->is64 || (!x86 && im->machine != EM_AARCH64))
		return;
	if (dynsym && dynsym->link < im->nr_secs && !image_load(im, dynsym, &p.syms, &e) &&
	    image_load(im, &im->secs[dynsym->link], &p.strs, &e))
		p.strs.len = 0;
	take_relocs(&p, image_section(im, ".rela.plt"));
	take_relocs(&p, image_section(im, ".rela.iplt"));
	if (image_section(im, ".plt.got"))
		take_relocs(&p, image_section(im, ".rela.dyn"));
	if (p.nr_relas) {
		take_stubs(&p, image_section(im, ".plt"), 16);
		take_stubs(&p, image_section(im, ".plt.sec"), 16);
		take_stubs(&p, image_section(im, ".plt.got"), x86 ? 8 : 16);
		take_stubs(&p, image_section(im, ".iplt"), 16);
		symtab_finish(t, im);
	}
	image_bytes_release(&p.syms);
	image_bytes_release(&p.strs);
	map_release(&p.slots);
	free(p.relas);
}
