// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cfi.c - CIEs, FDEs and the index over them.
 *
 * Invariants:
 *  [1] every pointer in a struct cfi_fde lies in the section's bytes;
 *  [2] entries are sorted by pc, one per address.
 *
 * Source: DWARF 5 section 6.4 and the LSB's chapters on .eh_frame and .eh_frame_hdr.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "sym/cfi.h"
#include "sym/leb.h"

enum {	/* pointer encodings: format in the low four bits, what it counts from above */
	PE_ABSPTR = 0x00, PE_ULEB128 = 0x01, PE_UDATA2 = 0x02, PE_UDATA4 = 0x03, PE_UDATA8 = 0x04,
	PE_SLEB128 = 0x09, PE_SDATA2 = 0x0a, PE_SDATA4 = 0x0b, PE_SDATA8 = 0x0c,
	PE_PCREL = 0x10, PE_DATAREL = 0x30, PE_ALIGNED = 0x50,
	PE_INDIRECT = 0x80, PE_OMIT = 0xff,
};

/* Return the value in the format of enc, without what it counts from. */
static uint64_t read_format(struct span *s, uint8_t enc, size_t addr_size)
{
	switch (enc & 0x0f) {
	case PE_ABSPTR:
		return span_le(s, addr_size);
	case PE_ULEB128:
		return leb_unsigned(s);
	case PE_SLEB128:
		return leb_signed(s);
	case PE_UDATA2:
		return span_u16(s);
	case PE_UDATA4:
		return span_u32(s);
	case PE_SDATA2:
		return (int64_t)(int16_t)span_u16(s);
	case PE_SDATA4:
		return (int64_t)(int32_t)span_u32(s);
	case PE_UDATA8:
	case PE_SDATA8:
		return span_u64(s);
	default:
		s->bad = true;
		return 0;
	}
}

/*
 * Read an encoded pointer; at: address of s->p. Indirect pointers only lead to personality routines, and are
 * not followed.
 */
static uint64_t read_encoded(struct span *s, uint8_t enc, size_t addr_size, uint64_t at,
			     uint64_t datarel)
{
	uint64_t v;

	if (enc == PE_OMIT)
		return 0;
	if (enc == PE_ALIGNED) {
		span_bytes(s, -at & (addr_size - 1));
		return span_le(s, addr_size);
	}
	v = read_format(s, enc, addr_size);
	switch (enc & 0x70) {
	case 0:
		break;
	case PE_PCREL:
		v += at;
		break;
	case PE_DATAREL:
		v += datarel;
		break;
	default:
		s->bad = true;
	}
	return addr_size == 4 ? (uint32_t)v : v;
}

static uint64_t span_vaddr(const struct cfi *c, const struct span *s)
{
	return c->vaddr + (s->p - c->bytes.data);
}

struct entry_head {
	struct span body;	/* after the id */
	uint64_t next;		/* offset of the next entry */
	uint64_t cie_off;	/* of an FDE */
	bool is_cie;
	bool end;		/* the terminator */
	bool is64;		/* 64-bit DWARF */
};

/* Read the head of an entry; return false if it is damaged and nothing after it can be found. */
static bool cfi_read_head(const struct cfi *c, uint64_t off, struct entry_head *h)
{
	struct span s;
	uint64_t len, id, id_off;

	memset(h, 0, sizeof(*h));
	if (off >= c->bytes.len)
		return false;
	s = span_init(c->bytes.data + off, c->bytes.len - off);
	len = span_u32(&s);
	if (len == UINT32_MAX) {
		h->is64 = true;
		len = span_u64(&s);
	}
	if (s.bad || len > span_left(&s))
		return false;
	h->next = s.p - c->bytes.data + len;
	h->end = !len;
	if (!len)
		return true;
	s.end = s.p + len;
	id_off = s.p - c->bytes.data;
	id = h->is64 && !c->eh ? span_u64(&s) : span_u32(&s);
	h->body = s;
	if (s.bad)
		return false;
	if (c->eh) {
		h->is_cie = !id;
		h->cie_off = id_off - id;	/* backwards from the field itself */
		return h->is_cie || id <= id_off;
	}
	h->is_cie = id == (h->is64 ? UINT64_MAX : UINT32_MAX);
	h->cie_off = id;
	return true;
}

/* Read what follows 'z', one letter at a time; an unknown one ends the part we can read. */
static void read_augmentation(const struct cfi *c, const char *letters, struct span *s,
			      struct cfi_cie *cie)
{
	for (; *letters; letters++) {
		uint8_t enc;

		switch (*letters) {
		case 'R':
			cie->fde_enc = span_u8(s);
			break;
		case 'P':
			enc = span_u8(s);
			read_encoded(s, enc, cie->addr_size, span_vaddr(c, s), 0);
			break;
		case 'L':
			span_u8(s);
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B':
			cie->pauth_b = true;
			break;
		case 'G':	/* arm64: memory tagging of the stack */
			break;
		default:
			return;
		}
	}
}

static bool cie_parse(const struct cfi *c, uint64_t off, struct cfi_cie *cie)
{
	struct entry_head h;
	const char *aug;
	struct span s, data;
	uint64_t len;
	uint8_t version;

	memset(cie, 0, sizeof(*cie));
	if (!cfi_read_head(c, off, &h) || h.end || !h.is_cie)
		return false;
	s = h.body;
	version = span_u8(&s);
	aug = (const char *)s.p;
	len = strnlen(aug, span_left(&s));
	if ((version != 1 && version != 3 && version != 4) || !span_bytes(&s, len + 1))
		return false;
	cie->addr_size = c->is64 ? 8 : 4;
	if (!strncmp(aug, "eh", 2)) {	/* gcc 2: a pointer nobody uses */
		span_bytes(&s, cie->addr_size);
		aug += 2;
	}
	if (version == 4) {
		cie->addr_size = span_u8(&s);
		cie->seg_size = span_u8(&s);
	}
	if ((cie->addr_size != 4 && cie->addr_size != 8) || cie->seg_size)
		return false;
	cie->code_align = leb_unsigned(&s);
	cie->data_align = leb_signed(&s);
	cie->ra_reg = version == 1 ? span_u8(&s) : leb_unsigned(&s);
	if (*aug == 'z') {
		cie->augmented = true;
		len = leb_unsigned(&s);
		if (s.bad || len > span_left(&s))
			return false;
		data = span_init(s.p, len);
		read_augmentation(c, aug + 1, &data, cie);
		if (data.bad)
			return false;
		s.p += len;
	} else if (*aug) {
		return false;	/* letters without lengths: where the instructions are is unknown */
	}
	cie->instr = s.p;
	cie->instr_len = span_left(&s);
	return !s.bad;
}

bool cfi_fde_parse(const struct cfi *c, uint64_t off, struct cfi_fde *fde)
{
	struct entry_head h;
	struct span s;
	uint64_t len;

	if (!cfi_read_head(c, off, &h) || h.end || h.is_cie || !cie_parse(c, h.cie_off, &fde->cie))
		return false;
	s = h.body;
	fde->start = read_encoded(&s, fde->cie.fde_enc, fde->cie.addr_size, span_vaddr(c, &s),
				  c->hdr_vaddr);
	len = read_format(&s, fde->cie.fde_enc, fde->cie.addr_size);
	if (fde->cie.addr_size == 4)
		len = (uint32_t)len;
	if (fde->cie.augmented) {
		uint64_t aug = leb_unsigned(&s);

		if (aug > span_left(&s))
			return false;
		span_bytes(&s, aug);
	}
	if (s.bad || fde->start + len < fde->start)
		return false;
	fde->end = fde->start + len;
	fde->instr = s.p;
	fde->instr_len = span_left(&s);
	return true;
}

bool cfi_next(const struct cfi *c, uint64_t *off, struct cfi_fde *fde)
{
	struct entry_head h;

	while (cfi_read_head(c, *off, &h) && !(h.end && c->eh)) {
		uint64_t at = *off;

		*off = h.next;
		if (!h.end && !h.is_cie && cfi_fde_parse(c, at, fde))
			return true;
	}
	return false;
}

uint64_t cfi_read_address(const struct cfi *c, struct span *s, const struct cfi_fde *fde)
{
	return read_encoded(s, fde->cie.fde_enc, fde->cie.addr_size, span_vaddr(c, s), c->hdr_vaddr);
}

static int by_pc(const void *a, const void *b)
{
	const struct cfi_entry *x = a, *y = b;

	return COMPARE(x->pc, y->pc) ?: COMPARE(x->off, y->off);
}

static void add_entry(struct cfi *c, uint64_t start, uint64_t off)
{
	if (start < c->base || start - c->base > UINT32_MAX || off > UINT32_MAX)
		return;
	*VEC_ADD(c->entries, c->nr_entries, c->alloc_entries) = (struct cfi_entry){ start - c->base, off };
}

static void sort_entries(struct cfi *c)
{
	size_t i, n = 0;
	bool sorted = true;

	for (i = 1; i < c->nr_entries && sorted; i++)
		sorted = c->entries[i - 1].pc <= c->entries[i].pc;
	if (!sorted)
		qsort(c->entries, c->nr_entries, sizeof(*c->entries), by_pc);
	for (i = 0; i < c->nr_entries; i++)
		if (!n || c->entries[n - 1].pc != c->entries[i].pc)
			c->entries[n++] = c->entries[i];
	c->nr_entries = n;
	c->entries = xrealloc(c->entries, n * sizeof(*c->entries));
	c->alloc_entries = n;
}

/*
 * Reads every entry. FDEs of functions that the linker dropped stay behind in .debug_frame
 * with a start of zero or so: only what lies in executable segments counts.
 */
static void index_by_scan(struct cfi *c, const struct image *text)
{
	struct entry_head h;
	struct cfi_fde fde;
	uint64_t off = 0;

	c->nr_entries = 0;
	while (cfi_read_head(c, off, &h)) {
		if (h.end && c->eh)
			break;
		if (!h.end && !h.is_cie && cfi_fde_parse(c, off, &fde) && fde.end > fde.start &&
		    image_text(text, fde.start))
			add_entry(c, fde.start, off);
		off = h.next;
	}
	sort_entries(c);
}

/* .eh_frame_hdr: version, three encodings, where .eh_frame is, and the table. */
struct hdr {
	struct span table;
	uint64_t vaddr, frame_vaddr, nr;
	uint8_t table_enc;
};

static bool read_hdr(const uint8_t *data, size_t len, uint64_t vaddr, bool is64, struct hdr *h)
{
	struct span s = span_init(data, len);
	size_t size = is64 ? 8 : 4;
	uint8_t version = span_u8(&s), frame_enc = span_u8(&s), count_enc = span_u8(&s);

	h->vaddr = vaddr;
	h->table_enc = span_u8(&s);
	h->frame_vaddr = read_encoded(&s, frame_enc, size, vaddr + (s.p - data), vaddr);
	h->nr = count_enc == PE_OMIT ? 0 :
		read_encoded(&s, count_enc, size, vaddr + (s.p - data), vaddr);
	if (h->table_enc != (PE_DATAREL | PE_SDATA4))	/* the only one that can be searched */
		h->nr = 0;
	h->table = s;
	return version == 1 && !s.bad && frame_enc != PE_OMIT;
}

static bool index_by_table(struct cfi *c, const struct hdr *h)
{
	struct span s = h->table;
	uint64_t i, prev = 0;

	if (!h->nr || h->nr > span_left(&s) / 8)
		return false;
	c->alloc_entries = h->nr;
	c->entries = xrealloc(c->entries, h->nr * sizeof(*c->entries));
	for (i = 0; i < h->nr; i++) {
		uint64_t start = h->vaddr + (int32_t)span_u32(&s);
		uint64_t off = h->vaddr + (int32_t)span_u32(&s) - c->vaddr;

		if (start < prev || off >= c->bytes.len)
			return false;
		prev = start;
		add_entry(c, start, off);
	}
	sort_entries(c);
	return c->nr_entries;
}

/* Return whether the table is sound: what it says of some functions is what their FDEs say. */
static bool table_is_true(const struct cfi *c)
{
	size_t i, step = c->nr_entries / 16 + 1;
	struct cfi_fde fde;

	for (i = 0; i < c->nr_entries; i += step)
		if (!cfi_fde_parse(c, c->entries[i].off, &fde) ||
		    fde.start != c->base + c->entries[i].pc)
			return false;
	return true;
}

static const struct image_segment *hdr_segment(const struct image *im)
{
	size_t i;

	for (i = 0; i < im->nr_segs; i++)
		if (im->segs[i].type == PT_GNU_EH_FRAME)
			return &im->segs[i];
	return NULL;
}

/* Load .eh_frame; without a section of that name it reaches from the header to the end of its segment. */
static int load_eh_bytes(struct cfi *c, const struct image *im, const struct hdr *h, bool have_hdr,
			 struct err *e)
{
	const struct image_section *s = image_section(im, ".eh_frame");
	uint64_t off;
	size_t i;

	if (s) {
		c->vaddr = s->addr;
		return image_load(im, s, &c->bytes, e);
	}
	off = have_hdr ? image_vaddr_to_off(im, h->frame_vaddr) : UINT64_MAX;
	for (i = 0; i < im->nr_segs && off != UINT64_MAX; i++) {
		const struct image_segment *g = &im->segs[i];

		if (g->type != PT_LOAD || off < g->off || off - g->off >= g->filesz)
			continue;
		c->vaddr = h->frame_vaddr;
		return image_load_range(im, off, g->filesz - (off - g->off), &c->bytes, e);
	}
	return err_set(e, ENODATA, "no .eh_frame");
}

static int load_eh(struct cfi *c, const struct image *im, const struct image *text, struct err *e)
{
	const struct image_segment *g = hdr_segment(im);
	struct image_bytes b = { 0 };
	struct hdr h = { 0 };
	bool have_hdr;
	int r;

	have_hdr = g && !image_load_range(im, g->off, g->filesz, &b, e) &&
		   read_hdr(b.data, b.len, g->vaddr, im->is64, &h);
	c->hdr_vaddr = have_hdr ? g->vaddr : 0;
	r = load_eh_bytes(c, im, &h, have_hdr, e);
	if (!r && !(have_hdr && index_by_table(c, &h) && table_is_true(c)))
		index_by_scan(c, text);
	image_bytes_release(&b);
	return r;
}

static int load_debug(struct cfi *c, const struct image *im, const struct image *text, struct err *e)
{
	const struct image_section *s = image_section(im, ".debug_frame");
	int r;

	if (!s)
		s = image_section(im, ".zdebug_frame");
	if (!s)
		return err_set(e, ENODATA, "no .debug_frame");
	r = image_load(im, s, &c->bytes, e);
	if (!r)
		index_by_scan(c, text);
	return r;
}

int cfi_load(struct cfi *c, const struct image *im, const struct image *text, bool eh, struct err *e)
{
	int r;

	memset(c, 0, sizeof(*c));
	c->eh = eh;
	c->is64 = im->is64;
	c->base = image_base(text);
	r = eh ? load_eh(c, im, text, e) : load_debug(c, im, text, e);
	if (r)
		cfi_release(c);
	return r;
}

void cfi_release(struct cfi *c)
{
	image_bytes_release(&c->bytes);
	free(c->entries);
	memset(c, 0, sizeof(*c));
}

size_t cfi_index(const struct cfi *c, uint64_t vaddr)
{
	uint64_t pc = vaddr - c->base;

	if (vaddr < c->base || pc > UINT32_MAX)
		return SIZE_MAX;
	return BISECT(i, c->nr_entries, c->entries[i].pc <= pc) - 1;
}

bool cfi_find(const struct cfi *c, uint64_t vaddr, struct cfi_fde *fde)
{
	size_t i = cfi_index(c, vaddr);

	return i != SIZE_MAX && cfi_fde_parse(c, c->entries[i].off, fde) && vaddr >= fde->start &&
	       vaddr < fde->end;
}
