// SPDX-License-Identifier: GPL-2.0-or-later
/* modules.c - finds the files in which a profile's addresses are (modules.h). */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/foreign.h"
#include "base/mem.h"
#include "collect/engine/symbols.h"
#include "formats/modules.h"
#include "sym/places.h"

#define MAX_MODULE_BYTES (8ull << 30)

void import_modules_release(struct import_modules *m)
{
	size_t i;

	for (i = 0; i < m->nr_items; i++) {
		if (m->items[i].unwind)
			unwind_module_free(m->items[i].unwind);
		if (m->items[i].file)
			symfile_close(m->items[i].file);
		free(m->items[i].path);
	}
	free(m->items);
	map_release(&m->by_key);
}

void import_module_id(struct import_module *m, struct import_text digits)
{
	size_t i;

	for (i = 0; i + 1 < digits.len && m->build_id_len < BUILD_ID_MAX; i += 2) {
		int high = hex_digit(digits.s[i]), low = hex_digit(digits.s[i + 1]);

		if (high < 0 || low < 0) {
			m->build_id_len = 0;
			return;
		}
		m->build_id[m->build_id_len++] = high << 4 | low;
	}
}

uint32_t import_modules_get(struct import_modules *m, struct import *im, const struct import_module *like,
			    struct import_text path)
{
	uint64_t key = hash_pair(hash_bytes(path.s, path.len),
				 hash_pair(hash_bytes(like->build_id, like->build_id_len), like->inode));
	uint32_t *at = map_put(&m->by_key, key);
	struct import_module *x;

	if (*at != MAP_NONE)
		return *at;
	x = VEC_ADD(m->items, m->nr_items, m->alloc_items);
	*x = *like;
	x->path = xstrndup(path.s, path.len);
	x->tried = im->elsewhere;
	*at = m->nr_items;
	trace_write_module(im->w, &(struct rec_module){ .module = *at, .flags = x->flags, .inode = x->inode,
			   .build_id = x->build_id, .build_id_len = x->build_id_len, .path = x->path,
			   .path_len = strlen(x->path) });	/* which a byte of zero has cut */
	return *at;
}

/* ---- the file ---- */

/* Keeps the file only if it is the one that was profiled. perf may have cut the id, or padded it. */
static void drop_other(struct import_module *x)
{
	size_t len;
	const uint8_t *id = symfile_build_id(x->file, &len);

	if (id && len && !memcmp(id, x->build_id, MIN(len, x->build_id_len)))
		return;
	symfile_close(x->file);
	x->file = NULL;
}

static void open_path(struct import_module *x, const char *path)
{
	static const struct foreign_rule rule = { .owner = FOREIGN_ANYBODY, .max_bytes = MAX_MODULE_BYTES,
						  .links = true };
	struct stat st;
	struct err e;
	int fd = foreign_open(AT_FDCWD, path, &rule, &e);

	if (fd < 0)
		return;
	if ((!x->build_id_len && x->inode && !fstat(fd, &st) && st.st_ino != x->inode) ||
	    symfile_open_fd(&x->file, fd, "", path, &e))
		x->file = NULL;
	close(fd);
	if (x->file && x->build_id_len)
		drop_other(x);
}

/* Open the file below the folder of --symfs, where inodes differ. */
static void open_in_symfs(struct import_module *x)
{
	struct err e;

	if (!places_symfs()[0] || symfile_open(&x->file, places_symfs(), x->path, NULL, 0, &e))
		x->file = NULL;
	else if (x->build_id_len)
		drop_other(x);
}

static void open_vdso(struct import_module *x)
{
	const Elf64_Ehdr *eh = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct err e;

	if (!eh || !x->build_id_len ||
	    symfile_open_memory(&x->file, eh, eh->e_shoff + (size_t)eh->e_shnum * eh->e_shentsize, x->path,
				&e))
		x->file = NULL;
	else
		drop_other(x);
}

/* "perf record" keeps a copy of each file that was hit. */
static void open_perf_copy(struct import_module *x)
{
	char *path = places_perf_copy(x->build_id, x->build_id_len, "elf");

	if (path)
		open_path(x, path);
	free(path);
}

struct symfile *import_modules_file(struct import_modules *m, uint32_t number)
{
	struct import_module *x = &m->items[number - 1];

	if (x->tried)
		return x->file;
	x->tried = true;
	if (x->flags & MODULE_VDSO)
		open_vdso(x);
	else if (!(x->flags & MODULE_KERNEL) && x->path[0] == '/') {
		open_in_symfs(x);
		if (!x->file)
			open_path(x, x->path);
	}
	if (!x->file && !(x->flags & (MODULE_KERNEL | MODULE_VDSO))) {
		open_perf_copy(x);
		m->nr_other += !x->file;
	}
	m->nr_unsure += x->file && !x->build_id_len;
	return x->file;
}

struct unwind_module *import_modules_unwind(struct import_modules *m, uint32_t number)
{
	struct symfile *f = import_modules_file(m, number);
	struct import_module *x = &m->items[number - 1];

	if (!x->unwind && f)
		x->unwind = unwind_module_new(f);
	return x->unwind;
}

/* ---- names ---- */

static struct symfile *file_of(void *ctx, uint32_t module)
{
	return import_modules_file(ctx, module);
}

void import_modules_names(struct import_modules *m, struct import *im, bool kernel)
{
	const struct symbols_files files = { .file = file_of, .ctx = m, .no_kernel = !kernel || im->elsewhere,
					     .fetch = !im->elsewhere };
	struct symbols_result r;

	symbols_write(&files, im->w, true, &r);
	if (m->nr_other)
		import_note(im, "%u module%s without names: this machine has no such file%s, or another version",
			    m->nr_other, plural(m->nr_other), plural(m->nr_other));
	if (m->nr_unsure)
		import_note(im, "%u module%s with names of this machine's files, though the profile has no build-id to compare",
			    m->nr_unsure, plural(m->nr_unsure));
}
