// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "baseline.h"

/* The folder of the commit that was looked for in a store, so far. */
struct found {
	char *path;
	struct timespec changed;
	bool whole;	/* its name is the commit, not only the beginning of it */
	size_t nr;
};

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* commit NULL: any. */
static void consider(struct found *f, const char *store, const char *name, const char *commit)
{
	char *path = xasprintf("%s/%s", store, name);
	bool whole = commit && !strcmp(name, commit);
	struct stat st;

	if (*name == '.' || f->whole || stat(path, &st) || !S_ISDIR(st.st_mode) ||
	    (commit && strncmp(name, commit, strlen(commit)) != 0)) {
		free(path);
		return;
	}
	f->nr++;
	f->whole = whole;
	if (f->path && !whole && !is_later(&st.st_mtim, &f->changed)) {
		free(path);
		return;
	}
	free(f->path);
	f->path = path;
	f->changed = st.st_mtim;
}

static int list_store(struct fleet_paths *p, const char *store, const char *commit, struct err *e)
{
	struct found f = { .nr = 0 };
	struct dirent *entry;
	DIR *d = opendir(store);
	int r;

	if (!d)
		return err_errno(e, "%s", store);
	while ((entry = readdir(d)))
		consider(&f, store, entry->d_name, commit);
	closedir(d);
	if (!f.path)
		r = commit ? err_set(e, ENOENT, "%s: no recordings of commit '%s'", store, commit) :
			     err_set(e, ENOENT, "%s: no folder of a commit", store);
	else if (commit && !f.whole && f.nr > 1)
		r = err_set(e, EINVAL, "%s: '%s' is the beginning of %zu commits", store, commit, f.nr);
	else
		r = fleet_list(p, f.path, e);
	free(f.path);
	return r;
}

static int list_files(struct fleet_paths *p, const char *text)
{
	char *copy = xstrdup(text), *path, *save = NULL;

	for (path = strtok_r(copy, ",", &save); path; path = strtok_r(NULL, ",", &save)) {
		VEC_GROW(p->list, p->nr, p->alloc);
		p->list[p->nr++] = xstrdup(path);
	}
	free(copy);
	return 0;
}

int baseline_list(struct fleet_paths *p, const char *text, struct err *e)
{
	const char *at = strrchr(text, '@');
	char *store;
	int r;

	memset(p, 0, sizeof(*p));
	if (io_is_folder(text))
		return list_store(p, text, NULL, e);
	store = at ? xstrndup(text, at - text) : NULL;
	if (at && at[1] && access(text, F_OK) && io_is_folder(store))
		r = list_store(p, store, at + 1, e);
	else
		r = list_files(p, text);
	free(store);
	return r;
}
