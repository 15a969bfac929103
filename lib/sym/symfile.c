// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * symfile.c - one ELF file: opening, symbols, and the way to its lines and rules.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "sym/places.h"
#include "sym/symfile_int.h"

static struct symfile *new_symfile(const char *root, const char *path)
{
	struct symfile *f = xcalloc(1, sizeof(*f));

	f->im.fd = f->debug.fd = -1;
	f->root = xstrdup(root ? root : "");
	f->path = xstrdup(path ? path : "");
	return f;
}

static int symfile_open_in_root(struct symfile **out, const char *root, const char *path,
				const uint8_t *want_id, size_t want_len, struct err *e)
{
	int fd = debugfile_open_below(root, path, e);
	struct symfile *f;
	int r;

	*out = NULL;
	if (fd < 0)
		return fd;
	r = symfile_open_fd(&f, fd, root, path, e);
	close(fd);
	if (r)
		return r;
	if (want_id && (f->id_len != MIN(want_len, BUILD_ID_MAX) ||
			memcmp(f->id, want_id, f->id_len))) {
		symfile_close(f);
		return err_set(e, ESTALE, "%s: not the file that was running (its build-id differs)",
			       path);
	}
	*out = f;
	return 0;
}

int symfile_open(struct symfile **out, const char *root, const char *path, const uint8_t *want_id,
		 size_t want_len, struct err *e)
{
	if (!root[0] && want_id && places_symfs()[0] &&
	    !symfile_open_in_root(out, places_symfs(), path, want_id, want_len, e))
		return 0;
	return symfile_open_in_root(out, root, path, want_id, want_len, e);
}

int symfile_open_fd(struct symfile **out, int fd, const char *root, const char *path, struct err *e)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	struct symfile *f;

	*out = NULL;
	if (own < 0)
		return err_errno(e, "%s", path);
	f = new_symfile(root, path);
	if (image_open_fd(&f->im, own, path, e)) {
		symfile_close(f);
		return -e->code;
	}
	f->id_len = image_build_id(&f->im, f->id, sizeof(f->id));
	*out = f;
	return 0;
}

int symfile_open_memory(struct symfile **out, const void *data, size_t len, const char *name,
			struct err *e)
{
	struct symfile *f = new_symfile("", name);

	*out = NULL;
	if (image_open_memory(&f->im, data, len, NULL, name, e)) {
		symfile_close(f);
		return -e->code;
	}
	f->id_len = image_build_id(&f->im, f->id, sizeof(f->id));
	*out = f;
	return 0;
}

static void release_tables(struct symfile *f)
{
	lines_free(f->lines);
	cfi_release(&f->eh);
	cfi_release(&f->frame);
	gopcln_release(&f->go);
	symtab_release(&f->symtab);
	image_close(&f->debug);
	arena_release(&f->names);
	map_release(&f->made);
	free(f->made_names);
	free(f->debug_path);
}

void symfile_drop_tables(struct symfile *f)
{
	release_tables(f);
	f->symbols_tried = f->debug_tried = f->eh_tried = f->frame_tried = f->lines_tried = false;
	f->go_tried = f->fetch_tried = false;
	f->lines = NULL;
	f->source = f->lines_source = NULL;
	memset(&f->debug, 0, sizeof(f->debug));
	f->debug.fd = -1;
	memset(&f->names, 0, sizeof(f->names));
	f->made_names = NULL;
	f->debug_path = NULL;
	f->nr_made = f->alloc_made = 0;
}

static size_t cfi_bytes(const struct cfi *c)
{
	return c->alloc_entries * sizeof(*c->entries) + (c->bytes.owned ? c->bytes.len : 0);
}

size_t symfile_table_bytes(const struct symfile *f)
{
	const struct symtab *t = &f->symtab;

	return (t->cached.data ? t->cached.len : t->alloc_entries * sizeof(*t->entries) + t->names.alloc) +
	       cfi_bytes(&f->eh) + cfi_bytes(&f->frame) + f->go.bytes.len + f->names.nr_bytes +
	       lines_bytes(f->lines) +
	       (f->debug.owned ? f->debug.len : 0) + f->debug.nr_secs * sizeof(*f->debug.secs) +
	       f->alloc_made * sizeof(*f->made_names) + f->made.alloc * sizeof(*f->made.slots);
}

void symfile_close(struct symfile *f)
{
	if (!f)
		return;
	release_tables(f);
	image_close(&f->im);
	free(f->root);
	free(f->path);
	free(f);
}

void symfile_set_cache(struct symfile *f, struct cache *c)
{
	f->cache = c;
}

const uint8_t *symfile_build_id(const struct symfile *f, size_t *len)
{
	*len = f->id_len;
	return f->id_len ? f->id : NULL;
}

uint64_t symfile_off_to_vaddr(const struct symfile *f, uint64_t off)
{
	return image_off_to_vaddr(&f->im, off);
}

uint64_t symfile_vaddr_to_off(const struct symfile *f, uint64_t vaddr)
{
	return image_vaddr_to_off(&f->im, vaddr);
}

const struct image *symfile_image(const struct symfile *f)
{
	return &f->im;
}

const struct image *symfile_debug_image(struct symfile *f)
{
	if (!f->debug_tried) {
		f->debug_tried = true;
		if (!debugfile_find(f, &f->debug, &f->debug_path))
			f->debug.nr_secs = 0;
	}
	return f->debug.nr_secs ? &f->debug : NULL;
}

void symfile_fetch(struct symfile *f, bool (*go_on)(void *ctx), void *ctx)
{
	if (f->fetch_tried || image_section(&f->im, ".debug_info") || symfile_debug_image(f))
		return;
	f->fetch_tried = true;
	if (!debugfile_fetch(f, &f->debug, &f->debug_path, go_on, ctx)) {
		f->debug.nr_secs = 0;
		return;
	}
	symtab_release(&f->symtab);
	lines_free(f->lines);
	f->lines = NULL;
	f->symbols_tried = f->lines_tried = false;
	f->source = f->lines_source = NULL;
}

/* .debug_frame is looked for in the debug file too; .eh_frame is always in the file. */
const struct cfi *symfile_cfi(struct symfile *f, bool eh)
{
	struct cfi *c = eh ? &f->eh : &f->frame;
	bool *tried = eh ? &f->eh_tried : &f->frame_tried;
	const struct image *debug;
	struct err e;

	if (!*tried) {
		*tried = true;
		if (cfi_load(c, &f->im, &f->im, eh, &e) && !eh) {
			debug = symfile_debug_image(f);
			if (debug)
				cfi_load(c, debug, &f->im, false, &e);
		}
	}
	return c->nr_entries ? c : NULL;
}

const struct gopcln *symfile_go(struct symfile *f)
{
	struct err e;

	if (!f->go_tried) {
		f->go_tried = true;
		gopcln_load(&f->go, &f->im, &e);
	}
	return f->go.nr_funcs ? &f->go : NULL;
}

static bool add_go_symbols(struct symfile *f)
{
	const struct gopcln *go = symfile_go(f);
	struct gopcln_func func;
	uint64_t i;

	for (i = 0; go && i < go->nr_funcs; i++)
		if (gopcln_func(go, i, &func) && func.name[0] && func.end > func.start)
			symtab_add(&f->symtab, func.start, MIN(func.end - func.start, UINT32_MAX),
				   func.name);
	return go;
}

static void make_symbols(struct symfile *f)
{
	const struct image *debug;
	struct err e;

	if (!symtab_load(&f->symtab, &f->im, &f->im, ".symtab", &e)) {
		f->source = ".symtab";
	} else if ((debug = symfile_debug_image(f)) &&
		   !symtab_load(&f->symtab, debug, &f->im, ".symtab", &e)) {
		f->source = ".symtab of the debug file";
	} else {
		/* .gnu_debugdata has what .dynsym lacks */
		if (!symtab_load(&f->symtab, &f->im, &f->im, ".dynsym", &e))
			f->source = ".dynsym";
		if (!debugfile_minimal(&f->symtab, &f->im, &e))
			f->source = ".gnu_debugdata";
		if (add_go_symbols(f))
			f->source = ".gopclntab";
	}
	symtab_finish(&f->symtab, &f->im);
	plt_add(&f->symtab, &f->im);
	if (!f->source)
		f->source = symfile_cfi(f, true) || symfile_cfi(f, false) ? "CFI" : "none";
}

/*
 * Make the key of the symbols, from the file and its debug file: the latter's inode and the former's
 * build-id.
 */
static bool symbols_key(struct symfile *f, struct cache_key *k)
{
	const struct image *debug = image_section(&f->im, ".symtab") ? NULL : symfile_debug_image(f);

	return f->cache && (!debug || f->id_len) &&
	       cache_key_of(k, CACHE_SYMBOLS, debug ? debug->fd : f->im.fd, f->id, f->id_len);
}

static void load_symbols(struct symfile *f)
{
	struct cache_key key;
	bool keep = symbols_key(f, &key);

	f->symbols_tried = true;
	if (keep && symtab_get(&f->symtab, f->cache, &key, &f->source))
		return;
	make_symbols(f);
	if (keep)
		symtab_put(&f->symtab, f->cache, &key, f->source);
}

const char *symfile_symbol_source(struct symfile *f)
{
	if (!f->symbols_tried)
		load_symbols(f);
	return f->source;
}

/* "libfoo.so.1+0x1234", made once a function. */
static const char *made_name(struct symfile *f, uint64_t start)
{
	const char *slash = strrchr(f->path, '/'), *base = slash ? slash + 1 : f->path;
	uint32_t *at = map_put(&f->made, start);
	char name[512];
	int len;

	if (*at != MAP_NONE)
		return f->made_names[*at];
	len = snprintf(name, sizeof(name), "%.400s+0x%llx", base, (unsigned long long)start);
	*at = f->nr_made;
	VEC_GROW(f->made_names, f->nr_made, f->alloc_made);
	f->made_names[f->nr_made] = arena_strndup(&f->names, name, len);
	return f->made_names[f->nr_made++];
}

static bool symbol_from_cfi(struct symfile *f, uint64_t vaddr, struct symbol *s)
{
	const struct cfi *eh = symfile_cfi(f, true), *frame;
	struct cfi_fde fde;

	if (!eh || !cfi_find(eh, vaddr, &fde)) {
		frame = symfile_cfi(f, false);
		if (!frame || !cfi_find(frame, vaddr, &fde))
			return false;
	}
	s->off = image_vaddr_to_off(&f->im, fde.start);
	s->size = fde.end - fde.start;
	s->name = made_name(f, fde.start);
	return s->off != UINT64_MAX;
}

bool symfile_symbol(struct symfile *f, uint64_t off, struct symbol *s)
{
	uint64_t vaddr = image_off_to_vaddr(&f->im, off);
	const struct symtab_entry *found;

	if (vaddr == UINT64_MAX)
		return false;
	if (!f->symbols_tried)
		load_symbols(f);
	found = symtab_find(&f->symtab, vaddr);
	if (!found)
		return symbol_from_cfi(f, vaddr, s);
	s->off = image_vaddr_to_off(&f->im, found->addr);
	s->size = found->size;
	s->name = symtab_name(&f->symtab, found);
	return s->off != UINT64_MAX;
}

static void load_lines(struct symfile *f)
{
	if (f->lines_tried)
		return;
	f->lines_tried = true;
	f->lines = lines_new(f, &f->lines_source);
}

const char *symfile_lines_source(struct symfile *f)
{
	load_lines(f);
	return !f->lines && symfile_go(f) ? ".gopclntab" : f->lines_source;
}

size_t symfile_lines(struct symfile *f, uint64_t off, struct srcline *out, size_t max)
{
	uint64_t vaddr = image_off_to_vaddr(&f->im, off);
	const struct gopcln *go;
	size_t nr;

	load_lines(f);
	if (vaddr == UINT64_MAX || !max)
		return 0;
	nr = f->lines ? lines_find(f->lines, vaddr, out, max) : 0;
	go = nr ? NULL : symfile_go(f);
	return go ? gopcln_lines(go, vaddr, out, max) : nr;
}
