// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * native.c - see native.h.
 *
 * A thread's stack ends with what the C library has of the thread, and there is the list of its robust
 * mutexes, whose address the kernel has for any thread: glibc's nptl/allocatestack.c, musl's
 * pthread_create.c. It begins behind a guard, which is a mapping of its own.
 *
 * Source for malloc(): glibc's malloc/arena.c (heap_info) and malloc.c (sysmalloc_mmap()).
 */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/mem.h"
#include "resident/native.h"

enum { PAGE = 4096 };

bool native_is_anonymous(const struct smap *m)
{
	return (!*m->name || !strncmp(m->name, "[anon:", 6)) && m->perms[3] == 'p' && smap_is_usable(m);
}

/* --- stacks --- */

/* glibc 2.17 to 2.42, x86-64 and arm64: from the list to the end of its struct pthread, and some room */
enum { BEHIND_LIST = 1600 };

static void native_thread_name(int pid, int tid, char *name, size_t bytes)
{
	struct buf b = BUF_INIT;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	*name = '\0';
	if (!io_slurp(path, &b) && b.len)
		snprintf(name, bytes, "%.*s", (int)strcspn(b.data, "\n"), b.data);
	buf_release(&b);
}

static void claim_guard(const struct smaps *s, const struct smap *stack, const char *name, struct claims *c)
{
	enum { LARGEST = 1 << 20 };
	const struct smap *below = stack - 1;

	if (stack > s->items && below->end == stack->start && !smap_is_usable(below) && !*below->name &&
	    below->end - below->start <= LARGEST)
		claims_add(c, below->start, below->end, RESIDENT_STACKS, name);
}

static void claim_stack(int pid, int tid, const struct smaps *s, struct claims *c)
{
	const struct smap *m;
	uint64_t list = 0, top;
	char name[24];
	size_t len;

	if (syscall(SYS_get_robust_list, tid, &list, &len) || !list)
		return;
	m = smaps_find(s, list);
	if (!m || !native_is_anonymous(m))
		return;
	top = (list + BEHIND_LIST + PAGE - 1) & -(uint64_t)PAGE;
	native_thread_name(pid, tid, name, sizeof(name));
	claims_add(c, m->start, MIN(top, m->end), RESIDENT_STACKS, name);
	claim_guard(s, m, name, c);
}

size_t native_stacks(int pid, const struct smaps *s, struct claims *c)
{
	DIR *dir = io_open_threads(pid);
	size_t nr = 0;
	int tid;

	for (; (tid = io_next_number(dir)); nr++)
		if (tid != pid)
			claim_stack(pid, tid, s, c);
	io_close_folder(dir);
	return nr;
}

/* --- malloc --- */

static bool read_at(int pid, uint64_t addr, void *to, size_t bytes)
{
	struct iovec local = { to, bytes }, remote = { (void *)(uintptr_t)addr, bytes };

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

enum { AT_ONCE = 512, MAPPED_BLOCK = 2 };

/* Find which of these pages exist, without touching any. Returns how many it could look at. */
static size_t look_at_pages(const struct native_process *p, uint64_t from, size_t nr, bool *there)
{
	uint64_t entries[AT_ONCE];
	ssize_t n = pread(p->pagemap, entries, nr * sizeof(*entries), from / PAGE * sizeof(*entries));
	size_t i;

	for (i = 0; n > 0 && i < n / sizeof(*entries); i++)
		there[i] = entries[i] >> 62;
	return n < 0 ? 0 : n / sizeof(*entries);
}

static const uint64_t arena_bytes = 64 << 20;	/* and each begins at a multiple of it */

/* Return the bytes of the arena's memory that begins here, 0 if none does. */
static uint64_t arena_size(const struct native_process *p, uint64_t addr, uint64_t end)
{
	uint64_t info[4], arena;	/* arena, one before it, used, usable */
	bool there = false;

	if (!look_at_pages(p, addr, 1, &there) || !there || !read_at(p->pid, addr, info, sizeof(info)))
		return 0;
	arena = info[0] & (arena_bytes - 1);
	return info[0] && arena >= 0x20 && arena <= 0x40 && info[1] % arena_bytes == 0 &&
			       (info[1] || info[0] - arena == addr) && info[2] % PAGE == 0 &&
			       info[3] >= info[2] && info[3] <= end - addr ?
		       info[2] : 0;
}

/* Add free memory, which may change while it is read. */
static void add_free(const struct native_process *p, uint64_t start, uint64_t end, struct native_free *f)
{
	int i;

	for (i = 0; i < 3; i++)
		if (chunks_free(p, start, end, f))
			return;
	f->unknown += end - start;
}

static void claim_arenas(const struct native_process *p, const struct smap *m, struct claims *c,
			 struct native_free *f)
{
	uint64_t addr = (m->start + arena_bytes - 1) & -arena_bytes, size;
	size_t i;

	for (; addr < m->end; addr += arena_bytes) {
		i = claims_from(c, addr);
		size = i < c->nr && c->items[i].start <= addr ? 0 : arena_size(p, addr, m->end);
		if (!size)
			continue;
		claims_add(c, addr, addr + arena_bytes, RESIDENT_MALLOC, "arena");
		add_free(p, addr, addr + size, f);
	}
}

/* The header of a block that malloc() has mapped: the size of what is before it, 0, and its own. */
struct header {
	uint64_t before, size;
};

/* Reads what is at the beginning of each page; zeros where there is none. Returns the number of pages. */
static size_t read_headers(const struct native_process *p, uint64_t from, uint64_t end, struct header *to)
{
	struct iovec local[AT_ONCE], remote[AT_ONCE];
	size_t nr = MIN((end - from) / PAGE, (uint64_t)AT_ONCE), used = 0, i;
	bool there[AT_ONCE] = { false };

	memset(to, 0, AT_ONCE * sizeof(*to));
	nr = look_at_pages(p, from, nr, there);
	for (i = 0; i < nr; i++)
		if (there[i]) {
			local[used] = (struct iovec){ &to[i], sizeof(*to) };
			remote[used++] = (struct iovec){ (void *)(uintptr_t)(from + i * PAGE), sizeof(*to) };
		}
	return used && process_vm_readv(p->pid, local, used, remote, used, 0) < 0 ? 0 : nr;
}

/* Return the bytes of the block that begins there, 0 if none does. */
static uint64_t mapped_block(const struct header *h, uint64_t addr, uint64_t end)
{
	uint64_t size = h->size & ~(uint64_t)7;

	bool is = !h->before && (h->size & 7) == MAPPED_BLOCK && size % PAGE == 0 && size <= end - addr;

	return is ? size : 0;
}

static void claim_blocks(const struct native_process *p, uint64_t addr, uint64_t end, struct claims *c,
			 uint64_t *budget)
{
	struct header h[AT_ONCE];
	size_t nr, i;

	while (addr < end && *budget && (nr = read_headers(p, addr, end, h))) {
		uint64_t size = 0;

		for (i = 0; i < nr && !(size = mapped_block(&h[i], addr, end)); i++)
			addr += PAGE;
		*budget -= MIN(*budget, (uint64_t)i + 1);
		if (size)
			claims_add(c, addr, addr + size, RESIDENT_MALLOC, "block");
		addr += size;
	}
}

/* Get the next range of m that is not claimed. */
static bool next_gap(const struct smap *m, const struct claims *c, uint64_t *from, uint64_t *end)
{
	size_t i = claims_from(c, *from);

	while (i < c->nr && c->items[i].start <= *from && *from < m->end)
		*from = c->items[i++].end;
	*end = i < c->nr ? MIN(m->end, c->items[i].start) : m->end;
	return *from < m->end;
}

bool native_malloc(const struct native_process *p, const struct smaps *s, struct claims *c,
		   struct native_free *f)
{
	uint64_t budget = 1 << 20, addr, end, word;	/* in pages that are looked at */
	bool readable = true;
	size_t i;

	for (i = 0; i < s->nr; i++) {
		const struct smap *m = &s->items[i];

		if (!strcmp(m->name, "[stack]"))
			readable = read_at(p->pid, m->end - sizeof(word), &word, sizeof(word));
		if (!strcmp(m->name, "[heap]"))
			add_free(p, m->start, m->end, f);
		if (!native_is_anonymous(m) || m->perms[1] != 'w' || !m->rss)
			continue;
		claim_arenas(p, m, c, f);
		for (addr = m->start; next_gap(m, c, &addr, &end); addr = end)
			claim_blocks(p, addr, end, c, &budget);
	}
	return readable;
}

/* --- libraries --- */

void native_zeroed_data(const struct smaps *s, struct claims *c)
{
	size_t i;

	for (i = 1; i < s->nr; i++) {
		const struct smap *m = &s->items[i], *file = m - 1;

		if (*m->name || !native_is_anonymous(m) || *file->name != '/' || file->end != m->start ||
		    file->perms[1] != 'w' || file->perms[3] != 'p')
			continue;
		claims_add(c, m->start, m->end, RESIDENT_LIBRARIES, "zeroed data");
	}
}
