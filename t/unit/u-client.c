// SPDX-License-Identifier: GPL-2.0-or-later
/* The way to a recorder (lib/client): whom it believes, and what it takes from whom. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/client.h"
#include "unit.h"

enum { NOBODY = 65534, TIMEOUT_MS = 10000 };

/* A listener in a folder of its own, and its end of a connection. */
struct recorder {
	char dir[32], path[64], key_path[80];
	int listener, fd;
};

static const struct jvm_key key = { "0123456789abcde", "recorder-answer" };

static void listen_as(struct recorder *r, uid_t user)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	strcpy(r->dir, "/tmp/u-client-XXXXXX");
	CHECK(mkdtemp(r->dir));
	snprintf(r->path, sizeof(r->path), "%s/s", r->dir);
	snprintf(r->key_path, sizeof(r->key_path), "%s" JVM_KEY_SUFFIX, r->path);
	strcpy(a.sun_path, r->path);
	r->fd = -1;
	r->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	CHECK(!bind(r->listener, (struct sockaddr *)&a, sizeof(a)));
	CHECK(!seteuid(user) && !listen(r->listener, 1));
	CHECK(user == getuid() || !seteuid(getuid()));
}

static void put_key(const struct recorder *r, mode_t mode)
{
	int fd = open(r->key_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	CHECK(write(fd, &key, sizeof(key)) == sizeof(key));
	CHECK(!fchmod(fd, mode));
	close(fd);
}

static void begin(struct recorder *r)
{
	listen_as(r, geteuid());
}

static void end(struct recorder *r)
{
	close(r->fd);
	close(r->listener);
	unlink(r->key_path);
	unlink(r->path);
	rmdir(r->dir);
}

static bool come(struct recorder *r, struct client *c)
{
	if (!client_open(c, r->path, TIMEOUT_MS))
		return false;
	r->fd = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC);
	return r->fd >= 0;
}

static struct jvm_msg setup(uint32_t flags)
{
	struct jvm_msg m = {
		.magic = JVM_PROTO_MAGIC, .version = JVM_PROTO_VERSION, .type = JVM_MSG_SETUP, .flags = flags,
		.setup = { .area_bytes = 4711 },
	};

	return m;
}

/* Says it with that many descriptors, which are all of the same file. */
static void say(const struct recorder *r, struct jvm_msg m, size_t nr)
{
	union {
		char buf[CMSG_SPACE(8 * sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec iov = { &m, sizeof(m) };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;
	size_t i;

	if (nr) {
		h.msg_control = control.buf;
		h.msg_controllen = CMSG_SPACE(nr * sizeof(int));
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(nr * sizeof(int));
		for (i = 0; i < nr; i++)
			((int *)CMSG_DATA(c))[i] = r->listener;
	}
	CHECK(sendmsg(r->fd, &h, MSG_NOSIGNAL) == sizeof(m));
}

static unsigned nr_open(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned nr = 0;

	while (readdir(d))
		nr++;
	closedir(d);
	return nr;
}

/* What a client that greets so makes of this answer; -1: nothing, else how many descriptors it has got. */
static int answered(struct recorder *r, struct client *c, uint32_t greeting, struct jvm_msg answer, size_t nr)
{
	unsigned before = nr_open();
	int fds[JVM_MAX_FDS], got = 0;
	struct jvm_msg m;

	say(r, answer, nr);
	if (!client_greet(c, greeting, 0, &m, fds)) {
		CHECK_U64(nr_open(), before);
		return -1;
	}
	CHECK_U64(m.setup.area_bytes, 4711);
	while (got < JVM_MAX_FDS && fds[got] >= 0) {
		CHECK(fcntl(fds[got], F_GETFD) & FD_CLOEXEC);
		close(fds[got++]);
	}
	return got;
}

TEST(client_says_who_it_is)
{
	struct jvm_msg m = { 0 }, none = { 0 };
	struct recorder r;
	struct client c;

	begin(&r);
	CHECK(come(&r, &c) && !c.has_key);
	CHECK_U64(c.pid, getpid());
	CHECK(fcntl(c.sock, F_GETFD) & FD_CLOEXEC);
	CHECK_U64(answered(&r, &c, JVM_MEMORY, setup(0), 1), 1);
	CHECK(recv(r.fd, &m, sizeof(m), 0) == sizeof(m));
	CHECK_U64(m.magic, JVM_PROTO_MAGIC);
	CHECK_U64(m.version, JVM_PROTO_VERSION);
	CHECK_U64(m.type, JVM_MSG_HELLO);
	CHECK_U64(m.flags, JVM_MEMORY);
	CHECK_U64(m.hello.pid, getpid());
	CHECK_U64(m.hello.tid, gettid());
	CHECK(!memcmp(m.hello.key, none.hello.key, JVM_KEY_HALF));
	client_close(&c);
	CHECK(recv(r.fd, &m, sizeof(m), 0) == 0);
	end(&r);
}

TEST(client_takes_the_descriptors_of_its_kind)
{
	const struct { uint32_t greeting, answer; int nr; } rows[] = {
		{ 0, JVM_SAMPLE, 2 }, { 0, JVM_CALLFLOW, 3 }, { 0, JVM_VM_LOG, 3 },
		{ 0, JVM_CALLFLOW | JVM_VM_LOG, 4 },
		{ JVM_DUMP, JVM_DUMP, 1 }, { JVM_MARKS, JVM_MARKS, 1 }, { JVM_MEMORY, 0, 1 },
		{ JVM_PROGRAM, JVM_CALLFLOW, 1 }, { JVM_PROGRAM, JVM_CALLFLOW | JVM_GUEST, 0 },
	};
	struct recorder r;
	struct client c;
	size_t i;

	begin(&r);
	CHECK(come(&r, &c));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int n;

		for (n = 0; n <= JVM_MAX_FDS; n++)
			CHECK_U64(answered(&r, &c, rows[i].greeting, setup(rows[i].answer), n),
				  n == rows[i].nr ? n : -1);
	}
	CHECK_U64(answered(&r, &c, JVM_DUMP, setup(0), 1), -1);
	CHECK_U64(answered(&r, &c, JVM_MARKS, setup(0), 1), -1);
	CHECK_U64(answered(&r, &c, JVM_PROGRAM, setup(0), 1), -1);
	client_close(&c);
	end(&r);
}

/* An emulator takes more than it hands on. */
TEST(client_has_room_for_no_more_descriptors)
{
	struct recorder r;
	struct client c;

	unit_skip_if_emulated();
	begin(&r);
	CHECK(come(&r, &c));
	CHECK_U64(answered(&r, &c, 0, setup(JVM_CALLFLOW | JVM_VM_LOG), JVM_MAX_FDS + 1), -1);
	CHECK_U64(answered(&r, &c, JVM_MARKS, setup(JVM_MARKS), JVM_MAX_FDS + 2), -1);
	client_close(&c);
	end(&r);
}

TEST(client_refuses_other_messages)
{
	struct jvm_msg m = setup(JVM_MARKS);
	struct recorder r;
	struct client c;

	begin(&r);
	CHECK(come(&r, &c));
	CHECK_U64(answered(&r, &c, JVM_MARKS, m, 1), 1);
	m.version++;
	CHECK_U64(answered(&r, &c, JVM_MARKS, m, 1), -1);
	m.version--;
	m.magic++;
	CHECK_U64(answered(&r, &c, JVM_MARKS, m, 1), -1);
	m.magic--;
	m.type = JVM_MSG_GO;
	CHECK_U64(answered(&r, &c, JVM_MARKS, m, 1), -1);
	CHECK(send(r.fd, &m, 8, 0) == 8);
	m.type = JVM_MSG_SETUP;
	CHECK_U64(answered(&r, &c, JVM_MARKS, m, 1), -1);
	client_close(&c);
	end(&r);
}

TEST(client_sends_one_half_of_the_key_and_expects_the_other)
{
	struct jvm_msg answer = setup(JVM_MARKS), m = { 0 };
	struct recorder r;
	struct client c;

	begin(&r);
	put_key(&r, 0600);
	CHECK(come(&r, &c) && c.has_key);
	CHECK_U64(answered(&r, &c, JVM_MARKS, answer, 1), -1);
	CHECK(recv(r.fd, &m, sizeof(m), 0) == sizeof(m));
	CHECK(!memcmp(m.hello.key, key.agents, JVM_KEY_HALF));
	memcpy(answer.setup.key, key.recorders, JVM_KEY_HALF);
	CHECK_U64(answered(&r, &c, JVM_MARKS, answer, 1), 1);
	CHECK(recv(r.fd, &m, sizeof(m), 0) == sizeof(m));
	CHECK(client_send(&c, (struct jvm_msg){ .type = JVM_MSG_REFUSED, .refused = { JVM_REFUSED_VM } }));
	CHECK(recv(r.fd, &m, sizeof(m), 0) == sizeof(m));
	CHECK(!memcmp(m.refused.key, key.agents, JVM_KEY_HALF));
	answer.setup.key[JVM_KEY_HALF - 1]++;
	CHECK_U64(answered(&r, &c, JVM_MARKS, answer, 1), -1);
	client_close(&c);
	end(&r);
}

/* Its file's mode, size and other names. */
TEST(client_believes_no_key_that_others_may_know)
{
	struct recorder r;
	struct jvm_key k;
	char other[96];

	begin(&r);
	CHECK(!client_find_key(r.path, &k));
	put_key(&r, 0600);
	CHECK(client_find_key(r.path, &k) && !memcmp(&k, &key, sizeof(k)));
	CHECK(!chmod(r.key_path, 0640) && !client_find_key(r.path, &k));
	CHECK(!chmod(r.key_path, 0600) && client_find_key(r.path, &k));
	snprintf(other, sizeof(other), "%s/other", r.dir);
	CHECK(!link(r.key_path, other) && !client_find_key(r.path, &k));
	CHECK(!unlink(r.key_path) && !symlink(other, r.key_path) && !client_find_key(r.path, &k));
	CHECK(!unlink(r.key_path) && !rename(other, r.key_path) && client_find_key(r.path, &k));
	CHECK(!truncate(r.key_path, sizeof(k) - 1) && !client_find_key(r.path, &k));
	end(&r);
}

TEST(client_talks_to_no_other_user_without_a_key)
{
	struct recorder r;
	struct client c;

	if (geteuid())
		unit_skip("only root can listen as another user");
	listen_as(&r, NOBODY);
	CHECK(!client_open(&c, r.path, TIMEOUT_MS));
	CHECK(c.sock == -1);
	put_key(&r, 0600);
	CHECK(client_open(&c, r.path, TIMEOUT_MS));
	client_close(&c);
	CHECK(!chown(r.key_path, NOBODY, NOBODY));
	CHECK(!client_open(&c, r.path, TIMEOUT_MS));
	end(&r);
}

TEST(client_talks_to_root)
{
	struct recorder r;
	struct client c;

	if (geteuid())
		unit_skip("only root can listen as root");
	begin(&r);
	CHECK(!chmod(r.dir, 0755) && !chmod(r.path, 0666));
	CHECK(!seteuid(NOBODY));
	CHECK(client_open(&c, r.path, TIMEOUT_MS));
	client_close(&c);
	CHECK(!seteuid(0));
	end(&r);
}

TEST(client_knows_how_long_a_path_may_be)
{
	char path[200];
	struct client c;

	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	CHECK(!client_open(&c, path, TIMEOUT_MS) && c.sock == -1);
	CHECK(!client_open(&c, "", TIMEOUT_MS) && c.sock == -1);
	CHECK(!client_open(&c, "/nowhere", TIMEOUT_MS) && c.sock == -1);
}
