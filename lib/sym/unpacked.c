// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unpacked.c - a 64-bit ELF file of a header, sections, their names and their table, in that order.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "sym/unpacked.h"

/* sections that are needed for functions, lines and inlined calls */
static const char *const wanted[] = {
	".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_line_str", ".debug_str_offsets",
	".debug_ranges", ".debug_rnglists", ".debug_addr", ".debug_types",
};

enum {
	NR_WANTED = ARRAY_SIZE(wanted),
	NR_HEADERS = NR_WANTED + 2,	/* with the empty first one and the names' */
	NAMES_BYTES = 256,
};

#define UNPACKED_BYTES_MAX (8ull << 30)

struct layout {
	const struct image_section *from[NR_WANTED];	/* NULL: the file has none */
	uint64_t off[NR_WANTED], size[NR_WANTED];
	uint64_t names, headers, len;
};

static uint64_t align8(uint64_t n)
{
	return (n + 7) & ~7ull;
}

bool unpacked_is_needed(const struct image *im)
{
	bool needed = false;
	uint64_t size;
	struct err e;
	size_t i;

	for (i = 0; i < NR_WANTED; i++) {
		const struct image_section *s = image_section(im, wanted[i]);

		if (s && image_loaded_size(im, s, &size, &e))
			return false;
		needed |= s && s->flags & SHF_COMPRESSED;
	}
	return needed;
}

static int lay_out(const struct image *im, struct layout *l, struct err *e)
{
	uint64_t at = sizeof(Elf64_Ehdr);
	size_t i;

	memset(l, 0, sizeof(*l));
	for (i = 0; i < NR_WANTED; i++) {
		l->from[i] = image_section(im, wanted[i]);
		if (!l->from[i])
			continue;
		if (image_loaded_size(im, l->from[i], &l->size[i], e))
			return -e->code;
		if (l->size[i] > UNPACKED_BYTES_MAX)
			return err_set(e, EFBIG, "section %s is too large", wanted[i]);
		l->off[i] = at;
		at = align8(at + l->size[i]);
	}
	l->names = at;
	l->headers = at + NAMES_BYTES;
	l->len = l->headers + NR_HEADERS * sizeof(Elf64_Shdr);
	return 0;
}

struct table {
	Elf64_Shdr *headers;
	size_t nr_headers;
	char *names;
	size_t names_len;
};

static void add_header(struct table *t, const char *name, uint32_t type, uint64_t off, uint64_t size)
{
	size_t len = strlen(name) + 1;

	t->headers[t->nr_headers++] = (Elf64_Shdr){
		.sh_name = t->names_len, .sh_type = type, .sh_offset = off, .sh_size = size,
		.sh_addralign = 1,
	};
	memcpy(t->names + t->names_len, name, len);
	t->names_len += len;
}

static void write_headers(uint8_t *data, const struct layout *l, const struct image *im)
{
	struct table t = { (Elf64_Shdr *)(data + l->headers), 1, (char *)data + l->names, 1 };
	Elf64_Ehdr *eh = (Elf64_Ehdr *)data;
	size_t i;

	for (i = 0; i < NR_WANTED; i++)
		if (l->from[i])
			add_header(&t, wanted[i], SHT_PROGBITS, l->off[i], l->size[i]);
	add_header(&t, ".shstrtab", SHT_STRTAB, l->names, NAMES_BYTES);
	memcpy(eh->e_ident, ELFMAG, SELFMAG);
	eh->e_ident[EI_CLASS] = ELFCLASS64;
	eh->e_ident[EI_DATA] = ELFDATA2LSB;
	eh->e_ident[EI_VERSION] = eh->e_version = EV_CURRENT;
	eh->e_type = ET_DYN;
	eh->e_machine = im->machine;
	eh->e_ehsize = sizeof(*eh);
	eh->e_shoff = l->headers;
	eh->e_shentsize = sizeof(Elf64_Shdr);
	eh->e_shnum = t.nr_headers;
	eh->e_shstrndx = t.nr_headers - 1;
}

int unpacked_make(const struct image *im, struct image_bytes *b, struct err *e)
{
	struct layout l;
	size_t i;
	int r = lay_out(im, &l, e);

	memset(b, 0, sizeof(*b));
	if (r)
		return r;
	b->owned = mem_untrusted(l.len, 1, UNPACKED_BYTES_MAX, e);
	if (!b->owned)
		return -e->code;
	for (i = 0; i < NR_WANTED && !r; i++)
		if (l.from[i])
			r = image_load_into(im, l.from[i], b->owned + l.off[i], l.size[i], e);
	if (r) {
		image_bytes_release(b);
		return r;
	}
	write_headers(b->owned, &l, im);
	b->data = b->owned;
	b->len = l.len;
	return 0;
}
