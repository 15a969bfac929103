// SPDX-License-Identifier: GPL-2.0-or-later
/* keep.c - removes old files of a recording from a folder (segments.h). */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/files/segments.h"

enum { NAME_BYTES = 256 };		/* longer names are nobody's */

static const char form[] = "dddd-dd-ddTdd.dd.ddZ";

void keep_put_time(char *name, size_t size, uint64_t real_ns)
{
	time_t s = real_ns / 1000000000;
	size_t len = strlen(name);
	struct tm tm;

	gmtime_r(&s, &tm);
	if (!strftime(name + len, size - len, "%Y-%m-%dT%H.%M.%SZ", &tm))
		name[len] = '\0';
}

DIR *keep_open_folder(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

static bool keep_is_time(const char *s)
{
	size_t i;

	for (i = 0; form[i]; i++)
		if (form[i] == 'd' ? s[i] < '0' || s[i] > '9' : s[i] != form[i])
			return false;
	return true;
}

bool keep_is_name(const struct keep *k, const char *name)
{
	size_t len = strlen(name), before = strlen(k->prefix), after = strlen(k->suffix);

	if (len >= NAME_BYTES || len < before + strlen(form) + after ||
	    strncmp(name, k->prefix, before) != 0 || strcmp(name + len - after, k->suffix) != 0)
		return false;
	name += before;
	len -= before + strlen(form) + after;
	return keep_is_time(name) && k->middle(name + strlen(form), len);
}

struct file {
	char name[NAME_BYTES];
	bool is_ahead;			/* by its name it is from the future */
	uint64_t bytes, closed_ns;
};

struct files {
	struct file *items;
	size_t nr_items, alloc_items;
	uint64_t bytes;
};

static int by_age(const void *a, const void *b)
{
	const struct file *x = a, *y = b;

	if (x->is_ahead != y->is_ahead)
		return x->is_ahead ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* List the files by their names alone, as most of them stay. */
static void keep_list(const struct keep *k, int dir, uint64_t now_ns, struct files *l)
{
	DIR *d = keep_open_folder(dir);
	char now[sizeof(form)] = "";
	struct dirent *entry;
	struct stat st;

	keep_put_time(now, sizeof(now), now_ns);
	while (d && (entry = readdir(d))) {
		const char *name = entry->d_name;
		struct file *f;

		if (!keep_is_name(k, name) || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		f = VEC_ADD(l->items, l->nr_items, l->alloc_items);
		*f = (struct file){ .bytes = st.st_size, .closed_ns =
			(uint64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec };
		strcpy(f->name, name);
		f->is_ahead = strncmp(name + strlen(k->prefix), now, strlen(form)) > 0;
		l->bytes += st.st_size;
	}
	if (d)
		closedir(d);
	if (l->nr_items)
		qsort(l->items, l->nr_items, sizeof(*l->items), by_age);
}

void keep_remove(const struct keep *k, int dir, const char *newest)
{
	uint64_t now_ns = clock_real_ns();
	struct files l = { 0 };
	size_t i;

	keep_list(k, dir, now_ns, &l);
	for (i = 0; i < l.nr_items; i++) {
		const struct file *f = &l.items[i];
		bool much = k->max_bytes && l.bytes > k->max_bytes;
		bool old = k->max_age_ns && f->closed_ns + k->max_age_ns < now_ns;

		if ((!much && !old) || !strcmp(f->name, newest))
			continue;
		if (!k->is_one(dir, f->name) || !unlinkat(dir, f->name, 0))
			l.bytes -= f->bytes;
	}
	free(l.items);
}
