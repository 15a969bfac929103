// SPDX-License-Identifier: MIT
/*
 * mark.c - a program says what it does, where it runs under "arcprof record -e mark".
 *
 * The recorder names its socket in the environment. The first mark connects, and gets an area with rings
 * as agents of JVMs have (jvm/proto.h); each mark is a record of type "event" in one of them. Where nobody
 * records, a mark is a load and a branch.
 *
 * A forked child is a process of its own: what says where to write is wiped by the kernel in the child,
 * which connects for itself.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "arcprof.h"
#include "jvm/encode.h"
#include "jvm/reserve.h"

/* Initial-exec: no call to find it. */
#define THREAD_LOCAL static __thread __attribute__((tls_model("initial-exec")))

/* In the environment: the path of the recorder's socket (collect/agents.c). */
#define MARK_ENVIRONMENT "ARCPROF_MARKS"

enum state {
	UNKNOWN,		/* not asked yet, or wiped by fork() */
	OFF,
	ON,
};

/* A page of its own, zeroes in a forked child. */
struct marks {
	pthread_mutex_t lock;	/* held while connecting; zeroes are a free one */
	uint32_t state;
	uint32_t nr_rings;
	uint64_t ring_bytes;
	struct jvm_ctl *ctl;
};

static struct marks *marks;
/* Under the lock. */
static uint32_t generation;	/* of connections */
static int sock = -1;		/* its end tells the recorder that the process is gone */
static void *area;
static size_t area_bytes;

THREAD_LOCAL struct {
	uint32_t generation;	/* in which the number was asked for */
	uint32_t tid;
} self;

/* ---- the first mark ---- */

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

/* What a parent had, or what came to nothing. */
static void give_back(void)
{
	if (area)
		munmap(area, area_bytes);
	if (sock >= 0)
		close(sock);
	area = NULL;
	sock = -1;
}

static int join(struct marks *m)
{
	const char *path = secure_getenv(MARK_ENVIRONMENT);
	uint64_t bytes = 0;
	void *p;
	int fd;

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
	if (bytes < JVM_PAGE || !jvm_area_fits(area, bytes))
		return 0;
	m->ctl = area;
	m->nr_rings = m->ctl->nr_rings;
	m->ring_bytes = m->ctl->ring_bytes;
	return 1;
}

/* NULL: without MADV_WIPEONFORK a child would write as its parent. */
static struct marks *get_page(void)
{
	struct marks *m = load_acquire(&marks), *fresh;

	if (m)
		return m;
	fresh = mmap(NULL, sizeof(*fresh), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fresh == MAP_FAILED)
		return NULL;
	if (!madvise(fresh, sizeof(*fresh), MADV_WIPEONFORK) &&
	    __atomic_compare_exchange_n(&marks, &m, fresh, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return fresh;
	munmap(fresh, sizeof(*fresh));
	return m;
}

static __attribute__((noinline)) int is_on_now(void)
{
	struct marks *m = get_page();
	int on;

	if (!m)
		return 0;
	pthread_mutex_lock(&m->lock);
	if (m->state == UNKNOWN) {
		store_relaxed(&generation, generation + 1);
		on = join(m);
		if (!on)
			give_back();
		store_release(&m->state, on ? ON : OFF);
	}
	on = m->state == ON;
	pthread_mutex_unlock(&m->lock);
	return on;
}

/* ---- each mark ---- */

static inline int is_on(void)
{
	const struct marks *m = load_acquire(&marks);
	uint32_t state = m ? load_acquire(&m->state) : UNKNOWN;

	return state == UNKNOWN ? is_on_now() : state == ON;
}

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void put(const struct jvm_event *e)
{
	size_t size = jvm_size_event(e);
	struct jvm_ring *ring = jvm_ring_of(marks->ctl, marks->nr_rings, marks->ring_bytes, e->thread);
	void *rec = jvm_ring_reserve(ring, marks->ring_bytes, size);

	if (!rec) {
		add_relaxed(&ring->lost, 1);
		return;
	}
	jvm_encode_event(rec, size, e);
	jvm_ring_commit(rec, marks->ring_bytes, size, JVM_REC_event);
}

static uint32_t this_thread(void)
{
	if (self.generation != load_relaxed(&generation)) {
		self.tid = (uint32_t)syscall(SYS_gettid);
		self.generation = load_relaxed(&generation);
	}
	return self.tid;
}

static void put_mark(enum jvm_event_kind kind, uint64_t time_ns, uint64_t duration_ns, uint64_t value,
		     const char *name)
{
	put(&(struct jvm_event){
		.kind = kind, .time_ns = time_ns, .thread = this_thread(), .duration_ns = duration_ns,
		.values = { value, UINT64_MAX, UINT64_MAX }, .what = name, .what_len = strlen(name),
		.cause = "",
	});
}

void arcprof_mark(const char *name)
{
	if (is_on())
		put_mark(JVM_EVENT_MARK, now_ns(), UINT64_MAX, UINT64_MAX, name);
}

void arcprof_mark_value(const char *name, uint64_t value)
{
	if (is_on())
		put_mark(JVM_EVENT_MARK, now_ns(), UINT64_MAX, value, name);
}

uint64_t arcprof_phase_begin(void)
{
	return is_on() ? now_ns() : 0;
}

void arcprof_phase_end(uint64_t begun, const char *name)
{
	if (begun && is_on())
		put_mark(JVM_EVENT_PHASE, begun, now_ns() - begun, UINT64_MAX, name);
}
