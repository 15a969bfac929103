/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gzip.h - compresses and decompresses as gzip does (RFC 1952). */
#ifndef BASE_GZIP_H
#define BASE_GZIP_H

#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * Open a stream that compresses to out; fclose() writes the rest and leaves out open. Whether out could
 * be written is for the owner of out to find out. Without memory it returns NULL and fills *e.
 */
FILE *gzip_open(FILE *out, struct err *e);

/* Append the data, compressed, to out. */
int gzip_bytes(const char *data, size_t len, struct buf *out, struct err *e);

/* Append what is compressed in the data, one member after the other, and a 0 byte that does not count. */
int gunzip_bytes(const char *data, size_t len, size_t limit, struct buf *out, struct err *e);
/* Append what is deflated alone (RFC 1951), as in a ZIP file: at most limit bytes, else -EFBIG. */
int inflate_bytes(const char *data, size_t len, size_t limit, struct buf *out, struct err *e);

#endif
