/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arena.h - memory that dies together: no piece is freed alone.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *blocks;
	char *next;
	size_t left;		/* bytes free at next */
	size_t nr_bytes;	/* all blocks together */
};

#define ARENA_INIT { NULL, NULL, 0, 0 }

/* size zeroed bytes, aligned for any type. */
void *arena_alloc(struct arena *a, size_t size);
/* Return a terminated copy of len bytes. */
char *arena_strndup(struct arena *a, const char *s, size_t len);
void arena_release(struct arena *a);

#endif
