// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "heap/hprof.h"
#include "import/import.h"
#include "input.h"
#include "trace/splice.h"
#include "trace/walk.h"

static int explain(const char *path, int r, struct err *e)
{
	const char *what = r == -EINVAL ? import_recognize_file(path) : NULL;

	if (what)
		err_hint(e, "this is %s: '--import %s' reads it", what, path);
	else if (r == -EINVAL && hprof_recognize(path))
		err_hint(e, "this is a heap dump: 'arcprof heap report %s' reads it", path);
	return r;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return strcmp(path, "-") && !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* A file without a name; where there is none, memory. */
static int open_temporary(struct err *e)
{
	const char *dir = getenv("TMPDIR");
	int fd = open(dir && *dir == '/' ? dir : "/tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);

	if (fd < 0)
		fd = memfd_create("trace", MFD_CLOEXEC);
	return fd < 0 ? err_errno(e, "a temporary file") : fd;
}

/* The segments of a recording, as one trace: a descriptor. */
static int open_folder(const char *path, struct err *e)
{
	struct fleet_paths paths = { .since_s = 0 };
	int fd, r = fleet_list(&paths, path, e);

	if (r)
		return r;
	fd = r = open_temporary(e);
	if (fd >= 0 && (r = splice_to_fd((const char *const *)paths.list, paths.nr, fd, e))) {
		close(fd);
		if (r == -EINVAL)
			err_hint(e, "'arcprof fleet report %s' adds up traces of several recordings", path);
	}
	fleet_list_release(&paths);
	return r < 0 ? r : fd;
}

int input_open(struct trace_reader **t, const char *path, const char *import, struct err *e)
{
	int r = import ? import_open(import, e) : 0;

	*t = NULL;
	if (!import && is_folder(path)) {
		r = open_folder(path, e);
		return r < 0 ? r : trace_reader_open_fd(t, r, path, e);
	}
	if (!import)
		return (r = trace_reader_open(t, path, e)) ? explain(path, r, e) : 0;
	return r < 0 ? r : trace_reader_open_fd(t, r, import, e);
}

int input_open_any(struct trace_reader **t, const char *path, struct err *e)
{
	return input_open(t, path, import_recognize_file(path) ? path : NULL, e);
}

int input_walk(struct walk **w, const char *path, const char *import, struct err *e)
{
	int r = import ? import_open(import, e) : 0;

	*w = NULL;
	if (!import && is_folder(path)) {
		r = open_folder(path, e);
		return r < 0 ? r : walk_open_fd(w, r, path, e);
	}
	if (!import)
		return (r = walk_open(w, path, e)) ? explain(path, r, e) : 0;
	return r < 0 ? r : walk_open_fd(w, r, import, e);
}
