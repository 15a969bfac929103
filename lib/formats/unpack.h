/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unpack.h - profiles that are compressed: by gzip, zstd, xz, bzip2, or as the only file of a zip archive.
 */
#ifndef FORMATS_UNPACK_H
#define FORMATS_UNPACK_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

struct packing;

/* How the data is compressed, by its beginning; NULL: not in a way that has a name here. */
const struct packing *packing_of(const char *data, size_t len);
/*
 * Appends what is compressed in the data to *out, and a 0 byte that does not count. -EFBIG: that is more than
 * limit bytes, of which out has as many; -EINVAL: truncated, after what could be decompressed, or damaged;
 * -EOPNOTSUPP: arcprof does not decompress this, and *e says what does.
 */
int unpack(const struct packing *p, const char *data, size_t len, size_t limit, struct buf *out,
	   struct err *e);

#endif
