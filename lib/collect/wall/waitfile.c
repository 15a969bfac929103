// SPDX-License-Identifier: GPL-2.0-or-later
/* waitfile.c - describes the file or socket that a thread waits for (waitfile.h). */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "collect/wall/wallstack.h"

/* ---- what it is ---- */

/*
 * The descriptor itself is asked, which O_PATH holds: nothing is opened, and no file system of the process is
 * asked, which could take long.
 */
static const char *kind_of_socket(int fd, char *text, size_t size)
{
	char path[48], proto[24];
	ssize_t len;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	len = getxattr(path, "system.sockprotoname", proto, sizeof(proto) - 1);
	if (len <= 0)
		return "socket";
	proto[len] = '\0';
	if (!strncmp(proto, "UNIX", 4))
		return "Unix socket";
	snprintf(text, size, "%s socket", proto);
	return text;
}

/* Return the kind of what is not a file in any file system: "anon_inode:[eventpoll]". */
static const char *kind_of_anon(const char *path, char *text, size_t size)
{
	const char *name = strchr(path, '[');
	size_t len = name ? strcspn(++name, "]") : 0;

	if (!len || len >= size || strspn(name, "abcdefghijklmnopqrstuvwxyz_-") < len)
		return "anonymous file";
	memcpy(text, name, len);
	text[len] = '\0';
	return text;
}

static bool is_terminal(const char *path)
{
	return !strncmp(path, "/dev/pts/", 9) || !strncmp(path, "/dev/tty", 8);
}

static const char *waitfile_kind_of(int fd, mode_t mode, const char *target, char *text, size_t size)
{
	if (S_ISSOCK(mode))
		return kind_of_socket(fd, text, size);
	if (S_ISFIFO(mode))
		return "pipe";
	if (S_ISCHR(mode))
		return is_terminal(target) ? "terminal" : "device";
	if (S_ISBLK(mode))
		return "block device";
	if (S_ISDIR(mode))
		return "directory";
	return strncmp(target, "anon_inode:", 11) ? "file" : kind_of_anon(target, text, size);
}

void waitfile_none(struct waitfile *f)
{
	*f->kind = *f->name = '\0';
	f->inode = 0;
}

void waitfile_look(int pid, uint64_t number, struct waitfile *f)
{
	char path[64], storage[sizeof(f->kind)];
	struct statx st;
	ssize_t len;
	int fd;

	waitfile_none(f);
	if (number > INT32_MAX)
		return;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, (int)number);
	fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return;
	len = readlink(path, f->name, sizeof(f->name) - 1);
	f->name[MAX(len, (ssize_t)0)] = '\0';
	if (!statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, &st)) {
		snprintf(f->kind, sizeof(f->kind), "%s",
			 waitfile_kind_of(fd, st.stx_mode, f->name, storage, sizeof(storage)));
		f->inode = st.stx_ino;
	}
	close(fd);
	if (*f->name != '/')		/* "pipe:[4711]" */
		*f->name = '\0';
}

/* ---- the other end ---- */

unsigned int waitfile_ephemeral(void)
{
	enum { USUAL = 32768 };
	struct buf text = BUF_INIT;
	unsigned int first = USUAL;
	struct err ignored;

	if (io_read_file("/proc/sys/net/ipv4/ip_local_port_range", &text, 64, &ignored) ||
	    sscanf(text.data, "%u", &first) != 1)
		first = USUAL;
	buf_release(&text);
	return first;
}

static void put_address(const struct wall_where *at, const uint8_t *bytes, struct buf *text)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff }, any[16];
	bool v4 = at->family == AF_INET;
	char s[INET6_ADDRSTRLEN];

	if (!v4 && !memcmp(bytes, mapped, sizeof(mapped))) {
		v4 = true;
		bytes += sizeof(mapped);
	}
	if (!memcmp(bytes, any, v4 ? 4 : 16))
		buf_putc(text, '*');
	else if (inet_ntop(v4 ? AF_INET : AF_INET6, bytes, s, sizeof(s)))
		buf_fmt(text, v4 ? "%s" : "[%s]", s);
}

static void put_path(const struct wall_where *at, struct buf *text)
{
	size_t abstract = !at->path[0] && at->path[1];

	if (abstract)
		buf_putc(text, '@');
	buf_add(text, at->path + abstract, strnlen((const char *)at->path + abstract,
						   sizeof(at->path) - abstract));
}

void waitfile_peer(const struct wall_where *at, unsigned int ephemeral, struct buf *text)
{
	buf_reset(text);
	if (at->family == AF_UNIX) {
		put_path(at, text);
	} else if (at->family != AF_INET && at->family != AF_INET6) {
		return;
	} else if (at->peer_port >= ephemeral && at->local_port < ephemeral) {
		put_address(at, at->peer, text);
		buf_fmt(text, " to port %u", at->local_port);
	} else if (at->peer_port) {
		put_address(at, at->peer, text);
		buf_fmt(text, ":%u", at->peer_port);
	} else if (at->local_port) {
		buf_str(text, "at ");
		put_address(at, at->local, text);
		buf_fmt(text, ":%u", at->local_port);
	}
}
