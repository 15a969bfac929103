// SPDX-License-Identifier: GPL-2.0-or-later
/* mem.c - allocation that dies when memory is out (mem.h). */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"

static void *out_of_memory(size_t size)
{
	fprintf(stderr, "arcprof: out of memory (%zu bytes)\n", size);
	exit(1);
}

void *xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	return p ? p : out_of_memory(size);
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	return p ? p : out_of_memory(n * size);
}

void *xrealloc(void *p, size_t size)
{
	p = realloc(p, size ? size : 1);
	return p ? p : out_of_memory(size);
}

/* Advise only whole pages within the array, so that its neighbours are left alone. */
static void *in_large_pages(void *p, size_t size)
{
	const uintptr_t large = 2 << 20, begin = ((uintptr_t)p + large - 1) & -large,
			end = ((uintptr_t)p + size) & -large;

	if (begin < end)
		madvise((void *)begin, end - begin, MADV_HUGEPAGE);
	return p;
}

void *xmalloc_large(size_t size)
{
	return in_large_pages(xmalloc(size), size);
}

void *xcalloc_large(size_t n, size_t size)
{
	return in_large_pages(xcalloc(n, size), n * size);
}

void *xrealloc_large(void *p, size_t size)
{
	return in_large_pages(xrealloc(p, size), size);
}

char *xstrndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *p = xmalloc(len + 1);

	memcpy(p, s, len);
	p[len] = '\0';
	return p;
}

char *xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *p;

	va_start(ap, fmt);
	if (vasprintf(&p, fmt, ap) < 0)
		p = out_of_memory(0);
	va_end(ap);
	return p;
}

void *mem_untrusted(uint64_t n, size_t size, uint64_t limit, struct err *e)
{
	void *p;

	if (size && n > limit / size) {
		err_set(e, E2BIG, "%llu items of %zu bytes asked for, the limit is %llu bytes",
			(unsigned long long)n, size, (unsigned long long)limit);
		return NULL;
	}
	p = calloc(n ? n : 1, size ? size : 1);
	if (!p)
		err_set(e, ENOMEM, "out of memory (%llu bytes)", (unsigned long long)n * size);
	return p;
}

#define BLOCK_BYTES (64 * 1024)
#define ALIGN_BYTES 16

struct arena_block {
	struct arena_block *next;
	uint64_t pad;		/* keeps the data that follows aligned */
};

static void *arena_take_bytes(struct arena *a, size_t size)
{
	char *p;

	if (size > a->left) {
		size_t want = MAX(size, (size_t)BLOCK_BYTES);
		struct arena_block *b = xmalloc(sizeof(*b) + want);

		b->next = a->blocks;
		a->blocks = b;
		a->next = (char *)(b + 1);
		a->left = want;
		a->nr_bytes += sizeof(*b) + want;
	}
	p = a->next;
	a->next += size;
	a->left -= size;
	return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
	size_t skew = (uintptr_t)a->next % ALIGN_BYTES;
	size_t pad = a->left && skew ? ALIGN_BYTES - skew : 0;

	pad = MIN(pad, a->left);
	if (pad) {
		a->next += pad;
		a->left -= pad;
	}
	/* An allocation of 0 bytes is not NULL either. */
	size = (MAX(size, (size_t)1) + ALIGN_BYTES - 1) & ~(size_t)(ALIGN_BYTES - 1);
	return memset(arena_take_bytes(a, size), 0, size);
}

char *arena_strndup(struct arena *a, const char *s, size_t len)
{
	char *p = arena_take_bytes(a, len + 1);

	memcpy(p, s, len);
	p[len] = '\0';
	return p;
}

void arena_release(struct arena *a)
{
	while (a->blocks) {
		struct arena_block *b = a->blocks;

		a->blocks = b->next;
		free(b);
	}
	memset(a, 0, sizeof(*a));
}
