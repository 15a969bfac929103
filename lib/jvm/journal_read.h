/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * journal_read.h - reads what an agent without a recorder has written (journal.h): hostile input, fuzzed by
 * t/fuzz/f-journal.c.
 */
#ifndef JVM_JOURNAL_READ_H
#define JVM_JOURNAL_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "jvm/journal.h"

struct unpack;

struct journal {
	const uint8_t *data;	/* the caller's */
	size_t len;
	struct journal_header h;	/* checked: its texts end, its numbers are possible */
	size_t at;		/* of the next chunk */
	uint64_t time_ns;	/* of the last one; never goes back, and lies in the recording */
	bool truncated;		/* ended within a chunk, or before it was closed */
	struct unpack *unpack;
};

/* Return whether a file that begins like this is one; journal_open() decides whether arcprof can read it. */
bool journal_is(const void *data, size_t len);

/*
 * Open a journal; journal_release() must be called in any case. -EINVAL: it is not a journal, or damaged at
 * its beginning. -EPROTO: written by another version.
 */
int journal_open(struct journal *j, const void *data, size_t len, struct err *e);
void journal_release(struct journal *j);

struct journal_part {
	enum journal_kind kind;	/* one that is known; items are records already */
	const uint8_t *data;	/* until the next one; 8-aligned in memory if the file is */
	size_t len;
};

/* Read the next chunk: 1, 0 at the end, or -EILSEQ: it is not a chunk, and nothing after it can be read. */
int journal_next(struct journal *j, struct journal_part *p, struct err *e);

/* Unpacks chunks (journal.h): decompresses data, and makes records of items. The input may be hostile. */
struct unpack;

struct unpack *unpack_new(void);
void unpack_free(struct unpack *u);
/* Forget all data: later chunks do not refer to it. */
void unpack_forget(struct unpack *u);

struct unpacked {
	const uint8_t *data;		/* 8-aligned; until the next call for a chunk */
	size_t len;
};

/* Keep the data of a chunk that is not compressed, for later ones to refer to. */
void unpack_keep(struct unpack *u, const void *data, size_t len);
/* Return false if the data is not what journal.h describes, or too much for a chunk of len bytes. */
bool unpack_lz(struct unpack *u, const void *data, size_t len, struct unpacked *out);
/* stored: bytes of the chunk in the file. */
bool unpack_items(struct unpack *u, const void *data, size_t len, size_t stored, struct unpacked *out);

#endif
