/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import.h - a profile of another program becomes a trace, which every command reads as its own.
 *
 * The kind of file is found by its content; compression is undone first. What the format does not say stays
 * unknown: no pid, time or number of samples is invented, and the trace's labels say what is not known.
 */
#ifndef FORMATS_IMPORT_H
#define FORMATS_IMPORT_H

#include <stddef.h>

#include "base/err.h"

/*
 * Reads the profile at path ("-" is stdin) and returns a descriptor of its trace, in memory and at its
 * beginning, which the caller closes; or -errno. -EINVAL: the file is of no known kind, or not a whole one.
 */
int import_open(const char *path, struct err *e);

/* What the file is, "a perf.data file" and the like; NULL: nothing that can be imported, or read. */
const char *import_recognize_file(const char *path);

/*
 * Bytes that are in memory, into the trace that *take gets piece by piece (trace/writer.h); for import_open()
 * and tests.
 */
int import_bytes(const void *data, size_t len, void (*take)(void *ctx, const void *p, size_t len), void *ctx,
		 struct err *e);

#endif
