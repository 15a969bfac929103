// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
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
