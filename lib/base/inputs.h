/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inputs.h - the files that this process reads for its user, and those it writes for him: none is both. What
 * it writes is readable by nobody who could not read all that it was made of.
 *
 * Files are distinguished by what they are (device and inode): it makes no difference by which name, link or
 * descriptor they were opened, nor which of them was opened first. All threads may call these.
 */
#ifndef BASE_INPUTS_H
#define BASE_INPUTS_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/io.h"

enum { INPUTS_PIPE_BYTES = 1 << 30 };	/* what has no size is read up to this */

/*
 * Register a file that a command line names to be read, before anything is done with it. -EINVAL: output goes
 * there, or standard output is this file; path is for the message.
 */
int inputs_add(int fd, const char *path, struct err *e);
/*
 * Open path as an input ("-": standard input); return a descriptor, or -errno. Folders and devices, which
 * have no end, are refused, but not /dev/null and terminals. A FIFO without a writer is waited for, and
 * say_waiting() says so after a second.
 */
int inputs_open(const char *path, struct err *e);
void inputs_on_waiting(void (*say_waiting)(const char *path));

/*
 * Appends the text that path names to *b, at most limit bytes of it. SIZE_MAX: a file of any size, and of a
 * pipe what memory has room for.
 */
int inputs_read_text(const char *path, struct buf *b, size_t limit, struct err *e);
typedef int inputs_look(void *ctx, const char *data, size_t len, struct err *e);
/*
 * Do the same for any size. Lines of a pipe are passed to look() as soon as there are some: it says that they
 * are no such text, which may have no end.
 */
int inputs_read_lines(const char *path, struct buf *b, inputs_look *look, void *ctx, struct err *e);
/*
 * Return -EFBIG, with the message that the input of this name is longer than limit. is_pipe: hint at a file.
 */
int inputs_refuse_length(const char *name, size_t limit, bool is_pipe, struct err *e);
/* Maps a regular file. */
int inputs_map(const char *path, struct io_map *m, struct err *e);

/* Return -EINVAL if *st describes one of them. */
int inputs_spare(const struct stat *st, const char *path, struct err *e);
/* Note that output will replace this file, until inputs_forget_output(). */
void inputs_note_output(const struct stat *st);
void inputs_forget_output(const struct stat *st);
/* Return the part of mode that a file of the group gid may have. */
mode_t inputs_mode(mode_t mode, gid_t gid);

#endif
