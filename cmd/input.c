// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "heap/hprof.h"
#include "import/import.h"
#include "input.h"
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

int input_open(struct trace_reader **t, const char *path, const char *import, struct err *e)
{
	int r = import ? import_open(import, e) : 0;

	*t = NULL;
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
	if (!import)
		return (r = walk_open(w, path, e)) ? explain(path, r, e) : 0;
	return r < 0 ? r : walk_open_fd(w, r, import, e);
}
