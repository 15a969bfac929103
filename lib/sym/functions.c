// SPDX-License-Identifier: GPL-2.0-or-later
/* functions.c - a function by its name. It is asked for once a recording: no table is kept. */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/near.h"
#include "sym/demangle.h"
#include "sym/symfile_int.h"

enum { VERSION_HIDDEN = 0x8000 };	/* in .gnu.version: only who asks for this version gets the symbol */

struct search {
	const char *name;
	bool by_source;		/* compare it with names as the source has them */
	uint64_t vaddr;
	size_t nr;		/* how many addresses have the name, at least */
	bool is_old;		/* all so far are of versions that are no longer the default */
	bool is_chosen;		/* at least one is an ifunc */
	bool is_imported;
	struct near near;
	struct buf nearest, text;
};

/* a table of symbols */
struct table {
	struct image_bytes syms, strs, versions;
};

static bool load_function_table(struct table *t, const struct image *im, const char *which)
{
	const struct image_section *s = image_section(im, which), *v = image_section(im, ".gnu.version");
	struct err e;

	memset(t, 0, sizeof(*t));
	if (!s || s->link >= im->nr_secs || image_load(im, s, &t->syms, &e))
		return false;
	if (image_load(im, &im->secs[s->link], &t->strs, &e)) {
		image_bytes_release(&t->syms);
		return false;
	}
	if (!v || strcmp(which, ".dynsym") || image_load(im, v, &t->versions, &e))
		memset(&t->versions, 0, sizeof(t->versions));
	return true;
}

static void unload(struct table *t)
{
	image_bytes_release(&t->syms);
	image_bytes_release(&t->strs);
	image_bytes_release(&t->versions);
}

static bool is_old_version(const struct table *t, size_t i)
{
	uint16_t v;

	if (t->versions.len / sizeof(v) <= i)
		return false;
	memcpy(&v, t->versions.data + i * sizeof(v), sizeof(v));
	return v & VERSION_HIDDEN;
}

/* Return the name of a symbol; NULL: it has none, or one that does not end. */
static const char *elf_symbol_name(const struct table *t, const Elf64_Sym *s)
{
	if (s->st_name >= t->strs.len || !memchr(t->strs.data + s->st_name, 0, t->strs.len - s->st_name))
		return NULL;
	return (const char *)t->strs.data + s->st_name;
}

/* "memcpy@@GLIBC_2.14" is also called "memcpy", "os::sleep(long)" also "os::sleep". */
static bool function_is_called(struct search *q, const char *name)
{
	size_t len = strlen(q->name);

	if (q->by_source) {
		buf_reset(&q->text);
		demangle(name, &q->text);
		name = q->text.data;
	}
	return !strncmp(name, q->name, len) &&
	       (!name[len] || (q->by_source ? name[len] == '(' : !strncmp(name + len, "@@", 2)));
}

static void note_function(struct search *q, const Elf64_Sym *s, bool is_old)
{
	if (s->st_shndx == SHN_UNDEF) {
		q->is_imported = true;
		return;
	}
	if (q->nr && is_old && !q->is_old)
		return;
	if (!q->nr || (q->is_old && !is_old)) {
		q->nr = 1;
		q->is_chosen = false;
	} else if (q->vaddr != s->st_value) {
		q->nr++;
	}
	q->vaddr = s->st_value;
	q->is_old = is_old;
	q->is_chosen |= ELF64_ST_TYPE(s->st_info) == STT_GNU_IFUNC;
}

static void try_near(struct search *q, const char *name)
{
	unsigned int before = q->near.best ? q->near.distance : UINT32_MAX;

	near_try(&q->near, name);
	if (!q->near.best || q->near.distance == before)
		return;
	buf_reset(&q->nearest);
	buf_str(&q->nearest, name);
}

static void search_table(struct search *q, const struct table *t)
{
	Elf64_Sym s;
	size_t i;

	for (i = 0; i < t->syms.len / sizeof(s); i++) {
		const char *name;
		int type;

		memcpy(&s, t->syms.data + i * sizeof(s), sizeof(s));
		type = ELF64_ST_TYPE(s.st_info);
		if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
			continue;
		name = elf_symbol_name(t, &s);
		if (!name || !*name)
			continue;
		if (function_is_called(q, name))
			note_function(q, &s, is_old_version(t, i));
		else if (!q->by_source && s.st_shndx != SHN_UNDEF)
			try_near(q, name);
	}
}

static void search_functions(struct search *q, const struct image *im, const char *which)
{
	struct table t;

	if (!im || q->nr || !load_function_table(&t, im, which))
		return;
	search_table(q, &t);
	unload(&t);
}

/* Search first by the linker's names, then by those in the source. */
static void search_all(struct search *q, struct symfile *f)
{
	int pass;

	for (pass = 0; pass < 2 && !q->nr; pass++) {
		q->by_source = pass;
		search_functions(q, &f->im, ".symtab");
		search_functions(q, symfile_debug_image(f), ".symtab");
		search_functions(q, &f->im, ".dynsym");
	}
}

static int explain_no_function(const struct search *q, struct symfile *f, struct err *e)
{
	if (q->nr > 1) {
		err_set(e, EEXIST, "%s: %zu functions are called '%s'", f->path, q->nr, q->name);
		err_hint(e, "give the name as the linker has it; 'nm -a' lists them");
	} else if (q->is_chosen) {
		err_set(e, ENOTSUP, "%s: '%s' is one of several functions, which is chosen when the program starts (an ifunc)",
			f->path, q->name);
		err_hint(e, "name the function that is called, as reports show it");
	} else if (q->nr) {
		err_set(e, EILSEQ, "%s: '%s' is in no executable part of the file", f->path, q->name);
	} else if (q->is_imported) {
		err_set(e, ENOENT, "%s: '%s' is a function of another file, which this one calls", f->path,
			q->name);
		err_hint(e, "name the library that has it");
	} else {
		err_set(e, ENOENT, "%s: no function '%s' (its names are from: %s)", f->path, q->name,
			symfile_symbol_source(f));
		if (q->nearest.len)
			err_hint(e, "did you mean '%s'?", q->nearest.data);
	}
	return -e->code;
}

int symfile_function(struct symfile *f, const char *name, uint64_t *off, struct err *e)
{
	struct search q = { .name = name, .near = near_init(name) };
	int r = 0;

	if (!f->im.is64)
		return err_set(e, ENOTSUP, "%s: not a 64-bit program", f->path);
	search_all(&q, f);
	*off = q.nr ? image_vaddr_to_off(&f->im, q.vaddr) : UINT64_MAX;
	if (q.nr != 1 || q.is_chosen || *off == UINT64_MAX || !image_text(&f->im, q.vaddr))
		r = explain_no_function(&q, f, e);
	buf_release(&q.nearest);
	buf_release(&q.text);
	return r;
}
