// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * doorway.c - doorway.h says what for.
 *
 * A recorder that is killed leaves its folder behind. Each one holds a lock on its own, so the next
 * recorder knows which of its user's folders nobody needs any more, and removes those.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "jvm/doorway.h"

#define PREFIX "arcprof-door-"

enum { TRIES = 8, MAX_ENTRIES = 10000, BACKLOG = 64 };

static const struct foreign_user *user_of(const struct doorway *d)
{
	return d->foreign ? &d->user : NULL;
}

static uid_t doorway_owner_of(const struct doorway *d)
{
	return d->foreign ? d->user.uid : geteuid();
}

/* --- what others left --- */

/* Return whether the folder open as fd is of our making, and its recorder has gone. */
static bool is_stale(const struct doorway *d, int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_uid == doorway_owner_of(d) && !flock(fd, LOCK_EX | LOCK_NB);
}

static void empty(const struct doorway *d, int fd)
{
	int again = foreign_opendir(fd, ".", user_of(d));
	DIR *dir = again < 0 ? NULL : fdopendir(again);
	struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir)))
		if (!fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    (S_ISSOCK(st.st_mode) || S_ISREG(st.st_mode)))
			foreign_unlink(fd, entry->d_name, 0, user_of(d));
	if (dir)
		closedir(dir);
}

static void remove_stale(const struct doorway *d)
{
	int again = foreign_opendir(d->parent, ".", user_of(d)), nr = 0;
	DIR *dir = again < 0 ? NULL : fdopendir(again);
	struct dirent *entry;

	while (dir && nr++ < MAX_ENTRIES && (entry = readdir(dir))) {
		int fd = -1;

		if (!strncmp(entry->d_name, PREFIX, strlen(PREFIX)))
			fd = foreign_opendir(d->parent, entry->d_name, user_of(d));
		if (fd < 0)
			continue;
		if (is_stale(d, fd)) {
			empty(d, fd);
			foreign_unlink(d->parent, entry->d_name, AT_REMOVEDIR, user_of(d));
		}
		close(fd);
	}
	if (dir)
		closedir(dir);
}

/* --- our own --- */

static int random_name(char *out, size_t size, const char *prefix, size_t nr_words)
{
	uint64_t word[2];
	size_t i, at = snprintf(out, size, "%s", prefix);

	if (random_bytes(word, sizeof(word)))
		return -EIO;
	for (i = 0; i < nr_words; i++)
		at += snprintf(out + at, size - at, "%016" PRIx64, word[i]);
	return 0;
}

/*
 * Make the folder. Another recorder may take it for stale between its making and its locking: then it is gone
 * when we have the lock.
 */
static int doorway_make_folder(struct doorway *d)
{
	struct stat st;
	int i, r = 0;

	for (i = 0; i < TRIES; i++) {
		r = random_name(d->folder, sizeof(d->folder), PREFIX, 1);
		if (!r)
			r = foreign_mkdir(d->parent, d->folder, 0700, user_of(d));
		if (r == -EEXIST)
			continue;
		if (r)
			break;
		d->dir = foreign_opendir(d->parent, d->folder, user_of(d));
		if (d->dir >= 0 && !flock(d->dir, LOCK_EX | LOCK_NB) && !fstat(d->dir, &st) && st.st_nlink &&
		    st.st_uid == doorway_owner_of(d) && !(st.st_mode & 077))
			return 0;
		r = d->dir < 0 ? d->dir : -EAGAIN;
		if (d->dir >= 0)
			close(d->dir);
		d->dir = -1;
	}
	d->folder[0] = '\0';
	return r;
}

/* Make the socket, bound to one name and renamed to another: the kernel's list of sockets shows the first. */
static int make_socket(struct doorway *d, mode_t mode)
{
	int r = random_name(d->name, sizeof(d->name), "", 2);

	if (r)
		return r;
	d->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (d->fd < 0)
		return -errno;
	r = foreign_bind(d->dir, "s", d->fd, mode, user_of(d));
	if (!r)
		r = foreign_rename(d->dir, "s", d->name, user_of(d));
	if (!r && listen(d->fd, BACKLOG))
		r = -errno;
	return r;
}

/*
 * Make the doorway in the folder d->parent, whose path for those who are to come is "called"; others:
 * they may belong to several users.
 */
static int doorway_open_below(struct doorway *d, const char *called, bool others)
{
	int r;

	remove_stale(d);
	r = doorway_make_folder(d);
	if (!r)
		r = make_socket(d, others ? 0666 : 0600);
	if (!r && snprintf(d->path, sizeof(d->path), "%s/%s/%s", called, d->folder,
			   d->name) >= (int)sizeof(d->path))
		r = -ENAMETOOLONG;
	/* others may go in, but not look around; now that nothing in it is still to be named */
	if (!r && others && fchmod(d->dir, 0711))
		r = -errno;
	if (r)
		doorway_close(d);
	return r;
}

int doorway_open(struct doorway *d, struct err *e)
{
	const char *const folders[] = { "/tmp", geteuid() ? getenv("XDG_RUNTIME_DIR") : "/run", "/var/tmp", "/dev/shm" };
	int r = 0, first = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(folders); i++) {
		*d = (struct doorway)DOORWAY_CLOSED;
		if (!folders[i] || folders[i][0] != '/')
			continue;
		d->parent = open(folders[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
		r = d->parent < 0 ? -errno : doorway_open_below(d, folders[i], !geteuid());
		if (!r)
			return 0;
		first = first ? first : r;
	}
	return err_set(e, -first, "cannot make a socket in /tmp: %s", strerror(-first));
}

/* Make the key, while only we can enter the folder. */
static int doorway_make_key(struct doorway *d)
{
	int fd, r = 0;

	if (random_bytes(&d->key, sizeof(d->key)))
		return -EIO;
	snprintf(d->key_name, sizeof(d->key_name), "%s" JVM_KEY_SUFFIX, d->name);
	fd = foreign_create(d->dir, d->key_name, 0600, user_of(d));
	if (fd < 0) {
		d->key_name[0] = '\0';
		return fd;
	}
	if (write(fd, &d->key, sizeof(d->key)) != sizeof(d->key))
		r = -errno;
	close(fd);
	return r;
}

int doorway_open_in(struct doorway *d, int root, const struct foreign_user *u, struct err *e)
{
	int r;

	*d = (struct doorway)DOORWAY_CLOSED;
	d->foreign = true;
	d->user = *u;
	r = d->parent = foreign_dir(root, "tmp");
	if (r >= 0)
		r = doorway_open_below(d, "/tmp", false);
	if (!r && (r = doorway_make_key(d)))
		doorway_close(d);
	return r ? err_set(e, -r, "cannot make a socket in the process's /tmp: %s", strerror(-r)) : 0;
}

void doorway_close(struct doorway *d)
{
	if (d->fd >= 0) {
		close(d->fd);
		foreign_unlink(d->dir, "s", 0, user_of(d));
		foreign_unlink(d->dir, d->name, 0, user_of(d));
	}
	if (d->key_name[0])
		foreign_unlink(d->dir, d->key_name, 0, user_of(d));
	if (d->folder[0])
		foreign_unlink(d->parent, d->folder, AT_REMOVEDIR, user_of(d));
	if (d->dir >= 0)
		close(d->dir);
	if (d->parent >= 0)
		close(d->parent);
	*d = (struct doorway)DOORWAY_CLOSED;
}
