// SPDX-License-Identifier: GPL-2.0-or-later
/* folder.c - lists the traces in folders and sorts them (folder.h). */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "folder.h"
#include "model/names.h"
#include "trace/reader.h"

/* Compare names in one folder; that of an unclosed segment begins with a '.'. */
static int compare_names(const void *a, const void *b)
{
	const char *x = strrchr(*(char *const *)a, '/') + 1, *y = strrchr(*(char *const *)b, '/') + 1;

	return strcmp(x + (*x == '.'), y + (*y == '.'));
}

static bool began_then(const struct fleet_paths *p, struct trace_reader *t)
{
	struct names names;
	struct model m;
	struct err e;
	uint64_t start_s;
	bool read;

	read = !names_read_texts(&names, &m, t, &e);
	start_s = names_label_u64(&names, "start.realtime_ns") / 1000000000;
	names_release(&names);
	model_release(&m);
	return read && start_s >= p->since_s && (!p->until_s || start_s < p->until_s);
}

/* Return whether it is a wanted trace; what cannot be opened as a trace is none. */
static bool folder_is_wanted(const struct fleet_paths *p, const char *path)
{
	struct trace_reader *t;
	struct stat st;
	struct err e;
	bool wanted = true;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || (p->leave_out && p->leave_out(p->ctx, path)) ||
	    trace_reader_open(&t, path, &e))
		return false;
	if (p->since_s || p->until_s)
		wanted = began_then(p, t);
	trace_reader_close(t);
	return wanted;
}

/*
 * Return whether a recorder writes there. It has the folder locked, which is looked up and not tried: the
 * lock is for recorders.
 */
static bool is_written(const char *dir)
{
	struct buf b = BUF_INIT;
	char *line, *rest, inode[32];
	struct stat st;
	bool written = false;

	if (stat(dir, &st) || io_slurp("/proc/locks", &b)) {
		buf_release(&b);
		return true;
	}
	snprintf(inode, sizeof(inode), ":%llu ", (unsigned long long)st.st_ino);
	/* the list is empty, and b without data, where nobody holds a lock */
	line = b.len ? strtok_r(b.data, "\n", &rest) : NULL;
	for (; line && !written; line = strtok_r(NULL, "\n", &rest))
		written = strstr(line, "FLOCK") && strstr(line, inode);
	buf_release(&b);
	return written;
}

/* Return whether it is ".NAME.arc.part", the last file of a recorder that was killed. */
static bool folder_is_left(const char *dir, const char *name)
{
	size_t len = strlen(name);

	return *name == '.' && len > 10 && !strcmp(name + len - 9, ".arc.part") && !is_written(dir);
}

static void add_path(struct fleet_paths *p, char *path)
{
	*VEC_ADD(p->list, p->nr, p->alloc) = path;
}

/* Adds those of one folder. */
static int add_folder(struct fleet_paths *p, const char *dir, struct err *e)
{
	DIR *d = opendir(dir);
	int before = p->nr;
	struct dirent *entry;
	char *path;

	if (!d)
		return err_errno(e, "%s", dir);
	while ((entry = readdir(d))) {
		path = xasprintf("%s/%s", dir, entry->d_name);
		if ((*entry->d_name == '.' && !folder_is_left(dir, entry->d_name)) ||
		    !folder_is_wanted(p, path)) {
			free(path);
			continue;
		}
		add_path(p, path);
	}
	closedir(d);
	if (p->nr == before)
		return err_set(e, ENODATA, "%s: no traces%s", dir,
			       p->since_s || p->until_s ? " of that time" : "");
	qsort(p->list + before, p->nr - before, sizeof(*p->list), compare_names);
	return 0;
}

int fleet_list(struct fleet_paths *p, const char *dir, struct err *e)
{
	p->list = NULL;
	p->nr = p->alloc = 0;
	return add_folder(p, dir, e);
}

int list_traces(struct fleet_paths *p, int nr, char **names, struct err *e)
{
	int i, r = 0;

	*p = (struct fleet_paths){ .list = NULL };
	for (i = 0; i < nr && !r; i++)
		if (io_is_folder(names[i]))
			r = add_folder(p, names[i], e);
		else
			add_path(p, xstrdup(names[i]));
	if (r)
		fleet_list_release(p);
	return r;
}

void fleet_list_release(struct fleet_paths *p)
{
	while (p->nr)
		free(p->list[--p->nr]);
	free(p->list);
}

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

	for (path = strtok_r(copy, ",", &save); path; path = strtok_r(NULL, ",", &save))
		*VEC_ADD(p->list, p->nr, p->alloc) = xstrdup(path);
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
