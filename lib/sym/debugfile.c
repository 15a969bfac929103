// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * debugfile.c - where distributions keep what they strip: build-id directories, debug links,
 * and the compressed symbol table some leave inside.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <lzma.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"
#include "sym/symfile_int.h"

enum { OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };

#define MINIMAL_BYTES_MAX (256u << 20)

int debugfile_open_below(const char *root, const char *path)
{
	struct open_how how = { .flags = OPEN_FLAGS, .resolve = RESOLVE_IN_ROOT };
	char *full;
	int dir, fd;

	if (!root || !root[0])
		return open(path, OPEN_FLAGS);
	/* Symbolic links in a container lead to its own files, not ours, only this way. */
	dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -1;
	fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	close(dir);
	if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
		return fd;
	full = xasprintf("%s%s", root, path);
	fd = open(full, OPEN_FLAGS);
	free(full);
	return fd;
}

static bool crc_matches(const struct image *im, uint32_t want)
{
	uint8_t *buf = xmalloc(1 << 16);
	uint64_t off, n;
	uLong crc = crc32(0, NULL, 0);
	bool ok = true;

	for (off = 0; off < im->len && ok; off += n) {
		n = MIN(im->len - off, 1 << 16);
		ok = !image_read(im, off, buf, n);
		crc = crc32(crc, buf, n);
	}
	free(buf);
	return ok && crc == want;
}

/* crc NULL: only the build-id tells whether the file belongs to f. */
static bool try_file(const struct symfile *f, const char *root, const char *path,
		     const uint32_t *crc, struct image *debug)
{
	int fd = debugfile_open_below(root, path);
	uint8_t id[BUILD_ID_MAX];
	struct err e;
	size_t len;

	if (fd < 0 || image_open_fd(debug, fd, path, &e))
		return false;
	len = image_build_id(debug, id, sizeof(id));
	if (f->id_len && len) {
		if (len == f->id_len && !memcmp(id, f->id, len))
			return true;
	} else if (crc && crc_matches(debug, *crc)) {
		return true;
	}
	image_close(debug);
	return false;
}

/* First as the process sees its files, then ours: containers rarely have debug files. */
static bool try_path(const struct symfile *f, char *path, const uint32_t *crc, struct image *debug,
		     char **found)
{
	if ((f->root[0] && try_file(f, f->root, path, crc, debug)) ||
	    try_file(f, "", path, crc, debug)) {
		*found = path;
		return true;
	}
	free(path);
	return false;
}

static char *build_id_path(const struct symfile *f)
{
	char hex[2 * BUILD_ID_MAX + 1] = "";
	size_t i;

	for (i = 0; i < f->id_len; i++)
		snprintf(hex + 2 * i, 3, "%02x", f->id[i]);
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

bool debugfile_find(const struct symfile *f, struct image *debug, char **path)
{
	const char *slash = strrchr(f->path, '/');
	int dir = slash ? slash - f->path : 0;
	uint32_t crc;
	char *name;
	bool found;

	if (f->id_len > 1 && try_path(f, build_id_path(f), NULL, debug, path))
		return true;
	name = slash ? debuglink(&f->im, &crc) : NULL;
	if (!name)
		return false;
	found = try_path(f, xasprintf("%.*s/%s", dir, f->path, name), &crc, debug, path) ||
		try_path(f, xasprintf("%.*s/.debug/%s", dir, f->path, name), &crc, debug, path) ||
		(f->path[0] == '/' &&
		 try_path(f, xasprintf("/usr/lib/debug%.*s/%s", dir, f->path, name), &crc, debug, path));
	free(name);
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
