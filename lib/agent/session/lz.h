/* SPDX-License-Identifier: MIT */
/*
 * lz.h - compresses the chunks of a journal, each with the bytes of those before it in mind (jvm/journal.h
 * has the format). Fast rather than small: what repeats in a journal is mostly within what it looks back at.
 */
#ifndef AGENT_LZ_H
#define AGENT_LZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm/journal.h"

enum {
	LZ_PIECE = 64 << 10, LZ_BITS = 15,
	LZ_WINDOW = 2 * JOURNAL_LZ_BACK + LZ_PIECE,
};

struct lz {
	uint8_t *window;			/* LZ_WINDOW bytes of the caller's; zeroed */
	uint32_t len;				/* bytes in it */
	uint32_t heads[1 << LZ_BITS];		/* one more than where such bytes were last; 0: nowhere */
};

/* Return the most bytes that len bytes may become. */
static inline size_t lz_most(size_t len)
{
	return len + len / 128 + (len / LZ_PIECE + 1) * 16;
}

/* Empty the window. */
void lz_forget(struct lz *z);
/* Returns the bytes that were written to out. */
size_t lz_pack(struct lz *z, const void *data, size_t len, uint8_t *out);

#endif
