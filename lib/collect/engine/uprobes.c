// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * uprobes.c - which file and which place in it "uprobe:FILE:FUNCTION" means.
 *
 * FILE with a slash is a path. Else it is the name of a file that recorded processes have mapped, or of the
 * program to be run, or of a library: beside the program, as the JVM's own are, or where the dynamic linker
 * looks. A file is opened once, and the kernel is given that descriptor.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/foreign.h"
#include "base/io.h"
#include "base/mem.h"
#include "collect/engine/recording.h"
#include "collect/engine/uprobes.h"
#include "jvm/jdk.h"
#include "pmu/uprobe.h"
#include "sym/symfile.h"

enum { MAX_RETURNS = 64 };

struct probed {
	struct uprobes probes;
	struct pmu_event *events;	/* those of the recording, with the numbers of tracepoints */
};

/* Open a regular file, else return -1. */
static int open_regular(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	return fd;
}

static int open_in(const char *dir, size_t len, const char *name)
{
	char path[PATH_MAX];

	if (!len || snprintf(path, sizeof(path), "%.*s/%s", (int)len, dir, name) >= (int)sizeof(path))
		return -1;
	return open_regular(path);
}

/* ---- what processes have mapped ---- */

/* "libz.so.1" is "/usr/lib/libz.so.1.3.1", too. */
static bool file_is_called(const char *path, const char *name)
{
	const char *base = strrchr(path, '/');
	size_t len = strlen(name);

	return base && !strncmp(base + 1, name, len) && (!base[1 + len] || base[1 + len] == '.');
}

/* Return the last column of a line of /proc/PID/maps; NULL: no file. */
static const char *path_of(char *line)
{
	char *path = strchr(line, '/');

	return path && !strstr(path, " (deleted)") ? path : NULL;
}

/* Open that process's file of that name; return -1 if it has none. */
static int open_mapped(int pid, const char *name)
{
	const struct foreign_rule rule = { .owner = FOREIGN_ANYBODY, .max_bytes = UINT64_MAX };
	char path[32];
	struct buf b = BUF_INIT;
	char *line = NULL, *save;
	struct err e;
	int fd = -1, root = foreign_paths_root(pid, &e);

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	if (root >= 0 && !io_slurp(path, &b) && b.len)
		line = strtok_r(b.data, "\n", &save);
	for (; line && fd < 0; line = strtok_r(NULL, "\n", &save)) {
		const char *mapped = path_of(line);

		if (mapped && file_is_called(mapped, name))
			fd = foreign_open(root, mapped, &rule, &e);	/* what is mapped is not a link */
	}
	if (root >= 0)
		close(root);
	buf_release(&b);
	return fd;
}

static bool is_same_binary(int a, int b)
{
	struct stat x, y;

	return !fstat(a, &x) && !fstat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* -1: none of them has such a file; -EEXIST: they have different ones. */
static int open_of_processes(const int *pids, size_t nr, const char *name, struct err *e)
{
	int fd = -1, first = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		int next = open_mapped(pids[i], name);

		if (next >= 0 && fd >= 0 && !is_same_binary(fd, next)) {
			close(next);
			close(fd);
			err_set(e, EEXIST, "processes %d and %d have different files '%s'", first, pids[i],
				name);
			err_hint(e, "give the path of one, or record them apart");
			return -EEXIST;
		}
		if (next >= 0 && fd >= 0) {
			close(next);
		} else if (next >= 0) {
			fd = next;
			first = pids[i];
		}
	}
	return fd;
}

/* ---- before anything is mapped ---- */

/* Open the file of that name where a JDK's program has its libraries; JDK 8 has one more folder. */
static int open_beside(const char *program, const char *name)
{
	static const char *const folders[] = {
		"", "/../lib", "/../lib/server", "/../jre/lib/amd64", "/../jre/lib/amd64/server",
		"/../lib/amd64/server",
	};
	char path[PATH_MAX], real[PATH_MAX], dir[PATH_MAX + 32], *slash;
	int fd = -1;
	size_t i;

	if (!launcher_find(program, path) || !realpath(path, real) || !(slash = strrchr(real, '/')))
		return -1;
	*slash = '\0';
	for (i = 0; i < ARRAY_SIZE(folders) && fd < 0; i++) {
		snprintf(dir, sizeof(dir), "%s%s", real, folders[i]);
		fd = open_in(dir, strlen(dir), name);
	}
	return fd;
}

static int open_in_each(const char *dirs, const char *name)
{
	int fd = -1;

	while (dirs && *dirs && fd < 0) {
		size_t len = strcspn(dirs, ":\n");

		if (*dirs == '/')
			fd = open_in(dirs, len, name);
		dirs += len + !!dirs[len];
	}
	return fd;
}

/* Open a library in the folders of ldconfig(8), and those that are always searched. */
static int open_library(const char *name)
{
	int fd = open_in_each(getenv("LD_LIBRARY_PATH"), name);
	glob_t files;
	size_t i;

	if (fd < 0 && !glob("/etc/ld.so.conf.d/*.conf", 0, NULL, &files)) {
		for (i = 0; i < files.gl_pathc && fd < 0; i++) {
			struct buf b = BUF_INIT;

			if (!io_slurp(files.gl_pathv[i], &b))
				fd = open_in_each(b.data, name);
			buf_release(&b);
		}
		globfree(&files);
	}
	return fd >= 0 ? fd : open_in_each("/lib64:/usr/lib64:/lib:/usr/lib:/usr/local/lib", name);
}

/* Open that file of the JDK whose java a script would start. */
static int open_of_java(const char *name)
{
	const char *home = getenv("JAVA_HOME");
	char path[PATH_MAX];
	int fd = -1;

	if (home && *home && snprintf(path, sizeof(path), "%s/bin/java", home) < (int)sizeof(path))
		fd = open_beside(path, name);
	return fd >= 0 ? fd : open_beside("java", name);
}

static int open_program(const char *program, const char *name)
{
	char path[PATH_MAX];

	return launcher_find(program, path) && file_is_called(path, name) ? open_regular(path) : -1;
}

/* -1: there is none; else as open_of_processes(). */
static int open_named(const struct collect_opts *o, const char *name, struct err *e)
{
	int fd = open_of_processes(o->pids, o->nr_pids, name, e);

	if (fd == -1)
		fd = open_of_processes(o->tids, o->nr_tids, name, e);
	if (fd != -1 || ((o->nr_pids || o->nr_tids) && !o->argv))
		return fd;
	if (o->argv)
		fd = open_program(o->argv[0], name);
	if (fd < 0 && o->argv)
		fd = open_beside(o->argv[0], name);
	if (fd < 0)
		fd = open_library(name);
	return fd >= 0 ? fd : open_of_java(name);
}

static int uprobe_open_file(const struct collect_opts *o, const char *file, struct err *e)
{
	int fd;

	if (strchr(file, '/')) {
		fd = open_regular(file);
		return fd >= 0 ? fd : err_errno(e, "%s", file);
	}
	fd = open_named(o, file, e);
	if (fd != -1)
		return fd;
	if (o->argv || o->system_wide)
		err_set(e, ENOENT, "cannot find a program or library '%s'", file);
	else
		err_set(e, ENOENT, "no recorded process has mapped a file '%s'", file);
	err_hint(e, "give its path, as in uprobe:/opt/app/lib/libapp.so:app_read");
	return -ENOENT;
}

static int uprobe_open_event(struct collect *c, struct probed *x, struct pmu_event *ev, struct err *e)
{
	uint64_t id = 0, at[MAX_RETURNS];
	struct symfile *f = NULL;
	const char *function;
	char *file;
	int fd, r;

	uprobe_split(ev->name, &file, &function);
	r = fd = uprobe_open_file(c->o, file, e);
	if (fd >= 0)
		r = symfile_open_fd(&f, fd, "", file, e);
	if (!r)
		r = symfile_function(f, function, &at[0], e) ? -e->code : 1;
	if (r > 0 && uprobe_is_return(ev->name))
		r = symfile_returns(f, at[0], at, ARRAY_SIZE(at), e);
	if (r > 0)
		r = uprobe_add(&x->probes, fd, at, r, &id, e);
	ev->attr.config = id;
	symfile_close(f);
	if (fd >= 0)
		close(fd);
	free(file);
	return r ? err_wrap(e, "event '%s'", ev->name) : 0;
}

int uprobes_open(struct collect *c, struct err *e)
{
	const struct evconf *ev = &c->o->ev;
	struct probed *x;
	size_t i;
	int r = 0;

	for (i = 0; i < ev->nr_events && !uprobe_is_named(ev->events[i].name); i++)
		;
	if (i == ev->nr_events)
		return 0;
	c->probed = x = xcalloc(1, sizeof(*x));
	x->probes = (struct uprobes)UPROBES_INIT;
	x->events = xcalloc(ev->nr_events, sizeof(*x->events));
	memcpy(x->events, ev->events, ev->nr_events * sizeof(*x->events));
	for (; i < ev->nr_events && !r; i++)
		if (uprobe_is_named(ev->events[i].name))
			r = uprobe_open_event(c, x, &x->events[i], e);
	c->opts.ev.events = x->events;
	return r;
}

void uprobes_close(struct collect *c)
{
	if (!c->probed)
		return;
	uprobes_release(&c->probed->probes);
	free(c->probed->events);
	free(c->probed);
	c->probed = NULL;
}
