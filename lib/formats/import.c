// SPDX-License-Identifier: GPL-2.0-or-later
/* import.c - recognizes a foreign profile, decompresses it, and converts it to a trace (import.h). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/inputs.h"
#include "base/io.h"
#include "base/labels.h"
#include "base/mem.h"
#include "formats/import.h"
#include "formats/sink.h"
#include "version.h"

/* Text is recognised last: it has no magic number. */
static const struct import_format *const formats[] = {
	&import_jfr,
	&import_perf,
	&import_pprof,
	&import_otlp,
	&import_otlp_json,
	&import_firefox,
	&import_speedscope,
	&import_chrome,
	&import_cpuprofile,
	&import_heapprofile,
	&import_dhat,
	&import_massif,
	&import_heaptrack,
	&import_gperftools,
	&import_jemalloc,
	&import_hprof_text,
	&import_gclog,
	&import_threads,
	&import_callgrind,
	&import_perf_script,
	&import_folded,
};

/* ---- bytes ---- */

struct bytes {
	const char *data;
	size_t len;
	struct io_map map;
	struct buf own;
};

static void bytes_release(struct bytes *b)
{
	io_unmap(&b->map);
	buf_release(&b->own);
}

/*
 * Return how many bytes may be unpacked. Profiles repeat themselves, but not without end: they may grow
 * sixteenfold, small ones a hundredfold up to 1 GiB, and any up to 64 MiB.
 */
static size_t most_bytes(size_t compressed)
{
	size_t most = MIN(compressed * 100, (size_t)1 << 30);

	return MAX(MAX(compressed * 16, most), (size_t)64 << 20);
}

/* ---- from bytes to a trace ---- */

/* Return how long the mark at the beginning is that says that a text is UTF-8. */
static size_t length_of_mark(const char *data, size_t len)
{
	return len >= 3 && !memcmp(data, "\xef\xbb\xbf", 3) ? 3 : 0;
}

static const struct import_format *find_format(const char *data, size_t len)
{
	size_t i, mark = length_of_mark(data, len);

	data += mark;
	len -= mark;
	if (!len)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(formats); i++)
		if (formats[i]->is(data, MIN(len, (size_t)IMPORT_HEAD_BYTES)))
			return formats[i];
	return NULL;
}

static const char *recognize(const char *data, size_t len)
{
	const struct import_format *f;
	const struct packing *p = packing_of(data, len);
	struct buf plain = BUF_INIT;
	struct err e;

	if (p) {	/* what the beginning tells is enough */
		unpack(p, data, len, IMPORT_HEAD_BYTES, &plain, &e);
		f = plain.len ? find_format(plain.data, plain.len) : NULL;
		buf_release(&plain);
	} else {
		f = len ? find_format(data, len) : NULL;
	}
	return f ? f->what : NULL;
}

static const char *name_of_input(const char *path)
{
	return strcmp(path, "-") ? path : "standard input";
}

static int refuse_pipe(const struct buf *b, const char *name, struct err *e)
{
	const struct packing *p = packing_of(b->data, b->len);
	struct buf head = BUF_INIT;
	int r = p ? unpack(p, b->data, b->len, IMPORT_HEAD_BYTES, &head, e) : 0;

	if (r != -EOPNOTSUPP)
		import_refuse(p ? head.data : b->data, p ? head.len : b->len, e);
	buf_release(&head);
	return err_wrap(e, "%s", name);
}

/* Read a pipe. Data that does not begin as a profile may have no end, so it is refused first. */
static int read_pipe(int fd, struct buf *b, const char *name, struct err *e)
{
	bool known = false;
	ssize_t n;

	for (;;) {
		n = read(fd, buf_room(b, 256 << 10), 256 << 10);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(e, "%s", name);
		b->len += n;
		if (!n)
			return 0;
		if (b->len > INPUTS_PIPE_BYTES)
			return inputs_refuse_length(name, INPUTS_PIPE_BYTES, true, e);
		if (!known && b->len >= IMPORT_HEAD_BYTES && !(known = recognize(b->data, b->len)))
			return refuse_pipe(b, name, e);
	}
}

static int read_bytes(struct bytes *b, const char *path, struct err *e)
{
	struct stat st;
	int fd, r;

	if (strcmp(path, "-") && io_is_folder(path) && perf_folder_is(path)) {
		r = perf_folder_read(path, &b->own, e);
		b->data = b->own.data;
		b->len = b->own.len;
		return r;
	}
	fd = inputs_open(path, e);
	if (fd < 0)
		return fd;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && !lseek(fd, 0, SEEK_CUR)) {
		r = io_map_fd(fd, path, &b->map, e);
		b->data = (const char *)b->map.data;
		b->len = b->map.len;
	} else {
		r = read_pipe(fd, &b->own, name_of_input(path), e);
		b->data = b->own.data;
		b->len = b->own.len;
	}
	close(fd);
	return r;
}

const char *import_recognize_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char head[IMPORT_HEAD_BYTES];
	struct stat st;
	ssize_t n = -1;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		n = read(fd, head, sizeof(head));
	if (fd >= 0)
		close(fd);
	return n > 0 ? recognize(head, n) : NULL;
}

static void write_labels(struct import *im, const struct import_format *f)
{
	static const char *const names[] = { "processes", "threads", "times", "sample counts", "lost samples" };
	struct buf b = BUF_INIT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (im->unknown & 1u << i)
			buf_fmt(&b, "%s%s", b.len ? ", " : "", names[i]);
	trace_write_label(im->w, "arcprof", "%s", ARCPROF_VERSION);
	trace_write_label(im->w, "import", "%s", f->name);
	if (im->unknown & IMPORT_NO_MODES)	/* of which no report speaks */
		trace_write_label(im->w, "import.modes", "unknown");
	if (b.len)
		trace_write_label(im->w, "import.unknown", "%s", b.data);
	trace_write_label(im->w, "consumers", "%s%sfunctions",
			  im->unknown & IMPORT_NO_PROCESSES ? "" : "processes, ",
			  im->unknown & IMPORT_NO_THREADS ? "" : "threads, ");
	trace_write_label(im->w, "n", "samples");
	trace_write_label(im->w, "symbols", "complete");
	buf_release(&b);
}

static void import_release(struct import *im)
{
	strtab_release(&im->names);
	map_release(&im->functions);
	map_release(&im->procs);
	map_release(&im->threads);
	free(im->sums);
}

/* Write what is known about the profile beside its contents. */
static void write_about(struct import *im, struct import_about *about)
{
	struct buf key = BUF_INIT, value = BUF_INIT, label = BUF_INIT;
	const char *next = about->labels ? about->labels : "";

	while (labels_next(&next, &key, &value)) {
		buf_reset(&label);
		buf_fmt(&label, "label.%s", key.data);
		trace_write_label(im->w, label.data, "%s", value.data);
	}
	if (!im->start_ns && about->start_ns)
		import_start(im, about->start_ns);
	about->start_ns = im->start_ns;
	buf_release(&key);
	buf_release(&value);
	buf_release(&label);
}

/* Read the profile; refuse lines that are one line to every reader. */
static int read_format(struct import *im, const struct import_format *f, const char *data, size_t len,
		       struct err *e)
{
	size_t mark = length_of_mark(data, len);
	const char *cr = memchr(data, '\r', len);
	int r;

	if (f->is_lines && cr && cr + 1 < data + len && !memchr(data, '\n', len)) {
		err_set(e, EINVAL, "its lines end in carriage returns alone");
		err_hint(e, "tr '\\r' '\\n' makes a text of it that can be imported");
		return -EINVAL;
	}
	r = f->read(im, data + mark, len - mark, e);
	if (!r && f->is_lines)
		import_note_end(im, data, len);
	return r;
}

static int import_plain(const struct import_format *f, const char *data, size_t len,
			const struct trace_writer_opts *o, struct import_about *about, struct err *e)
{
	struct import im = { .elsewhere = about, .name = about ? about->name : NULL };
	struct err late;
	int r = trace_writer_open(&im.w, "import", o, e), closed;

	if (r)
		return r;
	strtab_init(&im.names);
	r = read_format(&im, f, data, len, e);
	if (!r && im.too_much_at)
		r = err_set(e, EOVERFLOW, "weights add up to 2^63 or more, which cannot be shown, at sample %llu",
			    (unsigned long long)im.too_much_at);
	if (im.name && im.nr_procs)
		im.unknown &= ~IMPORT_NO_PROCESSES;
	import_labels_end(&im);
	if (about)
		write_about(&im, about);
	write_labels(&im, f);
	import_release(&im);
	closed = trace_writer_close(im.w, &late);
	if (!r && closed)
		*e = late;
	return r ? r : closed;
}

/* Decompress a profile; refuse what does not begin as one before decompressing the whole. */
static int unpack_profile(const struct packing *p, const char *data, size_t len, struct buf *plain,
			  struct err *e)
{
	struct buf head = BUF_INIT;
	bool refused;

	unpack(p, data, len, IMPORT_HEAD_BYTES, &head, e);
	refused = head.len > IMPORT_HEAD_BYTES && !find_format(head.data, head.len);
	if (refused)
		import_refuse(head.data, head.len, e);
	buf_release(&head);
	return refused ? -e->code : unpack(p, data, len, most_bytes(len), plain, e);
}

int import_bytes(const void *data, size_t len, struct import_about *about,
		 void (*take)(void *ctx, const void *p, size_t len), void *ctx, struct err *e)
{
	const struct trace_writer_opts o = { .compress = true, .take = take, .take_ctx = ctx };
	const struct packing *p = packing_of(data, len);
	const struct import_format *f;
	struct buf plain = BUF_INIT;
	int r = 0;

	if (!len)
		return err_set(e, EINVAL, "empty");
	if (p) {
		r = unpack_profile(p, data, len, &plain, e);
		data = plain.data;
		len = plain.len;
	}
	if (!r) {
		f = len ? find_format(data, len) : NULL;
		if (f && about && about->only && strcmp(f->name, about->only) != 0)
			r = err_set(e, EINVAL, "%s, not one of %s", f->what, about->only);
		else
			r = f ? import_plain(f, data, len, &o, about, e) : import_refuse(data, len, e);
	}
	buf_release(&plain);
	return r;
}

/* ---- files ---- */

struct target {
	int fd;
	int error;		/* -errno of the first failure */
};

static void write_trace_part(void *ctx, const void *p, size_t len)
{
	struct target *t = ctx;

	if (!t->error)
		t->error = io_write_all(t->fd, p, len);
}

int import_memory(const void *data, size_t len, struct import_about *about, struct err *e)
{
	struct target t = { .fd = memfd_create("arcprof-import", MFD_CLOEXEC) };
	int r;

	if (t.fd < 0)
		return err_errno(e, "memory for the imported profile");
	r = import_bytes(data, len, about, write_trace_part, &t, e);
	if (!r && t.error)
		r = err_set(e, -t.error, "memory for the imported profile: %s", strerror(-t.error));
	if (!r && lseek(t.fd, 0, SEEK_SET) < 0)
		r = err_errno(e, "memory for the imported profile");
	if (r)
		close(t.fd);
	return r ? r : t.fd;
}

int import_open(const char *path, struct err *e)
{
	struct bytes b = { .own = BUF_INIT };
	int r = read_bytes(&b, path, e);

	if (!r) {
		r = import_memory(b.data, b.len, NULL, e);
		if (r < 0)
			err_wrap(e, "%s", name_of_input(path));
	}
	bytes_release(&b);
	return r;
}
