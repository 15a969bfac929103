// SPDX-License-Identifier: MIT
/*
 * memory.c - interposes what programs allocate memory by, and counts its bytes (sampler.h): only in the
 * file for "-e native-memory". That goes first in LD_PRELOAD, before replacements of malloc() such as
 * jemalloc, which are called as the C library's would be.
 *
 * What one of these functions calls for its own use is not counted again: reallocarray() is realloc(), and
 * jemalloc's malloc() calls mmap(). So is nothing that a signal handler allocates within one of them.
 *
 * Before the dynamic linker has found anything, blocks come from a small place of our own.
 */
#include <errno.h>
#include <sys/mman.h>

#include "agent/elf.h"
#include "agent/sys.h"
#include "preload/objects.h"
#include "preload/preload.h"
#include "preload/sampler.h"

__attribute__((weak)) extern int *__errno_location(void);

enum what {
	MALLOC, FREE, CALLOC, REALLOC, POSIX_MEMALIGN, ALIGNED_ALLOC, MEMALIGN, VALLOC, PVALLOC, MMAP, MUNMAP,
	MREMAP, NR
};

static const char *const names[NR] = {
	"malloc", "free", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign", "valloc",
	"pvalloc", "mmap", "munmap", "mremap",
};
static void *real[NR];

static void *memory_find(enum what w)
{
	objects_find_next(real, names, NR);
	return real[w];
}

#define REAL(w, type) ((type)(likely(real[w]) ? real[w] : memory_find(w)))

typedef void *alloc_fn(size_t);
typedef void *alloc2_fn(size_t, size_t);
typedef void free_fn(void *);
typedef void *realloc_fn(void *, size_t);
typedef int posix_fn(void **, size_t, size_t);
typedef void *mmap_fn(void *, size_t, int, int, int, long);
typedef int munmap_fn(void *, size_t);
typedef void *mremap_fn(void *, size_t, size_t, int, void *);

static void *fails(int code)
{
	if (__errno_location)
		*__errno_location() = code;
	return NULL;
}

/* ---- before there is a C library ---- */

static char early[16 << 10] __attribute__((aligned(16)));
static size_t early_used;

static bool is_early(const void *p)
{
	return unlikely((uintptr_t)p - (uintptr_t)early < sizeof(early));
}

/* Return a zeroed block with its size in front. */
static void *early_block(size_t size)
{
	size_t bytes = ((size + 15) & ~(size_t)15) + 16, at;

	if (size > sizeof(early))
		return NULL;
	at = __atomic_fetch_add(&early_used, bytes, __ATOMIC_RELAXED);
	if (at + bytes > sizeof(early))
		return NULL;
	*(size_t *)(early + at) = size;
	return early + at + 16;
}

static void *leave_early(void *p, size_t size)
{
	size_t old = ((size_t *)p)[-2];
	alloc_fn *f = REAL(MALLOC, alloc_fn *);
	void *q = f ? f(size) : early_block(size);

	if (q)
		memcpy(q, p, old < size ? old : size);
	return q;
}

/* ---- blocks ---- */

/* The value of call, with which what it allocates is counted unless we are inside such a call already. */
#define COUNTED(kind, size, call) \
	({ \
		struct sampler_thread *t_ = &sampler_thread; \
		bool inside_ = t_->inside; \
		void *p_; \
\
		t_->inside = true; \
		p_ = (call); \
		if (likely(!inside_)) \
			sampler_count(kind, p_, size); \
		t_->inside = inside_; \
		p_; \
	})

PRELOAD_EXPORT void *malloc(size_t size)
{
	alloc_fn *f = REAL(MALLOC, alloc_fn *);

	return likely(f) ? COUNTED(MEMORY_MALLOC, size, f(size)) : early_block(size);
}

PRELOAD_EXPORT void *calloc(size_t n, size_t size)
{
	alloc2_fn *f = REAL(CALLOC, alloc2_fn *);

	return likely(f) ? COUNTED(MEMORY_CALLOC, n * size, f(n, size)) : early_block(n * size);
}

PRELOAD_EXPORT void free(void *p)
{
	free_fn *f = REAL(FREE, free_fn *);
	struct sampler_thread *t = &sampler_thread;
	bool inside = t->inside;

	if (is_early(p))
		return;
	if (unlikely(sampler_may_have(p)))
		sampler_take(p);
	t->inside = true;
	if (f)
		f(p);
	t->inside = inside;
}

/* Take the old block before another thread can get its memory, and put it back on failure. */
PRELOAD_EXPORT void *realloc(void *p, size_t size)
{
	realloc_fn *f = REAL(REALLOC, realloc_fn *);
	uint32_t id = 0;
	void *q;

	if (is_early(p))
		return leave_early(p, size);
	if (unlikely(!f))
		return early_block(size);
	if (p && sampler_may_have(p))
		id = sampler_take(p);
	q = COUNTED(MEMORY_REALLOC, size, f(p, size));
	if (!q && size && id)
		sampler_put(p, id);
	return q;
}

PRELOAD_EXPORT void *reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(n, size, &bytes) ? fails(ENOMEM) : realloc(p, bytes);
}

PRELOAD_EXPORT int posix_memalign(void **p, size_t align, size_t size)
{
	posix_fn *f = REAL(POSIX_MEMALIGN, posix_fn *);
	int r = ENOMEM;

	if (f)
		COUNTED(MEMORY_POSIX_MEMALIGN, size, (r = f(p, align, size)) ? NULL : *p);
	return r;
}

PRELOAD_EXPORT void *aligned_alloc(size_t align, size_t size)
{
	alloc2_fn *f = REAL(ALIGNED_ALLOC, alloc2_fn *);

	return f ? COUNTED(MEMORY_ALIGNED_ALLOC, size, f(align, size)) : fails(ENOMEM);
}

PRELOAD_EXPORT void *memalign(size_t align, size_t size)
{
	alloc2_fn *f = REAL(MEMALIGN, alloc2_fn *);

	return f ? COUNTED(MEMORY_MEMALIGN, size, f(align, size)) : fails(ENOMEM);
}

PRELOAD_EXPORT void *valloc(size_t size)
{
	alloc_fn *f = REAL(VALLOC, alloc_fn *);

	return f ? COUNTED(MEMORY_VALLOC, size, f(size)) : fails(ENOMEM);
}

PRELOAD_EXPORT void *pvalloc(size_t size)
{
	alloc_fn *f = REAL(PVALLOC, alloc_fn *);

	return f ? COUNTED(MEMORY_VALLOC, size, f(size)) : fails(ENOMEM);
}

/* ---- mappings: private memory that may be used, no files and no reservations ---- */

static void *if_mapped(void *p)
{
	return p == MAP_FAILED ? NULL : p;
}

static bool is_memory(int prot, int flags)
{
	return flags & MAP_ANONYMOUS && prot != PROT_NONE;
}

PRELOAD_EXPORT void *mmap(void *addr, size_t size, int prot, int flags, int fd, long off)
{
	mmap_fn *f = REAL(MMAP, mmap_fn *);
	void *p = MAP_FAILED;

	if (!f)
		return fails(ENOMEM), MAP_FAILED;
	if (flags & MAP_FIXED)
		sampler_unmap((uintptr_t)addr, size);
	if (is_memory(prot, flags))
		COUNTED(MEMORY_MMAP, size, if_mapped(p = f(addr, size, prot, flags, fd, off)));
	else
		p = f(addr, size, prot, flags, fd, off);
	return p;
}

__asm__(".globl mmap64\n"
	".set mmap64, mmap\n");

PRELOAD_EXPORT int munmap(void *p, size_t size)
{
	munmap_fn *f = REAL(MUNMAP, munmap_fn *);

	if (!f)
		return fails(ENOMEM), -1;
	sampler_unmap((uintptr_t)p, size);
	return f(p, size);
}

/* Treat what it grows by as new, and what it shrinks by as freed; the rest moves. */
PRELOAD_EXPORT void *mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
	mremap_fn *f = REAL(MREMAP, mremap_fn *);
	void *to = NULL, *p;

	if (!f)
		return fails(ENOMEM), MAP_FAILED;
	if (flags & MREMAP_FIXED) {
		__builtin_va_list ap;

		__builtin_va_start(ap, flags);
		to = __builtin_va_arg(ap, void *);
		__builtin_va_end(ap);
	}
	p = f(old, old_size, size, flags, to);
	if (p == MAP_FAILED)
		return p;
	if (size < old_size)
		sampler_unmap((uintptr_t)old + size, old_size - size);
	if (p != old)
		sampler_move((uintptr_t)old, size < old_size ? size : old_size, (char *)p - (char *)old);
	if (size > old_size && !sampler_thread.inside)
		sampler_count(MEMORY_MREMAP, (char *)p + old_size, size - old_size);
	return p;
}

/* ---- in a running program ---- */

bool memory_find_running(struct elf_swap *swaps)
{
	static void *const ours[NR] = {
		malloc, free, calloc, realloc, posix_memalign, aligned_alloc, memalign, valloc, pvalloc, mmap,
		munmap, mremap,
	};
	static const char *const more[] = { "reallocarray", "mmap64" };
	void *found[2] = { NULL };
	int i;

	objects_find_first(real, names, NR);
	objects_find_first(found, more, 2);
	for (i = 0; i < NR; i++)
		swaps[i] = (struct elf_swap){ names[i], real[i], ours[i] };
	swaps[NR] = (struct elf_swap){ more[0], found[0], reallocarray };
	swaps[NR + 1] = (struct elf_swap){ more[1], found[1], mmap };
	_Static_assert(NR + 2 == MEMORY_SWAPS, "as many as the header says");
	return real[MALLOC] && real[FREE];
}

/* ---- when the library is loaded ---- */

void preload_begin_memory(const char *option)
{
	memory_find(MALLOC);
	sampler_begin(option);
}
