// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * outfile.c - chunks to a file.
 *
 * Invariant, cited below as [1]: a regular file ends with a whole chunk after every call.  A
 * chunk that could be written only in part is cut off again.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/foreign.h"
#include "base/io.h"
#include "base/mem.h"
#include "trace/outfile.h"

enum { COMPRESS_FROM = 256 };		/* smaller payloads are not worth it */

/*
 * A write beyond the file size limit or into a closed pipe must be an error, not a death:
 * the signals it raises are held back and swallowed.
 */
static int write_quietly(int fd, const void *p, size_t len)
{
	static const struct timespec now;
	sigset_t mine, old, pending;
	int r;

	sigemptyset(&mine);
	sigaddset(&mine, SIGPIPE);
	sigaddset(&mine, SIGXFSZ);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &mine, &old);
	r = io_write_all(fd, p, len);
	if (r) {
		if (sigismember(&pending, SIGPIPE))
			sigdelset(&mine, SIGPIPE);
		if (sigismember(&pending, SIGXFSZ))
			sigdelset(&mine, SIGXFSZ);
		while (sigtimedwait(&mine, NULL, &now) > 0)
			;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return r;
}

int outfile_store(struct outfile *o, const void *p, size_t len)
{
	int r = 0;

	if (o->take)
		o->take(o->take_ctx, p, len);
	else
		r = write_quietly(o->fd, p, len);
	if (!r) {
		o->nr_bytes += len;
		return 0;
	}
	if (!o->error) {
		o->error = r;
		snprintf(o->error_msg, sizeof(o->error_msg), "writing the trace at offset %" PRIu64 ": %s",
			 o->nr_bytes, strerror(-r));
	}
	if (o->regular && !ftruncate(o->fd, o->nr_bytes))	/* [1] */
		lseek(o->fd, o->nr_bytes, SEEK_SET);
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

/*
 * 0: the path is free, or a regular file's, which may become PATH.old; 1: a device or a pipe, to be
 * written to as it is.
 */
static int check_path(int dir, const char *path, const char *old, struct err *e)
{
	struct stat st;

	if (fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_errno(e, "%s", path);
	if (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode))
		return 1;
	if (!S_ISREG(st.st_mode))
		return err_set(e, EEXIST, "%s: exists and is not a regular file", path);
	if (!fstatat(dir, old, &st, AT_SYMLINK_NOFOLLOW) && !S_ISREG(st.st_mode))
		return err_set(e, EEXIST, "%s: exists and is not a regular file", old);
	return 0;
}

static int open_stdout(struct outfile *o, struct err *e)
{
	if (isatty(STDOUT_FILENO)) {
		err_set(e, EINVAL, "standard output is a terminal, and a trace is binary");
		err_hint(e, "send it to a file or a pipe, or name a file with --output");
		return -EINVAL;
	}
	o->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	/* What the program prints must not end up between the chunks. */
	if (o->fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return err_errno(e, "standard output");
	return 0;
}

/*
 * A hidden name that does not change says which file it will be: whoever finds it knows that it is not whole,
 * and can read it.
 */
static int create(struct outfile *o, const char *path)
{
	if (!o->until_closed) {
		o->temp = xasprintf("%s.XXXXXX", path);
		return mkostemp(o->temp, O_CLOEXEC);	/* O_EXCL, 0600 */
	}
	o->temp = xasprintf(".%s.part", path);
	return openat(o->dir_fd, o->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static int open_file(struct outfile *o, const char *path, struct err *e)
{
	struct stat st;
	int r;

	if (!strcmp(path, "-"))
		return open_stdout(o, e);
	o->path = xstrdup(path);
	o->old = xasprintf("%s.old", path);
	r = check_path(o->dir_fd, path, o->old, e);
	if (r < 0)
		return r;
	if (!r) {
		o->fd = create(o, path);
		if (o->fd < 0) {
			free(o->temp);
			o->temp = NULL;
			return err_errno(e, "%s", path);
		}
		o->regular = true;
		foreign_give_to_caller(o->fd);
		return 0;
	}
	o->fd = open(path, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	if (o->fd < 0 || fstat(o->fd, &st) < 0)
		return err_errno(e, "%s", path);
	if (S_ISREG(st.st_mode))
		return err_set(e, EEXIST, "%s: became a regular file just now", path);
	return 0;
}

static int commit(struct outfile *o, struct err *e)
{
	int r;

	if (!o->temp)
		return 0;
	r = check_path(o->dir_fd, o->path, o->old, e);
	if (r)
		return r < 0 ? r : err_set(e, EEXIST, "%s: became a device or a pipe just now", o->path);
	if (renameat(o->dir_fd, o->path, o->dir_fd, o->old) < 0 && errno != ENOENT)
		return err_errno(e, "%s: cannot be renamed to %s", o->path, o->old);
	if (renameat(o->dir_fd, o->temp, o->dir_fd, o->path) < 0)
		return err_errno(e, "%s: cannot be renamed to %s", o->temp, o->path);
	free(o->temp);
	o->temp = NULL;
	return 0;
}

int outfile_commit(struct outfile *o, struct err *e)
{
	return o->until_closed ? 0 : commit(o, e);
}

static int start(struct outfile *o, const char *path, const struct outfile_opts *opts, struct err *e)
{
	memset(o, 0, sizeof(*o));
	o->fd = -1;
	o->compress = opts->compress;
	o->until_closed = opts->until_closed;
	o->dir_fd = opts->dir_fd ? opts->dir_fd : AT_FDCWD;
	return deflateInit(&o->z, 1) == Z_OK ? 0 : err_set(e, ENOMEM, "%s: zlib cannot start", path);
}

int outfile_open_taken(struct outfile *o, void (*take)(void *ctx, const void *p, size_t len), void *ctx,
		       struct err *e)
{
	int r = start(o, "trace", &(struct outfile_opts){ .compress = false }, e);

	o->take = take;
	o->take_ctx = ctx;
	return r;
}

int outfile_open(struct outfile *o, const char *path, const struct outfile_opts *opts, struct err *e)
{
	int r = start(o, path, opts, e);

	if (r)
		return r;
	r = open_file(o, path, e);
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
	if (o->fd >= 0 && close(o->fd) < 0 && !r)
		r = err_errno(e, "closing the trace");
	o->fd = -1;
	if (o->temp && !r)
		r = commit(o, e);
	else if (o->temp)
		commit(o, &ignored);
	outfile_release(o);
	return r;
}

void outfile_release(struct outfile *o)
{
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
	if (o->temp)
		unlinkat(o->dir_fd, o->temp, 0);
	free(o->temp);
	free(o->path);
	free(o->old);
	o->temp = o->path = o->old = NULL;
	deflateEnd(&o->z);
	buf_release(&o->out);
	buf_release(&o->columns);
}
