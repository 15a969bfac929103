// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * debugfile.c - where distributions keep what they strip: build-id directories, debug links,
 * and the compressed symbol table some leave inside; and where else it may be (places.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/foreign.h"
#include "base/mem.h"
#include "sym/places.h"
#include "sym/symfile_int.h"

#define MINIMAL_BYTES_MAX (256u << 20)
#define FILE_BYTES_MAX (8ull << 30)
#define CHECKSUM_BYTES_MAX (1ull << 30)	/* all of it is read */

int debugfile_open_below(const char *root, const char *path, struct err *e)
{
	/* Whoever's: it is the right one by its build-id or checksum, and its bytes are checked. */
	const struct foreign_rule rule = { .owner = FOREIGN_ANYBODY, .max_bytes = FILE_BYTES_MAX,
		.links = true };
	int dir, fd;

	if (!root || !root[0])
		return foreign_open(AT_FDCWD, path, &rule, e);
	/* Symbolic links in a container lead to its own files, not ours, only this way. */
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return err_errno(e, "%s", root);
	fd = foreign_open(dir, path, &rule, e);
	close(dir);
	return fd;
}

static bool crc_matches(const struct image *im, uint32_t want)
{
	bool ok = im->len <= CHECKSUM_BYTES_MAX;
	uint8_t *buf = xmalloc(1 << 16);
	uint64_t off, n;
	uLong crc = crc32(0, NULL, 0);

	for (off = 0; off < im->len && ok; off += n) {
		n = MIN(im->len - off, 1 << 16);
		ok = !image_read(im, off, buf, n);
		crc = crc32(crc, buf, n);
	}
	free(buf);
	return ok && crc == want;
}

struct build_id {
	const uint8_t *id;
	size_t len;
};

/* Try a file; crc NULL: only the build-id tells whether it is the wanted one. */
static bool try_file(const struct build_id *want, const char *root, const char *path,
		     const uint32_t *crc, struct image *debug)
{
	struct err e;
	int fd = debugfile_open_below(root, path, &e);
	uint8_t id[BUILD_ID_MAX];
	size_t len;

	if (fd < 0 || image_open_fd(debug, fd, path, &e))
		return false;
	len = image_build_id(debug, id, sizeof(id));
	if (want->len && len) {
		if (len == want->len && !memcmp(id, want->id, len))
			return true;
	} else if (crc && crc_matches(debug, *crc)) {
		return true;
	}
	image_close(debug);
	return false;
}

/*
 * Try a path as the process sees its files, then in the named folder, then ours: containers rarely have debug
 * files. Takes over path, and passes it on in *found unless that is NULL.
 */
static bool try_path(const struct symfile *f, const struct build_id *want, char *path,
		     const uint32_t *crc, struct image *debug, char **found)
{
	bool ok = (f->root[0] && try_file(want, f->root, path, crc, debug)) ||
		  (places_symfs()[0] && try_file(want, places_symfs(), path, crc, debug)) ||
		  try_file(want, "", path, crc, debug);

	if (ok && found)
		*found = path;
	else
		free(path);
	return ok;
}

static char *build_id_path(const struct build_id *want)
{
	char hex[2 * BUILD_ID_MAX + 1];

	hex_put(hex, want->id, MIN(want->len, (size_t)BUILD_ID_MAX));
	return xasprintf("/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
}

/* .gnu_debuglink: a file name, padded to four bytes, and the file's CRC. */
static char *debuglink(const struct image *im, uint32_t *crc)
{
	const struct image_section *s = image_section(im, ".gnu_debuglink");
	struct image_bytes b;
	char *name = NULL;
	struct err e;
	size_t len;

	if (!s || image_load(im, s, &b, &e))
		return NULL;
	len = strnlen((const char *)b.data, b.len);
	if (len && len < b.len && b.len >= ((len + 4) & ~3ull) + 4 &&
	    !memchr(b.data, '/', len)) {
		memcpy(crc, b.data + ((len + 4) & ~3ull), 4);
		name = xstrndup((const char *)b.data, len);
	}
	image_bytes_release(&b);
	return name;
}

/* Takes path, of this machine; NULL: there is none. */
static bool try_ours(const struct build_id *want, char *path, struct image *debug, char **found)
{
	bool ok = path && try_file(want, "", path, NULL, debug);

	if (ok)
		*found = path;
	else
		free(path);
	return ok;
}

bool debugfile_fetch(const struct symfile *f, struct image *debug, char **path, bool (*go_on)(void *ctx),
		     void *ctx)
{
	const struct build_id id = { f->id, f->id_len };

	return try_ours(&id, places_fetch(id.id, id.len, go_on, ctx), debug, path);
}

bool debugfile_find(const struct symfile *f, struct image *debug, char **path)
{
	const struct build_id id = { f->id, f->id_len };
	const char *slash = strrchr(f->path, '/');
	int dir = slash ? slash - f->path : 0;
	uint32_t crc;
	char *name;
	bool found;

	if (id.len > 1 && (try_path(f, &id, build_id_path(&id), NULL, debug, path) ||
			   try_ours(&id, places_perf_copy(id.id, id.len, "debug"), debug, path)))
		return true;
	name = slash ? debuglink(&f->im, &crc) : NULL;
	if (!name)
		return false;
	found = try_path(f, &id, xasprintf("%.*s/%s", dir, f->path, name), &crc, debug, path) ||
		try_path(f, &id, xasprintf("%.*s/.debug/%s", dir, f->path, name), &crc, debug, path) ||
		(f->path[0] == '/' &&
		 try_path(f, &id, xasprintf("/usr/lib/debug%.*s/%s", dir, f->path, name), &crc, debug, path));
	free(name);
	return found;
}

/* .gnu_debugaltlink: a path, from the file's own folder when relative, and a build-id. */
bool debugfile_find_common(const struct symfile *f, const struct image *im, struct image *common)
{
	const struct image_section *s = image_section(im, ".gnu_debugaltlink");
	const char *of = im == &f->debug && f->debug_path ? f->debug_path : f->path,
		   *slash = strrchr(of, '/');
	struct build_id id;
	struct image_bytes b;
	struct err e;
	bool found;
	size_t len;
	char *path;

	if (!s || image_load(im, s, &b, &e))
		return false;
	len = strnlen((const char *)b.data, b.len);
	id.id = b.data + len + 1;
	id.len = len + 1 < b.len ? b.len - len - 1 : 0;
	if (!len || id.len < 2 || id.len > BUILD_ID_MAX) {
		image_bytes_release(&b);
		return false;
	}
	path = b.data[0] == '/' || !slash ? xstrndup((const char *)b.data, len) :
		xasprintf("%.*s/%.*s", (int)(slash - of), of, (int)len, (const char *)b.data);
	found = try_path(f, &id, build_id_path(&id), NULL, common, NULL);
	if (found)
		free(path);
	else
		found = try_path(f, &id, path, NULL, common, NULL);
	image_bytes_release(&b);
	return found;
}

static uint8_t *unxz(const struct image_bytes *b, size_t *len, struct err *e)
{
	uint64_t mem = MINIMAL_BYTES_MAX;
	size_t alloc = MAX(b->len * 4, 1 << 16), in = 0;
	uint8_t *out = NULL;
	lzma_ret r;

	do {	/* the size is not known before; the stream is small, so start over */
		free(out);
		alloc *= 2;
		out = mem_untrusted(alloc, 1, MINIMAL_BYTES_MAX, e);
		if (!out)
			return NULL;
		in = *len = 0;
		r = lzma_stream_buffer_decode(&mem, 0, NULL, b->data, &in, b->len, out, len, alloc);
	} while (r == LZMA_BUF_ERROR);
	if (r != LZMA_OK) {
		free(out);
		err_set(e, EILSEQ, "damaged .gnu_debugdata");
		return NULL;
	}
	return out;
}

int debugfile_minimal(struct symtab *t, const struct image *im, struct err *e)
{
	const struct image_section *s = image_section(im, ".gnu_debugdata");
	struct image_bytes b;
	struct image mini;
	uint8_t *data;
	size_t len;
	int r;

	if (!s)
		return err_set(e, ENODATA, "no .gnu_debugdata");
	if (image_load(im, s, &b, e))
		return -e->code;
	data = unxz(&b, &len, e);
	image_bytes_release(&b);
	if (!data)
		return -e->code;
	r = image_open_memory(&mini, data, len, data, ".gnu_debugdata", e);
	if (!r) {
		r = symtab_load(t, &mini, im, ".symtab", e);
		image_close(&mini);
	}
	return r;
}
