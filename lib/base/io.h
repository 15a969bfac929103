/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io.h - whole reads and writes that survive EINTR and short counts.
 */
#ifndef BASE_IO_H
#define BASE_IO_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

int io_write_all(int fd, const void *p, size_t len);	/* 0 or -errno */
/* Do the same; a closed pipe or the limit of the size of files is an error, and raises no signal. */
int io_write_quietly(int fd, const void *p, size_t len);

/* Appends the file to *b, at most limit bytes (more is an error). */
int io_read_file(const char *path, struct buf *b, size_t limit, struct err *e);
/* Read a whole file of /proc, whose size is not known before; return 0 or -errno, and print nothing. */
int io_slurp(const char *path, struct buf *b);
/*
 * Return whether this is a program that the user may execute, as the shell looks for it in PATH; false
 * for a folder.
 */
bool io_is_program(const char *path);

/*
 * Read an open file to its end. Returns -EFBIG if it has more than limit bytes, -EILSEQ for a zero byte,
 * which no text has.
 */
int io_read_text(int fd, struct buf *b, size_t limit);

struct io_map {
	const uint8_t *data;	/* NULL for an empty file */
	size_t len;
};

bool io_is_folder(const char *path);

/* Maps a regular file for reading; release with io_unmap(). */
int io_map(const char *path, struct io_map *m, struct err *e);
int io_map_fd(int fd, const char *path, struct io_map *m, struct err *e);
void io_unmap(struct io_map *m);

/* ---- the threads of a process, as /proc has them now ---- */

/* Open the list of them. Returns NULL with errno set if there is no such process. */
DIR *io_open_threads(int pid);
/* Return the next entry of a folder whose name is a number above 0; 0: there is none, or dir is NULL. */
int io_next_number(DIR *dir);
void io_close_folder(DIR *dir);		/* NULL: nothing */

/* ---- bytes that nobody can guess ---- */

/* Use getrandom(), or /dev/urandom where a system call filter forbids it. Returns -EIO if both fail. */
int random_bytes(void *bytes, size_t size);

#endif
