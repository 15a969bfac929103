// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stranger.c - a hostile client of the recorder's socket, for t/cli/hostile.bats.
 *
 *	stranger PATH hello N	connects N times and says HELLO each time, as an agent does
 *	stranger PATH idle N	keeps N connections and says nothing, until its standard input ends
 *	stranger PATH flood	is an agent that has more to say than anybody can read, until it is killed
 *
 * Prints how many connections were made, and how many were answered (hello) or are open still (idle).
 */
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "jvm/encode.h"

static int knock(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct timeval limit = { .tv_sec = 10 };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&a, sizeof(a)))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool say(int fd, uint32_t type)
{
	struct jvm_msg m = {
		.magic = JVM_PROTO_MAGIC, .version = JVM_PROTO_VERSION, .type = type,
		.hello = { getpid(), getpid() },
	};

	return send(fd, &m, sizeof(m), MSG_NOSIGNAL) == sizeof(m);
}

/* SETUP with its descriptors. */
static bool hear_setup(int fd, int fds[3])
{
	union {
		char buf[CMSG_SPACE(3 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct jvm_msg m;
	struct iovec iov = { &m, sizeof(m) };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control) };
	struct cmsghdr *c;

	if (recvmsg(fd, &h, 0) != sizeof(m) || m.type != JVM_MSG_SETUP || !(c = CMSG_FIRSTHDR(&h)))
		return false;
	memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	return true;
}

static void hello(const char *path, long n)
{
	long i, made = 0, answered = 0;

	for (i = 0; i < n; i++) {
		int fd = knock(path), fds[3];

		if (fd < 0)
			continue;
		made++;
		answered += say(fd, JVM_MSG_HELLO) && hear_setup(fd, fds);
		close(fd);
	}
	printf("%ld made, %ld answered\n", made, answered);
}

static void idle(const char *path, long n)
{
	struct pollfd *p = calloc(n, sizeof(*p));
	long i, made = 0, open = 0;
	char c;

	for (i = 0; i < n; i++) {
		int fd = knock(path);

		if (fd >= 0)
			p[made++] = (struct pollfd){ .fd = fd, .events = POLLIN };
	}
	while (read(0, &c, 1) > 0)
		;
	poll(p, made, 0);
	for (i = 0; i < made; i++)
		open += !p[i].revents;
	printf("%ld made, %ld open\n", made, open);
	free(p);
}

/* A JVM is sampled by these. */
static void on_trap(int sig)
{
}

/* Names of threads, one after the other, as fast as it can. */
static int flood(const char *path)
{
	const struct jvm_thread flood = { .thread = getpid(), .name = "flood", .name_len = 5 };
	size_t size = jvm_size_thread(&flood), i;
	static uint8_t many[1 << 20];
	int fd = knock(path), fds[3];
	struct jvm_ctl *ctl;

	signal(SIGTRAP, on_trap);
	if (fd < 0 || !say(fd, JVM_MSG_HELLO) || !hear_setup(fd, fds) || !say(fd, JVM_MSG_READY))
		return 1;
	ctl = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
	if (ctl == MAP_FAILED)
		return 1;
	for (i = 0; i + size <= sizeof(many); i += size) {
		jvm_encode_thread(many + i, size, &flood);
		*(struct jvm_rec *)(many + i) = (struct jvm_rec){ size, JVM_REC_thread };
	}
	printf("in\n");
	fflush(stdout);
	for (;;) {
		uint64_t head = ctl->log_head;

		if (head - __atomic_load_n(&ctl->log_read, __ATOMIC_ACQUIRE) + i > ctl->log_limit)
			usleep(1000);
		else if (pwrite(fds[1], many, i, head) == (ssize_t)i)
			__atomic_store_n(&ctl->log_head, head + i, __ATOMIC_RELEASE);
	}
}

int main(int argc, char **argv)
{
	long n = argc > 3 ? atol(argv[3]) : 0;

	if (argc < 3)
		return 2;
	if (!strcmp(argv[2], "hello"))
		hello(argv[1], n);
	else if (!strcmp(argv[2], "idle"))
		idle(argv[1], n);
	else
		return flood(argv[1]);
	return 0;
}
