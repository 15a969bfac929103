// SPDX-License-Identifier: GPL-2.0-or-later
/* modules.c - the table of executable files, with their symbols and unwind rules (modules.h). */
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
#include "collect/engine/modules.h"
#include "sym/mapped.h"

#define MAX_MODULE_BYTES (8ull << 30)

static void write_module(struct trace_writer *w, const struct module *m, const struct module_id *id,
			 const struct stat *st)
{
	size_t id_len = 0;
	const uint8_t *build_id = m->file ? symfile_build_id(m->file, &id_len) : NULL;
	struct rec_module r = {
		.time_ns = m->used_ns, .module = m->number, .flags = m->flags,
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

static struct module *new_module(struct modules *m, const char *path, uint32_t flags)
{
	VEC_GROW(m->items, m->nr_items, m->alloc_items);
	m->items[m->nr_items] = (struct module){
		.number = ++m->nr_numbers, .path = xstrdup(path), .flags = flags, .used_ns = clock_mono_ns(),
		.walked = m->nr_trims,
	};
	*map_put(&m->by_number, m->nr_numbers) = m->nr_items;
	m->nr_new++;
	return &m->items[m->nr_items++];
}

void modules_init(struct modules *m, struct trace_writer *w, bool cache)
{
	struct module *kernel;

	memset(m, 0, sizeof(*m));
	m->cache = cache ? cache_open() : NULL;
	kernel = new_module(m, "[kernel.kallsyms]", MODULE_KERNEL);
	m->kernel = kernel->number;
	write_module(w, kernel, NULL, NULL);
}

/* Release the rules as well: they refer to tables of the file. */
static void drop_tables(struct module *m)
{
	if (m->unwind)
		unwind_module_free(m->unwind);
	m->unwind = NULL;
	if (m->file)
		symfile_drop_tables(m->file);
}

static void release_module(struct module *m)
{
	drop_tables(m);
	if (m->file)
		symfile_close(m->file);
	free(m->path);
}

void modules_release(struct modules *m)
{
	size_t i;

	for (i = 0; i < m->nr_items; i++)
		release_module(&m->items[i]);
	free(m->items);
	cache_close(m->cache);
	map_release(&m->by_key);
	map_release(&m->by_number);
	memset(m, 0, sizeof(*m));
}

/* Open our own vdso, which is that of every process on this machine. */
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

/* Return whether the file is younger than the mapping. */
static bool is_younger(const struct module_id *id, const struct stat *st)
{
	return id->replayed_ns &&
	       (uint64_t)st->st_ctim.tv_sec * 1000000000u + st->st_ctim.tv_nsec > id->replayed_ns;
}

/* Open the path in the process's root or in ours; the inode says which is the right file. */
static int module_open_path(const struct module_id *id, int root, struct stat *st)
{
	static const struct foreign_rule rule = { .owner = FOREIGN_ANYBODY, .max_bytes = MAX_MODULE_BYTES };
	struct err e;
	int fd = foreign_open(root, id->path, &rule, &e);

	if (fd >= 0 && (fstat(fd, st) || (id->inode && st->st_ino != id->inode) || is_younger(id, st))) {
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * Open the mapped file itself if the kernel allows it (it may be deleted or replaced by now), else the file
 * at its path in the process's root, if that is the same. A mapped device is not opened.
 */
static int open_mapped(const struct module_id *id, char root[static 64], struct stat *st)
{
	static const struct foreign_rule rule = { .owner = FOREIGN_ANYBODY, .max_bytes = MAX_MODULE_BYTES,
		.links = true };
	char path[128];
	struct err e;
	int fd, dir;

	root[0] = '\0';
	if (id->replayed_ns)
		return module_open_path(id, AT_FDCWD, st);
	snprintf(root, 64, "/proc/%d/root", id->pid);
	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", id->pid, (unsigned long long)id->start,
		 (unsigned long long)id->end);
	fd = foreign_open(AT_FDCWD, path, &rule, &e);
	if (fd >= 0 && !fstat(fd, st))
		return fd;
	dir = foreign_root(id->pid, &e);
	fd = dir < 0 ? -1 : module_open_path(id, dir, st);
	if (dir >= 0)
		close(dir);
	if (fd >= 0)
		return fd;
	root[0] = '\0';
	return module_open_path(id, AT_FDCWD, st);
}

int modules_open_mapped(const struct module_id *id, struct stat *st)
{
	char root[64];

	return open_mapped(id, root, st);
}

static void module_open_file(struct module *m, struct cache *cache, const struct module_id *id,
			     struct stat *st)
{
	char root[64];
	struct err e;
	int fd = open_mapped(id, root, st);
	bool from_memory = fd < 0 && !id->replayed_ns;

	/* deleted or replaced since, and not ours to open: what is mapped of it is in the process's memory */
	if (from_memory) {
		memset(st, 0, sizeof(*st));
		fd = mapped_open(id->pid, id->inode, id->path, &e);
	}
	if (fd < 0)
		return;
	if (symfile_open_fd(&m->file, fd, root, m->path, &e))
		m->file = NULL;
	else if (!from_memory)
		symfile_set_cache(m->file, cache);
	close(fd);
}

/* "//anon", "[heap]", "/dev/zero", "/memfd:...", "/SYSV...": memory, not a program. */
static bool has_no_file(const char *path)
{
	return path[0] != '/' || !strncmp(path, "//anon", 6) || !strncmp(path, "/dev/zero", 9) ||
	       !strncmp(path, "/SYSV", 5) || !strncmp(path, "/anon_hugepage", 14);
}

bool modules_has_file(const struct module_id *id)
{
	return !strcmp(id->path, "[vdso]") || !has_no_file(id->path);
}

struct symfile *modules_open_file(const struct module_id *id)
{
	struct module m = { .path = (char *)id->path };
	struct stat st;

	if (!strcmp(id->path, "[vdso]"))
		open_vdso(&m);
	else
		module_open_file(&m, NULL, id, &st);
	return m.file;
}

static void mark_ours(struct module *m)
{
	size_t len = 0;
	const uint8_t *id = m->file ? symfile_build_id(m->file, &len) : NULL;

	if (id && inject_is_ours(id, len))
		m->flags |= MODULE_ARCPROF;
	m->passes_on = id && inject_calls_on(id, len);
}

uint32_t modules_get(struct modules *m, const struct module_id *id, struct trace_writer *w)
{
	bool vdso = !strcmp(id->path, "[vdso]");
	struct stat st = { 0 };
	struct module *module;
	uint64_t key;
	uint32_t *number;

	if (!modules_has_file(id))
		return 0;
	key = hash_pair(hash_bytes(id->path, strlen(id->path)),
			hash_pair(id->dev, hash_pair(id->inode, id->generation)));
	number = map_put(&m->by_key, key);
	if (*number != MAP_NONE)
		return *number;
	module = new_module(m, id->path, vdso ? MODULE_VDSO : 0);
	module->key = key;
	*number = module->number;
	if (vdso && !id->other_kernel)
		open_vdso(module);
	else if (!vdso)
		module_open_file(module, m->cache, id, &st);
	mark_ours(module);
	write_module(w, module, id, &st);
	return module->number;
}

struct unwind_module *modules_unwind(struct modules *m, uint32_t number)
{
	struct module *module = modules_at(m, number);

	module->walked = m->nr_trims;
	if (!module->unwind && module->file)
		module->unwind = unwind_module_new(module->file);
	return module->unwind;
}

struct symfile *modules_file(struct modules *m, uint32_t number)
{
	struct module *module = modules_at(m, number);

	if (!module)
		return NULL;
	module->walked = m->nr_trims;
	return module->file;
}

/* ---- what is not needed any more ---- */

void modules_use(struct modules *m, uint32_t number, uint64_t now_ns)
{
	modules_at(m, number)->used_ns = now_ns;
}

static bool is_not_in(void *ctx, uint64_t key, uint32_t number)
{
	return map_get(ctx, number) == MAP_NONE;
}

void modules_forget(struct modules *m, uint64_t before_ns, struct trace_writer *w)
{
	struct map gone = MAP_INIT;
	size_t i, nr = 0;

	for (i = 0; i < m->nr_items; i++)
		if (m->items[i].used_ns < before_ns && m->items[i].number != m->kernel)
			*map_put(&gone, m->items[i].number) = 1;
	m->nr_new = 0;
	if (!gone.nr)
		return;
	trace_writer_forget_modules(w, &gone);
	map_filter(&m->by_key, is_not_in, &gone);
	map_release(&m->by_number);
	for (i = 0; i < m->nr_items; i++) {
		if (map_get(&gone, m->items[i].number) != MAP_NONE) {
			release_module(&m->items[i]);
			continue;
		}
		m->items[nr] = m->items[i];
		*map_put(&m->by_number, m->items[nr].number) = nr;
		nr++;
	}
	m->nr_items = nr;
	map_release(&gone);
}

static size_t table_bytes(const struct module *m)
{
	return (m->unwind ? unwind_module_bytes(m->unwind) : 0) +
	       (m->file ? symfile_table_bytes(m->file) : 0);
}

void modules_trim(struct modules *m, size_t max_bytes)
{
	uint64_t oldest = m->nr_trims;
	size_t bytes = 0, i;

	for (i = 0; i < m->nr_items; i++) {
		size_t of_it = table_bytes(&m->items[i]);

		bytes += of_it;
		if (of_it)
			oldest = MIN(oldest, m->items[i].walked);
	}
	for (; bytes > max_bytes && oldest <= m->nr_trims; oldest++)
		for (i = 0; i < m->nr_items && bytes > max_bytes; i++) {
			if (m->items[i].walked > oldest)
				continue;
			bytes -= table_bytes(&m->items[i]);
			drop_tables(&m->items[i]);
		}
	m->nr_trims++;
}
