// SPDX-License-Identifier: GPL-2.0-or-later
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/foreign.h"
#include "base/mem.h"
#include "jvm/inject.h"
#include "collect/modules.h"

#define MAX_MODULE_BYTES (8ull << 30)

static void write_module(struct trace_writer *w, uint32_t number, const struct module *m,
			 const struct module_id *id, const struct stat *st)
{
	size_t id_len = 0;
	const uint8_t *build_id = m->file ? symfile_build_id(m->file, &id_len) : NULL;
	struct rec_module r = {
		.time_ns = clock_mono_ns(), .module = number, .flags = m->flags,
		.build_id = build_id, .build_id_len = id_len,
		.path = m->path, .path_len = strlen(m->path),
	};

	if (id) {
		r.dev = id->dev;
		r.inode = id->inode;
	}
	if (st) {
		r.size = st->st_size;
		r.mtime_ns = (uint64_t)st->st_mtim.tv_sec * 1000000000u + st->st_mtim.tv_nsec;
	}
	trace_write_module(w, &r);
}

static uint32_t new_module(struct modules *m, const char *path, uint32_t flags)
{
	VEC_GROW(m->items, m->nr_items, m->alloc_items);
	m->items[m->nr_items++] = (struct module){ .path = xstrdup(path), .flags = flags };
	return m->nr_items;
}

void modules_init(struct modules *m, struct trace_writer *w, bool cache)
{
	memset(m, 0, sizeof(*m));
	m->cache = cache ? cache_open() : NULL;
	m->kernel = new_module(m, "[kernel.kallsyms]", MODULE_KERNEL);
	write_module(w, m->kernel, modules_at(m, m->kernel), NULL, NULL);
}

void modules_release(struct modules *m)
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
	cache_close(m->cache);
	map_release(&m->by_key);
	memset(m, 0, sizeof(*m));
}

/* Every process of this machine has the same vdso as we have. */
static void open_vdso(struct module *m)
{
	const Elf64_Ehdr *eh = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct err e;
	size_t len;

	if (!eh)
		return;
	len = eh->e_shoff + (size_t)eh->e_shnum * eh->e_shentsize;
	if (symfile_open_memory(&m->file, eh, len, "[vdso]", &e))
		m->file = NULL;
}

/* By path, in the process's root or in ours: the right one by its inode. */
static int open_path(const struct module_id *id, int root, struct stat *st)
{
	static const struct foreign_rule rule = { .owner = FOREIGN_ANYBODY, .max_bytes = MAX_MODULE_BYTES };
	struct err e;
	int fd = foreign_open(root, id->path, &rule, &e);

	if (fd >= 0 && (fstat(fd, st) || (id->inode && st->st_ino != id->inode))) {
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * The mapped file itself when the kernel lets us (it may be deleted or replaced by now),
 * else what its path leads to in the process's own root, if that is the same file. Mapped may be a
 * device as well: that is not opened.
 */
static int open_mapped(const struct module_id *id, char root[static 64], struct stat *st)
{
	static const struct foreign_rule rule = { .owner = FOREIGN_ANYBODY, .max_bytes = MAX_MODULE_BYTES,
		.links = true };
	char path[128];
	struct err e;
	int fd, dir;

	snprintf(root, 64, "/proc/%d/root", id->pid);
	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", id->pid, (unsigned long long)id->start,
		 (unsigned long long)id->end);
	fd = foreign_open(AT_FDCWD, path, &rule, &e);
	if (fd >= 0 && !fstat(fd, st))
		return fd;
	dir = foreign_root(id->pid, &e);
	fd = dir < 0 ? -1 : open_path(id, dir, st);
	if (dir >= 0)
		close(dir);
	if (fd >= 0)
		return fd;
	root[0] = '\0';
	return open_path(id, AT_FDCWD, st);
}

static void open_file(struct module *m, struct cache *cache, const struct module_id *id, struct stat *st)
{
	char root[64];
	struct err e;
	int fd = open_mapped(id, root, st);

	if (fd < 0)
		return;
	if (symfile_open_fd(&m->file, fd, root, m->path, &e))
		m->file = NULL;
	else
		symfile_set_cache(m->file, cache);
	close(fd);
}

/* "//anon", "[heap]", "/dev/zero", "/memfd:...", "/SYSV...": memory, not a program. */
static bool has_no_file(const char *path)
{
	return path[0] != '/' || !strncmp(path, "//anon", 6) || !strncmp(path, "/dev/zero", 9) ||
	       !strncmp(path, "/SYSV", 5) || !strncmp(path, "/anon_hugepage", 14);
}

static void mark_ours(struct module *m)
{
	size_t len = 0;
	const uint8_t *id = m->file ? symfile_build_id(m->file, &len) : NULL;

	if (id && inject_is_ours(id, len))
		m->flags |= MODULE_ARCPROF;
	m->passes_on = id && inject_is_memory(id, len);
}

uint32_t modules_get(struct modules *m, const struct module_id *id, struct trace_writer *w)
{
	bool vdso = !strcmp(id->path, "[vdso]");
	struct stat st = { 0 };
	uint32_t *slot, number;
	uint64_t key;

	if (!vdso && has_no_file(id->path))
		return 0;
	key = hash_pair(hash_bytes(id->path, strlen(id->path)),
			hash_pair(id->dev, hash_pair(id->inode, id->generation)));
	slot = map_put(&m->by_key, key);
	if (*slot != MAP_NONE)
		return *slot;
	number = new_module(m, id->path, vdso ? MODULE_VDSO : 0);
	*slot = number;
	if (vdso)
		open_vdso(modules_at(m, number));
	else
		open_file(modules_at(m, number), m->cache, id, &st);
	mark_ours(modules_at(m, number));
	write_module(w, number, modules_at(m, number), id, &st);
	return number;
}

struct unwind_module *module_unwind(struct module *m)
{
	if (!m->unwind && m->file)
		m->unwind = unwind_module_new(m->file);
	return m->unwind;
}
