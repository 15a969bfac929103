// SPDX-License-Identifier: MIT
/*
 * link.c - the agent's end of the socket to the recorder (jvm/proto.h). Used while Agent_OnLoad or
 * Agent_OnAttach runs; afterwards the open socket is the sign that the recorder lives, and the way by which
 * it changes what it wants.
 */
#include <errno.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "agent/agent.h"
#include "agent/ring.h"
#include "agent/sources/vmevents.h"
#include "callflow/callflow.h"
#include "client/client.h"

static struct client recorder = CLIENT_CLOSED;

/* ---- one session in a process ---- */

static int claim = -1;

static size_t link_put_number(char *to, uint32_t n)
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
 * Claim the process by binding an abstract socket, whose name is free again when the process has ended.
 * Processes of other pid namespaces may have the same number and share these names: the namespace is part of
 * the name.
 */
bool link_claim(void)
{
	static const char prefix[] = "\0arcprof-jvm-";
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t len = sizeof(prefix) - 1;
	long n;

	memcpy(a.sun_path, prefix, len);
	len += link_put_number(a.sun_path + len, (uint32_t)sys(__NR_getpid));
	a.sun_path[len++] = '-';
	n = sys(__NR_readlinkat, AT_FDCWD, "/proc/self/ns/pid", a.sun_path + len, sizeof(a.sun_path) - len);
	len += n > 0 ? (size_t)n : 0;
	claim = sys(__NR_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (claim < 0)
		return true;		/* no sockets: not known */
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

/* Pages are allocated when touched: a short program fills little of its rings. */
static void *map_fd(int fd, size_t bytes)
{
	long p = sys(__NR_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	sys(__NR_close, fd);
	return p < 0 && p > -4096 ? NULL : (void *)p;
}

void link_refuse(const char *path, enum jvm_refusal why)
{
	const struct jvm_msg m = { .type = JVM_MSG_REFUSED, .refused = { why } };
	struct client c;

	if (client_open(&c, path, JVM_GO_TIMEOUT_MS))
		client_send(&c, m);
	client_close(&c);
}

int link_dump(const char *path)
{
	int fds[JVM_MAX_FDS] = { -1 };
	struct jvm_msg m;
	struct client c;

	if (client_open(&c, path, JVM_GO_TIMEOUT_MS))
		client_greet(&c, JVM_DUMP, 0, &m, fds);
	client_close(&c);
	return fds[0];
}

int link_connect(const char *path, bool live)
{
	void *area, *trees = NULL;
	struct jvm_msg m;
	int fds[JVM_MAX_FDS];

	if (!client_open(&recorder, path, live ? JVM_LIVE_TIMEOUT_MS : JVM_GO_TIMEOUT_MS) ||
	    !client_greet(&recorder, 0, 0, &m, fds))
		goto fail;
	if (m.flags & JVM_VM_LOG)
		vmlog_take(fds[m.flags & JVM_CALLFLOW ? 3 : 2]);
	area = map_fd(fds[0], m.setup.area_bytes);
	if (m.flags & JVM_CALLFLOW)
		trees = map_fd(fds[2], m.setup.callflow_bytes);
	if (!area || !ring_init(area, m.setup.area_bytes, recorder.sock, fds[1])) {
		sys(__NR_close, fds[1]);
		goto fail;
	}
	return (ring_ctl()->flags & JVM_SAMPLE) |
	       (trees && callflow_attach(trees, m.setup.callflow_bytes) ? JVM_CALLFLOW : 0);
fail:
	client_close(&recorder);
	return -1;
}

/*
 * Allow the recorder to trace us, or stop allowing it. Events that raise a signal require the right to trace.
 * Where only parents have it (Yama), we give it to the recorder of a JVM that it did not start while it opens
 * them.
 */
static void allow_recorder(bool on)
{
	enum { PR_SET_PTRACER_ = 0x59616d61 };

	if (recorder.pid > 0)
		sys(__NR_prctl, PR_SET_PTRACER_, on ? recorder.pid : 0);
}

void link_ready_and_wait(const void *host, struct link_go *out)
{
	const struct jvm_msg ready = { .type = JVM_MSG_READY, .ready = { (uintptr_t)host } };
	struct jvm_msg m = { 0 };
	int fds[JVM_MAX_FDS];

	*out = (struct link_go){ 0 };
	allow_recorder(true);
	if (client_send(&recorder, ready) && client_receive(&recorder, JVM_MSG_GO, &m, fds, 0)) {
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

/* Receive changes; of several, only the last one's file is used. */
bool link_changed(int *log_fd)
{
	struct jvm_msg m;
	int fds[JVM_MAX_FDS];
	bool any = false;

	*log_fd = -1;
	while (client_receive(&recorder, JVM_MSG_CHANGE, &m, fds, MSG_DONTWAIT)) {
		any = true;
		if (!(m.flags & JVM_VM_LOG))
			continue;
		if (*log_fd >= 0)
			sys(__NR_close, *log_fd);
		*log_fd = fds[0];
	}
	return any;
}
