// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "callflow/area.h"
#include "hookit/link.h"
#include "jvm/proto.h"

/* The listener must be root or our own user: no other user may see what this program does. */
static bool is_trusted(int sock)
{
	struct {
		int pid;
		unsigned int uid, gid;
	} cred;
	socklen_t len = sizeof(cred);

	return !getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &cred, &len) &&
		(!cred.uid || cred.uid == geteuid());
}

static int open_socket(const char *path)
{
	struct timeval timeout = { .tv_sec = JVM_GO_TIMEOUT_MS / 1000 };
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int sock;

	if (strlen(path) >= sizeof(a.sun_path))
		return -1;
	strcpy(a.sun_path, path);
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return -1;
	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	if (!connect(sock, (struct sockaddr *)&a, sizeof(a)) && is_trusted(sock))
		return sock;
	close(sock);
	return -1;
}

static bool say_hello(int sock)
{
	struct jvm_msg m = {
		.magic = JVM_PROTO_MAGIC, .version = JVM_PROTO_VERSION, .type = JVM_MSG_HELLO,
		.flags = JVM_PROGRAM, .hello = { getpid(), syscall(SYS_gettid) },
	};

	return send(sock, &m, sizeof(m), MSG_NOSIGNAL) == sizeof(m);
}

/* SETUP, and the descriptor of the area that comes with it, or -1. False: no answer that makes sense. */
static bool get_area(int sock, struct jvm_msg *m, int *fd)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { m, sizeof(*m) };
	struct msghdr h = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.buf,
		.msg_controllen = sizeof(control.buf),
	};
	struct cmsghdr *c;
	ssize_t n;

	do
		n = recvmsg(sock, &h, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	c = n == sizeof(*m) ? CMSG_FIRSTHDR(&h) : NULL;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return n == sizeof(*m) && m->magic == JVM_PROTO_MAGIC && m->version == JVM_PROTO_VERSION &&
	       m->type == JVM_MSG_SETUP && m->flags & JVM_CALLFLOW;
}

/* The trees are those of the agent in this process. */
static bool visit(struct hook_area *a, uint64_t address)
{
	const struct callflow_host *host = (const void *)(uintptr_t)address;

	if (!host || host->version != CALLFLOW_VERSION || host->bytes != sizeof(*host))
		return false;
	a->host = host;
	a->mem = (void *)host->area();
	return a->mem;
}

static bool map_own(struct hook_area *a, uint64_t bytes, int fd)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return false;
	a->mem = p;
	a->bytes = bytes;
	return true;
}

enum hook_verdict hook_ask(struct hook_area *a, uint64_t addr)
{
	struct jvm_msg m = {
		.magic = JVM_PROTO_MAGIC, .version = JVM_PROTO_VERSION, .type = JVM_MSG_FUNCTION,
		.function = { addr },
	};
	ssize_t n;

	if (send(a->sock, &m, sizeof(m), MSG_NOSIGNAL) != sizeof(m))
		return HOOK_EXCLUDED;
	do
		n = recv(a->sock, &m, sizeof(m), 0);
	while (n < 0 && errno == EINTR);
	return n == sizeof(m) && m.type == JVM_MSG_FUNCTION && m.function.addr == addr &&
			m.flags & JVM_INCLUDED ?
		HOOK_INCLUDED :
		HOOK_EXCLUDED;
}

/* A place for what the rules say about each function. */
static bool make_verdicts(struct hook_area *a)
{
	const struct callflow_area *c = a->mem;
	void *p;

	a->verdicts = NULL;
	if (!c->rules_bytes)
		return true;
	p = mmap(NULL, c->nr_functions, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		 -1, 0);
	if (p == MAP_FAILED)
		return false;
	a->verdicts = p;
	return true;
}

bool hook_link(struct hook_area *a)
{
	const char *path = secure_getenv(HOOK_ENVIRONMENT);
	struct jvm_msg m;
	int fd = -1;
	bool ok;

	*a = (struct hook_area){ .sock = path && *path ? open_socket(path) : -1 };
	if (a->sock < 0)
		return false;
	ok = say_hello(a->sock) && get_area(a->sock, &m, &fd) &&
		(m.flags & JVM_GUEST ? visit(a, m.setup.host) : map_own(a, m.setup.callflow_bytes, fd)) &&
		make_verdicts(a);
	if (fd >= 0)
		close(fd);
	if (!ok)
		hook_unlink(a);
	return ok;
}

void hook_unlink(struct hook_area *a)
{
	if (a->bytes)
		munmap(a->mem, a->bytes);
	if (a->sock >= 0)
		close(a->sock);
	*a = (struct hook_area){ .sock = -1 };
}
