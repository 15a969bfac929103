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

#endif
