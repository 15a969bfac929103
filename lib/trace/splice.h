/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * splice.h - the files of one recording (record --segment), one after the other, as one trace.
 *
 * Samples are copied chunk by chunk, with the numbers of their epochs changed and nothing else: none is lost,
 * and each keeps its time. Names that several files have are in it once. Memory: 16 bytes for each name.
 */
#ifndef TRACE_SPLICE_H
#define TRACE_SPLICE_H

#include <stddef.h>

#include "base/err.h"

/*
 * Writes the files, in the order given, as path ("-": standard output; an existing file becomes PATH.old).
 * -EINVAL: one is not of the recording of the first, or no segment, or there twice. Damage is left out, and
 * a reader of the result finds a gap there.
 */
int splice_files(const char *const *paths, size_t nr, const char *path, struct err *e);
/* The same to a descriptor, which stays open. */
int splice_to_fd(const char *const *paths, size_t nr, int fd, struct err *e);

#endif
