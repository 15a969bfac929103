// SPDX-License-Identifier: GPL-2.0-or-later
/* fleet_sent.c - the list of files that fleet push has put into its spool (fleet_sent.h). */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/newfile.h"
#include "fleet_sent.h"

static void remember(struct sent *s, uint64_t folder, uint64_t file)
{
	*VEC_ADD(s->items, s->nr_items, s->alloc_items) = (struct sent_file){ folder, file };
	*map_put(&s->known, file) = 1;
}

void sent_open(struct sent *s, const char *spool, const char *url, bool otlp)
{
	uint64_t folder, file;
	FILE *in;

	*s = (struct sent){ .path = xasprintf("%s/sent", spool) };
	s->server = hash_pair(hash_bytes(url, strlen(url)), otlp);
	in = fopen(s->path, "re");
	while (in && fscanf(in, "%16" SCNx64 " %16" SCNx64, &folder, &file) == 2)
		remember(s, folder, file);
	if (in)
		fclose(in);
}

bool sent_key(const struct sent *s, const char *path, uint64_t *key)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	*key = hash_pair(hash_pair(s->server, st.st_dev), hash_pair(st.st_ino, st.st_size));
	*key = hash_pair(*key, (uint64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec);
	return true;
}

bool sent_has(const struct sent *s, uint64_t key)
{
	return map_get(&s->known, key) != MAP_NONE;
}

static uint64_t folder_key(const struct sent *s, const char *folder)
{
	char *real = realpath(folder, NULL);
	const char *name = real ? real : folder;
	uint64_t key = hash_pair(s->server, hash_bytes(name, strlen(name)));

	free(real);
	return key;
}

static int failed(const char *path, FILE *out, struct err *e)
{
	int r = err_errno(e, "%s", path);

	if (out)
		fclose(out);
	return r;
}

static bool put_line(FILE *out, const struct sent_file *f)
{
	return fprintf(out, "%016" PRIx64 " %016" PRIx64 "\n", f->folder, f->file) > 0;
}

int sent_add(struct sent *s, const char *folder, uint64_t key, struct err *e)
{
	FILE *out = fopen(s->path, "ae");

	remember(s, folder_key(s, folder), key);
	if (!out || !put_line(out, &s->items[s->nr_items - 1]))
		return failed(s->path, out, e);
	return fclose(out) ? failed(s->path, NULL, e) : 0;
}

static int rewrite(const struct sent *s, struct err *e)
{
	struct newfile f;
	FILE *out = NULL;
	size_t i;
	int fd, r = newfile_open(&f, s->path, &(struct newfile_opts){ .own = true }, e);

	if (r)
		return r;
	fd = fcntl(f.fd, F_DUPFD_CLOEXEC, 3);
	out = fd >= 0 ? fdopen(fd, "w") : NULL;
	for (i = 0; out && i < s->nr_items; i++)
		put_line(out, &s->items[i]);
	if (!out || ferror(out) | fclose(out)) {
		r = err_errno(e, "%s", s->path);
		newfile_abandon(&f);
		return r;
	}
	return newfile_close(&f, e);
}

int sent_keep(struct sent *s, const char *folder, const struct map *keys, struct err *e)
{
	uint64_t of = folder_key(s, folder);
	size_t i, nr = 0, before = s->nr_items;

	for (i = 0; i < before; i++)
		if (s->items[i].folder != of || map_get(keys, s->items[i].file) != MAP_NONE)
			s->items[nr++] = s->items[i];
	s->nr_items = nr;
	if (nr == before)
		return 0;
	map_reset(&s->known);
	for (i = 0; i < nr; i++)
		*map_put(&s->known, s->items[i].file) = 1;
	return rewrite(s, e);
}

void sent_close(struct sent *s)
{
	free(s->path);
	free(s->items);
	map_release(&s->known);
}
