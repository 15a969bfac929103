// SPDX-License-Identifier: GPL-2.0-or-later
/* objects.c - the names of variables. They are asked for rarely: no table is kept. */
#include <elf.h>
#include <inttypes.h>
#include <string.h>

#include "sym/demangle.h"
#include "sym/symfile_int.h"

static bool is_object(const Elf64_Sym *s, uint64_t vaddr)
{
	return ELF64_ST_TYPE(s->st_info) == STT_OBJECT && s->st_shndx != SHN_UNDEF &&
	       vaddr >= s->st_value && vaddr - s->st_value < s->st_size;
}

/* Find the smallest symbol that has the address, as a name and a distance from its beginning. */
static bool find_in(const struct image_bytes *syms, const struct image_bytes *strs, uint64_t vaddr,
		    struct buf *name)
{
	uint64_t size = UINT64_MAX;
	const char *found = NULL;
	Elf64_Sym s, best = { 0 };
	size_t i;

	for (i = 0; i < syms->len / sizeof(s); i++) {
		memcpy(&s, syms->data + i * sizeof(s), sizeof(s));
		if (!is_object(&s, vaddr) || s.st_size >= size || s.st_name >= strs->len ||
		    !memchr(strs->data + s.st_name, 0, strs->len - s.st_name))
			continue;
		found = (const char *)strs->data + s.st_name;
		size = s.st_size;
		best = s;
	}
	if (!found || !*found)
		return false;
	demangle(found, name);
	if (vaddr > best.st_value)
		buf_fmt(name, "+0x%" PRIx64, vaddr - best.st_value);
	return true;
}

static bool find_symbol_in(const struct image *im, const char *which, uint64_t vaddr, struct buf *name)
{
	const struct image_section *s = im->is64 ? image_section(im, which) : NULL;
	struct image_bytes syms, strs;
	bool found = false;
	struct err e;

	if (!s || s->link >= im->nr_secs || image_load(im, s, &syms, &e))
		return false;
	if (!image_load(im, &im->secs[s->link], &strs, &e)) {
		found = find_in(&syms, &strs, vaddr, name);
		image_bytes_release(&strs);
	}
	image_bytes_release(&syms);
	return found;
}

static bool is_data(const struct image *im, uint64_t vaddr)
{
	size_t i;

	for (i = 0; i < im->nr_segs; i++) {
		const struct image_segment *s = &im->segs[i];

		if (s->type == PT_LOAD && !(s->flags & PF_X) && vaddr >= s->vaddr &&
		    vaddr - s->vaddr < s->memsz)
			return true;
	}
	return false;
}

bool symfile_object(struct symfile *f, uint64_t vaddr, struct buf *name)
{
	const struct image *debug;

	if (!is_data(&f->im, vaddr))
		return false;
	if (find_symbol_in(&f->im, ".symtab", vaddr, name))
		return true;
	debug = symfile_debug_image(f);
	return (debug && find_symbol_in(debug, ".symtab", vaddr, name)) ||
	       find_symbol_in(&f->im, ".dynsym", vaddr, name);
}

static bool object_is_called(const struct image_bytes *strs, const Elf64_Sym *s, const char *name)
{
	size_t len = strlen(name) + 1;

	return ELF64_ST_TYPE(s->st_info) == STT_OBJECT && s->st_shndx != SHN_UNDEF &&
	       s->st_name < strs->len && strs->len - s->st_name >= len &&
	       !memcmp(strs->data + s->st_name, name, len);
}

bool symfile_exported(struct symfile *f, const char *name, uint64_t *vaddr)
{
	const struct image_section *dyn = f->im.is64 ? image_section(&f->im, ".dynsym") : NULL;
	struct image_bytes syms, strs;
	Elf64_Sym s = { 0 };
	bool found = false;
	struct err e;
	size_t i;

	*vaddr = 0;
	if (!dyn || dyn->link >= f->im.nr_secs || image_load(&f->im, dyn, &syms, &e))
		return false;
	if (!image_load(&f->im, &f->im.secs[dyn->link], &strs, &e)) {
		for (i = 0; i < syms.len / sizeof(s) && !found; i++) {
			memcpy(&s, syms.data + i * sizeof(s), sizeof(s));
			found = object_is_called(&strs, &s, name);
		}
		image_bytes_release(&strs);
	}
	image_bytes_release(&syms);
	if (found)
		*vaddr = s.st_value;
	return found;
}
