// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "fleet_sent.h"

static void remember(struct sent *s, uint64_t folder, uint64_t file)
{
	VEC_GROW(s->items, s->nr_items, s->alloc_items);
	s->items[s->nr_items++] = (struct sent_file){ folder, file };
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
	char *aside = xasprintf("%s.new", s->path);
	FILE *out = fopen(aside, "we");
	bool ok = out;
	size_t i;
	int r = 0;

	for (i = 0; ok && i < s->nr_items; i++)
		ok = put_line(out, &s->items[i]);
	if (!ok)
		r = failed(aside, out, e);
	else if (fclose(out) || rename(aside, s->path))
		r = failed(aside, NULL, e);
	if (r)
		unlink(aside);
	free(aside);
	return r;
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
