// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * classpath.c - see classpath.h. Of a JAR, which is a ZIP file, the directory at its end counts. Files of
 * more than 4 GiB are refused.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/gzip.h"
#include "base/io.h"
#include "base/mem.h"
#include "heap/classpath.h"

enum {
	MAX_CLASS = 64 << 20, END_BYTES = 22, ENTRY_BYTES = 46, LOCAL_BYTES = 30, MAX_COMMENT = 65535,
	STORED = 0, DEFLATED = 8,
};

struct classpath {
	struct place {
		char *folder;		/* or, NULL: */
		struct io_map jar;
		size_t directory;	/* where it is in the JAR, */
		uint32_t nr;		/* and the number of its entries */
	} *places;
	size_t nr, alloc;
};

static uint32_t le16(const struct io_map *b, size_t at)
{
	const uint8_t *p = b->data + at;

	return p[0] | p[1] << 8;
}

static uint32_t le32(const struct io_map *b, size_t at)
{
	return le16(b, at) | le16(b, at + 2) << 16;
}

/* Check whether that many bytes from there on are in the file, and begin with the magic number. */
static bool classpath_has(const struct io_map *b, size_t at, size_t len, uint32_t magic)
{
	return at <= b->len && len <= b->len - at && le32(b, at) == magic;
}

static bool find_directory(struct place *p)
{
	const struct io_map *b = &p->jar;
	size_t at, least = b->len > END_BYTES + MAX_COMMENT ? b->len - END_BYTES - MAX_COMMENT : 0;

	if (b->len < END_BYTES)
		return false;
	for (at = b->len - END_BYTES; !classpath_has(b, at, END_BYTES, 0x06054b50); at--)
		if (at == least)
			return false;
	p->nr = le16(b, at + 10);
	p->directory = le32(b, at + 16);
	return p->directory <= at;
}

static int add_place(struct classpath *cp, const char *path, struct err *e)
{
	struct place p = { .folder = NULL };
	int r = 0;

	if (io_is_folder(path))
		p.folder = xstrdup(path);
	else
		r = io_map(path, &p.jar, e);
	if (!r && !p.folder && !find_directory(&p))
		r = err_set(e, EINVAL, "'%s' is neither a folder nor a JAR", path);
	if (r) {
		io_unmap(&p.jar);
		return r;
	}
	*VEC_ADD(cp->places, cp->nr, cp->alloc) = p;
	return 0;
}

struct classpath *classpath_open(const char *list, struct err *e)
{
	struct classpath *cp = xcalloc(1, sizeof(*cp));
	char *copy = xstrdup(list), *save, *path;
	int r = 0;

	for (path = strtok_r(copy, ":", &save); path && !r; path = strtok_r(NULL, ":", &save))
		r = add_place(cp, path, e);
	free(copy);
	if (!r)
		return cp;
	classpath_free(cp);
	return NULL;
}

void classpath_free(struct classpath *cp)
{
	size_t i;

	for (i = 0; cp && i < cp->nr; i++) {
		free(cp->places[i].folder);
		io_unmap(&cp->places[i].jar);
	}
	if (cp)
		free(cp->places);
	free(cp);
}

/* Unpack the entry at that place of the directory. */
static bool unpack(const struct io_map *b, size_t entry, struct buf *out)
{
	uint32_t method = le16(b, entry + 10), packed = le32(b, entry + 20);
	size_t local = le32(b, entry + 42), at;
	struct err e;

	if (!classpath_has(b, local, LOCAL_BYTES, 0x04034b50))
		return false;
	at = local + LOCAL_BYTES + le16(b, local + 26) + le16(b, local + 28);
	if (at > b->len || packed > b->len - at || packed > MAX_CLASS)
		return false;
	if (method == STORED) {
		buf_add(out, b->data + at, packed);
		return true;
	}
	return method == DEFLATED && !inflate_bytes((const char *)b->data + at, packed, MAX_CLASS, out, &e);
}

static bool find_in_jar(const struct place *p, const char *name, size_t len, struct buf *out)
{
	const struct io_map *b = &p->jar;
	size_t at = p->directory;
	uint32_t i;

	for (i = 0; i < p->nr && classpath_has(b, at, ENTRY_BYTES, 0x02014b50); i++) {
		size_t name_len = le16(b, at + 28), next = at + ENTRY_BYTES + name_len;

		if (next > b->len)
			break;
		if (name_len == len && !memcmp(b->data + at + ENTRY_BYTES, name, len))
			return unpack(b, at, out);
		at = next + le16(b, at + 30) + le16(b, at + 32);
	}
	return false;
}

static bool find_in_folder(const char *folder, const char *name, struct buf *out)
{
	char *path = xasprintf("%s/%s", folder, name);
	struct buf b = BUF_INIT;
	struct err e;
	bool found = !io_read_file(path, &b, MAX_CLASS, &e);

	if (found)
		buf_add(out, b.data, b.len);
	buf_release(&b);
	free(path);
	return found;
}

bool classpath_find(const struct classpath *cp, const char *class_name, struct buf *out)
{
	const size_t before = out->len;
	char *name, *p;
	bool found = false;
	size_t i;

	/* a name from a dump can be anything, and leads nowhere else */
	if (strstr(class_name, "..") || strchr(class_name, '/'))
		return false;
	name = xasprintf("%s.class", class_name);
	for (p = name; p < name + strlen(class_name); p++)
		if (*p == '.')
			*p = '/';
	for (i = 0; i < cp->nr && !found; i++) {
		const struct place *x = &cp->places[i];

		out->len = before;
		found = x->folder ? find_in_folder(x->folder, name, out) :
			find_in_jar(x, name, strlen(name), out);
	}
	if (!found)
		out->len = before;
	free(name);
	return found;
}
