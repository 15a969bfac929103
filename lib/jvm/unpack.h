/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unpack.h - what the chunks of a journal stand for (journal.h): what is compressed as it was, and items as
 * the records that a ring had. Hostile input: journal_read.c is the only one that asks.
 */
#ifndef JVM_UNPACK_H
#define JVM_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct unpack;

struct unpack *unpack_new(void);
void unpack_free(struct unpack *u);
/* Nothing refers to what was before. */
void unpack_forget(struct unpack *u);

struct unpacked {
	const uint8_t *data;		/* 8-aligned; until the next call for a chunk */
	size_t len;
};

/* Keeps the data of a chunk that is not compressed, for those behind it to refer to. */
void unpack_keep(struct unpack *u, const void *data, size_t len);
/* Return false if the data is not what journal.h describes, or too much for a chunk of len bytes. */
bool unpack_lz(struct unpack *u, const void *data, size_t len, struct unpacked *out);
/* stored: bytes of the chunk in the file. */
bool unpack_items(struct unpack *u, const void *data, size_t len, size_t stored, struct unpacked *out);

#endif
