// SPDX-License-Identifier: MIT
/*
 * link.c - the agent's end of the socket to the recorder (jvm/proto.h). Used while Agent_OnLoad or
 * Agent_OnAttach runs; afterwards the open socket is the sign that the recorder lives, and the way by which
 * it changes what it wants.
 */
#include <errno.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/un.h>

#include "agent/agent.h"
#include "agent/key.h"
#include "agent/ring.h"
#include "agent/vmevents.h"
#include "callflow/callflow.h"

enum {
	SOCK_DGRAM_ = 2,
	SOCK_SEQPACKET_ = 5,
	SOCK_CLOEXEC_ = 02000000,
	SOL_SOCKET_ = 1,
	SO_PEERCRED_ = 17,
	SO_RCVTIMEO_ = 20,
	SO_SNDTIMEO_ = 21,
	SCM_RIGHTS_ = 1,
	MSG_DONTWAIT_ = 0x40,
	MSG_NOSIGNAL_ = 0x4000,
	MSG_CMSG_CLOEXEC_ = 0x40000000,
};

struct msghdr_ {
	void *name;
	uint32_t namelen;
	struct {
		void *base;
		size_t len;
	} *iov;
	size_t iovlen;
	void *control;
	size_t controllen;
	uint32_t flags;
};

enum { MAX_FDS = 5 };

struct fds_message {
	size_t len;
	int level, type;
	int fd[MAX_FDS + 1];		/* padded as CMSG_SPACE() does */
};

static int sock = -1;
static int recorder;		/* its process, as we see it; 0 in another pid namespace */
static struct jvm_key key;	/* the recorder's; used if there is one */
static bool has_key;

static struct jvm_msg hello(uint32_t flags)
{
	struct jvm_msg m = {
		.type = JVM_MSG_HELLO, .flags = flags, .hello = { sys(__NR_getpid), sys_tid() },
	};

	if (has_key)
		memcpy(m.hello.key, key.agents, sizeof(m.hello.key));
	return m;
}

static bool send_msg(struct jvm_msg m)
{
	m.magic = JVM_PROTO_MAGIC;
	m.version = JVM_PROTO_VERSION;
	return sys(__NR_sendto, sock, &m, sizeof(m), MSG_NOSIGNAL_) == sizeof(m);
}

static bool take_fds(const struct fds_message *c, size_t nr, int *fds)
{
	size_t i;

	if (!nr)
		return true;
	if (c->len != offsetof(struct fds_message, fd) + nr * sizeof(int) || c->level != SOL_SOCKET_ ||
	    c->type != SCM_RIGHTS_)
		return false;
	for (i = 0; i < nr; i++)
		fds[i] = c->fd[i];
	return true;
}

/* Those that come with a message. */
static size_t nr_fds_of(const struct jvm_msg *m)
{
	if (m->type == JVM_MSG_SETUP)
		return m->flags & JVM_DUMP ? 1 : 2 + !!(m->flags & JVM_CALLFLOW) + !!(m->flags & JVM_VM_LOG);
	if (m->type == JVM_MSG_CHANGE)
		return !!(m->flags & JVM_VM_LOG);
	if (m->type == JVM_MSG_GO && m->flags & JVM_WALL)
		return m->flags & JVM_WALL_LATE ? 2 : m->flags & JVM_WALL_WAKES ? 5 : 3;
	return 0;
}

/* fds: NULL, or room for MAX_FDS; SETUP brings one more with JVM_CALLFLOW, and with JVM_VM_LOG. */
static bool recv_flags(struct jvm_msg *m, uint32_t type, int *fds, int how)
{
	struct fds_message c = { 0 };
	__typeof__(*((struct msghdr_ *)0)->iov) iov = { m, sizeof(*m) };
	struct msghdr_ h = { .iov = (void *)&iov, .iovlen = 1, .control = &c, .controllen = sizeof(c) };
	long n;

	do
		n = sys(__NR_recvmsg, sock, &h, MSG_CMSG_CLOEXEC_ | how);
	while (n == -EINTR);
	if (n != sizeof(*m) || m->magic != JVM_PROTO_MAGIC || m->version != JVM_PROTO_VERSION ||
	    m->type != type)
		return false;
	return !fds || take_fds(&c, nr_fds_of(m), fds);
}

static bool recv_msg(struct jvm_msg *m, uint32_t type, int *fds)
{
	return recv_flags(m, type, fds, 0);
}

static void close_all(const int *fds, size_t nr)
{
	while (nr--)
		sys(__NR_close, fds[nr]);
}

/* The answer to HELLO, of who has the key if there is one. */
static bool recv_setup(struct jvm_msg *m, int *fds)
{
	if (!recv_msg(m, JVM_MSG_SETUP, fds))
		return false;
	if (!has_key || jvm_key_same(key.recorders, m->setup.key))
		return true;
	close_all(fds, nr_fds_of(m));
	return false;
}

/*
 * The listener must be root or our own user: no other user may see what this JVM runs. One that is to have a
 * key proves with it who he is, before he learns more than that we are there.
 */
static bool peer_is_trusted(void)
{
	struct {
		int pid;
		uint32_t uid, gid;
	} cred;
	uint32_t len = sizeof(cred);

	if (sys(__NR_getsockopt, sock, SOL_SOCKET_, SO_PEERCRED_, &cred, &len))
		return false;
	recorder = cred.pid;
	return has_key || !cred.uid || cred.uid == (uint32_t)sys(__NR_geteuid);
}

static bool open_socket(const char *path, int timeout_ms)
{
	struct sockaddr_un a = { .sun_family = 1 };
	int64_t timeout[2] = { timeout_ms / 1000, timeout_ms % 1000 * 1000 };
	size_t len = str_len(path);

	if (!len || len >= sizeof(a.sun_path))
		return false;
	memcpy(a.sun_path, path, len);
	has_key = key_read(path, &key);
	sock = sys(__NR_socket, 1, SOCK_SEQPACKET_ | SOCK_CLOEXEC_, 0);
	if (sock < 0)
		return false;
	sys(__NR_setsockopt, sock, SOL_SOCKET_, SO_SNDTIMEO_, timeout, sizeof(timeout));
	sys(__NR_setsockopt, sock, SOL_SOCKET_, SO_RCVTIMEO_, timeout, sizeof(timeout));
	return !sys(__NR_connect, sock, &a, sizeof(a)) && peer_is_trusted();
}

/* ---- one session in a process ---- */

static int claim = -1;

static size_t put_number(char *to, uint32_t n)
{
	char digits[12];
	size_t len = 0, i = 0;

	do
		digits[len++] = '0' + n % 10;
	while (n /= 10);
	while (len)
		to[i++] = digits[--len];
	return i;
}

/*
 * An abstract socket has a name that is free again when its process has gone. Processes of other pid
 * namespaces may have our number, and see the same names: "pid:[4026531836]" tells them from ours.
 */
bool link_claim(void)
{
	static const char prefix[] = "\0arcprof-jvm-";
	struct sockaddr_un a = { .sun_family = 1 };
	size_t len = sizeof(prefix) - 1;
	long n;

	memcpy(a.sun_path, prefix, len);
	len += put_number(a.sun_path + len, (uint32_t)sys(__NR_getpid));
	a.sun_path[len++] = '-';
	n = sys(__NR_readlink, "/proc/self/ns/pid", a.sun_path + len, sizeof(a.sun_path) - len);
	len += n > 0 ? (size_t)n : 0;
	claim = sys(__NR_socket, 1, SOCK_DGRAM_ | SOCK_CLOEXEC_, 0);
	if (claim < 0)
		return true;		/* no sockets: nobody can tell */
	if (sys(__NR_bind, claim, &a, offsetof(struct sockaddr_un, sun_path) + len) != -EADDRINUSE)
		return true;
	link_unclaim();
	return false;
}

void link_unclaim(void)
{
	int fd = __atomic_exchange_n(&claim, -1, __ATOMIC_RELAXED);

	if (fd >= 0)
		sys(__NR_close, fd);
}

/* Pages come as they are touched: a short program fills little of its rings. */
static void *map_fd(int fd, size_t bytes)
{
	long p = sys(__NR_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	sys(__NR_close, fd);
	return p < 0 && p > -4096 ? NULL : (void *)p;
}

static void close_socket(void)
{
	if (sock >= 0)
		sys(__NR_close, sock);
	sock = -1;
}

void link_refuse(const char *path, enum jvm_refusal why)
{
	struct jvm_msg m = { .type = JVM_MSG_REFUSED, .refused = { why } };
	int in_use = sock;

	if (open_socket(path, JVM_GO_TIMEOUT_MS)) {
		if (has_key)
			memcpy(m.refused.key, key.agents, sizeof(m.refused.key));
		send_msg(m);
	}
	close_socket();
	sock = in_use;
}

/* The socket of a recorder that works with us meanwhile is kept. */
int link_dump(const char *path)
{
	int in_use = sock, fds[MAX_FDS] = { -1 };
	struct jvm_msg m;

	if (!open_socket(path, JVM_GO_TIMEOUT_MS) || !send_msg(hello(JVM_DUMP)) || !recv_setup(&m, fds) ||
	    !(m.flags & JVM_DUMP))
		fds[0] = -1;
	close_socket();
	sock = in_use;
	return fds[0];
}

int link_connect(const char *path, bool live)
{
	void *area, *trees = NULL;
	struct jvm_msg m;
	int fds[MAX_FDS];

	if (!open_socket(path, live ? JVM_LIVE_TIMEOUT_MS : JVM_GO_TIMEOUT_MS) || !send_msg(hello(0)) ||
	    !recv_setup(&m, fds))
		goto fail;
	if (m.flags & JVM_VM_LOG)
		vmlog_take(fds[m.flags & JVM_CALLFLOW ? 3 : 2]);
	area = map_fd(fds[0], m.setup.area_bytes);
	if (m.flags & JVM_CALLFLOW)
		trees = map_fd(fds[2], m.setup.callflow_bytes);
	if (!area || !ring_init(area, m.setup.area_bytes, sock, fds[1])) {
		sys(__NR_close, fds[1]);
		goto fail;
	}
	return (ring_ctl()->flags & JVM_SAMPLE) |
	       (trees && callflow_attach(trees, m.setup.callflow_bytes) ? JVM_CALLFLOW : 0);
fail:
	close_socket();
	return -1;
}

/*
 * Events that raise a signal take the right to trace us. Where that is left to parents (Yama), the recorder
 * of a JVM that it did not start gets it from us, for as long as it opens them.
 */
static void allow_recorder(bool on)
{
	enum { PR_SET_PTRACER_ = 0x59616d61 };

	if (recorder > 0)
		sys(__NR_prctl, PR_SET_PTRACER_, on ? recorder : 0);
}

void link_ready_and_wait(const void *host, struct link_go *out)
{
	const struct jvm_msg ready = { .type = JVM_MSG_READY, .ready = { (uintptr_t)host } };
	struct jvm_msg m = { 0 };
	int fds[MAX_FDS];

	*out = (struct link_go){ 0 };
	allow_recorder(true);
	if (send_msg(ready) && recv_msg(&m, JVM_MSG_GO, fds)) {
		out->timer_ns = m.flags & JVM_SAMPLE && m.flags & JVM_TIMERS ? m.go.timer_ns : 0;
		out->wall = m.flags & JVM_WALL;
		out->late_slots = m.flags & JVM_WALL_LATE;
	}
	allow_recorder(false);
	if (!out->wall)
		return;
	out->wall_ns = m.go.wall_ns;
	out->nr_slots = m.go.wall_slots <= UINT32_MAX ? m.go.wall_slots : 0;
	out->slots_fd = fds[0];
	out->stamps_fd = fds[1];
	out->marks_fd = out->late_slots ? -1 : fds[2];
	out->wakes = m.flags & JVM_WALL_WAKES && !out->late_slots;
	out->wakes_fd = out->wakes ? fds[3] : -1;
	out->anchors_fd = out->wakes ? fds[4] : -1;
}

/* Of several only the last one's file is of use. */
bool link_changed(int *log_fd)
{
	struct jvm_msg m;
	int fds[MAX_FDS];
	bool any = false;

	*log_fd = -1;
	while (recv_flags(&m, JVM_MSG_CHANGE, fds, MSG_DONTWAIT_)) {
		any = true;
		if (!(m.flags & JVM_VM_LOG))
			continue;
		if (*log_fd >= 0)
			sys(__NR_close, *log_fd);
		*log_fd = fds[0];
	}
	return any;
}
