// SPDX-License-Identifier: MIT
/*
 * recorder.c - how a program that runs under "arcprof record" reaches the recorder's rings (recorder.h).
 *
 * The recorder names its socket in the environment, or if it comes later, in our memory (jvm/invitation.h).
 * The next mark or label connects, and gets an area with rings as agents of JVMs have (jvm/proto.h).
 *
 * A forked child is a process of its own: what says where to write is wiped by the kernel in the child,
 * which connects for itself.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/recorder.h"
#include "jvm/invitation.h"

/* In the environment: the path of the recorder's socket (collect/agents.c). */
#define MARK_ENVIRONMENT "ARCPROF_MARKS"

struct arcprof_recorder *arcprof_recorder;
uint32_t arcprof_recorder_generation;
/* A recorder writes to it; what it is told of anew is a page of its own, so that others stay whole. */
static volatile struct jvm_invitation invitation __attribute__((used, aligned(8))) = {
	.magic = JVM_INVITATION_MAGIC,
	.recorder = &arcprof_recorder,
	.state_at = offsetof(struct arcprof_recorder, state),
	.state_on = RECORDER_ON,
};
/* Under the lock. */
static int sock = -1;		/* its end tells the recorder that the process is gone */
static void *area;
static size_t area_bytes;
static pid_t area_pid;			/* whose it is */

ARCPROF_THREAD_LOCAL struct arcprof_recorder_self arcprof_recorder_self;

/* The listener must be root or our own user: no other user may see what this program does. */
static int is_trusted(int fd)
{
	struct {
		int pid;
		unsigned int uid, gid;
	} cred;
	socklen_t len = sizeof(cred);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) && (!cred.uid || cred.uid == geteuid());
}

static int say_hello(const char *path)
{
	struct timeval timeout = { .tv_sec = JVM_GO_TIMEOUT_MS / 1000 };
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct jvm_msg m = {
		.magic = JVM_PROTO_MAGIC, .version = JVM_PROTO_VERSION, .type = JVM_MSG_HELLO,
		.flags = JVM_MARKS, .hello = { getpid(), syscall(SYS_gettid) },
	};
	int fd = strlen(path) < sizeof(a.sun_path) ? socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0) : -1;

	if (fd < 0)
		return -1;
	strcpy(a.sun_path, path);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	if (!connect(fd, (struct sockaddr *)&a, sizeof(a)) && is_trusted(fd) &&
	    send(fd, &m, sizeof(m), MSG_NOSIGNAL) == sizeof(m))
		return fd;
	close(fd);
	return -1;
}

/* The descriptor that comes with SETUP, or -1. */
static int get_area(uint64_t *bytes)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct jvm_msg m;
	struct iovec iov = { &m, sizeof(m) };
	struct msghdr h = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.buf,
		.msg_controllen = sizeof(control.buf),
	};
	struct cmsghdr *c;
	int fd = -1;
	ssize_t n;

	do
		n = recvmsg(sock, &h, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	c = n == sizeof(m) ? CMSG_FIRSTHDR(&h) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	if (n == sizeof(m) && m.magic == JVM_PROTO_MAGIC && m.version == JVM_PROTO_VERSION &&
	    m.type == JVM_MSG_SETUP && m.flags & JVM_MARKS) {
		*bytes = m.setup.area_bytes;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

/*
 * What a parent had, what came to nothing, or what belongs to a recorder before: other threads may be about
 * to write there, so it stays mapped.
 */
static void give_back(void)
{
	if (area && area_pid != getpid())
		munmap(area, area_bytes);
	if (sock >= 0)
		close(sock);
	area = NULL;
	sock = -1;
}

static int join(struct arcprof_recorder *m)
{
	char invited[sizeof(invitation.path)];
	const char *path = secure_getenv(MARK_ENVIRONMENT);
	uint64_t bytes = 0;
	size_t i;
	void *p;
	int fd;

	for (i = 0; i < sizeof(invited); i++)
		invited[i] = invitation.path[i];
	invited[sizeof(invited) - 1] = 0;
	if (invited[0])
		path = invited;

	give_back();
	sock = path && *path ? say_hello(path) : -1;
	fd = sock >= 0 ? get_area(&bytes) : -1;
	if (fd < 0)
		return 0;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return 0;
	area = p;
	area_bytes = bytes;
	area_pid = getpid();
	if (bytes < JVM_PAGE || !jvm_area_fits(area, bytes))
		return 0;
	m->ctl = area;
	m->nr_rings = m->ctl->nr_rings;
	m->ring_bytes = m->ctl->ring_bytes;
	m->tell = m->ctl->tell;
	return 1;
}

/* NULL: without MADV_WIPEONFORK a child would write as its parent. */
static struct arcprof_recorder *get_page(void)
{
	struct arcprof_recorder *m = load_acquire(&arcprof_recorder), *fresh;

	if (m)
		return m;
	fresh = mmap(NULL, sizeof(*fresh), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fresh == MAP_FAILED)
		return NULL;
	if (!madvise(fresh, sizeof(*fresh), MADV_WIPEONFORK) &&
	    __atomic_compare_exchange_n(&arcprof_recorder, &m, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return fresh;
	munmap(fresh, sizeof(*fresh));
	return m;
}

struct arcprof_recorder *arcprof_recorder_find(void)
{
	struct arcprof_recorder *m = get_page();
	int on;

	if (!m)
		return NULL;
	pthread_mutex_lock(&m->lock);
	if (m->state == RECORDER_UNKNOWN) {
		store_relaxed(&arcprof_recorder_generation, arcprof_recorder_generation + 1);
		on = join(m);
		if (!on)
			give_back();
		store_release(&m->state, on ? RECORDER_ON : RECORDER_OFF);
	}
	on = m->state == RECORDER_ON;
	pthread_mutex_unlock(&m->lock);
	return on ? m : NULL;
}
