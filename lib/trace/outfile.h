/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outfile.h - where chunks go: a file, a device or a pipe.  The first failure sticks: nothing
 * is written after it until "error" is cleared.
 */
#ifndef TRACE_OUTFILE_H
#define TRACE_OUTFILE_H

#include <zlib.h>

#include "base/err.h"
#include "base/newfile.h"
#include "trace/records.h"

struct outfile_opts {
	bool compress;
	bool until_closed;		/* a regular file keeps its temporary name until outfile_close() */
	bool whole;			/* after a failure there is no file: a part would be of no use */
	int dir_fd;			/* the folder that path is in; 0: path says it all */
};

struct outfile {
	struct newfile file;		/* without a descriptor: take() has it, or nobody */
	bool compress, until_closed, whole;
	/* Takes what would be written; NULL: there is a file. */
	void (*take)(void *ctx, const void *p, size_t len);
	void *take_ctx;
	int error;			/* -errno of the first failure */
	char error_msg[128];
	uint64_t nr_bytes;		/* in whole chunks */
	uint32_t seq;			/* of the next chunk */
	z_stream z;
	struct buf out, columns;
};

/*
 * Opens path for writing as base/newfile.h says, 0600. "-", or another name of stdout, is refused if that
 * is a terminal, and what this process and its children print there goes to stderr from then on.
 */
int outfile_open(struct outfile *o, const char *path, const struct outfile_opts *opts, struct err *e);
/* Open without a file: take() gets everything. */
int outfile_open_taken(struct outfile *o, void (*take)(void *ctx, const void *p, size_t len), void *ctx,
		       struct err *e);
/* Gives a regular file its name; one that had it becomes PATH.old. Nothing for others, and until_closed. */
int outfile_commit(struct outfile *o, struct err *e);
/* Close, committing what outfile_commit() has not; after a failure, too, unless the file must be whole. */
int outfile_close(struct outfile *o, struct err *e);
/* Release. Without outfile_close() before, this removes the file, unless it was committed. */
void outfile_release(struct outfile *o);

/* Write all or, where the file can be cut back, nothing; return 0 or -errno. */
int outfile_store(struct outfile *o, const void *p, size_t len);
/*
 * Write the records as a chunk, whose header is left in *c. stride: length of most of the records if they are
 * alike, else 0.
 */
int outfile_chunk(struct outfile *o, const struct records *p, size_t stride, struct trf_chunk *c);

#endif
