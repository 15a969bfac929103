// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
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
