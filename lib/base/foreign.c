// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * foreign.c - foreign.h says what for.
 *
 * Source: openat2(2), setfsuid(2), credentials(7). Root loses its rights over files (CAP_DAC_OVERRIDE,
 * CAP_FOWNER, ...) in the kernel's view while its fsuid is another's, and has them again afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/foreign.h"
#include "base/mem.h"

enum { PATH_FLAGS = O_PATH | O_CLOEXEC, READ_FLAGS = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC };

/* --- from a name to a descriptor --- */

/* Open each part of path by itself, for kernels and sandboxes without openat2(); follow no link. */
static int foreign_walk(int root, const char *path, int last_flags)
{
	char part[NAME_MAX + 1];
	int at = fcntl(root, F_DUPFD_CLOEXEC, 0), next;
	size_t len;

	for (; at >= 0; at = next) {
		path += strspn(path, "/");
		len = strcspn(path, "/");
		if (!*path)
			return at;
		snprintf(part, sizeof(part), "%.*s", (int)MIN(len, sizeof(part)), path);
		path += len;
		errno = ELOOP;
		next = len >= sizeof(part) || !strcmp(part, "..") ? -1 :
		       openat(at, part, O_NOFOLLOW | (path[strspn(path, "/")] ? PATH_FLAGS | O_DIRECTORY :
						      last_flags));
		len = errno;
		close(at);
		errno = len;
	}
	return at;
}

/* Resolve a path with O_PATH: nothing is opened yet, so nothing can block, and no device notices. */
static int foreign_resolve(int root, const char *path, int flags, bool links)
{
	struct open_how how = {
		.flags = flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | (links ? 0 : RESOLVE_NO_SYMLINKS),
	};
	int fd;

	if (root == AT_FDCWD)
		return open(path, flags | (links ? 0 : O_NOFOLLOW));
	fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
	return fd < 0 && (errno == ENOSYS || errno == EPERM) ? foreign_walk(root, path, flags) : fd;
}

static int foreign_check(const struct stat *st, const char *path, const struct foreign_rule *rule,
			 struct err *e)
{
	if (S_ISLNK(st->st_mode))
		return err_set(e, ELOOP, "%s: is a symbolic link", path);
	if (!S_ISREG(st->st_mode))
		return err_set(e, EINVAL, "%s: not a regular file", path);
	if (rule->owner != FOREIGN_ANYBODY && st->st_uid != rule->owner && st->st_uid &&
	    st->st_uid != geteuid())
		return err_set(e, EPERM, "%s: belongs to another user", path);
	if ((uint64_t)st->st_size > rule->max_bytes)
		return err_set(e, EFBIG, "%s: is larger than %llu bytes", path,
			       (unsigned long long)rule->max_bytes);
	return 0;
}

/* Open the file that the O_PATH descriptor at stands for, whatever its name leads to by now. */
static int reopen(int at)
{
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", at);
	return open(self, READ_FLAGS);
}

int foreign_open(int root, const char *path, const struct foreign_rule *rule, struct err *e)
{
	int at = foreign_resolve(root, path, PATH_FLAGS, rule->links), fd = -1, r;
	struct stat st;

	if (at < 0)
		return err_errno(e, "%s", path);
	if (fstat(at, &st))
		r = err_errno(e, "%s", path);
	else
		r = foreign_check(&st, path, rule, e);
	if (!r && (fd = reopen(at)) < 0)
		r = err_errno(e, "%s", path);
	close(at);
	return r ? r : fd;
}

int foreign_read(int root, const char *path, const struct foreign_rule *rule, struct buf *b, struct err *e)
{
	int fd = foreign_open(root, path, rule, e);
	uint64_t left = rule->max_bytes;
	ssize_t n;

	if (fd < 0)
		return fd;
	do {
		n = read(fd, buf_room(b, 64 << 10), 64 << 10);
		if (n < 0 && errno == EINTR)
			continue;
		if (n > 0 && (uint64_t)n > left)
			errno = EFBIG, n = -1;
		if (n < 0) {
			err_errno(e, "%s", path);
			break;
		}
		b->len += n;
		b->data[b->len] = '\0';
		left -= n;
	} while (n);
	close(fd);
	return n < 0 ? -e->code : 0;
}

/* --- the files of a process --- */

int foreign_root(int pid, struct err *e)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	fd = open(path, PATH_FLAGS | O_DIRECTORY);
	return fd < 0 ? err_errno(e, "%s", path) : fd;
}

/* Return whether both are the same file or namespace, or one of them cannot be looked into. */
static bool foreign_is_ours(int pid, const char *what, const char *ours)
{
	struct stat own, other;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	return stat(ours, &own) || stat(path, &other) ||
	       (own.st_ino == other.st_ino && own.st_dev == other.st_dev);
}

static bool has_our_mounts(int pid)
{
	return foreign_is_ours(pid, "ns/mnt", "/proc/self/ns/mnt");
}

int foreign_paths_root(int pid, struct err *e)
{
	int fd;

	if (!has_our_mounts(pid))
		return foreign_root(pid, e);
	fd = open("/", PATH_FLAGS | O_DIRECTORY);
	return fd < 0 ? err_errno(e, "/") : fd;
}

/*
 * Return whether the process's root is ours. stat() is the same for a bind mount of our root, but its path
 * differs.
 */
static bool has_our_root(int pid)
{
	char path[32], to[2];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	n = readlink(path, to, sizeof(to));
	return foreign_is_ours(pid, "root", "/") && (n < 0 || (n == 1 && to[0] == '/'));
}

bool foreign_has_our_files(int pid)
{
	return has_our_mounts(pid) && has_our_root(pid);
}

int foreign_dir(int root, const char *path)
{
	int fd = foreign_resolve(root, path, PATH_FLAGS | O_DIRECTORY, false);

	return fd < 0 ? -errno : fd;
}

/* --- as its user --- */

struct self {
	bool changed;
	uid_t uid;
	gid_t gid;
	gid_t groups[256];
	int nr_groups;
};

/* Set the groups by the system call itself: the C library's function would change other threads as well. */
static int set_groups(int nr, const gid_t *groups)
{
	return syscall(SYS_setgroups, (size_t)nr, groups);
}

static void be_ourselves(const struct self *s)
{
	int e = errno;

	if (!s->changed)
		return;
	setfsuid(s->uid);
	setfsgid(s->gid);
	set_groups(s->nr_groups, s->groups);
	errno = e;
}

/* Become the user. setfsuid() reports a failure only by what it returns next time. */
static int become(const struct foreign_user *u, struct self *s)
{
	s->changed = false;
	if (!u || geteuid() || !u->uid)
		return 0;
	s->uid = geteuid();
	s->gid = getegid();
	s->nr_groups = getgroups(ARRAY_SIZE(s->groups), s->groups);
	if (s->nr_groups < 0 || set_groups(0, NULL))
		return -errno;
	s->changed = true;
	setfsgid(u->gid);
	setfsuid(u->uid);
	if ((gid_t)setfsgid((gid_t)-1) == u->gid && (uid_t)setfsuid((uid_t)-1) == u->uid)
		return 0;
	be_ourselves(s);
	return -EPERM;
}

/* Become ourselves again after a call made as the user; return its result, or -errno. */
static int back(int r, const struct self *s)
{
	r = r < 0 ? -errno : r;
	be_ourselves(s);
	return r;
}

int foreign_mkdir(int dir, const char *name, mode_t mode, const struct foreign_user *u)
{
	struct self s;
	int r = become(u, &s);

	return r ? r : back(mkdirat(dir, name, mode), &s);
}

int foreign_opendir(int dir, const char *name, const struct foreign_user *u)
{
	struct self s;
	int r = become(u, &s);

	return r ? r : back(openat(dir, name, READ_FLAGS | O_DIRECTORY | O_NOFOLLOW), &s);
}

int foreign_create(int dir, const char *name, mode_t mode, const struct foreign_user *u)
{
	struct self s;
	int r = become(u, &s);

	return r ? r :
		   back(openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode), &s);
}

int foreign_unlink(int dir, const char *name, int flags, const struct foreign_user *u)
{
	struct self s;
	int r = become(u, &s);

	return r ? r : back(unlinkat(dir, name, flags), &s);
}

int foreign_rename(int dir, const char *from, const char *to, const struct foreign_user *u)
{
	struct self s;
	int r = become(u, &s);

	return r ? r : back(renameat(dir, from, dir, to), &s);
}

/*
 * Set an address that leads to dir and nowhere else, and says nothing in /proc/net/unix: sockets are named by
 * paths only.
 */
static bool address_in(int dir, const char *name, struct sockaddr_un *a)
{
	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	return snprintf(a->sun_path, sizeof(a->sun_path), "/proc/self/fd/%d%s%s", dir, *name ? "/" : "",
			name) <
	       (int)sizeof(a->sun_path);
}

int foreign_bind(int dir, const char *name, int sock, mode_t mode, const struct foreign_user *u)
{
	struct sockaddr_un a;
	struct self s;
	mode_t mask;
	int r;

	if (!address_in(dir, name, &a))
		return -ENAMETOOLONG;
	if (fchmod(sock, mode))		/* the name's, too */
		return -errno;
	r = become(u, &s);
	if (r)
		return r;
	mask = umask(0);
	r = back(bind(sock, (struct sockaddr *)&a, sizeof(a)), &s);
	umask(mask);
	return r;
}

int foreign_connect(int dir, const char *name, int sock)
{
	int at = openat(dir, name, PATH_FLAGS | O_NOFOLLOW), r;
	struct sockaddr_un a;
	struct stat st;

	if (at < 0)
		return -errno;
	r = fstat(at, &st) ? -errno : !S_ISSOCK(st.st_mode) ? -ENOTSOCK : 0;
	if (!r && address_in(at, "", &a))
		r = connect(sock, (struct sockaddr *)&a, sizeof(a)) ? -errno : 0;
	close(at);
	return r;
}

/* --- sudo --- */

/* Return a user's or group's number from sudo's variable; -1: none. */
static int64_t sudo_id(const char *name)
{
	const char *s = getenv(name);
	char *end;
	long v = s && *s >= '0' && *s <= '9' ? strtol(s, &end, 10) : -1;

	return v >= 0 && !*end && v < UINT32_MAX ? v : -1;
}

void foreign_give_to_caller(int fd)
{
	int64_t uid = sudo_id("SUDO_UID"), gid = sudo_id("SUDO_GID");

	if (geteuid() || uid < 0 || gid < 0)
		return;
	if (fchown(fd, uid, gid) < 0)
		return;
}

uid_t foreign_caller(void)
{
	int64_t uid = sudo_id("SUDO_UID");

	return geteuid() || uid < 0 || sudo_id("SUDO_GID") < 0 ? geteuid() : (uid_t)uid;
}
