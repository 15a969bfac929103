/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import.h - a profile of another program becomes a trace, which every command reads as its own.
 *
 * The kind of file is found by its content; compression is undone first. What the format does not say stays
 * unknown: no pid, time or number of samples is invented, and the trace's labels say what is not known.
 */
#ifndef FORMATS_IMPORT_H
#define FORMATS_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * Read the profile at path ("-" is stdin) and return a descriptor of its trace, in memory and at its
 * beginning, which the caller closes; or -errno. -EINVAL: the file is of an unknown kind, or truncated.
 */
int import_open(const char *path, struct err *e);

/* Return what the file is, such as "a perf.data file", or NULL if it cannot be imported, or read. */
const char *import_recognize_file(const char *path);

/* Facts about a profile of another machine that are not in its bytes. No files of this machine are read. */
struct import_about {
	const char *name;		/* what is in no process is in one of this name; NULL: in none */
	const char *labels;		/* of the recording: "key=value,..." (base/labels.h); NULL: none */
	const char *only;		/* the one format that it may have, as reports say it; NULL: any */
	uint64_t start_ns;		/* since 1970, if the profile does not say: 0: not known; filled in */
};

/*
 * Bytes that are in memory, as import_open() does a file's. about may be NULL. -EFBIG: decompressed they are
 * too much; -ENODATA: an OpenTelemetry profile without samples; else as import_open().
 */
int import_memory(const void *data, size_t len, struct import_about *about, struct err *e);

/*
 * Do the same, into the trace that *take gets piece by piece (trace/writer.h); for import_memory() and tests.
 */
int import_bytes(const void *data, size_t len, struct import_about *about,
		 void (*take)(void *ctx, const void *p, size_t len), void *ctx, struct err *e);

/* ---- named.c: formats that are not imported but have a name: a file is refused by it ---- */

/*
 * Says what the file, of which these are the first bytes or all, is, or why it is nothing that is known.
 * Always fails: -EINVAL, or -EOPNOTSUPP for what is known.
 */
int import_refuse(const char *data, size_t len, struct err *e);

/* ---- unpack.c: profiles that are compressed, or the only file of a zip archive ---- */

struct packing;

/* Return how the data is compressed, by its beginning; NULL: not in a known way. */
const struct packing *packing_of(const char *data, size_t len);
/*
 * Append the decompressed data to *out, and a 0 byte that does not count. -EFBIG: it is longer than limit,
 * and out has limit bytes of it; -EINVAL: it is truncated, and out has its beginning, or damaged;
 * -EOPNOTSUPP: arcprof does not decompress this, and *e says what does.
 */
int unpack(const struct packing *p, const char *data, size_t len, size_t limit, struct buf *out,
	   struct err *e);

/* ---- perf/read_folder.c: a folder that "perf record" wrote, as a perf.data file ---- */

/* Return whether the folder has a file "data". */
bool perf_folder_is(const char *path);
/* Append a perf.data file with all records of the folder to *b. -EINVAL: damaged; or -errno. */
int perf_folder_read(const char *path, struct buf *b, struct err *e);

#endif
