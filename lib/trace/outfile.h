/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outfile.h - where chunks go: a file, a device or a pipe.  The first failure stays: nothing
 * is written after it until "error" is cleared.
 */
#ifndef TRACE_OUTFILE_H
#define TRACE_OUTFILE_H

#include <zlib.h>

#include "base/err.h"
#include "trace/records.h"

struct outfile {
	int fd;
	bool regular;			/* can be cut back */
	bool compress;
	int error;			/* -errno of the first failure */
	char error_msg[128];
	uint64_t nr_bytes;		/* in whole chunks */
	uint32_t seq;			/* of the next chunk */
	z_stream z;
	struct buf out, columns;
};

/*
 * Opens path for writing: "-" is stdout; a device or pipe is written to as it is; a regular
 * file is renamed to PATH.old and made anew, 0600; a link or anything else is refused.
 */
int outfile_open(struct outfile *o, const char *path, bool compress, struct err *e);
int outfile_close(struct outfile *o, struct err *e);
void outfile_release(struct outfile *o);

/* Writes all or, where the file can be cut back, nothing; 0 or -errno. */
int outfile_store(struct outfile *o, const void *p, size_t len);
/*
 * Writes the records as a chunk, whose header is left in *c.  stride: length of most of
 * the records when they are alike, else 0.
 */
int outfile_chunk(struct outfile *o, const struct records *p, size_t stride, struct trf_chunk *c);

#endif
