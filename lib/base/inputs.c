// SPDX-License-Identifier: GPL-2.0-or-later
/* inputs.c - notes which files were read, so that output files are no more readable than these (inputs.h). */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/inputs.h"
#include "base/mem.h"

enum { NULL_MAJOR = 1, NULL_MINOR = 3, PATIENCE_MS = 1000, FIRST_BYTES = 64 << 10 };

struct known_file {
	dev_t dev;
	ino_t ino;
	mode_t mode;
	gid_t gid;
};

struct known_files {
	struct known_file *items;
	size_t nr, alloc;
};

/* of the process, as its standard streams are */
static struct {
	pthread_mutex_t lock;
	struct known_files read, written;
	void (*say_waiting)(const char *path);
} files = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct known_file *known_files_find(const struct known_files *l, const struct stat *st)
{
	size_t i;

	for (i = l->nr; i--;)
		if (l->items[i].ino == st->st_ino && l->items[i].dev == st->st_dev)
			return &l->items[i];
	return NULL;
}

static void known_files_add(struct known_files *l, const struct stat *st)
{
	*VEC_ADD(l->items, l->nr, l->alloc) =
		(struct known_file){ st->st_dev, st->st_ino, st->st_mode, st->st_gid };
}

/*
 * Return whether the file matters. Terminals and /dev/null are read and written at once, and lose nothing; a
 * file of our own has no name.
 */
static bool matters(const struct stat *st)
{
	return !S_ISCHR(st->st_mode) && !S_ISSOCK(st->st_mode) && (st->st_nlink || !S_ISREG(st->st_mode));
}

static bool is_stdout(const struct stat *st)
{
	struct stat out;

	return !fstat(STDOUT_FILENO, &out) && S_ISREG(out.st_mode) && out.st_ino == st->st_ino &&
	       out.st_dev == st->st_dev;
}

static const char *known_file_name(const char *path)
{
	return strcmp(path, "-") ? path : "standard input";
}

int inputs_add(int fd, const char *path, struct err *e)
{
	const char *name = known_file_name(path);
	struct stat st;
	bool written;

	if (fstat(fd, &st))
		return err_errno(e, "%s", name);
	if (!matters(&st))
		return 0;
	pthread_mutex_lock(&files.lock);
	written = known_files_find(&files.written, &st);
	if (!written && !known_files_find(&files.read, &st))
		known_files_add(&files.read, &st);
	pthread_mutex_unlock(&files.lock);
	if (written)
		return err_set(e, EINVAL, "%s: is to be read, and is where output would go; name another file for that",
			       name);
	if (is_stdout(&st))
		return err_set(e, EINVAL, "%s: is both the file to read and standard output", name);
	return 0;
}

void inputs_on_waiting(void (*say_waiting)(const char *path))
{
	files.say_waiting = say_waiting;
}

static int refuse_endless(int fd, const char *path, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st))
		return err_errno(e, "%s", path);
	if (S_ISDIR(st.st_mode))
		return err_set(e, EISDIR, "%s: is a folder, not a file", path);
	if (S_ISBLK(st.st_mode) ||
	    (S_ISCHR(st.st_mode) && st.st_rdev != makedev(NULL_MAJOR, NULL_MINOR) && !isatty(fd)))
		return err_set(e, EINVAL, "%s: is a device, not a file", path);
	return 0;
}

/* Wait for a writer: a FIFO opened without waiting is at its end until somebody writes to it. */
static void await_writer(int fd, const char *path)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct stat st;

	if (!fstat(fd, &st) && S_ISFIFO(st.st_mode) && !poll(&p, 1, PATIENCE_MS)) {
		if (files.say_waiting)
			files.say_waiting(path);
		poll(&p, 1, -1);
	}
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
}

int inputs_open(const char *path, struct err *e)
{
	const char *name = known_file_name(path);
	bool from_stdin = name != path;
	int r, fd = from_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) :
				 open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return err_errno(e, "%s", name);
	r = refuse_endless(fd, name, e);
	if (!r)
		r = inputs_add(fd, path, e);
	if (r) {
		close(fd);
		return r;
	}
	if (!from_stdin)
		await_writer(fd, path);
	return fd;
}

int inputs_refuse_length(const char *name, size_t limit, bool is_pipe, struct err *e)
{
	err_set(e, EFBIG, "%s: is longer than %zu MiB", name, limit >> 20);
	if (is_pipe)
		err_hint(e, "no more is read from a pipe; a file may be longer");
	return -EFBIG;
}

static int explain_input(int r, const char *name, size_t limit, struct err *e)
{
	if (r == -EFBIG)
		return inputs_refuse_length(name, limit, limit == INPUTS_PIPE_BYTES, e);
	if (r == -EILSEQ)
		return err_set(e, EINVAL, "%s: is not text: it contains zero bytes", name);
	return r ? err_set(e, -r, "%s: %s", name, strerror(-r)) : 0;
}

int inputs_read_text(const char *path, struct buf *b, size_t limit, struct err *e)
{
	int fd = inputs_open(path, e), r;

	if (fd < 0)
		return fd;
	r = io_read_text(fd, b, limit);
	close(fd);
	return explain_input(r, known_file_name(path), limit, e);
}

/* Read the first lines; return 1 if the file ends with them. */
static int read_first_lines(int fd, struct buf *b)
{
	ssize_t n = 1;

	while (n && b->len < FIRST_BYTES) {
		n = read(fd, buf_room(b, FIRST_BYTES), FIRST_BYTES);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (memchr(b->data + b->len, 0, n))
			return -EILSEQ;
		b->len += n;
		b->data[b->len] = '\0';
	}
	return !n;
}

int inputs_read_lines(const char *path, struct buf *b, inputs_look *look, void *ctx, struct err *e)
{
	int fd = inputs_open(path, e), r = 0;
	size_t limit = SIZE_MAX;
	const char *line_end;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		limit = INPUTS_PIPE_BYTES;
		r = read_first_lines(fd, b);
		line_end = r ? NULL : memrchr(b->data, '\n', b->len);
		if (line_end && look(ctx, b->data, line_end + 1 - b->data, e)) {
			close(fd);
			return err_wrap(e, "%s", known_file_name(path));
		}
	}
	if (!r)
		r = io_read_text(fd, b, limit);
	close(fd);
	return r > 0 ? 0 : explain_input(r, known_file_name(path), limit, e);
}

int inputs_map(const char *path, struct io_map *m, struct err *e)
{
	int fd = inputs_open(path, e), r;

	*m = (struct io_map){ NULL, 0 };
	if (fd < 0)
		return fd;
	r = io_map_fd(fd, path, m, e);
	close(fd);
	return r;
}

int inputs_spare(const struct stat *st, const char *path, struct err *e)
{
	bool is_read;

	pthread_mutex_lock(&files.lock);
	is_read = matters(st) && known_files_find(&files.read, st);
	pthread_mutex_unlock(&files.lock);
	if (!is_read)
		return 0;
	return err_set(e, EINVAL, "%s: is what is read; name another file for the output", path);
}

void inputs_note_output(const struct stat *st)
{
	pthread_mutex_lock(&files.lock);
	known_files_add(&files.written, st);
	pthread_mutex_unlock(&files.lock);
}

void inputs_forget_output(const struct stat *st)
{
	struct known_file *f;

	pthread_mutex_lock(&files.lock);
	f = known_files_find(&files.written, st);
	if (f)
		*f = files.written.items[--files.written.nr];
	pthread_mutex_unlock(&files.lock);
}

mode_t inputs_mode(mode_t mode, gid_t gid)
{
	const struct known_file *f;
	mode_t others;
	size_t i;

	pthread_mutex_lock(&files.lock);
	for (i = 0; i < files.read.nr; i++) {
		f = &files.read.items[i];
		if (!S_ISREG(f->mode))
			continue;
		/* there, another group is among the others */
		others = f->mode & 07;
		mode &= 0700 | (f->gid == gid ? f->mode & 070 : others << 3) | others;
	}
	pthread_mutex_unlock(&files.lock);
	return mode;
}
