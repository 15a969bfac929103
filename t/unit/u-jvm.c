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
#include "jvm/launcher.h"
#include "jvm/perfdata.h"
#include "jvm/target.h"
#include "jvm/wire.h"
#include "trace/record.h"
#include "unit.h"

/* What the sink was told last. */
static struct {
	int nr_samples, nr_methods, nr_lines, nr_codes, nr_stubs, nr_threads, nr_gone, nr_refused,
		nr_brackets;
	uint32_t tid, method;
	struct jvm_sample sample;
	struct jvm_frame frames[8];
	struct jvm_segment segments[4];
	uint8_t stack[64];
	char text[4][64];
	struct jvm_code code;
} got;

static void on_sample(void *ctx, const struct jvm_sample *s)
{
	size_t i;

	got.nr_samples++;
	got.sample = *s;
	for (i = 0; i < s->nr_frames && i < ARRAY_SIZE(got.frames); i++)
		got.frames[i] = s->frames[i];
	for (i = 0; i < s->nr_segments && i < ARRAY_SIZE(got.segments); i++)
		got.segments[i] = s->segments[i];
	if (s->nr_segments && s->segments[0].len <= sizeof(got.stack))
		memcpy(got.stack, s->segments[0].stack, s->segments[0].len);
}

static void on_method(void *ctx, const struct jvm_method *m)
{
	got.nr_methods++;
	snprintf(got.text[0], sizeof(got.text[0]), "%s", m->class_name);
	snprintf(got.text[1], sizeof(got.text[1]), "%s", m->name);
	snprintf(got.text[2], sizeof(got.text[2]), "%s", m->sig);
	snprintf(got.text[3], sizeof(got.text[3]), "%s", m->source);
}

static void on_lines(void *ctx, uint32_t method, const uint8_t *table, size_t len)
{
	got.nr_lines += method == 9 && len == 4 && table[3] == 4;
}

static void on_code(void *ctx, const struct jvm_code *c)
{
	got.nr_codes++;
	got.code = *c;
}

static void on_code_gone(void *ctx, uint64_t time_ns, uint32_t compile_id, uint64_t addr)
{
	got.nr_gone++;
}

static void on_stub(void *ctx, uint64_t time_ns, uint64_t addr, uint64_t size, const char *name)
{
	got.nr_stubs++;
	snprintf(got.text[0], sizeof(got.text[0]), "%s", name);
}

static void on_thread(void *ctx, uint64_t time_ns, uint32_t tid, uint64_t vthread, const char *name)
{
	got.nr_threads++;
	snprintf(got.text[0], sizeof(got.text[0]), "%s", name);
}

static void on_refused(void *ctx, const struct jvm_refused *r)
{
	got.nr_refused++;
	snprintf(got.text[0], sizeof(got.text[0]), "%s", r->class_name);
	snprintf(got.text[1], sizeof(got.text[1]), "%s", r->name);
	snprintf(got.text[2], sizeof(got.text[2]), "%s", r->sig);
	snprintf(got.text[3], sizeof(got.text[3]), "%s", r->why);
}

static void on_bracket(void *ctx, uint64_t time_ns, uint32_t tid, uint32_t method)
{
	got.nr_brackets++;
	got.tid = tid;
	got.method = method;
}

static const struct wire_sink sink = {
	on_sample, on_method, on_lines,	  on_code,    on_code_gone,
	on_stub,   on_thread, on_refused, on_bracket, NULL,
};
static struct wire_scratch scratch;

static void finish(struct buf *b, uint32_t type)
{
	while (b->len % 8)
		buf_u8(b, 0);
	*(struct jvm_rec *)b->data = (struct jvm_rec){ b->len, type };
}

/* Three frames, one segment of 24 bytes of stack. */
static struct buf a_sample(void)
{
	const struct jvm_rec_sample head = {
		.time_ns = 77, .tid = 5, .event = 2, .nr_frames = 3, .nr_segments = 1,
		.flags = JVM_SAMPLE_LATE,
	};
	const struct jvm_rec_frame frames[] = {
		{ (uint64_t)JVM_NATIVE << 56 | 0x7f0000001000, .segment = 0 },
		{ (uint64_t)JVM_COMPILED << 56 | 0x7f0000002000, .method = 11, .compile_id = 42 },
		{ (uint64_t)JVM_MARK << 56, .line = 321, .mark = JVM_MARK_INTERPRETER },
	};
	const struct jvm_rec_segment seg = {
		.pc = 0x7f0000001000, .sp = 0x7ffc00000000, .fp = 1, .rbx = 2, .r15 = 3,
		.flags = 0x1f | JVM_SEG_EXACT | JVM_SEG_TRIMMED, .len = 20, .end = 0x7ffc00001000,
	};
	struct buf b = BUF_INIT;

	buf_add(&b, &head, sizeof(head));
	buf_add(&b, frames, sizeof(frames));
	buf_add(&b, &seg, sizeof(seg));
	buf_add(&b, "abcdefghijklmnopqrst", 20);
	finish(&b, JVM_REC_SAMPLE);
	return b;
}

static struct buf a_method(void)
{
	struct jvm_rec_method r = { .method = 9, .class_len = 16, .name_len = 6, .sig_len = 3,
		.source_len = 0,
				    .lines_len = 4 };
	struct buf b = BUF_INIT;

	buf_add(&b, &r, sizeof(r));
	buf_str(&b, "java/lang/Stringlength()I");
	buf_add(&b, "\0\x14\x08\x04", 4);
	finish(&b, JVM_REC_METHOD);
	return b;
}

static struct buf a_refused(void)
{
	struct jvm_rec_refused r = { .class_len = 16, .name_len = 6, .sig_len = 3, .why_len = 9 };
	struct buf b = BUF_INIT;

	buf_add(&b, &r, sizeof(r));
	buf_str(&b, "java/lang/Stringlength()Itoo large");
	finish(&b, JVM_REC_REFUSED);
	return b;
}

static struct buf a_bracket(void)
{
	struct jvm_rec_bracket r = { .tid = 5, .method = 9 };
	struct buf b = BUF_INIT;

	buf_add(&b, &r, sizeof(r));
	finish(&b, JVM_REC_BRACKET);
	return b;
}

static struct buf a_code(void)
{
	struct jvm_rec_code r = { .addr = 0x1000, .size = 64, .method = 9, .compile_id = 3, .level = 4 };
	const uint8_t inl[] = { 1, 16, 2, 9, 5, 10, 0 };	/* one pc, two frames */
	struct buf b = BUF_INIT;

	r.inl_len = sizeof(inl);
	buf_add(&b, &r, sizeof(r));
	buf_add(&b, inl, sizeof(inl));
	finish(&b, JVM_REC_CODE);
	return b;
}

static struct buf a_name(uint32_t type)
{
	struct jvm_rec_stub s = { .addr = 1, .size = 2, .name_len = 4 };
	struct jvm_rec_thread t = { .tid = 7, .name_len = 4 };
	struct buf b = BUF_INIT;

	if (type == JVM_REC_STUB)
		buf_add(&b, &s, sizeof(s));
	else
		buf_add(&b, &t, sizeof(t));
	buf_str(&b, "main");
	finish(&b, type);
	return b;
}

static int decode(const struct buf *b)
{
	struct err e;

	return wire_record(b->data, b->len, &sink, &scratch, &e);
}

TEST(jvm_sample_record_decodes_to_what_was_written)
{
	struct buf b = a_sample();

	CHECK_U64(decode(&b), 0);
	CHECK_U64(got.nr_samples, 1);
	CHECK_U64(got.sample.time_ns, 77);
	CHECK_U64(got.sample.tid, 5);
	CHECK_U64(got.sample.event, 2);
	CHECK(got.sample.late);
	CHECK_U64(got.frames[0].kind, JVM_NATIVE);
	CHECK_U64(got.frames[1].pc, 0x7f0000002000);
	CHECK_U64(got.frames[1].method, 11);
	CHECK_U64(got.frames[1].compile_id, 42);
	CHECK_U64(got.frames[2].mark, MARK_JAVA_INTERPRETER);
	CHECK_U64(got.segments[0].r15, 3);
	CHECK_U64(got.segments[0].valid, 0x1f);
	CHECK(got.segments[0].exact && !got.segments[0].to_root);
	CHECK(got.segments[0].trimmed);
	CHECK_U64(got.segments[0].end, 0x7ffc00001000);
	CHECK_U64(got.segments[0].len, 20);
	CHECK(!memcmp(got.stack, "abcdefghijklmnopqrst", 20));
	buf_release(&b);
}

TEST(jvm_refused_record_says_what_and_why)
{
	struct buf b = a_refused();

	CHECK_U64(decode(&b), 0);
	CHECK_U64(got.nr_refused, 1);
	CHECK_STR(got.text[0], "java/lang/String");
	CHECK_STR(got.text[1], "length");
	CHECK_STR(got.text[3], "too large");
	buf_release(&b);
}

TEST(jvm_method_code_stub_and_thread_records_decode)
{
	struct buf b = a_method();

	CHECK_U64(decode(&b), 0);
	CHECK_STR(got.text[0], "java/lang/String");
	CHECK_STR(got.text[1], "length");
	CHECK_STR(got.text[2], "()I");
	CHECK_STR(got.text[3], "");
	buf_release(&b);
	b = a_code();
	CHECK_U64(decode(&b), 0);
	CHECK_U64(got.code.compile_id, 3);
	CHECK_U64(got.code.inl_len, 7);
	buf_release(&b);
	b = a_name(JVM_REC_STUB);
	CHECK_U64(decode(&b), 0);
	CHECK_STR(got.text[0], "main");
	buf_release(&b);
	b = a_name(JVM_REC_THREAD);
	CHECK_U64(decode(&b), 0);
	CHECK_U64(got.nr_threads, 1);
	buf_release(&b);
	b = a_bracket();
	CHECK_U64(decode(&b), 0);
	CHECK_U64(got.nr_brackets, 1);
	CHECK_U64(got.tid, 5);
	CHECK_U64(got.method, 9);
	buf_release(&b);
}

/* Every record, cut to every length with its size made to agree: refused, or skipped as unknown. */
TEST(jvm_records_refuse_every_truncation)
{
	struct buf all[] = {
		a_sample(),  a_method(),  a_code(), a_name(JVM_REC_STUB), a_name(JVM_REC_THREAD),
		a_refused(), a_bracket(),
	};
	size_t i, cut;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		for (cut = 0; cut + 8 <= all[i].len - 8; cut += 8) {
			uint64_t *copy = malloc(cut + 8);
			struct err e;

			memcpy(copy, all[i].data, cut + 8);
			((struct jvm_rec *)copy)->size = cut + 8;
			CHECK(wire_record(copy, cut + 8, &sink, &scratch, &e) == -EILSEQ);
			free(copy);
		}
		buf_release(&all[i]);
	}
	CHECK_U64(got.nr_samples + got.nr_methods + got.nr_codes + got.nr_stubs + got.nr_threads +
		  got.nr_refused, 0);
}

TEST(jvm_sample_refuses_a_frame_of_a_segment_that_is_not_there)
{
	struct buf b = a_sample();
	struct jvm_rec_frame *f = (void *)(b.data + sizeof(struct jvm_rec_sample));

	f[0].segment = 1;
	CHECK(decode(&b) == -EILSEQ);
	f[0].segment = 0;
	f[1].kind_pc = 99ull << 56;
	CHECK(decode(&b) == -EILSEQ);
	buf_release(&b);
}

TEST(jvm_mark_of_a_newer_agent_becomes_not_walkable)
{
	struct buf b = a_sample();
	struct jvm_rec_frame *f = (void *)(b.data + sizeof(struct jvm_rec_sample));

	f[2].mark = 4711;
	CHECK_U64(decode(&b), 0);
	CHECK_U64(got.frames[2].mark, MARK_JAVA_NOT_WALKABLE);
	buf_release(&b);
}

TEST(jvm_code_refuses_an_inline_table_that_ends_early)
{
	struct buf b = a_code();
	uint8_t *inl = (uint8_t *)b.data + sizeof(struct jvm_rec_code);

	inl[2] = 4;		/* four frames, two are there */
	CHECK(decode(&b) == -EILSEQ);
	inl[2] = 2;
	((struct jvm_rec_code *)b.data)->inl_len = 4000;
	CHECK(decode(&b) == -EILSEQ);
	buf_release(&b);
}

TEST(jvm_log_is_read_record_by_record_up_to_an_incomplete_one)
{
	struct buf b = a_method(), c = a_code();
	size_t first = b.len;
	struct err e;

	buf_add(&b, c.data, c.len);
	CHECK_U64(wire_records(b.data, b.len, &sink, &scratch, &e), b.len);
	CHECK_U64(wire_records(b.data, b.len - 8, &sink, &scratch, &e), first);
	CHECK_U64(wire_records(b.data, first - 8, &sink, &scratch, &e), 0);
	((struct jvm_rec *)b.data)->size = 4;
	CHECK(wire_records(b.data, b.len, &sink, &scratch, &e) == -EILSEQ);
	buf_release(&b);
	buf_release(&c);
}

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
	CHECK_U64(inject_setenv(agent.data, "/tmp/x/s", &e), 0);
	CHECK_U64(strncmp(getenv("LD_PRELOAD"), "/a/b.so:", 8), 0);
	CHECK_U64(strncmp(getenv("LD_PRELOAD") + 8, agent.data, dir), 0);
	CHECK_U64(strncmp(getenv("LD_PRELOAD") + 8 + dir, "preload-", 8), 0);
	buf_fmt(&want, "%s -agentpath:%s=/tmp/x/s", getenv("LD_PRELOAD") + 8, agent.data);
	CHECK_STR(getenv("ARCPROF_AGENT"), want.data);
	CHECK_STR(getenv("ASAN_OPTIONS"), "verify_asan_link_order=0");

	unsetenv("LD_PRELOAD");
	setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
	CHECK_U64(inject_setenv(agent.data, "/tmp/x/s", &e), 0);
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
static void note_gone(void *ctx, struct jvm *j) { got.nr_gone++; }

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
	CHECK_U64(jvm_server_setenv(s, &e), 0);
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
	CHECK_U64(got.nr_gone, 0);
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

TEST(jvm_server_admits_only_who_is_recorded)
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
		.patience_ns = 50000000,
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
	/* one agent's area a process, and none for who says nothing */
	say(fd[0], JVM_MSG_HELLO);
	say(fd[1], JVM_MSG_HELLO);
	jvm_server_poll(s);
	CHECK_U64(jvm_server_nr_jvms(s), 15);
	usleep(60000);
	jvm_server_poll(s);
	CHECK_U64(jvm_server_nr_jvms(s), 1);
	CHECK_U64(jvm_server_refusals(s)->silent, 14);
	usleep(600000);
	jvm_server_poll(s);
	CHECK_U64(jvm_server_nr_jvms(s), 0);
	CHECK_U64(jvm_server_refusals(s)->silent, 15);
	for (i = 0; i < 40; i++)
		close(fd[i]);
	jvm_server_close(s);
}

/*
 * What the agent shares with us before it has written anything is no memory yet; and a log is read in
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
