/* SPDX-License-Identifier: GPL-2.0-or-later */
/* texts.h - the texts of Strings, and of fields that refer to them. */
#ifndef HEAP_TEXTS_H
#define HEAP_TEXTS_H

#include "base/buf.h"
#include "heap/heap.h"

/* A reference that is followed: the field that the class declares. */
struct text_step {
	const char *class, *field;
};

/* The last step, and the end of the list. */
#define TEXT_OF_STRING { "java.lang.String", "value" }, { NULL, NULL }

/* gets the text of an object: UTF-8, and at most 256 bytes of the dump's */
typedef void (*text_fn)(void *ctx, uint32_t nr, const char *text, size_t len);

/*
 * Find texts after heap_read(). ids[nr] are objects, 0: none. For each that leads to an array of bytes or
 * chars by these steps, which end with TEXT_OF_STRING, fn is called with its index. Changes ids.
 */
void texts_find(const struct heap *h, uint64_t *ids, size_t nr, const struct text_step *steps, text_fn fn,
		void *ctx);

/* Return the reference with that name among an instance's fields that class declares; 0: none. */
uint64_t texts_field(const struct heap *h, const struct hprof_item *x, const char *class, const char *field);

/* Append the text of an array of bytes or chars. */
void texts_put(struct buf *b, const struct hprof_item *x);

#endif
