// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"

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
