// SPDX-License-Identifier: MIT
/*
 * client.c - the one place that decides who is on the other side of a recorder's socket. Of the C library it
 * uses types, numbers and memcpy(), which the agent has of its own.
 */
#include <asm/unistd.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "callflow/cpu.h"
#include "client/client.h"

static bool recorder_is_trusted(struct client *c)
{
	struct {
		int pid;
		uint32_t uid, gid;
	} cred;
	socklen_t len = sizeof(cred);

	if (sys(__NR_getsockopt, c->sock, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return false;
	c->pid = cred.pid;
	return c->has_key || !cred.uid || cred.uid == (uint32_t)sys(__NR_geteuid);
}

bool client_open(struct client *c, const char *path, int timeout_ms)
{
	const int64_t timeout[2] = { timeout_ms / 1000, timeout_ms % 1000 * 1000 };
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t len;

	*c = (struct client)CLIENT_CLOSED;
	for (len = 0; path[len]; len++) {
		if (len + 1 >= sizeof(a.sun_path))
			return false;
		a.sun_path[len] = path[len];
	}
	if (!len)
		return false;
	c->has_key = client_find_key(path, &c->key);
	c->sock = sys(__NR_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (c->sock < 0) {
		c->sock = -1;
		return false;
	}
	sys(__NR_setsockopt, c->sock, SOL_SOCKET, SO_SNDTIMEO, timeout, sizeof(timeout));
	sys(__NR_setsockopt, c->sock, SOL_SOCKET, SO_RCVTIMEO, timeout, sizeof(timeout));
	if (!sys(__NR_connect, c->sock, &a, sizeof(a)) && recorder_is_trusted(c))
		return true;
	client_close(c);
	return false;
}

void client_close(struct client *c)
{
	if (c->sock >= 0)
		sys(__NR_close, c->sock);
	*c = (struct client)CLIENT_CLOSED;
}

bool client_send(const struct client *c, struct jvm_msg m)
{
	m.magic = JVM_PROTO_MAGIC;
	m.version = JVM_PROTO_VERSION;
	if (c->has_key && m.type == JVM_MSG_HELLO)
		memcpy(m.hello.key, c->key.agents, sizeof(m.hello.key));
	if (c->has_key && m.type == JVM_MSG_REFUSED)
		memcpy(m.refused.key, c->key.agents, sizeof(m.refused.key));
	return sys(__NR_sendto, c->sock, &m, sizeof(m), MSG_NOSIGNAL) == sizeof(m);
}

/* Return the number of descriptors of a SETUP with these flags; -1: it is not an answer to our HELLO. */
static int nr_fds_of_setup(uint32_t greeted, uint32_t flags)
{
	const uint32_t echoed = greeted & (JVM_DUMP | JVM_MARKS);

	if (echoed)
		return flags & echoed ? 1 : -1;
	if (greeted & JVM_MEMORY)
		return 1;
	if (greeted & JVM_PROGRAM)
		return !(flags & JVM_CALLFLOW) ? -1 : flags & JVM_GUEST ? 0 : 1;
	return 2 + !!(flags & JVM_CALLFLOW) + !!(flags & JVM_VM_LOG);
}

static int nr_fds_of(const struct client *c, const struct jvm_msg *m)
{
	if (m->type == JVM_MSG_SETUP)
		return nr_fds_of_setup(c->greeted, m->flags);
	if (m->type == JVM_MSG_CHANGE)
		return !!(m->flags & JVM_VM_LOG);
	if (m->type == JVM_MSG_GO && m->flags & JVM_WALL)
		return m->flags & JVM_WALL_LATE ? 2 : m->flags & JVM_WALL_WAKES ? 5 : 3;
	return 0;
}

/* Take the descriptors that came, and return their number. */
static int take_fds(struct msghdr *h, int fds[JVM_MAX_FDS])
{
	const struct cmsghdr *c = CMSG_FIRSTHDR(h);
	size_t bytes;
	int i;

	for (i = 0; i < JVM_MAX_FDS; i++)
		fds[i] = -1;
	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return 0;
	bytes = c->cmsg_len - CMSG_LEN(0);
	memcpy(fds, CMSG_DATA(c), bytes);
	return bytes / sizeof(int);
}

static void close_fds(int fds[JVM_MAX_FDS])
{
	int i;

	for (i = 0; i < JVM_MAX_FDS; i++) {
		if (fds[i] >= 0)
			sys(__NR_close, fds[i]);
		fds[i] = -1;
	}
}

bool client_receive(const struct client *c, uint32_t type, struct jvm_msg *m, int fds[JVM_MAX_FDS],
		    int flags)
{
	union {
		char buf[CMSG_SPACE(JVM_MAX_FDS * sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec iov = { m, sizeof(*m) };
	struct msghdr h = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.buf,
		/* without padding, in which the kernel would store one more */
		.msg_controllen = CMSG_LEN(JVM_MAX_FDS * sizeof(int)),
	};
	int nr;
	long n;

	*m = (struct jvm_msg){ 0 };
	do
		n = sys(__NR_recvmsg, c->sock, &h, MSG_CMSG_CLOEXEC | flags);
	while (n == -EINTR);
	nr = take_fds(&h, fds);
	if (n == sizeof(*m) && m->magic == JVM_PROTO_MAGIC && m->version == JVM_PROTO_VERSION &&
	    m->type == type && nr == nr_fds_of(c, m))
		return true;
	close_fds(fds);
	return false;
}

bool client_greet(struct client *c, uint32_t flags, uint64_t hook, struct jvm_msg *setup,
		  int fds[JVM_MAX_FDS])
{
	const struct jvm_msg hello = {
		.type = JVM_MSG_HELLO, .flags = flags,
		.hello = { sys(__NR_getpid), sys(__NR_gettid), hook },
	};

	c->greeted = flags;
	if (!client_send(c, hello) || !client_receive(c, JVM_MSG_SETUP, setup, fds, 0))
		return false;
	if (!c->has_key || jvm_key_same(c->key.recorders, setup->setup.key))
		return true;
	close_fds(fds);
	return false;
}
