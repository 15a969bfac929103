// SPDX-License-Identifier: GPL-2.0-or-later
/* unpack.c - decompresses profiles (unpack.h). */
#include <bzlib.h>
#include <errno.h>
#include <limits.h>
#include <lzma.h>
#include <string.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "base/gzip.h"
#include "base/mem.h"
#include "base/span.h"
#include "formats/import.h"

enum {
	PIECE = 1 << 18,
	XZ_MEMORY_BYTES = 256 << 20,		/* xz -9 takes 65 MiB */
	ZSTD_WINDOW_LOG = 27,			/* zstd's own limit without --long */
};

struct packing {
	const char *name, *command;
	const char *magic;
	unsigned int len;
	/* NULL: only the name is known. Returns PACKED_... above 0 if *out has what came before. */
	int (*run)(const char *data, size_t len, size_t limit, struct buf *out, struct err *e);
};

enum { PACKED_TRUNCATED = 1, PACKED_DAMAGED };

static int refuse_memory(struct err *e)
{
	return err_set(e, ENOMEM, "no memory to decompress");
}

#ifdef HAVE_ZSTD
static int run_zstd(const char *data, size_t len, size_t limit, struct buf *out, struct err *e)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	ZSTD_inBuffer in = { data, len, 0 };
	size_t r = 1;

	if (!z)
		return refuse_memory(e);
	ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG);
	while (out->len <= limit) {
		ZSTD_outBuffer to = { buf_room(out, PIECE), PIECE, 0 };

		r = ZSTD_decompressStream(z, &to, &in);
		out->len += to.pos;
		out->data[out->len] = '\0';
		if (ZSTD_isError(r) || (in.pos == len && to.pos < to.size))
			break;
	}
	ZSTD_freeDStream(z);
	return ZSTD_isError(r) ? PACKED_DAMAGED : r && out->len <= limit ? PACKED_TRUNCATED : 0;
}
#endif

static int run_xz(const char *data, size_t len, size_t limit, struct buf *out, struct err *e)
{
	lzma_stream z = LZMA_STREAM_INIT;
	lzma_ret r;

	if (lzma_stream_decoder(&z, XZ_MEMORY_BYTES, LZMA_CONCATENATED) != LZMA_OK)
		return refuse_memory(e);
	z.next_in = (const uint8_t *)data;
	z.avail_in = len;
	do {
		z.next_out = buf_room(out, PIECE);
		z.avail_out = PIECE;
		r = lzma_code(&z, LZMA_FINISH);
		out->len += PIECE - z.avail_out;
		out->data[out->len] = '\0';
	} while (r == LZMA_OK && out->len <= limit);
	lzma_end(&z);
	return r == LZMA_STREAM_END || r == LZMA_OK ? 0 :
	       r == LZMA_BUF_ERROR ? PACKED_TRUNCATED : PACKED_DAMAGED;
}

static int run_bzip2(const char *data, size_t len, size_t limit, struct buf *out, struct err *e)
{
	bz_stream z = { .next_in = NULL };
	size_t left = len;
	int r = BZ_OK;

	if (BZ2_bzDecompressInit(&z, 0, 0) != BZ_OK)
		return refuse_memory(e);
	z.next_in = (char *)data;
	while (r == BZ_OK && out->len <= limit) {
		if (!z.avail_in) {
			z.avail_in = MIN(left, (size_t)UINT_MAX);
			left -= z.avail_in;
		}
		z.next_out = buf_room(out, PIECE);
		z.avail_out = PIECE;
		r = BZ2_bzDecompress(&z);
		out->len += PIECE - z.avail_out;
		out->data[out->len] = '\0';
		if (r == BZ_OK && !z.avail_in && !left && z.avail_out)
			break;
		if (r == BZ_STREAM_END && (z.avail_in || left)) {	/* another one follows */
			char *next = z.next_in;
			unsigned int avail = z.avail_in;

			BZ2_bzDecompressEnd(&z);
			z = (bz_stream){ .next_in = NULL };
			if (BZ2_bzDecompressInit(&z, 0, 0) != BZ_OK)
				return refuse_memory(e);
			z.next_in = next;
			z.avail_in = avail;
			r = BZ_OK;
		}
	}
	BZ2_bzDecompressEnd(&z);
	return r == BZ_STREAM_END || out->len > limit ? 0 : r == BZ_OK ? PACKED_TRUNCATED : PACKED_DAMAGED;
}

/* ---- zip ---- */

/* Return how many files an archive has; 0: its end, which says that, is missing. */
static unsigned int count_members(const char *data, size_t len)
{
	size_t at = len < 22 ? 0 : len - 22, least = at > 65535 ? at - 65535 : 0;

	for (; len >= 22; at--) {
		if (!memcmp(data + at, "PK\5\6", 4))
			return (uint8_t)data[at + 10] | (uint8_t)data[at + 11] << 8;
		if (at == least)
			break;
	}
	return 0;
}

static int inflate_raw(const char *data, size_t len, size_t limit, struct buf *out, struct err *e)
{
	z_stream z = { 0 };
	size_t left = len;
	int r = Z_OK;

	if (inflateInit2(&z, -15) != Z_OK)
		return refuse_memory(e);
	z.next_in = (void *)data;
	while (r == Z_OK && out->len <= limit) {
		if (!z.avail_in) {
			z.avail_in = MIN(left, (size_t)UINT_MAX);
			left -= z.avail_in;
		}
		z.next_out = buf_room(out, PIECE);
		z.avail_out = PIECE;
		r = inflate(&z, Z_NO_FLUSH);
		out->len += PIECE - z.avail_out;
		out->data[out->len] = '\0';
	}
	inflateEnd(&z);
	return r == Z_STREAM_END || out->len > limit ? 0 :
	       r == Z_BUF_ERROR ? PACKED_TRUNCATED : PACKED_DAMAGED;
}

static int run_zip(const char *data, size_t len, size_t limit, struct buf *out, struct err *e)
{
	enum { STORED, DEFLATED = 8 };
	struct span s = span_init(data, len);
	unsigned int nr = count_members(data, len), method;
	size_t size, name_len, extra_len;

	if (nr > 1) {
		err_set(e, EINVAL, "a zip archive of %u files", nr);
		err_hint(e, "unzip it, and import one of its files");
		return -EINVAL;
	}
	span_bytes(&s, 8);
	method = span_u16(&s);
	span_bytes(&s, 8);
	size = span_u32(&s);
	span_u32(&s);
	name_len = span_u16(&s);
	extra_len = span_u16(&s);
	if (!span_bytes(&s, name_len) || !span_bytes(&s, extra_len))
		return PACKED_TRUNCATED;
	if (method == DEFLATED)
		return inflate_raw((const char *)s.p, span_left(&s), limit, out, e);
	if (method != STORED)
		return err_set(e, EOPNOTSUPP, "a zip archive with method %u, which is not decompressed", method);
	buf_add(out, s.p, MIN(size, MIN(span_left(&s), limit + 1)));
	return size > span_left(&s) ? PACKED_TRUNCATED : 0;
}

/* ---- all ---- */

static const struct packing packings[] = {
	{ "gzip", "gzip -d", "\x1f\x8b", 2, gunzip_bytes },
#ifdef HAVE_ZSTD
	{ "zstd", "zstd -d", "\x28\xb5\x2f\xfd", 4, run_zstd },
#else
	{ "zstd", "zstd -d", "\x28\xb5\x2f\xfd", 4, NULL },
#endif
	{ "xz", "xz -d", "\xfd" "7zXZ\0", 6, run_xz },
	{ "bzip2", "bzip2 -d", "BZh", 3, run_bzip2 },
	{ "zip", "unzip", "PK\3\4", 4, run_zip },
	{ "lz4", "lz4 -d", "\x04\x22\x4d\x18", 4, NULL },
	{ "compress", "gzip -d", "\x1f\x9d", 2, NULL },
	{ "lzip", "lzip -d", "LZIP", 4, NULL },
	{ "7z", "7z x", "7z\xbc\xaf\x27\x1c", 6, NULL },
};

const struct packing *packing_of(const char *data, size_t len)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(packings); i++)
		if (len > packings[i].len && !memcmp(data, packings[i].magic, packings[i].len))
			return &packings[i];
	return NULL;
}

int unpack(const struct packing *p, const char *data, size_t len, size_t limit, struct buf *out,
	   struct err *e)
{
	int r;

	if (!p->run) {
		err_set(e, EOPNOTSUPP, "compressed by %s, which is not decompressed here", p->name);
		err_hint(e, "decompress the file first: %s", p->command);
		return -EOPNOTSUPP;
	}
	r = p->run(data, len, limit, out, e);
	if (r < 0)
		return r;
	if (out->len > limit) {
		err_set(e, EFBIG, "%zu bytes decompress to more than %zu MiB", len, limit >> 20);
		err_hint(e, "if that is meant, decompress the file first: %s", p->command);
		return -EFBIG;
	}
	return !r ? 0 : err_set(e, EINVAL, r == PACKED_TRUNCATED ? "the compressed data is truncated" :
				"the compressed data is damaged");
}
