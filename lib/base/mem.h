/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mem.h - allocation, vectors and arenas.  The x functions die when memory is out: use them for
 * sizes we chose.  A size that was read from a file goes through mem_untrusted().
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
/* The smaller, the larger of two values; each argument is evaluated once. */
#define MIN(a, b) MEM_PICK(a, <, b, __COUNTER__)
#define MAX(a, b) MEM_PICK(a, >, b, __COUNTER__)
#define MEM_PICK(a, op, b, n) MEM_PICK_(a, op, b, MEM_PASTE(pick_a, n), MEM_PASTE(pick_b, n))
#define MEM_PICK_(a, op, b, x, y)                        \
	({                                               \
		__typeof__(1 ? (a) : (b)) x = (a);       \
		__typeof__(1 ? (a) : (b)) y = (b);       \
		x op y ? x : y;                          \
	})
#define MEM_PASTE(a, b) MEM_PASTE_(a, b)
#define MEM_PASTE_(a, b) a##b

/*
 * Return less than, equal to or more than 0 as a is smaller than, equal to or larger than b; each argument is
 * evaluated twice. What is equal by one key is ordered by the next:
 *
 *	return COMPARE(b->bytes, a->bytes) ?: strcmp(a->name, b->name);		// the largest first
 */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/*
 * Return the first of the numbers from 0 to NR - 1 for which IS_BEFORE is false, NR if there is none. It
 * is an expression of the number I, true for all that stand first and false for all others.
 *
 *	at = BISECT(i, s->nr_x, s->x[i].time_ns < time_ns);
 */
#define BISECT(i, nr, is_before)                                                   \
	({                                                                         \
		size_t bisect_lo = 0, bisect_hi = (nr), i;                         \
		while (bisect_lo < bisect_hi) {                                    \
			i = bisect_lo + (bisect_hi - bisect_lo) / 2;               \
			if (is_before)                                             \
				bisect_lo = i + 1;                                 \
			else                                                       \
				bisect_hi = i;                                     \
		}                                                                  \
		bisect_lo;                                                         \
	})

void *xmalloc(size_t size) __attribute__((malloc));
void *xcalloc(size_t n, size_t size) __attribute__((malloc));
void *xrealloc(void *p, size_t size);
/*
 * Return the same for arrays of many megabytes that are looked up all over: in large pages, where the
 * kernel has them, whose first touch and later look-ups take a fraction of the time. free() releases
 * them.
 */
void *xmalloc_large(size_t size) __attribute__((malloc));
void *xcalloc_large(size_t n, size_t size) __attribute__((malloc));
void *xrealloc_large(void *p, size_t size);
char *xstrdup(const char *s) __attribute__((malloc));
char *xstrndup(const char *s, size_t n) __attribute__((malloc));
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2), malloc));

/*
 * Return n * size zeroed bytes for something that a file asked for; NULL, with *e filled, if that is more
 * than limit bytes, or without memory. The caller frees it.
 */
void *mem_untrusted(uint64_t n, size_t size, uint64_t limit, struct err *e);

/*
 * Makes room for one more element in the vector "T *x; size_t nr_x, alloc_x;". VEC_ADD() counts it as well,
 * and returns where it is; what is assigned must not be read from the vector, which may have moved.
 *
 *	*VEC_ADD(s->x, s->nr_x, s->alloc_x) = v;
 */
#define VEC_GROW(x, nr, alloc)                                                     \
	do {                                                                       \
		if ((nr) >= (alloc)) {                                             \
			(alloc) = (alloc) ? (alloc) * 2 : 16;                      \
			(x) = xrealloc((x), (size_t)(alloc) * sizeof(*(x)));       \
		}                                                                  \
	} while (0)
#define VEC_ADD(x, nr, alloc)                                                      \
	({                                                                         \
		VEC_GROW(x, nr, alloc);                                            \
		&(x)[(nr)++];                                                      \
	})

/*
 * Memory that dies together: no piece is freed alone.
 */

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
