// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/mem.h"
#include "folder.h"
#include "model/names.h"
#include "trace/reader.h"

/* Of paths in one folder; what is not closed yet has a '.' before its name. */
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

	model_init(&m, 1, FLOW_SAMPLES);
	names_init(&names, &m, &(struct resolve_opts){ .no_files = true });
	read = !trace_read(t, &names_sink, &names, &e);
	start_s = names_label_u64(&names, "start.realtime_ns") / 1000000000;
	names_release(&names);
	model_release(&m);
	return read && start_s >= p->since_s && (!p->until_s || start_s < p->until_s);
}

/* What cannot be opened as a trace is none. */
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
 * Does a recorder write there? It has the folder locked, which is looked up and not tried: the lock is for
 * recorders.
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

/* ".NAME.arc.part": what a recorder that was killed had in hand. */
static bool folder_is_left(const char *dir, const char *name)
{
	size_t len = strlen(name);

	return *name == '.' && len > 10 && !strcmp(name + len - 9, ".arc.part") && !is_written(dir);
}

static void add_path(struct fleet_paths *p, char *path)
{
	VEC_GROW(p->list, p->nr, p->alloc);
	p->list[p->nr++] = path;
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
