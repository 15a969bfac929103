// SPDX-License-Identifier: GPL-2.0-or-later
/* input.c - opens the trace that a command reads, importing it if need be (input.h). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/inputs.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "cmd.h"
#include "collect/jvm/replay.h"
#include "flow/input.h"
#include "folder.h"
#include "formats/import.h"
#include "heap/hprof.h"
#include "input.h"
#include "jvm/journal_read.h"
#include "trace/reader.h"
#include "trace/splice.h"
#include "trace/walk.h"
#include "version.h"

/* Returns whether "record --mode wrap" makes this file. */
static bool has_ring(const char *path)
{
	char *ring = xasprintf("%s.ring", path);
	bool has = io_is_folder(ring);

	free(ring);
	return has;
}

static int explain_open(const char *path, int r, struct err *e)
{
	const char *what = r == -EINVAL ? import_recognize_file(path) : NULL;

	if (what)
		err_hint(e, "this is %s: '--import %s' reads it", what, path);
	else if (r == -EINVAL && hprof_recognize(path))
		err_hint(e, "this is a heap dump: 'arcprof heap report %s' reads it", path);
	else if (r == -ENOENT && has_ring(path))
		err_hint(e, "a flight recorder that was killed, or still runs, has left %s.ring: 'arcprof report %s.ring' reads it",
			 path, path);
	return r;
}

/* Open a file without a name or, where that is impossible, memory. */
static int open_temporary(struct err *e)
{
	int fd = newfile_unnamed("/tmp", e);

	if (fd < 0)
		fd = memfd_create("trace", MFD_CLOEXEC);
	return fd < 0 ? err_errno(e, "a temporary file") : fd;
}

/* Open the segments of a recording as one trace; return its descriptor. */
static int open_trace_folder(const char *path, struct err *e)
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

/* ---- journals ---- */

static bool is_journal(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint64_t magic[1];
	struct stat st;
	bool is = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) &&
		read(fd, magic, sizeof(magic)) == sizeof(magic) && journal_is(magic, sizeof(magic));

	if (fd >= 0)
		close(fd);
	return is;
}

struct temporary {
	int fd, error;
};

static void input_take(void *ctx, const void *p, size_t len)
{
	struct temporary *t = ctx;

	if (!t->error)
		t->error = io_write_all(t->fd, p, len);
}

/* Convert a journal; return a descriptor of the trace. */
static int open_journal(const char *path, struct err *e)
{
	struct temporary t = { .fd = open_temporary(e) };
	struct replay_opts o = { .version = ARCPROF_VERSION, .cache = true,
				 .trace = { .take = input_take, .take_ctx = &t } };
	struct io_map map;
	int r = t.fd < 0 ? t.fd : inputs_map(path, &map, e);

	if (!r) {
		o.data = map.data;
		o.len = map.len;
		r = replay_journal(&o, e);
		if (!r && t.error)
			r = err_set(e, -t.error, "a temporary file: %s", strerror(-t.error));
		if (r)
			err_wrap(e, "%s", path);
		io_unmap(&map);
	}
	if (!r && lseek(t.fd, 0, SEEK_SET) < 0)
		r = err_errno(e, "a temporary file");
	if (r && t.fd >= 0)
		close(t.fd);
	return r ? r : t.fd;
}

/* Convert another file to a trace; return its descriptor. -ENOTSUP: it is a trace, or unknown. */
static int open_converted(const char *path, struct err *e)
{
	if (strcmp(path, "-") && io_is_folder(path))
		return open_trace_folder(path, e);
	return is_journal(path) ? open_journal(path, e) : -ENOTSUP;
}

int input_open(struct trace_reader **t, const char *path, const char *import, struct err *e)
{
	int r = import ? import_open(import, e) : open_converted(path, e);

	*t = NULL;
	if (!import && r == -ENOTSUP)
		return (r = trace_reader_open(t, path, e)) ? explain_open(path, r, e) : 0;
	return r < 0 ? r : trace_reader_open_fd(t, r, import ? import : path, e);
}

int input_open_any(struct trace_reader **t, const char *path, struct err *e)
{
	return input_open(t, path, import_recognize_file(path) ? path : NULL, e);
}

int input_walk(struct walk **w, const char *path, const char *import, struct err *e)
{
	int r = import ? import_open(import, e) : open_converted(path, e);

	*w = NULL;
	if (!import && r == -ENOTSUP)
		return (r = walk_open(w, path, e)) ? explain_open(path, r, e) : 0;
	return r < 0 ? r : walk_open_fd(w, r, import ? import : path, e);
}

/* ---- texts ---- */

static int input_look_at(void *parse, const char *data, size_t len, struct err *e)
{
	struct model m;
	int r = (*(input_parse **)parse)(&m, data, len, e);

	model_release(&m);
	return r;
}

int input_text(struct model *m, const char *path, input_parse *parse, struct err *e)
{
	struct buf b = BUF_INIT;
	int r = inputs_read_lines(path, &b, input_look_at, &parse, e);

	if (r) {
		model_init(m, 1, FLOW_CALLS);
	} else {
		r = parse(m, b.data ? b.data : "", b.len, e);
		if (r)
			err_wrap(e, "%s", path);
	}
	buf_release(&b);
	return r;
}

/* ---- what every command says that read a damaged trace, and the exit status it gives ---- */

int warn_of_damage(const char *path, const struct trace_damage *d)
{
	bool damaged = d->nr_places || d->nr_bytes || d->nr_bad_records;

	if (damaged)
		log_warn("%s is damaged: %" PRIu64 " bytes in %" PRIu64 " place%s and %" PRIu64
			 " record%s skipped; first: %s",
			 path, d->nr_bytes, d->nr_places, plural(d->nr_places), d->nr_bad_records,
			 plural(d->nr_bad_records), d->first);
	if (d->truncated)
		log_warn("%s has no end: the recording was cut off after %.2f s, or still goes on", path,
			 d->span_ns / 1e9);
	return damaged || d->truncated ? 1 : 0;
}
