// SPDX-License-Identifier: GPL-2.0-or-later
/* gzip.c - gzip by zlib (gzip.h). */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <zlib.h>

#include "base/gzip.h"
#include "base/mem.h"

enum { GZIP_WINDOW_BITS = 15 + 16, GZIP_MEMORY = 8 };

struct gzip {
	FILE *out;
	z_stream z;
};

static void compress_bytes(struct gzip *g, const char *data, size_t len, int flush)
{
	char chunk[16384];

	g->z.next_in = (void *)data;
	g->z.avail_in = len;
	do {
		g->z.next_out = (void *)chunk;
		g->z.avail_out = sizeof(chunk);
		deflate(&g->z, flush);
		fwrite(chunk, 1, sizeof(chunk) - g->z.avail_out, g->out);
	} while (!g->z.avail_out);
}

static ssize_t gzip_write(void *cookie, const char *data, size_t len)
{
	compress_bytes(cookie, data, len, Z_NO_FLUSH);
	return len;
}

static int gzip_close(void *cookie)
{
	struct gzip *g = cookie;

	compress_bytes(g, NULL, 0, Z_FINISH);
	deflateEnd(&g->z);
	free(g);
	return 0;
}

FILE *gzip_open(FILE *out, struct err *e)
{
	const cookie_io_functions_t io = { .write = gzip_write, .close = gzip_close };
	struct gzip *g = xcalloc(1, sizeof(*g));
	FILE *f = NULL;

	g->out = out;
	if (deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW_BITS, GZIP_MEMORY,
			 Z_DEFAULT_STRATEGY) == Z_OK) {
		f = fopencookie(g, "w", io);
		if (!f)
			deflateEnd(&g->z);
	}
	if (!f) {
		free(g);
		err_set(e, ENOMEM, "no memory to compress the output");
	}
	return f;
}

int gzip_bytes(const char *data, size_t len, struct buf *out, struct err *e)
{
	z_stream z = { .next_in = (Bytef *)data, .avail_in = len };
	size_t bound;
	int r;

	if (len > UINT_MAX)
		return err_set(e, EFBIG, "%zu bytes are too many to compress at once", len);
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW_BITS, GZIP_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return err_set(e, ENOMEM, "no memory to compress");
	bound = deflateBound(&z, len);
	z.next_out = buf_room(out, bound);
	z.avail_out = bound;
	r = deflate(&z, Z_FINISH);
	out->len += z.total_out;
	deflateEnd(&z);
	return r == Z_STREAM_END ? 0 : err_set(e, EIO, "cannot compress");
}

int gunzip_bytes(const char *data, size_t len, size_t limit, struct buf *out, struct err *e)
{
	enum { PIECE = 1 << 18 };
	z_stream z = { 0 };
	int r = Z_OK;

	if (inflateInit2(&z, GZIP_WINDOW_BITS) != Z_OK)
		return err_set(e, ENOMEM, "no memory to decompress");
	z.next_in = (void *)data;
	while (r == Z_OK && out->len <= limit) {
		if (!z.avail_in) {
			size_t left = len - ((const char *)z.next_in - data);

			z.avail_in = MIN(left, (size_t)UINT_MAX);
		}
		z.next_out = buf_room(out, PIECE);
		z.avail_out = PIECE;
		r = inflate(&z, Z_NO_FLUSH);
		out->len += PIECE - z.avail_out;
		out->data[out->len] = '\0';
		if (r == Z_STREAM_END && (const char *)z.next_in < data + len)
			r = inflateReset(&z);
	}
	inflateEnd(&z);
	if (out->len > limit) {
		err_set(e, EFBIG, "%zu bytes decompress to more than %zu MiB", len, limit >> 20);
		err_hint(e, "if that is meant, decompress the file first: gzip -d");
		return -EFBIG;
	}
	if (r != Z_STREAM_END && r != Z_OK)
		return err_set(e, EINVAL, r == Z_BUF_ERROR ? "the compressed data is truncated" :
					  "the compressed data is damaged");
	return 0;
}

int inflate_bytes(const char *data, size_t len, size_t limit, struct buf *out, struct err *e)
{
	enum { RAW_WINDOW_BITS = -15, PIECE = 1 << 16 };
	z_stream z = { .next_in = (Bytef *)data, .avail_in = len };
	size_t before = out->len;
	int r = Z_OK;

	if (len > UINT_MAX || inflateInit2(&z, RAW_WINDOW_BITS) != Z_OK)
		return err_set(e, ENOMEM, "no memory to decompress");
	while (r == Z_OK && out->len - before <= limit) {
		z.next_out = buf_room(out, PIECE);
		z.avail_out = PIECE;
		r = inflate(&z, Z_NO_FLUSH);
		out->len += PIECE - z.avail_out;
	}
	inflateEnd(&z);
	if (out->len - before > limit)
		return err_set(e, EFBIG, "%zu bytes decompress to more than %zu MiB", len, limit >> 20);
	return r == Z_STREAM_END ? 0 : err_set(e, EINVAL, "the compressed data is damaged");
}
