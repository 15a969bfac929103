// SPDX-License-Identifier: GPL-2.0-or-later
/* newfile.c - newfile.h says what for. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/foreign.h"
#include "base/inputs.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/newfile.h"

enum { SUFFIX = 7, ATTEMPTS = 100 };	/* ".XXXXXX" */

/* TRF_MAGIC; this room does not know traces, but must not lose one. */
static const char recording_magic[] = "\x89" "Arc\r\n\x1a\n";

/* ---- what may be written over ---- */

static bool is_recording(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	char head[sizeof(recording_magic) - 1];
	bool is = fd >= 0 && read(fd, head, sizeof(head)) == sizeof(head) &&
		!memcmp(head, recording_magic, sizeof(head));

	if (fd >= 0)
		close(fd);
	return is;
}

static char *old_name(const struct newfile *f)
{
	return xasprintf("%s.old", f->at.name);
}

/* Check that what PATH is renamed to is not an input either. */
static int check_old(const struct newfile *f, struct err *e)
{
	char *old = old_name(f);
	struct stat st;
	int r = 0;

	if (!fstatat(f->at.dir, old, &st, AT_SYMLINK_NOFOLLOW))
		r = S_ISREG(st.st_mode) ? inputs_spare(&st, old, e) :
					  err_set(e, EEXIST, "%s.old: exists and is not a regular file", f->path);
	free(old);
	return r;
}

/* Check whether the file that has the name now, which is not a link, may be replaced. */
static int check_regular(const struct newfile *f, const struct stat *st, struct err *e)
{
	int r;

	if (f->opts.own || f->opts.part)
		return 0;
	r = inputs_spare(st, f->path, e);
	if (r)
		return r;
	if (f->opts.recording)
		return check_old(f, e);
	if (is_recording(f->at.dir, f->at.name)) {
		err_set(e, EEXIST, "%s: is a recording, and would be lost", f->path);
		err_hint(e, "name another file, or remove this one first");
		return -EEXIST;
	}
	return 0;
}

/* ---- opening ---- */

static int open_descriptor(struct newfile *f, int fd, struct err *e)
{
	struct stat st;
	int r;

	if (fstat(fd, &st))
		return err_errno(e, "%s", f->path);
	if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
		return err_set(e, EBADF, "%s: is open for reading only", f->path);
	r = inputs_spare(&st, f->path, e);
	f->fd = r ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return r ? r : f->fd < 0 ? err_errno(e, "%s", f->path) : 0;
}

/* Open a device or a pipe. */
static int open_special(struct newfile *f, struct err *e)
{
	struct stat st;

	if (S_ISDIR(f->at.st.st_mode))
		return err_set(e, EISDIR, "%s: is a folder, not a file", f->path);
	if (S_ISBLK(f->at.st.st_mode))
		return err_set(e, EINVAL, "%s: is a disk, and is not written to", f->path);
	if (place_is_planted(&f->at))
		return err_set(e, EPERM, "%s: belongs to another user; it is not written to", f->path);
	if (inputs_spare(&f->at.st, f->path, e))
		return -e->code;
	f->fd = openat(f->at.dir, f->at.name, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	if (f->fd < 0 || fstat(f->fd, &st))
		return err_errno(e, "%s", f->path);
	return S_ISREG(st.st_mode) ? err_set(e, EEXIST, "%s: became a regular file just now", f->path) : 0;
}

/* Make "name.a8Kd0x"; a long name is cut, so that it stays valid. */
static bool put_random_name(struct newfile *f)
{
	static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	unsigned char random[SUFFIX - 1];
	size_t i, len;

	free(f->temp);
	f->temp = xasprintf("%.*s.XXXXXX", NAME_MAX - SUFFIX, f->at.name);
	len = strlen(f->temp);
	if (random_bytes(random, sizeof(random))) {
		errno = EIO;
		return false;
	}
	for (i = 0; i < sizeof(random); i++)
		f->temp[len - sizeof(random) + i] = letters[random[i] % (sizeof(letters) - 1)];
	return true;
}

static int create(struct newfile *f, struct err *e)
{
	int i;

	for (i = 0; i < ATTEMPTS && f->fd < 0; i++) {
		if (f->opts.part && i)
			break;
		if (f->opts.part)	/* whoever finds it knows that it is not whole, and can read it */
			f->temp = xasprintf(".%s.part", f->at.name);
		else if (!put_random_name(f))
			break;
		f->fd = openat(f->at.dir, f->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			       0600);
		if (f->fd < 0 && errno != EEXIST)
			break;
	}
	if (f->fd < 0) {
		err_errno(e, "%s", f->path);
		free(f->temp);		/* it is not ours */
		f->temp = NULL;
		return -e->code;
	}
	f->regular = true;
	foreign_give_to_caller(f->fd);
	if (f->at.exists && !f->opts.own)
		inputs_note_output(&f->at.st);
	return 0;
}

static int open_found(struct newfile *f, struct err *e)
{
	int r;

	if (f->at.descriptor >= 0)
		return open_descriptor(f, f->at.descriptor, e);
	if (f->at.exists && !S_ISREG(f->at.st.st_mode))
		return open_special(f, e);
	r = f->at.exists ? check_regular(f, &f->at.st, e) : 0;
	return r ? r : create(f, e);
}

int newfile_open(struct newfile *f, const char *path, const struct newfile_opts *o, struct err *e)
{
	int r = 0;

	*f = (struct newfile){ .fd = -1, .opts = *o, .at = { .dir = -1, .descriptor = STDOUT_FILENO } };
	f->path = xstrdup(strcmp(path, "-") ? path : "standard output");
	if (strcmp(path, "-") != 0)
		r = place_find(&f->at, o->dir ? o->dir : AT_FDCWD, path, e);
	if (!r && o->recording && f->at.descriptor < 0 && f->at.is_linked)
		r = err_set(e, EEXIST, "%s: is a link, which recordings do not follow", path);
	if (!r)
		r = open_found(f, e);
	if (r)
		newfile_abandon(f);
	return r;
}

void newfile_rename(struct newfile *f, const char *name)
{
	snprintf(f->at.name, sizeof(f->at.name), "%s", name);
}

/* ---- the name ---- */

/* Set the mode that a shell would give, without what the inputs and the file before it keep from others. */
static void give_mode(const struct newfile *f, const struct stat *before)
{
	mode_t mask = umask(0), mode;
	struct stat st;

	umask(mask);
	if (fstat(f->fd, &st))
		return;			/* it stays readable for its owner alone */
	mode = f->opts.own ? 0666 & ~mask : inputs_mode(0666 & ~mask, st.st_gid);
	if (before)
		mode &= 0700 | (before->st_gid == st.st_gid ? before->st_mode : before->st_mode << 3 & 070) |
			(before->st_mode & 07);
	fchmod(f->fd, mode);
}

static int set_aside(const struct newfile *f, struct err *e)
{
	char *old = old_name(f);
	int r = 0;

	if (renameat(f->at.dir, f->at.name, f->at.dir, old) < 0 && errno != ENOENT)
		r = err_errno(e, "%s: cannot be renamed to %s", f->path, old);
	free(old);
	return r;
}

int newfile_commit(struct newfile *f, struct err *e)
{
	struct stat st;
	bool exists;
	int r = 0;

	if (!f->temp)
		return 0;
	exists = !fstatat(f->at.dir, f->at.name, &st, AT_SYMLINK_NOFOLLOW);
	if (exists && S_ISREG(st.st_mode))
		r = check_regular(f, &st, e);
	else if (exists)
		r = err_set(e, EEXIST, "%s: has just become something other than a file", f->path);
	if (r)
		return r;
	if (f->fd >= 0 && !f->opts.secret)
		give_mode(f, exists ? &st : NULL);
	if (f->opts.recording && !f->opts.part)
		r = set_aside(f, e);
	if (!r && renameat(f->at.dir, f->temp, f->at.dir, f->at.name) < 0)
		r = err_errno(e, "%s: cannot be renamed to %s", f->temp, f->at.name);
	if (r)
		return r;
	free(f->temp);
	f->temp = NULL;
	return 0;
}

int newfile_close(struct newfile *f, struct err *e)
{
	int other, r = 0;

	/* A file system of the network may say at the first closing only that it has no room. */
	other = f->fd >= 0 && f->temp ? fcntl(f->fd, F_DUPFD_CLOEXEC, 3) : -1;
	if (other >= 0 && close(other))
		r = err_errno(e, "%s", f->path);
	if (!r)
		r = newfile_commit(f, e);
	if (f->fd >= 0 && close(f->fd) && !r)
		r = err_errno(e, "%s", f->path);
	f->fd = -1;
	newfile_abandon(f);
	return r;
}

void newfile_abandon(struct newfile *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	if (f->temp)
		unlinkat(f->at.dir, f->temp, 0);
	if (f->regular && f->at.exists && !f->opts.own)
		inputs_forget_output(&f->at.st);
	place_release(&f->at);
	free(f->temp);
	free(f->path);
	*f = (struct newfile){ .fd = -1, .at.dir = -1 };
}

int newfile_unnamed(const char *folder, struct err *e)
{
	const char *dir = getenv("TMPDIR");
	char *path;
	int fd;

	dir = dir && *dir == '/' ? dir : folder;
	fd = open(dir, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	path = xasprintf("%s/arcprof-XXXXXX", dir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		err_errno(e, "%s", dir);
	else
		unlink(path);
	free(path);
	return fd < 0 ? -e->code : fd;
}
