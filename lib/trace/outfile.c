// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * outfile.c - chunks to a file.
 *
 * Invariant, cited below as [1]: a regular file ends with a whole chunk after every call.  A
 * chunk that could be written only in part is cut off again.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "trace/outfile.h"

enum { COMPRESS_FROM = 256 };		/* smaller payloads are not worth it */

int outfile_store(struct outfile *o, const void *p, size_t len)
{
	int r = 0;

	if (o->take)
		o->take(o->take_ctx, p, len);
	else
		r = io_write_quietly(o->file.fd, p, len);
	if (!r) {
		o->nr_bytes += len;
		return 0;
	}
	if (!o->error) {
		o->error = r;
		snprintf(o->error_msg, sizeof(o->error_msg), "writing the trace at offset %" PRIu64 ": %s",
			 o->nr_bytes, strerror(-r));
	}
	if (o->file.regular && !ftruncate(o->file.fd, o->nr_bytes))	/* [1] */
		lseek(o->file.fd, o->nr_bytes, SEEK_SET);
	return r;
}

/* Compresses into o->out after the header; 0 when that does not pay. */
static size_t deflate_payload(struct outfile *o, const void *raw, size_t len)
{
	z_stream *z = &o->z;

	if (!o->compress || len < COMPRESS_FROM || deflateReset(z) != Z_OK)
		return 0;
	z->next_in = (Bytef *)raw;
	z->avail_in = len;
	z->next_out = (Bytef *)o->out.data + sizeof(struct trf_chunk);
	z->avail_out = len - len / 8;
	return deflate(z, Z_FINISH) == Z_STREAM_END ? z->total_out : 0;
}

/*
 * Samples differ from each other in few of their bytes, and always in the same ones: by
 * columns they compress to half of what they do by rows, and twice as fast.
 */
static const void *transpose(struct outfile *o, const char *rows, size_t len, size_t stride)
{
	size_t nr = len / stride, i, k;
	char *to;

	buf_reset(&o->columns);
	to = buf_room(&o->columns, len);
	for (k = 0; k < stride; k++)
		for (i = 0; i < nr; i++)
			*to++ = rows[i * stride + k];
	memcpy(to, rows + nr * stride, len - nr * stride);
	return o->columns.data;
}

int outfile_chunk(struct outfile *o, const struct records *p, size_t stride, struct trf_chunk *c)
{
	const void *raw = p->b.data;
	size_t stored;

	if (o->error)
		return o->error;
	if (stride && o->compress)
		raw = transpose(o, p->b.data, p->b.len, stride);
	memset(c, 0, sizeof(*c));
	buf_reset(&o->out);
	buf_room(&o->out, sizeof(*c) + p->b.len);
	stored = deflate_payload(o, raw, p->b.len);
	if (stored)
		c->flags = TRF_ZLIB | (raw != p->b.data ? TRF_TRANSPOSED : 0);
	else
		memcpy(o->out.data + sizeof(*c), p->b.data, stored = p->b.len);
	c->flags |= p->flags;
	memcpy(c->magic, TRF_CHUNK_MAGIC, sizeof(c->magic));
	memcpy(c->type, p->type, sizeof(c->type));
	c->stored_len = stored;
	c->raw_len = p->b.len;
	c->payload_crc = crc32(0, (Bytef *)o->out.data + sizeof(*c), stored);
	c->stream = p->stream;
	c->first_ns = p->first_ns;
	c->last_ns = p->last_ns;
	c->nr_records = p->nr;
	c->seq = o->seq;
	c->stride = c->flags & TRF_TRANSPOSED ? stride : 0;
	c->crc = crc32(0, (Bytef *)c, offsetof(struct trf_chunk, crc));
	memcpy(o->out.data, c, sizeof(*c));
	if (outfile_store(o, o->out.data, sizeof(*c) + stored))
		return o->error;
	o->seq++;
	return 0;
}

/* ---- opening and closing ---- */

/* Take over stdout: what the program prints must not end up between the chunks. */
static int take_stdout(struct outfile *o, struct err *e)
{
	if (isatty(o->file.fd)) {
		err_set(e, EINVAL, "standard output is a terminal, and a trace is binary");
		err_hint(e, "send it to a file or a pipe, or name a file with --output");
		return -EINVAL;
	}
	return dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ? err_errno(e, "standard output") : 0;
}

int outfile_commit(struct outfile *o, struct err *e)
{
	return o->until_closed ? 0 : newfile_commit(&o->file, e);
}

static int outfile_start(struct outfile *o, const char *path, const struct outfile_opts *opts, struct err *e)
{
	memset(o, 0, sizeof(*o));
	o->file.fd = o->file.at.dir = -1;
	o->compress = opts->compress;
	o->until_closed = opts->until_closed;
	o->whole = opts->whole;
	return deflateInit(&o->z, 1) == Z_OK ? 0 : err_set(e, ENOMEM, "%s: zlib cannot start", path);
}

int outfile_open_taken(struct outfile *o, void (*take)(void *ctx, const void *p, size_t len), void *ctx,
		       struct err *e)
{
	int r = outfile_start(o, "trace", &(struct outfile_opts){ .compress = false }, e);

	o->take = take;
	o->take_ctx = ctx;
	return r;
}

int outfile_open(struct outfile *o, const char *path, const struct outfile_opts *opts, struct err *e)
{
	const struct newfile_opts how = { .recording = true, .secret = true, .part = opts->until_closed,
					  .dir = opts->dir_fd };
	int r = outfile_start(o, path, opts, e);

	if (r)
		return r;
	r = newfile_open(&o->file, path, &how, e);
	if (!r && o->file.at.descriptor == STDOUT_FILENO)
		r = take_stdout(o, e);
	if (r)
		outfile_release(o);
	return r;
}

int outfile_close(struct outfile *o, struct err *e)
{
	struct err ignored;
	int r = 0;

	if (o->error)
		r = err_set(e, -o->error, "%s", o->error_msg);
	if (!r)
		r = newfile_close(&o->file, e);
	else if (!o->whole)
		newfile_close(&o->file, &ignored);
	outfile_release(o);
	return r;
}

void outfile_release(struct outfile *o)
{
	newfile_abandon(&o->file);
	deflateEnd(&o->z);
	buf_release(&o->out);
	buf_release(&o->columns);
}
