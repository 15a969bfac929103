// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * symtab.c - ELF symbol tables.
 *
 * Which of several names of one address is shown: a function before a label, one with a size
 * before one without, one that other modules can see before a local one, then the one with
 * fewer leading underscores (read, not __read or __libc_read's local twin), a strong before a
 * weak one, the shorter, the first in the alphabet.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "sym/symtab.h"

enum {
	RANK_STRONG = 1 << 0,
	RANK_UNDERSCORES = 1 << 1,	/* 0 to 3 fewer than three of them */
	RANK_PLAIN = 1 << 3,		/* no @version */
	RANK_VISIBLE = 1 << 4,
	RANK_SIZED = 1 << 5,
	RANK_FUNC = 1 << 6,

	NEST_MAX = 64,			/* how far back a covering symbol is looked for */
};

#define NAMES_MAX (1ull << 31)
#define SYMBOLS_MAX (1ull << 26)

void symtab_release(struct symtab *t)
{
	if (t->cached.data) {
		cache_entry_release(&t->cached);
	} else {
		free(t->entries);
		buf_release(&t->names);
	}
	memset(t, 0, sizeof(*t));
}

static uint8_t rank_of(const Elf64_Sym *s, const char *name)
{
	int bind = ELF64_ST_BIND(s->st_info), type = ELF64_ST_TYPE(s->st_info);
	size_t underscores = strspn(name, "_");
	uint8_t rank = 0;

	if (type != STT_NOTYPE)
		rank |= RANK_FUNC;
	if (s->st_size)
		rank |= RANK_SIZED;
	if (bind != STB_LOCAL && ELF64_ST_VISIBILITY(s->st_other) != STV_HIDDEN)
		rank |= RANK_VISIBLE;
	if (!strchr(name, '@'))
		rank |= RANK_PLAIN;
	rank |= (3 - MIN(underscores, 3)) * RANK_UNDERSCORES;
	if (bind != STB_WEAK)
		rank |= RANK_STRONG;
	return rank;
}

/* "$x", "$d.12": where code and data begin, on arm64. ".L12": a label of the compiler's. */
static bool is_symbol_name(const char *name)
{
	if (name[0] == '$' && strchr("xdat", name[1]) && (!name[2] || name[2] == '.'))
		return false;
	return name[0] && strncmp(name, ".L", 2);
}

/*
 * Return whether it is in a section of code: an executable segment may hold data, too, if the linker was told
 * to save a page.
 */
static bool in_code_section(const struct image *im, uint16_t idx)
{
	return idx >= im->nr_secs || im->secs[idx].flags & SHF_EXECINSTR;
}

static void take_symbol(struct symtab *t, const struct image *im, const Elf64_Sym *s,
			const struct image *text, size_t names, size_t names_len)
{
	int type = ELF64_ST_TYPE(s->st_info);
	const struct image_segment *g;
	const char *name;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
	    s->st_shndx == SHN_UNDEF || s->st_shndx == SHN_ABS || s->st_name >= names_len ||
	    !in_code_section(im, s->st_shndx))
		return;
	name = t->names.data + names + s->st_name;
	g = image_text(text, s->st_value);
	if (!g || !is_symbol_name(name))
		return;
	*VEC_ADD(t->entries, t->nr_entries, t->alloc_entries) = (struct symtab_entry){
		.addr = s->st_value,
		.size = MIN(MIN(s->st_size, UINT32_MAX), g->vaddr + g->memsz - s->st_value),
		.name = names + s->st_name,
		.rank = rank_of(s, name),
		.label = type == STT_NOTYPE,
	};
}

static Elf64_Sym widen_symbol(const uint8_t *p, bool is64)
{
	Elf64_Sym w;
	Elf32_Sym n;

	if (is64) {
		memcpy(&w, p, sizeof(w));
		return w;
	}
	memcpy(&n, p, sizeof(n));
	w.st_name = n.st_name;
	w.st_info = n.st_info;
	w.st_other = n.st_other;
	w.st_shndx = n.st_shndx;
	w.st_value = n.st_value;
	w.st_size = n.st_size;
	return w;
}

/* Adds strs to the names; the first table's bytes become the names, megabytes as they may be. */
static void take_names(struct symtab *t, struct image_bytes *strs)
{
	if (!t->names.data && strs->owned && strs->len && !strs->owned[strs->len - 1]) {
		t->names = (struct buf){ (char *)strs->owned, strs->len - 1, strs->len };
		strs->owned = NULL;
	} else {
		buf_add(&t->names, strs->data, strs->len);
	}
	buf_putc(&t->names, '\0');	/* so that the last name ends */
}

static void take_table(struct symtab *t, const struct image *im, const struct image *text,
		       const struct image_bytes *syms, struct image_bytes *strs)
{
	size_t size = im->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	size_t i, names = t->names.len, nr = MIN(syms->len / size, SYMBOLS_MAX);

	if (strs->len > NAMES_MAX - names)
		return;
	take_names(t, strs);
	for (i = 0; i < nr; i++) {
		Elf64_Sym s = widen_symbol(syms->data + i * size, im->is64);

		take_symbol(t, im, &s, text, names, strs->len);
	}
}

int symtab_load(struct symtab *t, const struct image *im, const struct image *text,
		const char *which, struct err *e)
{
	const struct image_section *s = image_section(im, which);
	struct image_bytes syms, strs;
	size_t before = t->nr_entries;

	if (!s || s->link >= im->nr_secs)
		return err_set(e, ENODATA, "no %s", which);
	if (image_load(im, s, &syms, e))
		return -e->code;
	if (image_load(im, &im->secs[s->link], &strs, e)) {
		image_bytes_release(&syms);
		return -e->code;
	}
	take_table(t, im, text, &syms, &strs);
	image_bytes_release(&syms);
	image_bytes_release(&strs);
	return t->nr_entries > before ? 0 : err_set(e, ENODATA, "no functions in %s", which);
}

void symtab_add(struct symtab *t, uint64_t addr, uint32_t size, const char *name)
{
	*VEC_ADD(t->entries, t->nr_entries, t->alloc_entries) = (struct symtab_entry){
		.addr = addr,
		.size = size,
		.name = t->names.len,
		.rank = RANK_FUNC | (size ? RANK_SIZED : 0),
	};
	buf_add(&t->names, name, strlen(name) + 1);
}

/* Sort by the least significant digit first, eleven bits at a time, as many as the addresses have. */
static void sort_by_addr(struct symtab *t)
{
	struct symtab_entry *from = t->entries, *to = xmalloc(t->nr_entries * sizeof(*to)), *x;
	uint32_t count[2048];
	uint64_t all = 0;
	size_t i;
	int shift;

	for (i = 0; i < t->nr_entries; i++)
		all |= from[i].addr;
	for (shift = 0; shift < 64 && all >> shift; shift += 11) {
		uint32_t sum = 0, n;

		memset(count, 0, sizeof(count));
		for (i = 0; i < t->nr_entries; i++)
			count[from[i].addr >> shift & 2047]++;
		for (i = 0; i < 2048; i++) {
			n = count[i];
			count[i] = sum;
			sum += n;
		}
		for (i = 0; i < t->nr_entries; i++)
			to[count[from[i].addr >> shift & 2047]++] = from[i];
		x = from;
		from = to;
		to = x;
	}
	t->entries = from;
	t->alloc_entries = t->nr_entries;
	free(to);
}

static bool better(const struct symtab *t, const struct symtab_entry *a, const struct symtab_entry *b)
{
	const char *x = symtab_name(t, a), *y = symtab_name(t, b);
	size_t xl, yl;

	if (a->rank != b->rank)
		return a->rank > b->rank;
	xl = strlen(x);
	yl = strlen(y);
	return xl != yl ? xl < yl : strcmp(x, y) < 0;
}

static void choose_aliases(struct symtab *t)
{
	size_t i, n = 0;

	for (i = 0; i < t->nr_entries; i++) {
		struct symtab_entry *s = &t->entries[i];

		if (!n || t->entries[n - 1].addr != s->addr)
			t->entries[n++] = *s;
		else if (better(t, s, &t->entries[n - 1]))
			t->entries[n - 1] = *s;
	}
	t->nr_entries = n;
}

static void drop_labels_inside_functions(struct symtab *t)
{
	uint64_t end = 0;
	size_t i, n = 0;

	for (i = 0; i < t->nr_entries; i++) {
		struct symtab_entry *s = &t->entries[i];

		if (s->label && s->addr < end)
			continue;
		if (!s->label && s->addr + s->size > end)
			end = s->addr + s->size;
		t->entries[n++] = *s;
	}
	t->nr_entries = n;
}

/* Give sizes: a symbol without one reaches to the next one or to the end of its section. */
static void give_sizes(struct symtab *t, const struct image *text)
{
	size_t i;

	for (i = 0; i < t->nr_entries; i++) {
		struct symtab_entry *s = &t->entries[i];
		const struct image_section *sec;
		const struct image_segment *g;
		uint64_t end;

		if (s->size)
			continue;
		g = image_text(text, s->addr);
		end = g->vaddr + g->memsz;
		sec = image_section_at(text, s->addr);
		if (sec)
			end = MIN(end, sec->addr + sec->size);
		if (i + 1 < t->nr_entries)
			end = MIN(end, s[1].addr);
		s->size = MAX(1, MIN(end - s->addr, UINT32_MAX));
	}
}

void symtab_finish(struct symtab *t, const struct image *text)
{
	if (!t->nr_entries)
		return;
	sort_by_addr(t);
	choose_aliases(t);
	drop_labels_inside_functions(t);
	give_sizes(t, text);
}

const struct symtab_entry *symtab_find(const struct symtab *t, uint64_t vaddr)
{
	size_t lo = BISECT(i, t->nr_entries, t->entries[i].addr <= vaddr), back;

	for (back = 0; back < NEST_MAX && back < lo; back++) {
		const struct symtab_entry *s = &t->entries[lo - 1 - back];

		if (vaddr - s->addr < s->size)
			return s;
	}
	return NULL;
}
