// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * gofile.c - where a Go program has its table, however it was linked and stripped.
 *
 * A section of its own has it, or .data.rel.ro when the C linker made a program that may be loaded anywhere;
 * without a section table it is somewhere in a segment.  Then its first bytes are looked for, and what they
 * say has to be sound.  Some of its words are left for the loader to fill in: that is done here.
 *
 * The runtime's own description of the program (moduledata) points to the table and says the rest.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "sym/gopclntab.h"

enum {
	CHUNK = 1 << 16,
	HEADER_BYTES = 8,
	TABLE_ALIGN = 8,
	TRIES_MAX = 8,		/* of what only looks like a table: each reads all of it */
	MODULE_WORDS = 48,	/* of moduledata, as far as it is looked at */
	MODULE_NAMES = 1, MODULE_UNITS = 4, MODULE_RECORDS = 13,	/* pointers to parts of the table */
	MODULE_TEXT = 22,
	MODULE_TREES_MIN = 37,	/* where the trees' address is depends on the version */
};

#define TABLE_BYTES_MAX (1ull << 30)
#define DYNAMIC_BYTES_MAX (1ull << 20)

/* ---- what the loader would fill in ---- */

typedef void relative_fn(void *ctx, uint64_t at, uint64_t value);

struct relocations {
	uint64_t off, nr;	/* of Elf64_Rela, in the file */
};

static bool find_relocations(const struct image *im, struct relocations *r)
{
	struct image_bytes b = { 0 };
	uint64_t vaddr = 0, size = 0, i;
	struct err e;

	for (i = 0; i < im->nr_segs; i++)
		if (im->segs[i].type == PT_DYNAMIC && im->segs[i].filesz <= DYNAMIC_BYTES_MAX)
			break;
	if (i == im->nr_segs || image_load_range(im, im->segs[i].off, im->segs[i].filesz, &b, &e))
		return false;
	for (i = 0; i < b.len / sizeof(Elf64_Dyn); i++) {
		Elf64_Dyn d;

		memcpy(&d, b.data + i * sizeof(d), sizeof(d));
		vaddr = d.d_tag == DT_RELA ? d.d_un.d_ptr : vaddr;
		size = d.d_tag == DT_RELASZ ? d.d_un.d_val : size;
	}
	image_bytes_release(&b);
	r->off = image_vaddr_to_off(im, vaddr);
	r->nr = r->off < im->len ? MIN(size, im->len - r->off) / sizeof(Elf64_Rela) : 0;
	return vaddr && r->nr;
}

/* Call fn for each word that becomes the address of something in the file, and is not yet there. */
static void each_relative(const struct image *im, relative_fn *fn, void *ctx)
{
	enum { AT_ONCE = CHUNK / sizeof(Elf64_Rela) };
	const uint32_t relative = im->machine == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE;
	struct relocations r;
	Elf64_Rela *a;
	uint64_t i, j, n;

	if (!find_relocations(im, &r))
		return;
	a = xmalloc(CHUNK);
	for (i = 0; i < r.nr; i += n) {
		n = MIN(r.nr - i, AT_ONCE);
		if (image_read(im, r.off + i * sizeof(*a), a, n * sizeof(*a)))
			break;
		for (j = 0; j < n; j++)
			if (ELF64_R_TYPE(a[j].r_info) == relative)
				fn(ctx, a[j].r_offset, a[j].r_addend);
	}
	free(a);
}

struct patched {
	uint8_t *data;
	uint64_t vaddr, len;
};

static void patch(void *ctx, uint64_t at, uint64_t value)
{
	const struct patched *p = ctx;

	if (p->len >= 8 && at >= p->vaddr && at - p->vaddr <= p->len - 8)
		memcpy(p->data + (at - p->vaddr), &value, 8);
}

static void patch_all(const struct image *im, void *data, uint64_t vaddr, uint64_t len)
{
	struct patched p = { data, vaddr, len };

	each_relative(im, patch, &p);
}

/* ---- moduledata ---- */

struct candidates {
	uint64_t pointee;
	uint64_t at[16];
	size_t nr;
};

static void note_pointer(void *ctx, uint64_t at, uint64_t value)
{
	struct candidates *c = ctx;

	if (value == c->pointee && c->nr < ARRAY_SIZE(c->at))
		c->at[c->nr++] = at;
}

static void scan_pointers(const struct image *im, const struct image_segment *s, struct candidates *c)
{
	uint64_t *words = xmalloc(CHUNK), off, n, i;

	for (off = 0; off + 8 <= s->filesz; off += n * 8) {
		n = MIN(s->filesz - off, CHUNK) / 8;
		if (image_read(im, s->off + off, words, n * 8))
			break;
		for (i = 0; i < n; i++)
			note_pointer(c, s->vaddr + off + i * 8, words[i]);
	}
	free(words);
}

static bool is_moduledata(const struct gopcln *t, const uint64_t *words)
{
	return words[0] == t->vaddr && words[MODULE_NAMES] == t->vaddr + t->names &&
	       words[MODULE_UNITS] == t->vaddr + t->units && words[MODULE_RECORDS] == t->vaddr + t->records;
}

static void find_trees(struct gopcln *t, const uint64_t *words)
{
	size_t i;

	for (i = MODULE_TREES_MIN; i < MODULE_WORDS; i++) {
		t->trees = words[i];
		if (t->trees && gopcln_trees_fit(t))
			return;
	}
	t->trees = 0;
}

/* Find the addresses that offsets of functions and inline trees are relative to. */
static void read_moduledata(struct gopcln *t)
{
	struct candidates c = { .pointee = t->vaddr };
	uint64_t words[MODULE_WORDS];
	size_t i;

	for (i = 0; i < t->im->nr_segs; i++)
		if (t->im->segs[i].type == PT_LOAD && t->im->segs[i].flags & PF_W)
			scan_pointers(t->im, &t->im->segs[i], &c);
	each_relative(t->im, note_pointer, &c);
	for (i = 0; i < c.nr; i++) {
		uint64_t off = image_vaddr_to_off(t->im, c.at[i]);

		if (off == UINT64_MAX || image_read(t->im, off, words, sizeof(words)))
			continue;
		patch_all(t->im, words, c.at[i], sizeof(words));
		if (!is_moduledata(t, words))
			continue;
		if (t->format >= GOPCLN_1_18 && !t->text)
			t->text = words[MODULE_TEXT];
		if (t->format >= GOPCLN_1_18)
			find_trees(t, words);
		return;
	}
}

/* ---- the table ---- */

/* Load the table at vaddr, whose bytes are at most the len at off. */
static int load_at(struct gopcln *t, const struct image *im, uint64_t vaddr, uint64_t off, uint64_t len,
		   struct err *e)
{
	const struct image_section *text = image_section(im, ".text");
	uint8_t *own;

	memset(t, 0, sizeof(*t));
	t->im = im;
	t->vaddr = vaddr;
	own = mem_untrusted(len, 1, TABLE_BYTES_MAX, e);
	if (!own)
		return -e->code;
	t->bytes = (struct image_bytes){ own, len, own };
	if (image_read(im, off, own, len)) {
		gopcln_release(t);
		return err_set(e, EIO, "file was truncated");
	}
	patch_all(im, own, vaddr, len);
	if (gopcln_read_header(t, e)) {
		gopcln_release(t);
		return -e->code;
	}
	if (t->format >= GOPCLN_1_16)
		read_moduledata(t);
	if (t->format >= GOPCLN_1_18 && !t->text && text)
		t->text = text->addr;
	if (!gopcln_is_sound(t)) {
		gopcln_release(t);
		return err_set(e, EILSEQ, "damaged .gopclntab");
	}
	return 0;
}

static bool looks_like_table(const uint8_t *p)
{
	return p[1] == 0xff && p[2] == 0xff && p[3] == 0xff && strchr("\xfb\xfa\xf0\xf1", p[0]) && p[0] &&
	       !p[4] && !p[5] && (p[6] == 1 || p[6] == 4) && p[7] == 8;
}

/* Search for the table in these bytes of the file, loaded at vaddr. */
static int gofile_search(struct gopcln *t, const struct image *im, uint64_t vaddr, uint64_t start,
			 uint64_t len, struct err *e)
{
	uint8_t *p = xmalloc(CHUNK);
	uint64_t off, n, i;
	int tries = 0;

	for (off = -vaddr & (TABLE_ALIGN - 1); off + HEADER_BYTES <= len && tries < TRIES_MAX; off += n) {
		n = MIN(len - off, CHUNK) & ~(uint64_t)(TABLE_ALIGN - 1);
		if (image_read(im, start + off, p, n))
			break;
		for (i = 0; i < n && tries < TRIES_MAX; i += TABLE_ALIGN) {
			if (!looks_like_table(p + i))
				continue;
			tries++;
			if (load_at(t, im, vaddr + off + i, start + off + i, len - off - i, e))
				continue;
			free(p);
			return 0;
		}
	}
	free(p);
	return err_set(e, ENODATA, "no .gopclntab");
}

static int search_segments(struct gopcln *t, const struct image *im, struct err *e)
{
	size_t i;

	for (i = 0; i < im->nr_segs; i++) {
		const struct image_segment *s = &im->segs[i];

		if (s->type == PT_LOAD && !gofile_search(t, im, s->vaddr, s->off, s->filesz, e))
			return 0;
	}
	return err_set(e, ENODATA, "no .gopclntab");
}

/* Return whether the program has what Go's linker leaves in every program, and strip too. */
static bool is_go(const struct image *im)
{
	return image_section(im, ".go.buildinfo") || image_section(im, ".note.go.buildid");
}

int gopcln_load(struct gopcln *t, const struct image *im, struct err *e)
{
	static const char *const own[] = { ".gopclntab", ".data.rel.ro.gopclntab" };
	const struct image_section *s;
	size_t i;

	memset(t, 0, sizeof(*t));
	if (!im->is64)
		return err_set(e, ENODATA, "no .gopclntab of a supported form");
	for (i = 0; i < ARRAY_SIZE(own); i++) {
		s = image_section(im, own[i]);
		if (s && !(s->flags & SHF_COMPRESSED) && !load_at(t, im, s->addr, s->off, s->size, e))
			return 0;
	}
	s = image_section(im, ".data.rel.ro");
	if (s && is_go(im) && !gofile_search(t, im, s->addr, s->off, s->size, e))
		return 0;
	if (im->nr_secs && !is_go(im))
		return err_set(e, ENODATA, "no Go program");
	return search_segments(t, im, e);
}
