// SPDX-License-Identifier: GPL-2.0-or-later
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "jvm/inject.h"
#include "jvm/jdk.h"
#include "jvm/perfdata.h"
#include "jvm/server.h"
#include "unit.h"

/* What is preloaded lies beside the agent, and follows what was preloaded already. */
TEST(jvm_environment_is_extended)
{
	struct buf agent = BUF_INIT, want = BUF_INIT;
	struct err e;
	size_t dir;

	if (inject_place(&agent, &e)) {
		printf("# %s\n", e.msg);
		unit_skip("no place for the agent");
	}
	dir = strrchr(agent.data, '/') + 1 - agent.data;
	CHECK(!strpbrk(agent.data, " :$="));
	setenv("LD_PRELOAD", "/a/b.so", 1);
	unsetenv("ASAN_OPTIONS");
	CHECK_U64(inject_setenv(agent.data, "/tmp/x/s", 0, &e), 0);
	CHECK_U64(strncmp(getenv("LD_PRELOAD"), "/a/b.so:", 8), 0);
	CHECK_U64(strncmp(getenv("LD_PRELOAD") + 8, agent.data, dir), 0);
	CHECK_U64(strncmp(getenv("LD_PRELOAD") + 8 + dir, "preload-", 8), 0);
	buf_fmt(&want, "%s -agentpath:%s=/tmp/x/s", getenv("LD_PRELOAD") + 8, agent.data);
	CHECK_STR(getenv("ARCPROF_AGENT"), want.data);
	CHECK_STR(getenv("ASAN_OPTIONS"), "verify_asan_link_order=0");

	unsetenv("LD_PRELOAD");
	setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
	CHECK_U64(inject_setenv(agent.data, "/tmp/x/s", 0, &e), 0);
	CHECK_U64(strncmp(getenv("LD_PRELOAD"), agent.data, dir), 0);
	CHECK_STR(getenv("ASAN_OPTIONS"), "detect_leaks=0:verify_asan_link_order=0");
	buf_release(&agent);
	buf_release(&want);
}

/* A blank would end the name in LD_PRELOAD: then the agent goes elsewhere. */
TEST(jvm_agent_is_not_placed_where_a_name_would_be_cut)
{
	struct buf agent = BUF_INIT;
	struct err e;

	if (!geteuid())
		unit_skip("root's agent is not placed in a home");
	setenv("XDG_CACHE_HOME", "/tmp/a b", 1);
	setenv("HOME", "/tmp/a:b", 1);
	if (!inject_place(&agent, &e))
		CHECK(!strpbrk(agent.data, " :$="));
	buf_release(&agent);
}

TEST(jvm_launcher_is_a_script_or_names_a_jvm)
{
	char dir[] = "/tmp/arcprof-unit-XXXXXX", path[64];
	static const struct {
		const char *text;
		bool names;
	} files[] = {
		{ "#!/bin/sh\nexec java\n", true }, { ELFMAG "\2\1 libc.so.6", false },
		{ ELFMAG "\2\1 libjli.so", true }, { ELFMAG "\2\1 server/libjvm.so", true },
	};
	size_t i;
	FILE *f;

	CHECK(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/program", dir);
	for (i = 0; i < ARRAY_SIZE(files); i++) {
		f = fopen(path, "w");
		fputs(files[i].text, f);
		fclose(f);
		CHECK_U64(launcher_names_jvm(path), files[i].names);
	}
	chmod(path, 0755);
	setenv("PATH", dir, 1);
	CHECK(launcher_names_jvm("program"));
	CHECK(!launcher_names_jvm("another"));
	unlink(path);
	CHECK(!launcher_names_jvm(path));
	rmdir(dir);
}

static bool unsampled(void *ctx, struct jvm *j, int pid, int tid)
{
	return false;
}

static void ignore_lost(void *ctx, struct jvm *j, uint64_t nr) { }
static int nr_gone;

static void note_gone(void *ctx, struct jvm *j) { nr_gone++; }

static int connect_to(const char *options)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	const char *path = strrchr(options, '=') + 1;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	CHECK_U64(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

/* Packets nobody expects end that connection and nothing else. */
TEST(jvm_server_survives_nonsense_on_its_socket)
{
	struct jvm_server_opts o = { .sample = true, .max_depth = 100, .max_stack_bytes = 4096 };
	struct jvm_callbacks cb = { .lost = ignore_lost, .gone = note_gone };
	struct jvm_msg ready = { JVM_PROTO_MAGIC, JVM_PROTO_VERSION, .type = JVM_MSG_READY };
	struct jvm_server *s;
	struct err e;
	int fd, i;

	if (jvm_server_open(&s, &o, &cb, NULL, &e)) {
		printf("# %s\n", e.msg);
		unit_skip("no place for the agent");
	}
	if (jvm_server_setenv(s, &e)) {
		printf("# %s\n", e.msg);
		unit_skip("no place for the agent");
	}
	for (i = 0; i < 3; i++) {
		fd = connect_to(getenv("ARCPROF_AGENT"));
		jvm_server_poll(s);
		CHECK_U64(jvm_server_nr_jvms(s), 1);
		if (i == 0)
			send(fd, "hello", 5, 0);
		else if (i == 1)
			send(fd, &ready, sizeof(ready), 0);	/* before HELLO */
		else
			close(fd);
		jvm_server_poll(s);
		jvm_server_drain(s, true);
		CHECK_U64(jvm_server_nr_jvms(s), 0);
		if (i < 2)
			close(fd);
	}
	CHECK_U64(nr_gone, 0);
	jvm_server_close(s);
}

/* Head and log position beyond all bounds: the JVM is dropped, memory outside is not read. */
TEST(jvm_server_drops_a_jvm_whose_ring_makes_no_sense)
{
	struct jvm_msg hello = { JVM_PROTO_MAGIC, JVM_PROTO_VERSION, .type = JVM_MSG_HELLO,
				 .hello = { getpid(), getpid() } };
	struct jvm_server_opts o = { .sample = true, .max_depth = 100, .max_stack_bytes = 4096 };
	struct jvm_callbacks cb = { .hello = unsampled, .lost = ignore_lost, .gone = note_gone };
	struct jvm_server *s;
	struct jvm_msg m;
	union {
		char buf[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { &m, sizeof(m) };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	struct err e;
	uint64_t v = 1ull << 60;
	int fd, fds[2];

	if (jvm_server_open(&s, &o, &cb, NULL, &e) || jvm_server_setenv(s, &e))
		unit_skip("no place for the agent");
	fd = connect_to(getenv("ARCPROF_AGENT"));
	jvm_server_poll(s);
	send(fd, &hello, sizeof(hello), 0);
	jvm_server_poll(s);
	CHECK_U64(recvmsg(fd, &h, 0), sizeof(m));
	memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&h)), sizeof(fds));
	CHECK(ftruncate(fds[0], 0) < 0);	/* sealed */
	hello.type = JVM_MSG_READY;
	send(fd, &hello, sizeof(hello), 0);
	jvm_server_poll(s);
	CHECK_U64(pwrite(fds[0], &v, 8, JVM_PAGE + sizeof(struct jvm_root) * JVM_NR_ROOTS), 8);
	jvm_server_drain(s, true);
	jvm_server_poll(s);
	CHECK_U64(jvm_server_nr_jvms(s), 0);
	jvm_server_close(s);
}

static bool refuse(void *ctx, int pid, uint64_t start_ns)
{
	CHECK_U64(pid, getpid());
	CHECK(start_ns && start_ns < clock_mono_ns());
	return false;
}

static struct jvm_server *a_server(const struct jvm_server_opts *o, const struct jvm_callbacks *cb)
{
	struct jvm_server *s;
	struct err e;

	if (jvm_server_open(&s, o, cb, NULL, &e) || jvm_server_listen(s, &e)) {
		printf("# %s\n", e.msg);
		unit_skip("no place for a socket");
	}
	return s;
}

static int knock(const struct jvm_server *s)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", jvm_server_path(s));
	CHECK_U64(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static void say(int fd, uint32_t type)
{
	struct jvm_msg m = { JVM_PROTO_MAGIC, JVM_PROTO_VERSION, .type = type,
			     .hello = { getpid(), getpid() } };

	CHECK_U64(send(fd, &m, sizeof(m), MSG_NOSIGNAL), sizeof(m));
}

TEST(jvm_server_admits_only_recorded_processes)
{
	struct jvm_server_opts o = { .sample = true, .max_depth = 100, .max_stack_bytes = 4096 };
	struct jvm_callbacks cb = { .admit = refuse, .lost = ignore_lost, .gone = note_gone };
	struct jvm_server *s = a_server(&o, &cb);
	int i, fd[3];

	for (i = 0; i < 3; i++) {
		fd[i] = knock(s);
		jvm_server_poll(s);
		CHECK_U64(jvm_server_nr_jvms(s), 0);
	}
	CHECK_U64(jvm_server_refusals(s)->strangers, 3);
	for (i = 0; i < 3; i++)
		close(fd[i]);
	jvm_server_close(s);
}

TEST(jvm_server_bounds_what_a_process_may_have)
{
	struct jvm_server_opts o = {
		.sample = true, .max_depth = 100, .max_stack_bytes = 4096, .ring_bytes = 4 << 20,
		.patience_ns = 3600000000000,
	};
	struct jvm_callbacks cb = { .hello = unsampled, .lost = ignore_lost, .gone = note_gone };
	struct jvm_server *s = a_server(&o, &cb);
	int i, fd[40];

	for (i = 0; i < 40; i++) {
		fd[i] = knock(s);
		jvm_server_poll(s);
	}
	CHECK_U64(jvm_server_nr_jvms(s), 16);
	CHECK_U64(jvm_server_refusals(s)->crowd, 24);
	/* one agent's area a process */
	say(fd[0], JVM_MSG_HELLO);
	say(fd[1], JVM_MSG_HELLO);
	jvm_server_poll(s);
	CHECK_U64(jvm_server_nr_jvms(s), 15);
	CHECK_U64(jvm_server_refusals(s)->silent, 0);
	for (i = 0; i < 40; i++)
		close(fd[i]);
	jvm_server_close(s);
}

/* Polls until so many are left; false: not within some seconds. */
static bool few_are_left(struct jvm_server *s, uint64_t nr)
{
	uint64_t end = clock_mono_ns() + 20000000000;

	do {
		usleep(5000);
		jvm_server_poll(s);
	} while (jvm_server_nr_jvms(s) > nr && clock_mono_ns() < end);
	return jvm_server_nr_jvms(s) <= nr;
}

/* False: this took so long that the one who says hello was not waited for. */
static bool who_is_waited_for(uint64_t patience_ns)
{
	struct jvm_server_opts o = {
		.sample = true, .max_depth = 100, .max_stack_bytes = 4096, .ring_bytes = 4 << 20,
		.patience_ns = patience_ns,
	};
	struct jvm_callbacks cb = { .hello = unsampled, .lost = ignore_lost, .gone = note_gone };
	struct jvm_server *s = a_server(&o, &cb);
	uint64_t start = clock_mono_ns(), ready_ns = 12 * patience_ns;
	bool in_time;
	int i, fd[15];

	fd[0] = knock(s);
	jvm_server_poll(s);
	in_time = clock_mono_ns() - start < patience_ns;
	if (in_time)
		say(fd[0], JVM_MSG_HELLO);
	for (i = 1; i < 15; i++) {
		fd[i] = knock(s);
		jvm_server_poll(s);
	}
	if (in_time && clock_mono_ns() - start < patience_ns)
		CHECK_U64(jvm_server_nr_jvms(s), 15);
	CHECK(few_are_left(s, in_time));
	if (in_time && clock_mono_ns() - start < ready_ns) {
		CHECK_U64(jvm_server_nr_jvms(s), 1);
		CHECK_U64(jvm_server_refusals(s)->silent, 14);
	}
	CHECK(few_are_left(s, 0));
	CHECK(!in_time || clock_mono_ns() - start >= ready_ns);
	CHECK_U64(jvm_server_refusals(s)->silent, 15);
	for (i = 0; i < 15; i++)
		close(fd[i]);
	jvm_server_close(s);
	return in_time;
}

TEST(jvm_server_waits_for_silent_clients_and_longer_after_hello)
{
	CHECK(who_is_waited_for(50000000) || who_is_waited_for(1000000000));
}

/*
 * What the agent shares with us before it has written anything is not memory yet; and a log is read in
 * shares.
 */
TEST(jvm_server_gives_no_memory_and_reads_no_more_than_its_share)
{
	static const struct jvm_rec pad = { sizeof(pad), JVM_REC_PAD };
	struct jvm_server_opts o = { .sample = true, .max_depth = 100, .max_stack_bytes = 4096,
		.ring_bytes = 4 << 20 };
	struct jvm_callbacks cb = { .hello = unsampled, .lost = ignore_lost, .gone = note_gone };
	struct jvm_server *s = a_server(&o, &cb);
	union {
		char buf[CMSG_SPACE(2 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct jvm_msg m;
	struct iovec iov = { &m, sizeof(m) };
	struct msghdr h = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control) };
	static struct jvm_rec many[1 << 17];
	int fd = knock(s), fds[2];
	struct jvm_ctl *ctl;
	struct stat st;
	size_t i;

	jvm_server_poll(s);
	say(fd, JVM_MSG_HELLO);
	jvm_server_poll(s);
	CHECK_U64(recvmsg(fd, &h, 0), sizeof(m));
	memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&h)), sizeof(fds));
	CHECK(!fstat(fds[0], &st) && st.st_size > 4 << 20 && st.st_blocks * 512 < 64 << 10);
	say(fd, JVM_MSG_READY);
	jvm_server_poll(s);
	for (i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = pad;
	for (i = 0; i < 40; i++)
		CHECK_U64(pwrite(fds[1], many, sizeof(many), i * sizeof(many)), sizeof(many));
	ctl = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
	__atomic_store_n(&ctl->log_head, 40 * sizeof(many), __ATOMIC_RELEASE);
	jvm_server_drain(s, false);
	CHECK_U64(ctl->log_read, 16 << 20);
	jvm_server_drain(s, true);
	CHECK_U64(ctl->log_read, 40 << 20);
	/* more than the bound that it was told */
	__atomic_store_n(&ctl->log_head, 1ull << 40, __ATOMIC_RELEASE);
	jvm_server_drain(s, false);
	jvm_server_poll(s);
	CHECK_U64(jvm_server_nr_jvms(s), 0);
	close(fds[0]);
	close(fds[1]);
	close(fd);
	jvm_server_close(s);
}

/* One entry, as HotSpot writes it: head of 20 bytes, name, value. */
static size_t put_perf_entry(uint8_t *d, const char *name, const char *value)
{
	uint32_t size = (20 + strlen(name) + 1 + strlen(value) + 1 + 7) & ~7u;
	uint32_t name_off = 20, data_off = 20 + strlen(name) + 1;

	memset(d, 0, size);
	memcpy(d, &size, 4);
	memcpy(d + 4, &name_off, 4);
	memcpy(d + 16, &data_off, 4);
	strcpy((char *)d + name_off, name);
	strcpy((char *)d + data_off, value);
	return size;
}

TEST(perf_data_say_whether_a_jvm_lets_itself_be_attached_to)
{
	static const uint8_t magic[] = { 0xca, 0xfe, 0xc0, 0xc0 };
	uint8_t d[512] = { 0 };
	uint32_t first = 32;
	size_t len = first, flag, cut;

	memcpy(d, magic, sizeof(magic));
	memcpy(d + 24, &first, 4);
	len += put_perf_entry(d + len, "java.cls.loadedClasses", "1000000");
	flag = len + 20 + sizeof("sun.rt.jvmCapabilities");
	len += put_perf_entry(d + len, "sun.rt.jvmCapabilities", "1100000");
	CHECK(perfdata_allows_attach(d, len));
	d[flag] = '0';
	CHECK(!perfdata_allows_attach(d, len));
	/* cut anywhere, it says nothing */
	for (cut = 0; cut < flag; cut++) {
		uint8_t *copy = xmalloc(cut + 1);

		memcpy(copy, d, cut);
		CHECK(perfdata_allows_attach(copy, cut));
		free(copy);
	}
}

static size_t put_perf_long(uint8_t *d, const char *name, uint64_t value)
{
	size_t size = put_perf_entry(d, name, "1234567");
	uint32_t value_off = 20 + strlen(name) + 1;

	memcpy(d + value_off, &value, 8);
	return size;
}

TEST(perf_data_say_how_full_the_heap_is)
{
	static const uint8_t magic[] = { 0xca, 0xfe, 0xc0, 0xc0 };
	uint8_t d[1024] = { 0 };
	uint32_t first = 32;
	struct perfdata_heap h;
	size_t len = first, cut;

	memcpy(d, magic, sizeof(magic));
	memcpy(d + 24, &first, 4);
	CHECK(!perfdata_heap(d, len, &h));
	len += put_perf_long(d + len, "sun.gc.generation.0.capacity", 100);
	len += put_perf_long(d + len, "sun.gc.generation.0.space.0.used", 10);
	len += put_perf_long(d + len, "sun.gc.generation.0.space.0.capacity", 77);
	len += put_perf_long(d + len, "sun.gc.generation.1.capacity", 1000);
	len += put_perf_long(d + len, "sun.gc.generation.1.space.0.used", 200);
	len += put_perf_long(d + len, "sun.gc.generation.2.space.0.used", 5);	/* no part of the heap */
	len += put_perf_long(d + len, "sun.gc.metaspace.used", 5);
	CHECK(perfdata_heap(d, len, &h));
	CHECK_U64(h.used, 210);
	CHECK_U64(h.committed, 1100);
	for (cut = 0; cut < len; cut++) {
		uint8_t *copy = xmalloc(cut + 1);

		memcpy(copy, d, cut);
		perfdata_heap(copy, cut, &h);
		CHECK(h.used <= 210);
		free(copy);
	}
}
