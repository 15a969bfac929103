// SPDX-License-Identifier: MIT
/*
 * elf.c - symbols of loaded objects (elf.h). Source: gABI chapter 5, and the description of
 * DT_GNU_HASH in binutils' elflink.c.
 */
#include <elf.h>
#include <asm/mman.h>

#include "agent/elf.h"
#include "agent/cpu.h"
#include "agent/sys.h"

static uint64_t parse_hex(const char **p)
{
	uint64_t v = 0;

	for (;; (*p)++) {
		char c = **p;

		if (c >= '0' && c <= '9')
			v = v * 16 + c - '0';
		else if (c >= 'a' && c <= 'f')
			v = v * 16 + c - 'a' + 10;
		else
			return v;
	}
}

static const char *skip_past(const char *p, char c)
{
	while (*p && *p != c)
		p++;
	return *p ? p + 1 : p;
}

/* Return whether the line ends in "/name". */
static bool ends_in(const char *line, const char *name)
{
	const char *file = line;

	for (; *line && *line != '\n'; line++)
		if (*line == '/')
			file = line + 1;
	while (*name && *file == *name) {
		file++;
		name++;
	}
	return !*name && file == line;
}

enum { MAPS_BYTES = 16 << 20 };		/* a process has 65530 mappings at most, unless told otherwise */

/*
 * A line is "start-end perms offset dev inode path". The base of a file is where its offset
 * 0 was mapped last before addr. With a name, any address of that file will do.
 */
static uintptr_t find_base(uintptr_t addr, const char *name)
{
	const size_t size = MAPS_BYTES;
	char *buf = sys_pages(size);
	uintptr_t base = 0;
	const char *p = buf;
	long n;

	if (!buf)
		return 0;
	n = sys_slurp("/proc/self/maps", buf, size - 1);
	if (n <= 0)
		goto out;
	buf[n] = '\0';
	while (*p) {
		uint64_t lo = parse_hex(&p), hi, off;

		p++;
		hi = parse_hex(&p);
		p = skip_past(p + 1, ' ');
		off = parse_hex(&p);
		if (!off)
			base = lo;
		if (name ? ends_in(p, name) : addr >= lo && addr < hi)
			goto out;
		p = skip_past(p, '\n');
	}
	base = 0;
out:
	sys(__NR_munmap, buf, size);
	return base;
}

uintptr_t elf_base_of(uintptr_t addr)
{
	return find_base(addr, NULL);
}

uintptr_t elf_base_named(const char *name)
{
	return find_base(0, name);
}

struct tables {
	const char *str;
	const Elf64_Sym *sym;
	const uint16_t *versions;	/* of each symbol; NULL: none have one */
	const uint32_t *gnu_hash, *hash;
	const Elf64_Rela *rela, *jmprel;
	size_t rela_bytes, jmprel_bytes;
	uintptr_t base, bias;
};

static const Elf64_Phdr *program_headers(uintptr_t base, int *nr)
{
	const Elf64_Ehdr *e = (const void *)base;

	if (!base || memcmp(e->e_ident, ELFMAG, SELFMAG))
		return NULL;
	*nr = e->e_phnum;
	return (const void *)(base + e->e_phoff);
}

static bool read_dynamic(const Elf64_Dyn *d, struct tables *t)
{
	for (; d && d->d_tag != DT_NULL; d++) {
		/* glibc has relocated these in place, musl and the vDSO have not */
		uintptr_t v = d->d_un.d_ptr < t->bias ? d->d_un.d_ptr + t->bias : d->d_un.d_ptr;

		if (d->d_tag == DT_STRTAB)
			t->str = (const void *)v;
		else if (d->d_tag == DT_SYMTAB)
			t->sym = (const void *)v;
		else if (d->d_tag == DT_GNU_HASH)
			t->gnu_hash = (const void *)v;
		else if (d->d_tag == DT_HASH)
			t->hash = (const void *)v;
		else if (d->d_tag == DT_VERSYM)
			t->versions = (const void *)v;
		else if (d->d_tag == DT_RELA)
			t->rela = (const void *)v;
		else if (d->d_tag == DT_JMPREL)
			t->jmprel = (const void *)v;
		else if (d->d_tag == DT_RELASZ)
			t->rela_bytes = d->d_un.d_val;
		else if (d->d_tag == DT_PLTRELSZ)
			t->jmprel_bytes = d->d_un.d_val;
	}
	return t->str && t->sym && (t->gnu_hash || t->hash);
}

static bool find_tables(uintptr_t base, struct tables *t)
{
	const Elf64_Dyn *d = NULL;
	const Elf64_Phdr *ph;
	int i, nr;

	*t = (struct tables){ 0 };
	ph = program_headers(base, &nr);
	if (!ph)
		return false;
	t->base = t->bias = base;
	for (i = 0; i < nr; i++)
		if (ph[i].p_type == PT_LOAD && !ph[i].p_offset)
			t->bias = base - ph[i].p_vaddr;
	for (i = 0; i < nr; i++)
		if (ph[i].p_type == PT_DYNAMIC)
			d = (const void *)(t->bias + ph[i].p_vaddr);
	return read_dynamic(d, t);
}

/* Return the version that programs are linked with today: pthread_cond_wait() has another one, of 2002. */
static void *symbol_at(const struct tables *t, uint32_t i, const char *name)
{
	enum { HIDDEN = 1 << 15 };
	const Elf64_Sym *s = &t->sym[i];

	if (s->st_shndx == SHN_UNDEF || !str_eq(t->str + s->st_name, name) ||
	    (t->versions && t->versions[i] & HIDDEN))
		return NULL;
	return (void *)(t->bias + s->st_value);
}

static void *gnu_lookup(const struct tables *t, const char *name)
{
	uint32_t nr_buckets = t->gnu_hash[0], first = t->gnu_hash[1], nr_bloom = t->gnu_hash[2];
	const uint32_t *buckets = t->gnu_hash + 4 + nr_bloom * 2, *chain = buckets + nr_buckets;
	uint32_t h = 5381, i;
	const char *c;
	void *p;

	for (c = name; *c; c++)
		h = h * 33 + (uint8_t)*c;
	i = nr_buckets ? buckets[h % nr_buckets] : 0;
	if (i < first)
		return NULL;
	for (;; i++) {
		uint32_t x = chain[i - first];

		if ((x | 1) == (h | 1) && (p = symbol_at(t, i, name)))
			return p;
		if (x & 1)
			return NULL;
	}
}

static void *elf_look_up(const struct tables *t, const char *name)
{
	uint32_t i;
	void *p;

	if (t->gnu_hash)
		return gnu_lookup(t, name);
	for (i = 0; i < t->hash[1]; i++)
		if ((p = symbol_at(t, i, name)))
			return p;
	return NULL;
}

void *elf_symbol(uintptr_t base, const char *name)
{
	struct tables t;

	return find_tables(base, &t) ? elf_look_up(&t, name) : NULL;
}

bool elf_symbols_of(uintptr_t bias, const void *dynamic, const char *const *names, void **found, int nr)
{
	struct tables t = { .bias = bias };
	bool all = true, readable = read_dynamic(dynamic, &t);
	int i;

	for (i = 0; i < nr; i++) {
		if (!found[i] && readable)
			found[i] = elf_look_up(&t, names[i]);
		all = all && found[i];
	}
	return all;
}

/* ---- slots through which an object calls what it imports ---- */

struct page {
	uintptr_t at;			/* 0: none */
	int prot;			/* as it is mapped; -1 not known */
};

static uintptr_t elf_page_of(uintptr_t addr)
{
	return addr & ~(uintptr_t)(sys_page_bytes() - 1);
}

/*
 * The linker makes most such pages read-only, but who else changes slots may have made them writable, and
 * write again without asking: a page gets back what it had.
 */
static void look_up_page(struct page *p, uintptr_t addr)
{
	const size_t size = MAPS_BYTES;
	char *buf = sys_pages(size);
	const char *line = buf;
	long n;

	p->at = elf_page_of(addr);
	p->prot = -1;
	n = buf ? sys_slurp("/proc/self/maps", buf, size - 1) : 0;
	for (; n > 0 && *line && p->prot < 0; line = skip_past(line, '\n')) {
		uint64_t lo = parse_hex(&line), hi;

		line++;
		hi = parse_hex(&line);
		if (addr >= lo && addr < hi)
			p->prot = (line[1] == 'r' ? PROT_READ : 0) | (line[2] == 'w' ? PROT_WRITE : 0) |
				  (line[3] == 'x' ? PROT_EXEC : 0);
	}
	if (buf)
		sys(__NR_munmap, buf, size);
}

/* Change a slot; return false if it cannot be written, or has been changed meanwhile. p: the last page. */
static bool change_slot(struct page *p, void **slot, void *from, void *to)
{
	bool opens, changed;

	if (p->at != elf_page_of((uintptr_t)slot))
		look_up_page(p, (uintptr_t)slot);
	opens = !(p->prot & PROT_WRITE);
	if (p->prot < 0 || (opens && sys(__NR_mprotect, p->at, sys_page_bytes(), p->prot | PROT_WRITE) < 0))
		return false;
	changed = __atomic_compare_exchange_n(slot, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
	if (opens)
		sys(__NR_mprotect, p->at, sys_page_bytes(), p->prot);
	return changed;
}

static struct elf_slot *elf_slot_of(struct elf_hook *h, void **at)
{
	uint32_t i;

	for (i = 0; i < h->nr; i++)
		if (h->slots[i].at == at)
			return &h->slots[i];
	if (h->nr == ELF_HOOK_SLOTS)
		return NULL;
	h->slots[h->nr] = (struct elf_slot){ .at = at, .was = load_acquire(at) };
	store_release(&h->was, h->slots[h->nr].was);	/* before anybody can come by it */
	return &h->slots[h->nr++];
}

/*
 * Hook a slot. If others have changed it since we were there, it leads to us still, or to an unknown
 * function: it is left alone then.
 */
static bool hook_slot(struct page *p, struct elf_hook *h, void **at)
{
	struct elf_slot *s = elf_slot_of(h, at);

	return s && (load_acquire(at) == h->ours || change_slot(p, at, s->was, h->ours) ||
		     load_acquire(at) != s->was);
}

static bool hook_in(const struct tables *t, const Elf64_Rela *r, size_t bytes, const char *name,
		    struct elf_hook *h)
{
	const Elf64_Rela *end = r + bytes / sizeof(*r);
	struct page p = { 0 };
	bool any = false;

	for (; r && r < end; r++) {
		uint32_t type = ELF64_R_TYPE(r->r_info), sym = ELF64_R_SYM(r->r_info);

		if ((type == IMPORT_GOT || type == IMPORT_PLT) && str_eq(t->str + t->sym[sym].st_name, name))
			any |= hook_slot(&p, h, (void **)(t->bias + r->r_offset));
	}
	return any;
}

bool elf_hook(uintptr_t base, const char *name, struct elf_hook *h)
{
	struct tables t;
	bool any;

	if (!find_tables(base, &t))
		return false;
	any = hook_in(&t, t.jmprel, t.jmprel_bytes, name, h);
	return hook_in(&t, t.rela, t.rela_bytes, name, h) || any;
}

void elf_unhook(struct elf_hook *h)
{
	struct page p = { 0 };
	uint32_t i;

	for (i = h->nr; i-- > 0;)
		if (change_slot(&p, h->slots[i].at, h->ours, h->slots[i].was))
			h->slots[i] = h->slots[--h->nr];
}

static void swap_in(const struct tables *t, const Elf64_Rela *r, size_t bytes, const struct elf_swap *s,
		    uintptr_t lo, uintptr_t hi)
{
	const Elf64_Rela *end = r + bytes / sizeof(*r);
	struct page p = { 0 };

	for (; r && r < end; r++) {
		uint32_t type = ELF64_R_TYPE(r->r_info), sym = ELF64_R_SYM(r->r_info);
		uintptr_t now;

		if ((type != IMPORT_GOT && type != IMPORT_PLT) ||
		    !str_eq(t->str + t->sym[sym].st_name, s->name))
			continue;
		now = *(const uintptr_t *)(t->bias + r->r_offset);
		/* what is not resolved yet leads into the object's own code */
		if (now == (uintptr_t)s->from ||
		    (type == IMPORT_PLT && !t->sym[sym].st_value && now - lo < hi - lo))
			change_slot(&p, (void **)(t->bias + r->r_offset), (void *)now, s->to);
	}
}

void elf_swap_imports(uintptr_t base, const struct elf_swap *swaps, int nr)
{
	uintptr_t lo, hi;
	struct tables t;
	int i;

	if (!find_tables(base, &t) || !elf_text(base, &lo, &hi))
		return;
	for (i = 0; i < nr; i++) {
		if (!swaps[i].from || !swaps[i].to)
			continue;
		swap_in(&t, t.jmprel, t.jmprel_bytes, &swaps[i], lo, hi);
		swap_in(&t, t.rela, t.rela_bytes, &swaps[i], lo, hi);
	}
}

bool elf_text(uintptr_t base, uintptr_t *lo, uintptr_t *hi)
{
	const Elf64_Phdr *ph;
	struct tables t;
	int i, nr;

	ph = program_headers(base, &nr);
	if (!ph || !find_tables(base, &t))
		return false;
	*lo = UINTPTR_MAX;
	*hi = 0;
	for (i = 0; i < nr; i++) {
		uintptr_t p = t.bias + ph[i].p_vaddr;

		if (ph[i].p_type != PT_LOAD || !(ph[i].p_flags & PF_X))
			continue;
		if (p < *lo)
			*lo = p;
		if (p + ph[i].p_memsz > *hi)
			*hi = p + ph[i].p_memsz;
	}
	return *hi != 0;
}
