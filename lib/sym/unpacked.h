/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unpacked.h - the compressed debug sections of a file that lines need, decompressed, as an ELF
 * file in memory.
 *
 * libdw decompresses all sections there are; a third of the time goes into those that say where
 * variables are.  What is made here can also be kept (cache.h).
 */
#ifndef SYM_UNPACKED_H
#define SYM_UNPACKED_H

#include <stdbool.h>

#include "sym/image.h"

/* Return whether any of them is compressed in a way that image_load() reads. */
bool unpacked_is_needed(const struct image *im);
/* Decompress the sections; the caller releases *b with image_bytes_release(). */
int unpacked_make(const struct image *im, struct image_bytes *b, struct err *e);

#endif
