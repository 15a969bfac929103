// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * lines.c - file:line and inlined calls, by libdw.
 *
 * libdw answers a single question by walking the compilation unit from its start.  Here the
 * units' ranges are sorted once a file, the functions of a unit once a unit, and the inlined
 * calls of a function once a function, each when first asked for; so many addresses in a few
 * functions cost little more than one each.
 *
 * Not there: split DWARF (.dwo files) is not followed; such units give lines, no inlines.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sym/cache.h"
#include "sym/symfile_int.h"
#include "sym/unpacked.h"

enum {
	UNITS_MIN = 100,	/* for a file in the cache */
	NEST_MAX = 64,		/* namespaces, blocks and inlined calls inside each other */
	RANGES_MAX = 1 << 16,	/* of one entry */
};

struct range {
	uint64_t lo, hi;	/* [lo, hi) */
	uint64_t idx;		/* of the unit, or of the function in its unit */
};

struct inlined {
	uint64_t lo, hi;
	const char *func, *call_file;
	uint32_t call_line;
	uint32_t depth;		/* 0: inlined into the function itself */
};

struct func {
	Dwarf_Off die;
	bool loaded;
	struct inlined *inl;
	size_t nr_inl, alloc_inl;
};

struct unit {
	Dwarf_Off die;
	bool loaded, deep;
	struct func *funcs;
	size_t nr_funcs, alloc_funcs;
	struct range *ranges;	/* sorted by lo */
	size_t nr_ranges, alloc_ranges;
};

struct dwarf_file {
	const struct image *im;		/* the file, if it is open */
	Elf *elf;
	Dwarf *dw;
	struct image_bytes unpacked;	/* what elf is, when the file is compressed: made now, */
	struct cache_entry cached;	/* or earlier */
};

struct lines {
	struct dwarf_file main, common;
	struct image common_image;
	Dwarf *dw;		/* of main */
	struct unit *units;
	size_t nr_units, alloc_units;
	struct range *ranges;
	size_t nr_ranges, alloc_ranges;
	size_t nr_split;	/* units whose entries are in a .dwo file */
};

static int by_lo(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return COMPARE(x->lo, y->lo) ?: COMPARE(y->hi, x->hi);
}

/* Return the innermost range that covers addr; NULL: none. Ranges may nest a little. */
static const struct range *find_range(const struct range *r, size_t nr, uint64_t addr)
{
	size_t lo = BISECT(i, nr, r[i].lo <= addr), back;

	for (back = 0; back < 16 && back < lo; back++)
		if (addr < r[lo - 1 - back].hi)
			return &r[lo - 1 - back];
	return NULL;
}

static void add_func_range(struct unit *u, uint64_t lo, uint64_t hi)
{
	*VEC_ADD(u->ranges, u->nr_ranges, u->alloc_ranges) = (struct range){ lo, hi, u->nr_funcs };
}

static void unit_add_function(struct unit *u, Dwarf_Die *die)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t off = 0;
	size_t before = u->nr_ranges, n;

	for (n = 0; n < RANGES_MAX && (off = dwarf_ranges(die, off, &base, &lo, &hi)) > 0; n++)
		if (hi > lo)
			add_func_range(u, lo, hi);
	if (u->nr_ranges == before)
		return;		/* a declaration, or only inlined */
	*VEC_ADD(u->funcs, u->nr_funcs, u->alloc_funcs) = (struct func){ .die = dwarf_dieoffset(die) };
}

static bool holds_functions(int tag, bool deep)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_interface_type:
	case DW_TAG_imported_unit:
		return true;
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
	case DW_TAG_inlined_subroutine:
		return deep;	/* nested functions, methods of local classes */
	default:
		return false;
	}
}

static void take_functions(struct unit *u, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;

	if (depth > NEST_MAX || dwarf_child(parent, &die))
		return;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram)
			unit_add_function(u, &die);
		if (holds_functions(tag, u->deep) && dwarf_haschildren(&die) > 0)
			take_functions(u, &die, depth + 1);
	} while (!dwarf_siblingof(&die, &die));
}

static void load_unit(struct lines *l, struct unit *u)
{
	Dwarf_Die die;
	size_t i;

	for (i = 0; i < u->nr_funcs; i++)
		free(u->funcs[i].inl);
	u->nr_funcs = u->nr_ranges = 0;
	u->loaded = true;
	if (dwarf_offdie(l->dw, u->die, &die))
		take_functions(u, &die, 0);
	if (u->nr_ranges)
		qsort(u->ranges, u->nr_ranges, sizeof(*u->ranges), by_lo);
}

static struct func *find_func(struct lines *l, struct unit *u, uint64_t vaddr)
{
	const struct range *r;

	if (!u->loaded)
		load_unit(l, u);
	r = find_range(u->ranges, u->nr_ranges, vaddr);
	if (!r && !u->deep) {
		u->deep = true;
		load_unit(l, u);
		r = find_range(u->ranges, u->nr_ranges, vaddr);
	}
	return r ? &u->funcs[r->idx] : NULL;
}

static const char *die_name(Dwarf_Die *die)
{
	static const unsigned int names[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name };
	Dwarf_Attribute at;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		const char *s = dwarf_attr_integrate(die, names[i], &at) ? dwarf_formstring(&at) : NULL;

		if (s)
			return s;
	}
	return "[inlined]";
}

static uint64_t die_udata(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute at;
	Dwarf_Word v;

	return dwarf_attr(die, name, &at) && !dwarf_formudata(&at, &v) ? v : 0;
}

static const char *call_file(Dwarf_Die *unit, Dwarf_Die *die)
{
	Dwarf_Attribute at;
	Dwarf_Files *files;
	Dwarf_Word idx;
	size_t nr;

	if (!dwarf_attr(die, DW_AT_call_file, &at) || dwarf_formudata(&at, &idx) ||
	    dwarf_getsrcfiles(unit, &files, &nr) || idx >= nr)
		return NULL;
	return dwarf_filesrc(files, idx, NULL, NULL);
}

static void take_inlined(struct func *f, Dwarf_Die *unit, Dwarf_Die *die, int depth)
{
	struct inlined in = { .depth = depth };
	Dwarf_Addr base, lo, hi;
	ptrdiff_t off = 0;
	size_t n;

	in.func = die_name(die);
	in.call_file = call_file(unit, die);
	in.call_line = die_udata(die, DW_AT_call_line);
	for (n = 0; n < RANGES_MAX && (off = dwarf_ranges(die, off, &base, &lo, &hi)) > 0; n++) {
		if (hi <= lo)
			continue;
		in.lo = lo;
		in.hi = hi;
		*VEC_ADD(f->inl, f->nr_inl, f->alloc_inl) = in;
	}
}

static void take_inlines(struct func *f, Dwarf_Die *unit, Dwarf_Die *parent, int nest, int depth)
{
	Dwarf_Die die;

	if (nest > NEST_MAX || dwarf_child(parent, &die))
		return;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_inlined_subroutine) {
			take_inlined(f, unit, &die, depth);
			take_inlines(f, unit, &die, nest + 1, depth + 1);
		} else if (tag == DW_TAG_lexical_block) {
			take_inlines(f, unit, &die, nest + 1, depth);
		}
	} while (!dwarf_siblingof(&die, &die));
}

static void load_func(struct lines *l, const struct unit *u, struct func *f)
{
	Dwarf_Die unit, die;

	f->loaded = true;
	if (dwarf_offdie(l->dw, u->die, &unit) && dwarf_offdie(l->dw, f->die, &die))
		take_inlines(f, &unit, &die, 0, 0);
}

/* Find the inlined calls around vaddr, outermost first. */
static size_t inline_chain(const struct func *f, uint64_t vaddr, const struct inlined **chain)
{
	size_t i, nr = 0;

	for (i = 0; i < f->nr_inl && nr < NEST_MAX; i++)
		if (vaddr >= f->inl[i].lo && vaddr < f->inl[i].hi && f->inl[i].depth == nr)
			chain[nr++] = &f->inl[i];
	return nr;
}

static bool source_line(struct lines *l, const struct unit *u, uint64_t vaddr, struct srcline *out)
{
	Dwarf_Line *line;
	Dwarf_Die die;
	int nr;

	out->file = NULL;
	out->line = 0;
	if (!dwarf_offdie(l->dw, u->die, &die))
		return false;
	line = dwarf_getsrc_die(&die, vaddr);
	if (!line)
		return false;
	out->file = dwarf_linesrc(line, NULL, NULL);
	if (!dwarf_lineno(line, &nr) && nr > 0)
		out->line = nr;
	return true;
}

size_t lines_find(struct lines *l, uint64_t vaddr, struct srcline *out, size_t max)
{
	const struct range *r = find_range(l->ranges, l->nr_ranges, vaddr);
	const struct inlined *chain[NEST_MAX];
	struct srcline site;
	struct func *f;
	struct unit *u;
	size_t nr = 0, i;
	bool have;

	if (!r)
		return 0;
	u = &l->units[r->idx];
	have = source_line(l, u, vaddr, &site);
	f = find_func(l, u, vaddr);
	if (f && !f->loaded)
		load_func(l, u, f);
	if (f)
		nr = inline_chain(f, vaddr, chain);
	if (!have && !nr)
		return 0;
	for (i = 0; i < nr && i < max; i++) {
		const struct inlined *in = chain[nr - 1 - i];

		site.func = in->func;
		out[i] = site;
		site.file = in->call_file;
		site.line = in->call_line;
	}
	if (i < max) {
		site.func = NULL;
		out[i++] = site;
	}
	return i;
}

static void take_unit(struct lines *l, Dwarf_Die *die)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t off = 0;
	size_t before = l->nr_ranges, n;

	for (n = 0; n < RANGES_MAX * 16 && (off = dwarf_ranges(die, off, &base, &lo, &hi)) > 0; n++) {
		if (hi <= lo)
			continue;
		*VEC_ADD(l->ranges, l->nr_ranges, l->alloc_ranges) = (struct range){ lo, hi, l->nr_units };
	}
	if (l->nr_ranges == before)
		return;
	*VEC_ADD(l->units, l->nr_units, l->alloc_units) = (struct unit){ .die = dwarf_dieoffset(die) };
}

static void load_units(struct lines *l)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	while (!dwarf_get_units(l->dw, cu, &cu, NULL, &type, &die, NULL)) {
		l->nr_split += type == DW_UT_skeleton;
		if (type == DW_UT_compile || type == DW_UT_skeleton || type == DW_UT_partial)
			take_unit(l, &die);
	}
	if (l->nr_ranges)
		qsort(l->ranges, l->nr_ranges, sizeof(*l->ranges), by_lo);
}

static bool image_key(const struct symfile *f, const struct image *im, enum cache_kind kind,
		      struct cache_key *k)
{
	uint8_t id[BUILD_ID_MAX];

	return f->cache && cache_key_of(k, kind, im->fd, id, image_build_id(im, id, sizeof(id)));
}

/* The head of the cached index, before the entries of the units and their ranges, sorted. */
struct units_head {
	uint64_t nr_units, nr_ranges, nr_split;
};

static bool take_units(struct lines *l, const struct cache_entry *e)
{
	const struct units_head *h = (const struct units_head *)e->data;
	const uint64_t *dies = (const uint64_t *)(h + 1);
	const struct range *ranges;
	size_t i;

	if (e->len < sizeof(*h) || h->nr_units > e->len / 8 || h->nr_ranges > e->len / sizeof(*ranges) ||
	    e->len != sizeof(*h) + h->nr_units * 8 + h->nr_ranges * sizeof(*ranges))
		return false;
	ranges = (const struct range *)(dies + h->nr_units);
	for (i = 0; i < h->nr_ranges; i++)
		if (ranges[i].idx >= h->nr_units)
			return false;
	l->units = xcalloc(h->nr_units, sizeof(*l->units));
	for (i = 0; i < h->nr_units; i++)
		l->units[i].die = dies[i];
	l->nr_units = l->alloc_units = h->nr_units;
	l->ranges = xmalloc(h->nr_ranges * sizeof(*ranges));
	memcpy(l->ranges, ranges, h->nr_ranges * sizeof(*ranges));
	l->nr_ranges = l->alloc_ranges = h->nr_ranges;
	l->nr_split = h->nr_split;
	return true;
}

static void put_units(const struct lines *l, struct cache *c, const struct cache_key *k)
{
	struct units_head h = { l->nr_units, l->nr_ranges, l->nr_split };
	struct buf out = BUF_INIT;
	size_t i;

	if (l->nr_units < UNITS_MIN)
		return;
	buf_add(&out, &h, sizeof(h));
	for (i = 0; i < l->nr_units; i++)
		buf_u64(&out, l->units[i].die);
	buf_add(&out, l->ranges, l->nr_ranges * sizeof(*l->ranges));
	cache_put(c, k, out.data, out.len);
	buf_release(&out);
}

/* Find the units; walking all takes as long as looking up a few hundred lines. */
static void find_units(struct lines *l, struct symfile *f, const struct image *im)
{
	struct cache_entry e;
	struct cache_key key;
	bool keep = image_key(f, im, CACHE_UNITS, &key), found = keep && cache_get(f->cache, &key, &e);

	if (found && take_units(l, &e)) {
		cache_entry_release(&e);
		return;
	}
	if (found)
		cache_entry_release(&e);
	load_units(l);
	if (keep)
		put_units(l, f->cache, &key);
}

static const struct image_section *info_section(const struct image *im)
{
	const struct image_section *s = image_section(im, ".debug_info");

	return s ? s : image_section(im, ".zdebug_info");
}

static const struct image *image_with_lines(struct symfile *f)
{
	const struct image *debug;

	if (info_section(&f->im))
		return &f->im;
	debug = symfile_debug_image(f);
	return debug && info_section(debug) ? debug : NULL;
}

/* Find out why libdw made nothing of the file, which it does not report. */
static const char *why_unreadable(const struct image *im)
{
	uint64_t size;
	struct err e;
	size_t i;

	for (i = 0; i < im->nr_secs; i++)
		if (!strncmp(im->secs[i].name, ".debug_", 7) &&
		    image_loaded_size(im, &im->secs[i], &size, &e) == -ENOTSUP)
			return "DWARF compressed in a way that is not built in (arcprof version)";
	return "damaged DWARF";
}

/* Unpack im's debug sections; return false if they are not compressed, or not so that we could. */
static bool unpack(struct dwarf_file *d, struct symfile *f, const struct image *im)
{
	struct cache_key key;
	bool keep = image_key(f, im, CACHE_DEBUG_SECTIONS, &key);
	struct err e;

	if (!unpacked_is_needed(im))
		return false;
	if (keep && cache_get(f->cache, &key, &d->cached))
		return true;
	if (unpacked_make(im, &d->unpacked, &e))
		return false;
	if (keep)
		cache_put(f->cache, &key, d->unpacked.data, d->unpacked.len);
	return true;
}

/* Open the debug information; im stays open as long. */
static bool open_dwarf(struct dwarf_file *d, struct symfile *f, const struct image *im)
{
	if (unpack(d, f, im))
		d->elf = d->cached.data ? elf_memory((char *)d->cached.data, d->cached.len) :
					  elf_memory((char *)d->unpacked.data, d->unpacked.len);
	else
		d->elf = im->fd < 0 ? elf_memory((char *)im->mem, im->len) :
				      elf_begin(im->fd, ELF_C_READ, NULL);
	d->dw = d->elf ? dwarf_begin_elf(d->elf, DWARF_C_READ, NULL) : NULL;
	d->im = im;
	return d->dw;
}

static void close_dwarf(struct dwarf_file *d)
{
	if (d->dw)
		dwarf_end(d->dw);
	if (d->elf)
		elf_end(d->elf);
	image_bytes_release(&d->unpacked);
	cache_entry_release(&d->cached);
}

/*
 * Open the common file for libdw, which would open whatever path the file names, even a pipe. It is given the
 * right file, or the mark by which it remembers that there is none.
 */
static void open_common(struct lines *l, struct symfile *f, const struct image *im)
{
	if (debugfile_find_common(f, im, &l->common_image))
		open_dwarf(&l->common, f, &l->common_image);
	dwarf_setalt(l->dw, l->common.dw ? l->common.dw : (Dwarf *)-1);
}

struct lines *lines_new(struct symfile *f, const char **why)
{
	const struct image *im = image_with_lines(f);
	struct lines *l;

	*why = "none";
	if (!im || elf_version(EV_CURRENT) == EV_NONE)
		return NULL;
	l = xcalloc(1, sizeof(*l));
	l->common_image.fd = -1;
	if (open_dwarf(&l->main, f, im)) {
		l->dw = l->main.dw;
		open_common(l, f, im);
		find_units(l, f, im);
	}
	if (!l->nr_units) {
		*why = why_unreadable(im);
		lines_free(l);
		return NULL;
	}
	*why = l->nr_split ? "DWARF, without inlined calls of units that are split off into .dwo files" : "DWARF";
	return l;
}

/* Return how many bytes libdw has in memory: all debug sections, unless they were there. */
static size_t dwarf_bytes(const struct dwarf_file *d)
{
	size_t i, bytes = 0;

	for (i = 0; d->im && i < d->im->nr_secs; i++)
		if (!strncmp(d->im->secs[i].name, ".debug_", 7))
			bytes += d->im->secs[i].size;
	return d->cached.data ? d->cached.len : d->unpacked.data ? d->unpacked.len : bytes;
}

size_t lines_bytes(const struct lines *l)
{
	enum { OF_LIBDW = 64 << 10 };	/* its own, of a small file */
	size_t i, bytes = OF_LIBDW;

	if (!l)
		return 0;
	for (i = 0; i < l->nr_units; i++)
		bytes += sizeof(struct unit) + l->units[i].alloc_funcs * sizeof(struct func) +
			 l->units[i].alloc_ranges * sizeof(struct range);
	return bytes + l->alloc_ranges * sizeof(*l->ranges) + dwarf_bytes(&l->main) + dwarf_bytes(&l->common);
}

void lines_free(struct lines *l)
{
	size_t i, j;

	if (!l)
		return;
	for (i = 0; i < l->nr_units; i++) {
		for (j = 0; j < l->units[i].nr_funcs; j++)
			free(l->units[i].funcs[j].inl);
		free(l->units[i].funcs);
		free(l->units[i].ranges);
	}
	free(l->units);
	free(l->ranges);
	close_dwarf(&l->main);
	close_dwarf(&l->common);
	image_close(&l->common_image);
	free(l);
}
