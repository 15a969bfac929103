// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * peer.c - peer.h says what for.
 *
 * A number names a process only as long as that lives, and it may be another's when /proc is read.
 * So a pidfd is taken first, and asked last whether its process still lives: of the one that
 * connected (SO_PEERPIDFD, since Linux 6.5), else of the one that has the number now. Where a
 * sandbox has no pidfds, the time of its start must be the same before and after.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "jvm/peer.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

static int pidfd_of(int sock, int pid)
{
	socklen_t len = sizeof(int);
	int fd = -1;

	return getsockopt(sock, SOL_SOCKET, SO_PEERPIDFD, &fd, &len) ? (int)syscall(SYS_pidfd_open, pid, 0) :
								       fd;
}

static bool peer_lives(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return !poll(&p, 1, 0);
}

static bool peer_slurp(int pid, const char *what, struct buf *b)
{
	char path[48];

	buf_reset(b);
	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	return !io_slurp(path, b) && b->len;
}

/*
 * Return the start in clock ticks since boot: field 22 of stat, counted after the name, which may have any
 * bytes; 0: unknown.
 */
static uint64_t start_ticks(int pid, struct buf *b)
{
	const char *at = peer_slurp(pid, "stat", b) ? strrchr(b->data, ')') : NULL;
	int i;

	for (i = 0; i < 20 && at; i++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

/*
 * Convert to CLOCK_MONOTONIC, which does not count the machine's sleep, as ticks do. It is read first, so
 * that a delay between the two makes a process older, never younger than it is.
 */
static uint64_t mono_of(uint64_t ticks)
{
	struct timespec boot, mono;
	int64_t asleep, start;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	asleep = (boot.tv_sec - mono.tv_sec) * 1000000000ll + boot.tv_nsec - mono.tv_nsec;
	start = ticks * (1000000000ull / sysconf(_SC_CLK_TCK)) - asleep;
	return start > 0 ? start : 0;
}

/*
 * "Uid:" has real, effective, saved and file system user; "NSpid:" the numbers from our namespace to
 * its own.
 */
static bool read_status(struct peer *p, struct buf *b)
{
	unsigned int uid[4] = { 0 };
	const char *line, *end;

	if (!peer_slurp(p->pid, "status", b))
		return false;
	line = strstr(b->data, "\nUid:");
	if (!line || sscanf(line, "\nUid: %u %u %u %u", &uid[0], &uid[1], &uid[2], &uid[3]) != 4)
		return false;
	p->own_pid = p->pid;
	line = strstr(b->data, "\nNSpid:");
	end = line ? strchr(line + 1, '\n') : NULL;
	while (end && end > line && end[-1] != '\t')
		end--;
	if (end > line)
		p->own_pid = atoi(end);
	return uid[0] == p->uid || uid[1] == p->uid || uid[2] == p->uid;
}

bool peer_identify(int sock, struct peer *p)
{
	struct buf b = BUF_INIT;
	struct ucred cred;
	socklen_t len = sizeof(cred);
	uint64_t ticks;
	bool ok;
	int fd;

	memset(p, 0, sizeof(*p));
	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &len) || cred.pid <= 0)
		return false;
	p->pid = cred.pid;
	p->uid = cred.uid;
	fd = pidfd_of(sock, cred.pid);
	ok = fd >= 0 || errno != ESRCH;
	ticks = start_ticks(p->pid, &b);
	ok = ok && ticks && read_status(p, &b);
	ok = ok && (fd >= 0 ? peer_lives(fd) : start_ticks(p->pid, &b) == ticks);
	p->start_ns = mono_of(ticks);
	if (fd >= 0)
		close(fd);
	buf_release(&b);
	return ok;
}

bool peer_send(int sock, const struct jvm_msg *msg, const struct jvm_key *key, const int *fds, size_t nr_fds)
{
	struct jvm_msg m = *msg;
	union {
		char buf[CMSG_SPACE(JVM_MAX_FDS * sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec iov = { &m, sizeof(m) };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1 };

	m.magic = JVM_PROTO_MAGIC;
	m.version = JVM_PROTO_VERSION;
	if (key && m.type == JVM_MSG_SETUP)
		memcpy(m.setup.key, key->recorders, sizeof(m.setup.key));
	if (nr_fds) {
		struct cmsghdr *c;

		h.msg_control = control.buf;
		h.msg_controllen = CMSG_SPACE(nr_fds * sizeof(int));
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(nr_fds * sizeof(int));
		memcpy(CMSG_DATA(c), fds, nr_fds * sizeof(int));
	}
	return sendmsg(sock, &h, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof(m);
}

enum { FORGOTTEN = 0 };

void nstid_init(struct nstid *n, int pid, int own_pid)
{
	memset(n, 0, sizeof(*n));
	n->pid = pid;
	n->same = pid == own_pid;
}

void nstid_release(struct nstid *n)
{
	map_release(&n->host_of);
}

/* Return the last number of "NSpid:\t4711\t17", that of the innermost namespace; 0 when unknown. */
static int nstid_own_number(int pid, int tid)
{
	struct buf b = BUF_INIT;
	char path[64], *line, *end, *last;
	int number = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	if (!io_slurp(path, &b) && b.len && (line = strstr(b.data, "\nNSpid:"))) {
		end = strchr(line + 1, '\n');
		if (end)
			*end = '\0';
		last = strrchr(line, '\t');
		number = last ? atoi(last + 1) : 0;
	}
	buf_release(&b);
	return number;
}

static void scan(struct nstid *n)
{
	DIR *dir = io_open_threads(n->pid);
	int host, own;

	while ((host = io_next_number(dir))) {
		own = nstid_own_number(n->pid, host);
		if (own > 0)
			*map_put(&n->host_of, own) = host;
	}
	io_close_folder(dir);
}

int nstid_host(struct nstid *n, int tid)
{
	uint32_t host;

	if (n->same)
		return tid;
	host = map_get(&n->host_of, tid);
	if (host == MAP_NONE || host == FORGOTTEN) {
		scan(n);
		host = map_get(&n->host_of, tid);
	}
	return host == MAP_NONE || host == FORGOTTEN ? tid : (int)host;
}

bool nstid_is_of(int pid, int tid)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", pid, tid);
	return !access(path, F_OK);
}

void nstid_forget(struct nstid *n, int tid)
{
	if (!n->same && map_get(&n->host_of, tid) != MAP_NONE)
		*map_put(&n->host_of, tid) = FORGOTTEN;
}
