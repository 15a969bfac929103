// SPDX-License-Identifier: GPL-2.0-or-later
/* io.c - reads and writes that survive EINTR and short counts (io.h). */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

int io_write_all(int fd, const void *p, size_t len)
{
	const char *c = p;

	while (len) {
		ssize_t n = write(fd, c, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		c += n;
		len -= n;
	}
	return 0;
}

/* Block the signals that the write raises, and discard them. */
int io_write_quietly(int fd, const void *p, size_t len)
{
	static const struct timespec now;
	sigset_t mine, old, pending;
	int r;

	sigemptyset(&mine);
	sigaddset(&mine, SIGPIPE);
	sigaddset(&mine, SIGXFSZ);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &mine, &old);
	r = io_write_all(fd, p, len);
	if (r) {
		if (sigismember(&pending, SIGPIPE))
			sigdelset(&mine, SIGPIPE);
		if (sigismember(&pending, SIGXFSZ))
			sigdelset(&mine, SIGXFSZ);
		while (sigtimedwait(&mine, NULL, &now) > 0)
			;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return r;
}

static int read_fd(int fd, struct buf *b, size_t limit, bool text)
{
	size_t start = b->len;

	for (;;) {
		ssize_t n = read(fd, buf_room(b, 64 * 1024), 64 * 1024);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (text && memchr(b->data + b->len, 0, n))
			return -EILSEQ;
		b->len += n;
		b->data[b->len] = '\0';
		if (!n)
			return 0;
		if (b->len - start > limit)
			return -EFBIG;
	}
}

int io_read_text(int fd, struct buf *b, size_t limit)
{
	return read_fd(fd, b, limit, true);
}

bool io_is_program(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

int io_slurp(const char *path, struct buf *b)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = read_fd(fd, b, SIZE_MAX / 2, false);
	close(fd);
	return r;
}

int io_read_file(const char *path, struct buf *b, size_t limit, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return err_errno(e, "%s", path);
	r = read_fd(fd, b, limit, false);
	close(fd);
	if (r) {
		errno = -r;
		return err_errno(e, "%s", path);
	}
	return 0;
}

int io_map_fd(int fd, const char *path, struct io_map *m, struct err *e)
{
	struct stat st;
	void *p;

	m->data = NULL;
	m->len = 0;
	if (fstat(fd, &st) < 0)
		return err_errno(e, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, EINVAL, "%s: not a regular file", path);
	if (!st.st_size)
		return 0;
	p = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return err_errno(e, "%s", path);
	m->data = p;
	m->len = st.st_size;
	return 0;
}

int io_map(const char *path, struct io_map *m, struct err *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r;

	m->data = NULL;
	m->len = 0;
	if (fd < 0)
		return err_errno(e, "%s", path);
	r = io_map_fd(fd, path, m, e);
	close(fd);
	return r;
}

void io_unmap(struct io_map *m)
{
	if (m->data)
		munmap((void *)m->data, m->len);
	m->data = NULL;
	m->len = 0;
}

bool io_is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

DIR *io_open_threads(int pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return opendir(path);
}

int io_next_number(DIR *dir)
{
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (atoi(d->d_name) > 0)
			return atoi(d->d_name);
	return 0;
}

void io_close_folder(DIR *dir)
{
	if (dir)
		closedir(dir);
}

int random_bytes(void *bytes, size_t size)
{
	ssize_t n;
	int fd;

	do {
		n = getrandom(bytes, size, 0);
	} while (n < 0 && errno == EINTR);
	if (n == (ssize_t)size)
		return 0;
	fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, bytes, size);
	if (fd >= 0)
		close(fd);
	return n == (ssize_t)size ? 0 : -EIO;
}
