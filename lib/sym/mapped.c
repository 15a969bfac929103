// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mapped.c - puts together what a process has mapped of a file (mapped.h).
 *
 * Invariant: whatever is read there may be anything; every offset is checked against the length of the copy.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/mem.h"
#include "sym/mapped.h"

enum { MAX_PIECES = 64, MAX_SYMBOLS = 1 << 22, READ_BYTES = 1 << 20, WORD = 4 };

#define MAX_BYTES (256ull << 20)

struct piece {
	uint64_t start, len, off;
};

struct copy {
	int pid;
	struct piece pieces[MAX_PIECES];
	size_t nr;
	uint8_t *data;
	uint64_t len;
	uint64_t bias;		/* what the loader added to the file's addresses */
	const Elf64_Phdr *segs;
	size_t nr_segs;
};

static const void *copy_at(const struct copy *c, uint64_t off, uint64_t len)
{
	return off <= c->len && len <= c->len - off ? c->data + off : NULL;
}

/* ---- what is mapped ---- */

/*
 * Return whether the path is that of a line of /proc/PID/maps, in which that of a deleted file has a suffix.
 */
static bool is_path(const char *text, const char *path)
{
	size_t len = strlen(path);

	return !strncmp(text, path, len) && (!text[len] || !strcmp(text + len, " (deleted)"));
}

static void copy_maps_line(struct copy *c, const char *line, uint64_t inode, const char *path)
{
	unsigned long long start, end, off, nr;
	char mode[5];
	int name = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %*s %llu %n", &start, &end, mode, &off, &nr, &name) != 5 ||
	    !name || nr != inode || mode[0] != 'r' || end <= start || !is_path(line + name, path))
		return;
	if (c->nr == MAX_PIECES || off > MAX_BYTES || end - start > MAX_BYTES - off)
		return;
	c->pieces[c->nr++] = (struct piece){ start, end - start, off };
	c->len = MAX(c->len, off + (end - start));
}

static int find_pieces(struct copy *c, uint64_t inode, const char *path, struct err *e)
{
	struct buf b = BUF_INIT;
	char name[32], *line, *end;
	int r;

	snprintf(name, sizeof(name), "/proc/%d/maps", c->pid);
	r = io_slurp(name, &b);
	for (line = !r && b.len ? b.data : NULL; line; line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		if (end)
			*end = '\0';
		copy_maps_line(c, line, inode, path);
	}
	buf_release(&b);
	return c->nr ? 0 : err_set(e, r ? -r : ENOENT, "process %d has not mapped it", c->pid);
}

/* Read a piece. Pages beyond the end of the file, as its last mapping may have, are no error. */
static void read_piece(const struct copy *c, const struct piece *p)
{
	uint64_t done;
	ssize_t n = 1;

	for (done = 0; done < p->len && n > 0; done += n) {
		struct iovec local = { c->data + p->off + done, MIN(p->len - done, (uint64_t)READ_BYTES) };
		struct iovec remote = { (void *)(uintptr_t)(p->start + done), local.iov_len };

		n = process_vm_readv(c->pid, &local, 1, &remote, 1, 0);
	}
}

/* ---- its headers ---- */

static int read_headers(struct copy *c, struct err *e)
{
	const Elf64_Ehdr *h = copy_at(c, 0, sizeof(*h));
	size_t i;

	if (!h || memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_phentsize != sizeof(Elf64_Phdr))
		return err_set(e, ENOEXEC, "what process %d has mapped is not a 64-bit ELF file", c->pid);
	c->segs = copy_at(c, h->e_phoff, (uint64_t)h->e_phnum * sizeof(Elf64_Phdr));
	c->nr_segs = c->segs && h->e_phoff % _Alignof(Elf64_Phdr) == 0 ? h->e_phnum : 0;
	for (i = 0; i < c->nr && c->pieces[i].off; i++)
		;
	if (i == c->nr)
		return err_set(e, ENOEXEC, "process %d has not mapped its beginning", c->pid);
	c->bias = c->pieces[i].start;
	for (i = 0; i < c->nr_segs && c->segs[i].p_type != PT_LOAD; i++)
		;
	if (i < c->nr_segs)
		c->bias -= c->segs[i].p_vaddr - c->segs[i].p_offset;
	return 0;
}

/* Return where the bytes of an address of the file are in it, or UINT64_MAX if they are not. */
static uint64_t offset_of(const struct copy *c, uint64_t vaddr)
{
	size_t i;

	for (i = 0; i < c->nr_segs; i++) {
		const Elf64_Phdr *s = &c->segs[i];

		if (s->p_type == PT_LOAD && vaddr >= s->p_vaddr && vaddr - s->p_vaddr < s->p_filesz)
			return s->p_offset + (vaddr - s->p_vaddr);
	}
	return UINT64_MAX;
}

/* ---- its dynamic symbols ---- */

struct dynamic {
	uint64_t symbols, strings, strings_len, gnu_hash, hash;	/* addresses of the file; 0: none */
};

/* Return the address in the file, whether or not the loader has relocated it. */
static uint64_t address(const struct copy *c, uint64_t v)
{
	return c->bias && v >= c->bias ? v - c->bias : v;
}

static bool read_dynamic(const struct copy *c, struct dynamic *d)
{
	const Elf64_Phdr *s = c->segs;
	uint64_t i;

	*d = (struct dynamic){ 0 };
	for (i = 0; i < c->nr_segs && s->p_type != PT_DYNAMIC; i++)
		s++;
	if (i == c->nr_segs)
		return false;
	for (i = 0; i < s->p_filesz / sizeof(Elf64_Dyn); i++) {
		const void *from = copy_at(c, s->p_offset + i * sizeof(Elf64_Dyn), sizeof(Elf64_Dyn));
		Elf64_Dyn x;

		if (!from)
			break;
		memcpy(&x, from, sizeof(x));
		switch (x.d_tag) {
		case DT_SYMTAB:
			d->symbols = address(c, x.d_un.d_ptr);
			break;
		case DT_STRTAB:
			d->strings = address(c, x.d_un.d_ptr);
			break;
		case DT_STRSZ:
			d->strings_len = x.d_un.d_val;
			break;
		case DT_GNU_HASH:
			d->gnu_hash = address(c, x.d_un.d_ptr);
			break;
		case DT_HASH:
			d->hash = address(c, x.d_un.d_ptr);
			break;
		}
	}
	return d->symbols && d->strings;
}

static bool get_u32(const struct copy *c, uint64_t off, uint32_t *v)
{
	const void *from = copy_at(c, off, sizeof(*v));

	if (from)
		memcpy(v, from, sizeof(*v));
	return from;
}

/* Count the symbols: the last one is the end of the chain of the last bucket. */
static uint64_t count_by_gnu_hash(const struct copy *c, uint64_t off)
{
	uint32_t nr_buckets, first, nr_words, i, bucket, last = 0, value;
	uint64_t buckets, chains;

	if (!get_u32(c, off, &nr_buckets) || !get_u32(c, off + WORD, &first) ||
	    !get_u32(c, off + 2 * WORD, &nr_words))
		return 0;
	buckets = off + 4 * WORD + (uint64_t)nr_words * 8;
	chains = buckets + (uint64_t)nr_buckets * WORD;
	for (i = 0; i < nr_buckets && get_u32(c, buckets + (uint64_t)i * WORD, &bucket); i++)
		last = MAX(last, bucket);
	if (last < first)
		return first;
	for (; last < MAX_SYMBOLS && get_u32(c, chains + (uint64_t)(last - first) * WORD, &value); last++)
		if (value & 1)
			return last + 1;
	return 0;
}

static uint64_t count_symbols(const struct copy *c, const struct dynamic *d)
{
	uint64_t gnu = d->gnu_hash ? offset_of(c, d->gnu_hash) : UINT64_MAX;
	uint64_t plain = d->hash ? offset_of(c, d->hash) : UINT64_MAX;
	uint32_t nr;

	if (gnu != UINT64_MAX)
		return count_by_gnu_hash(c, gnu);
	return plain != UINT64_MAX && get_u32(c, plain + WORD, &nr) ? MIN(nr, (uint32_t)MAX_SYMBOLS) : 0;
}

/* ---- the file ---- */

/* Add a section table for the dynamic symbols, behind all that is mapped: the file's own one is not. */
static void add_sections(const struct copy *c, struct buf *b)
{
	static const char names[] = "\0.dynsym\0.dynstr\0.shstrtab";
	enum { SYMBOLS_NAME = 1, STRINGS_NAME = 9, NAMES_NAME = 17, NR = 4 };
	Elf64_Ehdr h;
	Elf64_Shdr s[NR] = { { 0 } };
	struct dynamic d;
	uint64_t nr = read_dynamic(c, &d) ? count_symbols(c, &d) : 0;

	memcpy(&h, c->data, sizeof(h));
	h.e_shoff = h.e_shnum = h.e_shstrndx = 0;
	if (nr) {
		s[1] = (Elf64_Shdr){ .sh_name = SYMBOLS_NAME, .sh_type = SHT_DYNSYM, .sh_addr = d.symbols,
			.sh_offset = offset_of(c, d.symbols), .sh_size = nr * sizeof(Elf64_Sym), .sh_link = 2,
			.sh_entsize = sizeof(Elf64_Sym) };
		s[2] = (Elf64_Shdr){ .sh_name = STRINGS_NAME, .sh_type = SHT_STRTAB, .sh_addr = d.strings,
			.sh_offset = offset_of(c, d.strings), .sh_size = d.strings_len };
		s[3] = (Elf64_Shdr){ .sh_name = NAMES_NAME, .sh_type = SHT_STRTAB, .sh_offset = c->len,
			.sh_size = sizeof(names) };
		buf_add(b, names, sizeof(names));
		buf_add(b, "\0\0\0\0\0\0\0", -(c->len + b->len) & 7);
		h.e_shoff = c->len + b->len;
		h.e_shentsize = sizeof(s[0]);
		h.e_shnum = NR;
		h.e_shstrndx = 3;
		buf_add(b, s, sizeof(s));
	}
	memcpy(c->data, &h, sizeof(h));
}

static int write_file(const struct copy *c, struct err *e)
{
	struct buf sections = BUF_INIT;
	int fd = memfd_create("arcprof-mapped", MFD_CLOEXEC), r;

	if (fd < 0)
		return err_errno(e, "a file in memory");
	add_sections(c, &sections);
	r = io_write_all(fd, c->data, c->len);
	if (!r)
		r = io_write_all(fd, sections.data, sections.len);
	buf_release(&sections);
	if (!r)
		return fd;
	close(fd);
	return err_set(e, -r, "a file in memory cannot be written");
}

int mapped_open(int pid, uint64_t inode, const char *path, struct err *e)
{
	struct copy c = { .pid = pid };
	size_t i;
	int r = inode ? find_pieces(&c, inode, path, e) : err_set(e, ENOENT, "its inode is not known");

	if (r)
		return r;
	c.data = mem_untrusted(c.len, 1, MAX_BYTES, e);
	if (!c.data)
		return -e->code;
	for (i = 0; i < c.nr; i++)
		read_piece(&c, &c.pieces[i]);
	r = read_headers(&c, e);
	if (!r)
		r = write_file(&c, e);
	free(c.data);
	return r;
}
