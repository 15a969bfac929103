/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * splice.h - the files of one recording (record --segment), one after the other, as one trace.
 *
 * Samples are copied chunk by chunk, with the numbers of their epochs changed and nothing else: none is lost,
 * and each keeps its time. Names that several files have are in it once. Memory: 16 bytes for each name.
 */
#ifndef TRACE_SPLICE_H
#define TRACE_SPLICE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/*
 * Write the files, in the order given, as path ("-": standard output; an existing file becomes PATH.old).
 * -EINVAL: one belongs to another recording than the first, is no segment, or is given twice. Damage is left
 * out, and a reader of the result finds a gap there.
 */
int splice_files(const char *const *paths, size_t nr, const char *path, struct err *e);
/* Do the same to a descriptor, which stays open. */
int splice_to_fd(const char *const *paths, size_t nr, int fd, struct err *e);

/* ---- whether a file is one of several of a recording, and whether it is complete ---- */

/* name: in the folder dir, no link, and a regular file that begins as a segment does. */
bool segment_is_one(int dir, const char *name);
/* Do the same for a trace that is not a segment, such as a dump, which is joined from segments. */
bool segment_is_dump(int dir, const char *name);
/* Return whether the trace at path was closed in order, so that no recorder writes to it any more. */
bool segment_is_closed(const char *path);

#endif
