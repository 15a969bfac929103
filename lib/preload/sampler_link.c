// SPDX-License-Identifier: MIT
/*
 * sampler_link.c - the way of samples to the recorder: the records and rings of a JVM's agent (jvm/proto.h),
 * one segment of native stack a sample. The socket is closed as soon as the shared memory is there, so that
 * the program has no descriptor that it did not open; the recorder sees by itself when the process has ended.
 */
#include <errno.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/un.h>

#include "client/key.h"
#include "agent/ring.h"
#include "jvm/encode.h"
#include "jvm/waiting.h"
#include "preload/sampler.h"

struct sampler_wishes sampler_wishes;

enum { TABLES = sizeof(struct waiting_table) + sizeof(struct memory_table) };	/* at its end */
enum {
	SOCK_SEQPACKET_ = 5,
	SOCK_CLOEXEC_ = 02000000,
	SOL_SOCKET_ = 1,
	SO_PEERCRED_ = 17,
	SO_RCVTIMEO_ = 20,
	SO_SNDTIMEO_ = 21,
	SCM_RIGHTS_ = 1,
	MSG_NOSIGNAL_ = 0x4000,
	MSG_CMSG_CLOEXEC_ = 0x40000000,
};

struct iovec_ {
	void *base;
	size_t len;
};

struct msghdr_ {
	void *name;
	uint32_t namelen;
	struct iovec_ *iov;
	size_t iovlen;
	void *control;
	size_t controllen;
	uint32_t flags;
};

struct fd_message {
	size_t len;
	int level, type;
	int fd, pad;
};

/* As the agent's link.c. */
static bool is_trusted(long sock, const struct jvm_key *key)
{
	struct {
		int pid;
		uint32_t uid, gid;
	} cred;
	uint32_t len = sizeof(cred);

	return !sys(__NR_getsockopt, sock, SOL_SOCKET_, SO_PEERCRED_, &cred, &len) &&
	       (key || !cred.uid || cred.uid == (uint32_t)sys(__NR_geteuid));
}

static long open_socket(const char *path, const struct jvm_key *key)
{
	int64_t timeout[2] = { JVM_GO_TIMEOUT_MS / 1000, 0 };
	struct sockaddr_un a = { .sun_family = 1 };
	size_t len = str_len(path);
	long sock;

	if (!len || len >= sizeof(a.sun_path))
		return -1;
	memcpy(a.sun_path, path, len);
	sock = sys(__NR_socket, a.sun_family, SOCK_SEQPACKET_ | SOCK_CLOEXEC_, 0);
	if (sock < 0)
		return -1;
	sys(__NR_setsockopt, sock, SOL_SOCKET_, SO_RCVTIMEO_, timeout, sizeof(timeout));
	sys(__NR_setsockopt, sock, SOL_SOCKET_, SO_SNDTIMEO_, timeout, sizeof(timeout));
	if (!sys(__NR_connect, sock, &a, sizeof(a)) && is_trusted(sock, key))
		return sock;
	sys(__NR_close, sock);
	return -1;
}

/* HELLO, and SETUP with the descriptor of the shared area; -1: there is none. */
static int ask(long sock, const struct jvm_key *key, const struct memory_hook *hook, uint64_t *bytes)
{
	struct jvm_msg m = {
		.magic = JVM_PROTO_MAGIC, .version = JVM_PROTO_VERSION, .type = JVM_MSG_HELLO,
		.flags = JVM_MEMORY, .hello = { sys(__NR_getpid), sys_tid(), (uintptr_t)hook },
	};
	struct fd_message c = { 0 };
	struct iovec_ iov = { &m, sizeof(m) };
	struct msghdr_ h = { .iov = &iov, .iovlen = 1, .control = &c, .controllen = sizeof(c) };
	long n;

	if (key)
		memcpy(m.hello.key, key->agents, sizeof(m.hello.key));
	if (sys(__NR_sendto, sock, &m, sizeof(m), MSG_NOSIGNAL_) != sizeof(m))
		return -1;
	do
		n = sys(__NR_recvmsg, sock, &h, MSG_CMSG_CLOEXEC_);
	while (n == -EINTR);
	if (n != sizeof(m) || c.len != offsetof(struct fd_message, pad) || c.level != SOL_SOCKET_ ||
	    c.type != SCM_RIGHTS_)
		return -1;
	*bytes = m.setup.area_bytes;
	if (m.magic == JVM_PROTO_MAGIC && m.version == JVM_PROTO_VERSION && m.type == JVM_MSG_SETUP &&
	    (!key || jvm_key_same(key->recorders, m.setup.key)))
		return c.fd;
	sys(__NR_close, c.fd);
	return -1;
}

/* A child of fork() would write into it: it does not get it. */
static void *map_area(int fd, uint64_t bytes)
{
	long p = sys(__NR_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);

	if (p < 0 && p > -4096)
		return NULL;
	if (!sys(__NR_madvise, p, bytes, MADV_DONTFORK) && bytes > TABLES &&
	    ring_init((void *)p, bytes - TABLES, -1, -1))
		return (void *)p;
	sys(__NR_munmap, p, bytes);
	return NULL;
}

struct memory_table *sampler_connect(const char *path, const struct memory_hook *hook)
{
	struct jvm_key found;
	const struct jvm_key *key = client_find_key(path, &found) ? &found : NULL;
	long sock = open_socket(path, key);
	struct jvm_ctl *ctl = NULL;
	uint64_t bytes = 0;
	int fd;

	sys_forked();		/* perhaps */
	if (sock < 0)
		return NULL;
	fd = ask(sock, key, hook, &bytes);
	if (fd >= 0) {
		ctl = map_area(fd, bytes);
		sys(__NR_close, fd);
	}
	sys(__NR_close, sock);
	if (!ctl)
		return NULL;
	sampler_wishes = (struct sampler_wishes){
		.interval = ctl->intervals[JVM_SOURCE_MEMORY], .wait_ns = ctl->intervals[JVM_SOURCE_LOCK],
		.bytes = bytes, .max_stack = ctl->max_stack,
	};
	return (void *)((char *)ctl + bytes - sizeof(struct memory_table));
}

/* ---- samples ---- */

__attribute__((weak)) extern void *__libc_stack_end;	/* glibc's: of the first thread */

/* How much of the stack there is above sp; as far as is known. */
static size_t stack_above(uintptr_t sp, uint32_t most)
{
	enum { LARGEST = 1 << 30 };
	uintptr_t thread, first = &__libc_stack_end ? (uintptr_t)__libc_stack_end : 0;

	__asm__("mov %%fs:0, %0" : "=r"(thread));
	if (thread - sp < most)		/* a C library places a thread's stack below its data */
		return thread - sp;
	if (first - sp < LARGEST && first - sp < most)
		return first - sp;
	return most;
}

void sampler_send(const struct memory_regs *r, enum jvm_source source, uint64_t value, uint32_t leaf,
		  uint32_t id)
{
	struct jvm_rec_sample head = {
		.time_ns = sys_now(), .tid = sys_tid(), .event = source, .nr_frames = 1,
		.nr_segments = 1, .flags = JVM_SAMPLE_SOURCE, .value = value, .leaf = leaf, .id = id,
	};
	size_t len = stack_above(r->sp, sampler_wishes.max_stack) & ~(size_t)7, got;
	size_t bytes = sizeof(head) + sizeof(struct jvm_rec_frame) + sizeof(struct jvm_rec_segment) + len;
	struct jvm_ring *ring = ring_of(head.tid);
	struct jvm_rec_frame *f;
	struct jvm_rec_segment *s;
	char *rec = ring_reserve(ring, bytes);

	if (!rec) {
		ring_count_lost(ring);
		return;
	}
	memcpy(rec + sizeof(head.h), (char *)&head + sizeof(head.h), sizeof(head) - sizeof(head.h));
	f = (void *)(rec + sizeof(head));
	*f = (struct jvm_rec_frame){ .kind_pc = (uint64_t)JVM_NATIVE << JVM_FRAME_PC_BITS | r->pc };
	s = (void *)(f + 1);
	*s = (struct jvm_rec_segment){
		.pc = r->pc, .sp = r->sp, .fp = r->fp, .rbx = r->rbx, .r12 = r->r12, .r13 = r->r13,
		.r14 = r->r14, .r15 = r->r15, .len = len,
		.flags = JVM_SEG_VALID | JVM_SEG_EXACT | JVM_SEG_TO_ROOT,
	};
	got = sys_peek(s + 1, r->sp, len);
	memset((char *)(s + 1) + got, 0, len - got);
	ring_commit(rec, bytes, JVM_REC_SAMPLE);
}

void sampler_send_wait(const struct memory_regs *r, const struct memory_wait *w)
{
	struct jvm_native_wait x = {
		.time_ns = sys_now(), .addr = w->addr, .ns = w->ns, .thread = sys_tid(), .kind = w->kind,
		.owner = w->owner, .weight_ns = w->weight_ns, .blamed_ns = w->blamed_ns,
		.given_back = w->given_back,
	};
	struct jvm_ring *ring = ring_of(x.thread);
	size_t bytes = jvm_size_native_wait(&x);
	char *rec = ring_reserve(ring, bytes);

	if (!rec) {
		ring_count_lost(ring);
		return;
	}
	jvm_encode_native_wait(rec, bytes, &x);
	ring_commit(rec, bytes, JVM_REC_native_wait);
	if (w->weight_ns)
		sampler_send(r, JVM_SOURCE_LOCK, w->ns, 0, w->given_back);
}
