// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * image.c - ELF headers and sections, bounds everywhere.
 *
 * Invariants:
 *  [1] a section with bytes in the file lies inside it, else it is turned into an empty one;
 *  [2] shstr ends in 0, so every section name does;
 *  [3] nothing is allocated that is larger than the file, but for decompression, which is
 *      bounded by what the compressed size can hold.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/mem.h"
#include "sym/image.h"

enum {
	SEGMENTS_MAX = 4096,
	SECTIONS_MAX = 1 << 20,
	DEFLATE_RATIO_MAX = 1032,	/* zlib's own bound: 258 bytes from two bits */
	ZSTD_RATIO_MAX = 1 << 15,	/* a block of 128 KiB from four bytes */
};

#define SECTION_BYTES_MAX (8ull << 30)
#define INFLATED_BYTES_MAX (4ull << 30)

int image_read(const struct image *im, uint64_t off, void *to, size_t len)
{
	char *p = to;

	if (off > im->len || im->len - off < len)
		return -EIO;
	if (im->fd < 0) {
		memcpy(to, im->mem + off, len);
		return 0;
	}
	while (len) {
		ssize_t n = pread(im->fd, p, len, off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -EIO;
		p += n;
		off += n;
		len -= n;
	}
	return 0;
}

int image_load_range(const struct image *im, uint64_t off, uint64_t len, struct image_bytes *b,
		     struct err *e)
{
	memset(b, 0, sizeof(*b));
	if (off > im->len || im->len - off < len)
		return err_set(e, EILSEQ, "contents lie outside the file");
	if (im->fd < 0) {
		b->data = im->mem + off;
		b->len = len;
		return 0;
	}
	b->owned = mem_untrusted(len, 1, SECTION_BYTES_MAX, e);
	if (!b->owned)
		return -e->code;
	if (image_read(im, off, b->owned, len)) {
		image_bytes_release(b);
		return err_set(e, EIO, "file was truncated");
	}
	b->data = b->owned;
	b->len = len;
	return 0;
}

void image_bytes_release(struct image_bytes *b)
{
	free(b->owned);
	memset(b, 0, sizeof(*b));
}

static struct image_section widen_section(const struct image *im, const uint8_t *p)
{
	struct image_section s = { .name = "" };
	Elf64_Shdr w;
	Elf32_Shdr n;

	if (im->is64) {
		memcpy(&w, p, sizeof(w));
	} else {
		memcpy(&n, p, sizeof(n));
		w = (Elf64_Shdr){ n.sh_name, n.sh_type, n.sh_flags, n.sh_addr, n.sh_offset,
				  n.sh_size, n.sh_link, n.sh_info, n.sh_addralign, n.sh_entsize };
	}
	s.type = w.sh_type;
	s.link = w.sh_link;
	s.info = w.sh_info;
	s.flags = w.sh_flags;
	s.addr = w.sh_addr;
	s.off = w.sh_offset;
	s.size = w.sh_size;
	if (s.type != SHT_NOBITS && (s.off > im->len || im->len - s.off < s.size))
		s.type = SHT_NULL;	/* [1] */
	return s;
}

static struct image_segment widen_segment(const struct image *im, const uint8_t *p)
{
	Elf64_Phdr w;
	Elf32_Phdr n;

	if (im->is64) {
		memcpy(&w, p, sizeof(w));
	} else {
		memcpy(&n, p, sizeof(n));
		w = (Elf64_Phdr){ n.p_type, n.p_flags, n.p_offset, n.p_vaddr, n.p_paddr,
				  n.p_filesz, n.p_memsz, n.p_align };
	}
	return (struct image_segment){ w.p_type, w.p_flags, w.p_offset, w.p_vaddr, w.p_filesz,
				       w.p_memsz };
}

/* Reads nr headers of size bytes at off; NULL when they are not all there. The caller frees. */
static uint8_t *image_read_table(const struct image *im, uint64_t off, uint64_t nr, size_t size,
				 struct err *e)
{
	uint8_t *p;

	if (off > im->len || (im->len - off) / size < nr)
		return NULL;
	p = mem_untrusted(nr, size, SECTION_BYTES_MAX, e);
	if (p && image_read(im, off, p, nr * size)) {
		free(p);
		p = NULL;
	}
	return p;
}

static int read_segments(struct image *im, const Elf64_Ehdr *h, struct err *e)
{
	size_t i, size = im->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	uint8_t *raw;

	if (!h->e_phnum)
		return 0;
	if (h->e_phentsize != size || h->e_phnum > SEGMENTS_MAX)
		return err_set(e, ENOEXEC, "damaged program headers");
	raw = image_read_table(im, h->e_phoff, h->e_phnum, size, e);
	if (!raw)
		return err_set(e, ENOEXEC, "program headers lie outside the file");
	im->segs = xcalloc(h->e_phnum, sizeof(*im->segs));
	im->nr_segs = h->e_phnum;
	for (i = 0; i < im->nr_segs; i++)
		im->segs[i] = widen_segment(im, raw + i * size);
	free(raw);
	return 0;
}

static void name_sections(struct image *im, const uint8_t *raw, size_t size, uint32_t strndx)
{
	const struct image_section *str;
	uint32_t name;
	size_t i, len;
	struct err e;

	if (strndx >= im->nr_secs)
		return;
	str = &im->secs[strndx];
	len = str->type == SHT_NULL || str->type == SHT_NOBITS ? 0 : str->size;
	im->shstr = mem_untrusted(len + 1, 1, SECTION_BYTES_MAX, &e);
	if (!im->shstr || image_read(im, str->off, im->shstr, len))
		return;
	for (i = 0; i < im->nr_secs; i++) {
		memcpy(&name, raw + i * size, sizeof(name));
		if (name < len)
			im->secs[i].name = im->shstr + name;
	}
}

/* Read the sections. A damaged table is as good as none: what it would say is found otherwise or not. */
static void read_sections(struct image *im, const Elf64_Ehdr *h)
{
	size_t i, size = im->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	uint64_t nr = h->e_shnum;
	uint32_t strndx = h->e_shstrndx;
	struct image_section first;
	uint8_t *raw;
	struct err e;

	if (!h->e_shoff || h->e_shentsize != size)
		return;
	raw = image_read_table(im, h->e_shoff, 1, size, &e);
	if (!raw)
		return;
	first = widen_section(im, raw);
	free(raw);
	if (!nr)	/* more than fit in 16 bits: the first header says */
		nr = first.size;
	if (strndx == SHN_XINDEX)
		strndx = first.link;
	if (nr > SECTIONS_MAX)
		return;
	raw = image_read_table(im, h->e_shoff, nr, size, &e);
	if (!raw)
		return;
	im->secs = xcalloc(nr, sizeof(*im->secs));
	im->nr_secs = nr;
	for (i = 0; i < nr; i++)
		im->secs[i] = widen_section(im, raw + i * size);
	name_sections(im, raw, size, strndx);
	free(raw);
}

static int image_read_header(struct image *im, Elf64_Ehdr *h, struct err *e)
{
	unsigned char id[EI_NIDENT];
	Elf32_Ehdr n;

	if (image_read(im, 0, id, sizeof(id)) || memcmp(id, ELFMAG, SELFMAG))
		return err_set(e, ENOEXEC, "not an ELF file");
	if (id[EI_DATA] != ELFDATA2LSB)
		return err_set(e, ENOTSUP, "big-endian ELF files are not supported");
	im->is64 = id[EI_CLASS] == ELFCLASS64;
	if (im->is64) {
		if (image_read(im, 0, h, sizeof(*h)))
			return err_set(e, ENOEXEC, "ELF header is truncated");
	} else {
		if (id[EI_CLASS] != ELFCLASS32 || image_read(im, 0, &n, sizeof(n)))
			return err_set(e, ENOEXEC, "damaged ELF header");
		h->e_type = n.e_type;
		h->e_machine = n.e_machine;
		h->e_entry = n.e_entry;
		h->e_phoff = n.e_phoff;
		h->e_shoff = n.e_shoff;
		h->e_phentsize = n.e_phentsize;
		h->e_phnum = n.e_phnum;
		h->e_shentsize = n.e_shentsize;
		h->e_shnum = n.e_shnum;
		h->e_shstrndx = n.e_shstrndx;
	}
	im->type = h->e_type;
	im->machine = h->e_machine;
	im->entry = h->e_entry;
	return 0;
}

static int image_parse(struct image *im, const char *name, struct err *e)
{
	Elf64_Ehdr h;
	int r;

	memset(&h, 0, sizeof(h));
	r = image_read_header(im, &h, e);
	if (!r)
		r = read_segments(im, &h, e);
	if (r) {
		image_close(im);
		return err_wrap(e, "%s", name);
	}
	read_sections(im, &h);
	return 0;
}

int image_open_fd(struct image *im, int fd, const char *name, struct err *e)
{
	struct stat st;

	memset(im, 0, sizeof(*im));
	im->fd = fd;
	if (fstat(fd, &st) < 0) {
		err_errno(e, "%s", name);
		image_close(im);
		return -e->code;
	}
	if (!S_ISREG(st.st_mode)) {
		image_close(im);
		return err_set(e, EINVAL, "%s: not a regular file", name);
	}
	im->len = st.st_size;
	return image_parse(im, name, e);
}

int image_open_memory(struct image *im, const void *data, size_t len, uint8_t *owned,
		      const char *name, struct err *e)
{
	memset(im, 0, sizeof(*im));
	im->fd = -1;
	im->mem = data;
	im->owned = owned;
	im->len = len;
	return image_parse(im, name, e);
}

void image_close(struct image *im)
{
	if (im->fd >= 0)
		close(im->fd);
	free(im->owned);
	free(im->segs);
	free(im->secs);
	free(im->shstr);
	memset(im, 0, sizeof(*im));
	im->fd = -1;
}

const struct image_section *image_section(const struct image *im, const char *name)
{
	size_t i;

	for (i = 0; i < im->nr_secs; i++) {
		const struct image_section *s = &im->secs[i];

		if (s->type != SHT_NULL && s->type != SHT_NOBITS && !strcmp(s->name, name))
			return s;
	}
	return NULL;
}

const struct image_section *image_section_at(const struct image *im, uint64_t vaddr)
{
	size_t i;

	for (i = 0; i < im->nr_secs; i++) {
		const struct image_section *s = &im->secs[i];

		if (s->flags & SHF_ALLOC && vaddr >= s->addr && vaddr - s->addr < s->size)
			return s;
	}
	return NULL;
}

/* elf.h has had it since glibc 2.36. */
#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/*
 * The compression of a section: where the compressed bytes begin (skip 0: it is not compressed) and how
 * many bytes they become.
 */
struct packing {
	size_t skip;
	uint64_t size;
	uint32_t type;		/* ELFCOMPRESS_... */
};

static bool is_built_in(uint32_t type)
{
#ifdef HAVE_ZSTD
	if (type == ELFCOMPRESS_ZSTD)
		return true;
#endif
	return type == ELFCOMPRESS_ZLIB;
}

static int packing_damaged(const struct image_section *s, struct err *e)
{
	return err_set(e, EILSEQ, "section %s is truncated", s->name);
}

static int packing_of(const struct image *im, const struct image_section *s, struct packing *p, struct err *e)
{
	size_t head = im->is64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr), i;
	uint8_t b[sizeof(Elf64_Chdr)];

	*p = (struct packing){ .type = ELFCOMPRESS_ZLIB };
	if (!(s->flags & SHF_COMPRESSED) && strncmp(s->name, ".zdebug", 7))
		return 0;
	if (image_read(im, s->off, b, MIN(s->size, sizeof(b))))
		return packing_damaged(s, e);
	if (s->flags & SHF_COMPRESSED) {
		if (s->size < head)
			return packing_damaged(s, e);
		memcpy(&p->type, b, sizeof(p->type));
		if (!is_built_in(p->type))
			return err_set(e, ENOTSUP, "section %s: compression %u is not supported", s->name,
				       p->type);
		memcpy(&p->size,
		       b + (im->is64 ? offsetof(Elf64_Chdr, ch_size) : offsetof(Elf32_Chdr, ch_size)),
		       im->is64 ? 8 : 4);
		p->skip = head;
	} else if (s->size > 12 && !memcmp(b, "ZLIB", 4)) {
		for (i = 4; i < 12; i++)	/* big-endian */
			p->size = p->size << 8 | b[i];
		p->skip = 12;
	}
	return 0;
}

static uint64_t inflated_max(const struct packing *p, uint64_t packed)
{
	uint64_t ratio = p->type == ELFCOMPRESS_ZSTD ? ZSTD_RATIO_MAX : DEFLATE_RATIO_MAX;

	return MIN((packed + 1) * ratio, INFLATED_BYTES_MAX);	/* [3] */
}

static bool inflate_zstd(const struct image_bytes *raw, size_t skip, void *to, uint64_t *size)
{
#ifdef HAVE_ZSTD
	size_t len = ZSTD_decompress(to, *size, raw->data + skip, raw->len - skip);

	*size = len;
	return !ZSTD_isError(len);
#else
	return false;
#endif
}

static bool inflate_zlib(const struct image_bytes *raw, size_t skip, void *to, uint64_t *size)
{
	uLongf len = *size;
	int r = uncompress(to, &len, raw->data + skip, raw->len - skip);

	*size = len;
	return r == Z_OK;
}

/* *size is how much room there is, then how much came out: less when the header promised too much. */
static int inflate_into(const struct image_bytes *raw, const struct packing *p, void *to, uint64_t *size,
			struct err *e)
{
	bool ok = p->type == ELFCOMPRESS_ZSTD ? inflate_zstd(raw, p->skip, to, size) :
						inflate_zlib(raw, p->skip, to, size);

	return ok ? 0 : err_set(e, EILSEQ, "damaged compressed section");
}

/* Replaces *b by what it inflates to. */
static int inflate_bytes(struct image_bytes *b, const struct packing *p, struct err *e)
{
	struct image_bytes raw = *b;
	uint64_t len = p->size;

	memset(b, 0, sizeof(*b));
	b->owned = mem_untrusted(p->size, 1, inflated_max(p, raw.len - p->skip), e);
	if (!b->owned || inflate_into(&raw, p, b->owned, &len, e)) {
		image_bytes_release(&raw);
		image_bytes_release(b);
		return -e->code;
	}
	image_bytes_release(&raw);
	b->data = b->owned;
	b->len = len;
	return 0;
}

int image_loaded_size(const struct image *im, const struct image_section *s, uint64_t *size, struct err *e)
{
	struct packing p;

	if (packing_of(im, s, &p, e))
		return -e->code;
	*size = p.skip ? p.size : s->size;
	if (p.skip && p.size > inflated_max(&p, s->size - p.skip))
		return err_set(e, EILSEQ, "damaged compressed section");
	return 0;
}

int image_load_into(const struct image *im, const struct image_section *s, void *to, uint64_t size,
		    struct err *e)
{
	struct image_bytes raw;
	struct packing p;
	uint64_t len = size;
	int r;

	if (packing_of(im, s, &p, e))
		return -e->code;
	if (!p.skip)
		return image_read(im, s->off, to, MIN(size, s->size)) ? packing_damaged(s, e) : 0;
	r = image_load_range(im, s->off, s->size, &raw, e);
	if (!r)
		r = inflate_into(&raw, &p, to, &len, e);
	if (!r && len < size)
		r = packing_damaged(s, e);
	image_bytes_release(&raw);
	return r;
}

int image_load(const struct image *im, const struct image_section *s, struct image_bytes *b,
	       struct err *e)
{
	struct packing p;
	int r;

	memset(b, 0, sizeof(*b));
	if (s->type == SHT_NULL || s->type == SHT_NOBITS)
		return err_set(e, ENODATA, "section %s has no contents in the file", s->name);
	r = packing_of(im, s, &p, e);
	if (r)
		return r;
	r = image_load_range(im, s->off, s->size, b, e);
	if (r)
		return err_wrap(e, "section %s", s->name);
	return p.skip ? inflate_bytes(b, &p, e) : 0;
}

static const struct image_segment *segment_of_off(const struct image *im, uint64_t off, uint32_t flags)
{
	size_t i;

	for (i = 0; i < im->nr_segs; i++) {
		const struct image_segment *s = &im->segs[i];

		if (s->type == PT_LOAD && (s->flags & flags) == flags && off >= s->off &&
		    off - s->off < s->filesz)
			return s;
	}
	return NULL;
}

/* Segments may share bytes of the file; callers mean code. */
uint64_t image_off_to_vaddr(const struct image *im, uint64_t off)
{
	const struct image_segment *s = segment_of_off(im, off, PF_X);

	if (!s)
		s = segment_of_off(im, off, 0);
	return s ? off - s->off + s->vaddr : UINT64_MAX;
}

uint64_t image_vaddr_to_off(const struct image *im, uint64_t vaddr)
{
	size_t i;

	for (i = 0; i < im->nr_segs; i++) {
		const struct image_segment *s = &im->segs[i];

		if (s->type == PT_LOAD && vaddr >= s->vaddr && vaddr - s->vaddr < s->filesz)
			return vaddr - s->vaddr + s->off;
	}
	return UINT64_MAX;
}

const struct image_segment *image_text(const struct image *im, uint64_t vaddr)
{
	size_t i;

	for (i = 0; i < im->nr_segs; i++) {
		const struct image_segment *s = &im->segs[i];

		if (s->type == PT_LOAD && s->flags & PF_X && vaddr >= s->vaddr &&
		    vaddr - s->vaddr < s->memsz)
			return s;
	}
	return NULL;
}

uint64_t image_base(const struct image *im)
{
	uint64_t base = UINT64_MAX;
	size_t i;

	for (i = 0; i < im->nr_segs; i++)
		if (im->segs[i].type == PT_LOAD && im->segs[i].vaddr < base)
			base = im->segs[i].vaddr;
	return base == UINT64_MAX ? 0 : base;
}

/* Notes: name size, data size, type, then both padded to four bytes. */
static size_t note_build_id(const uint8_t *p, size_t len, uint8_t *id, size_t max)
{
	uint32_t name, data, type;

	while (len >= 12) {
		uint64_t skip;

		memcpy(&name, p, 4);
		memcpy(&data, p + 4, 4);
		memcpy(&type, p + 8, 4);
		skip = 12 + (((uint64_t)name + 3) & ~3ull) + (((uint64_t)data + 3) & ~3ull);
		if (12 + (((uint64_t)name + 3) & ~3ull) + data > len)
			return 0;
		if (type == NT_GNU_BUILD_ID && name == 4 && !memcmp(p + 12, "GNU", 4)) {
			data = MIN(data, max);
			memcpy(id, p + 16, data);
			return data;
		}
		if (skip > len)
			return 0;
		p += skip;
		len -= skip;
	}
	return 0;
}

static size_t note_range(const struct image *im, uint64_t off, uint64_t len, uint8_t *id, size_t max)
{
	struct image_bytes b;
	struct err e;
	size_t n;

	if (len > 1 << 20 || image_load_range(im, off, len, &b, &e))
		return 0;
	n = note_build_id(b.data, b.len, id, max);
	image_bytes_release(&b);
	return n;
}

size_t image_build_id(const struct image *im, uint8_t *id, size_t max)
{
	size_t i, n = 0;

	for (i = 0; i < im->nr_segs && !n; i++)
		if (im->segs[i].type == PT_NOTE)
			n = note_range(im, im->segs[i].off, im->segs[i].filesz, id, max);
	for (i = 0; i < im->nr_secs && !n; i++)
		if (im->secs[i].type == SHT_NOTE)
			n = note_range(im, im->secs[i].off, im->secs[i].size, id, max);
	return n;
}
