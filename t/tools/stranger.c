// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stranger.c - a hostile client of the recorder's socket, for t/cli/hostile.bats; and what takes the
 * recorder's place.
 *
 *	stranger PATH hello N	connects N times and says HELLO each time, as an agent does
 *	stranger PATH idle N	keeps N connections and says nothing, until its standard input ends
 *	stranger PATH flood	is an agent that has more to say than anybody can read, until it is killed
 *	stranger PATH scribble N	connects N times and writes marks of any bytes, which change
 *		after they were written, and at last any bytes anywhere
 *	stranger PATH pose TEXT	listens there in a recorder's place, for an agent that is to show threads, and
 *		says this as the recorder's half of the key
 *
 * Prints how many connections were made, and how many were answered (hello) or are open still (idle); and
 * what an agent said (pose).
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
#include "jvm/reserve.h"

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

static bool say(int fd, uint32_t type, uint32_t flags)
{
	struct jvm_msg m = {
		.flags = flags,
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
		answered += say(fd, JVM_MSG_HELLO, 0) && hear_setup(fd, fds);
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
	if (fd < 0 || !say(fd, JVM_MSG_HELLO, 0) || !hear_setup(fd, fds) || !say(fd, JVM_MSG_READY, 0))
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

static uint64_t any(void)
{
	static uint64_t v = 1;

	v ^= v << 13;
	v ^= v >> 7;
	return v ^= v << 17;
}

/* A mark with named values, in which up to three bytes are not what they should be; none is its length. */
static void write_strange(struct jvm_ring *ring, uint64_t ring_bytes)
{
	static const uint8_t fields[] = "\3\4path\5\0/cart\1\1n12345678\2\1f12345678";
	const uint32_t types[] = {
		JVM_REC_marked, JVM_REC_marked, JVM_REC_event, JVM_REC_labels, any() & 0xff,
	};
	struct jvm_marked r = { .time_ns = any(), .thread = getpid(), .duration_ns = any(), .name = "strange",
		.name_len = 7, .fields = fields, .fields_len = sizeof(fields) - 1 };
	size_t size = jvm_size_marked(&r), i, nr = any() % 4;
	uint8_t *rec = jvm_ring_reserve(ring, ring_bytes, size);

	if (!rec) {
		usleep(100);
		return;
	}
	jvm_encode_marked(rec, size, &r);
	for (i = 0; i < nr; i++)
		rec[8 + any() % (size - 8)] = any();
	jvm_ring_commit(rec, ring_bytes, size, types[any() % 5]);
	for (i = any() % 2 * 20; i > 0; i--)
		((volatile uint8_t *)rec)[8 + any() % (size - 8)] = any();
}

static bool scribble_once(int fd)
{
	struct jvm_ctl *ctl;
	size_t bytes, i;
	int fds[3];

	if (!say(fd, JVM_MSG_HELLO, JVM_MARKS) || !hear_setup(fd, fds))
		return false;
	bytes = lseek(fds[0], 0, SEEK_END);
	ctl = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
	close(fds[0]);
	if (ctl == MAP_FAILED)
		return false;
	for (i = 0; i < 2000; i++)
		write_strange(jvm_ring_of(ctl, ctl->nr_rings, ctl->ring_bytes, 0), ctl->ring_bytes);
	usleep(30000);
	for (i = 0; i < 20000; i++)
		((volatile uint8_t *)ctl)[any() % (any() % 2 ? bytes : 16384)] = any();
	usleep(30000);
	munmap(ctl, bytes);
	return true;
}

static void scribble(const char *path, long n)
{
	long i, made = 0, answered = 0;

	for (i = 0; i < n; i++) {
		int fd = knock(path);

		if (fd < 0)
			continue;
		made++;
		answered += scribble_once(fd);
		close(fd);
	}
	printf("%ld made, %ld answered\n", made, answered);
}

static bool give_file(int fd, int file, const char *half)
{
	struct jvm_msg m = {
		.magic = JVM_PROTO_MAGIC, .version = JVM_PROTO_VERSION, .type = JVM_MSG_SETUP,
		.flags = JVM_DUMP,
	};
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec iov = { &m, sizeof(m) };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);

	memcpy(m.setup.key, half, strnlen(half, sizeof(m.setup.key)));
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &file, sizeof(int));
	return sendmsg(fd, &h, MSG_NOSIGNAL) == sizeof(m);
}

static int pose(const char *path, const char *half)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0), file = memfd_create("pose", 0), peer;
	struct jvm_msg m = { 0 };
	char c;

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 1))
		return 1;
	printf("listens\n");
	fflush(stdout);
	peer = accept(fd, NULL, NULL);
	if (recv(peer, &m, sizeof(m), 0) != sizeof(m)) {
		printf("no hello\n");
		return 0;
	}
	printf("hello, key %.*s; ", JVM_KEY_HALF, (char *)m.hello.key);
	give_file(peer, file, half);
	while (recv(peer, &c, 1, 0) > 0)
		;
	usleep(300000);
	printf("%s\n", lseek(file, 0, SEEK_END) > 0 ? "told" : "told nothing");
	return 0;
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
	else if (!strcmp(argv[2], "scribble"))
		scribble(argv[1], n);
	else if (!strcmp(argv[2], "pose"))
		return pose(argv[1], argc > 3 ? argv[3] : "");
	else
		return flood(argv[1]);
	return 0;
}
