/* SPDX-License-Identifier: MIT */
/*
 * pack.h - what rings have, as items of a journal (jvm/journal.h): each level of a stack is written once, and
 * so is the native stack beneath Java code; samples refer to them by number.
 *
 * A level is known by its frame and the level that called it, so a stack that differs in its innermost frame
 * costs one level. Native code that was interrupted is never the same again, and is in the sample. Of native
 * stacks, words that point neither into code nor into that stack become 0: who unwinds looks for where calls
 * return to, and where frames are.
 */
#ifndef AGENT_PACK_H
#define AGENT_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm/journal.h"

struct pack_node {
	uint64_t kind_pc;
	uint32_t a, b;			/* as the unions of struct jvm_rec_frame have them */
	uint32_t parent;		/* the level that called it; 0: none */
};

struct pack_segment {
	uint64_t hash;
	uint32_t number;		/* 0: the place is free */
};

struct pack_last {			/* record of a type */
	uint32_t len;			/* 0: there is none */
	char bytes[JOURNAL_DELTA_MOST];
};

struct pack_range {
	uint64_t lo, hi;
};

struct pack {
	const struct pack_range *code;	/* the caller's: where there is code, ascending; */
	uint32_t nr_code;		/* 0: not known, and stacks stay as they are */
	char *scratch;
	struct pack_node *nodes;	/* [JOURNAL_NODES], by number */
	uint32_t *slots;		/* [2 * JOURNAL_NODES] numbers of nodes, by hash; 0: free */
	struct pack_segment *segments;	/* [2 * JOURNAL_SEGMENTS], by hash */
	uint32_t nr_nodes, nr_segments, segment_bytes;
	/* of this chunk */
	uint64_t last_ns, last_pc;
	uint32_t last_tid;
	struct pack_last last[JVM_NR_REC_TYPES];
};

/* Returns false without memory. May be called again. */
bool pack_init(struct pack *p);
/* Forget what was written; the next chunk is fresh. */
void pack_forget(struct pack *p);
/* Check whether that must be before the next record. */
bool pack_is_full(const struct pack *p);
/* Begin a chunk. */
void pack_begin(struct pack *p);
/* Return the most bytes that a record of that length may become. */
static inline size_t pack_most(size_t len)
{
	return len + len * 3 / 4 + 128;
}

/* Write the items of a record, 8-aligned, without its header but with room for it. Returns the end. */
uint8_t *pack_record(struct pack *p, const void *rec, uint32_t len, uint32_t type, uint8_t *out);

/* ---- integers, as base/span.h reads them ---- */

/* Write v as LEB128, at most 10 bytes; return the end. */
static inline void *varint_put(void *to, uint64_t v)
{
	uint8_t *d = to;

	for (; v > 0x7f; v >>= 7)
		*d++ = (uint8_t)(v | 0x80);
	*d++ = (uint8_t)v;
	return d;
}

/* Write a difference in zigzag encoding, which is short for small ones of either sign; return the end. */
static inline void *varint_put_signed(void *to, uint64_t difference)
{
	return varint_put(to, difference << 1 ^ (uint64_t)((int64_t)difference >> 63));
}

/*
 * lz.c: compresses the chunks of a journal, each with the bytes of those before it in mind (jvm/journal.h
 * has the format). It is fast rather than small: what repeats in a journal is mostly within what it looks
 * back at.
 */

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
