// SPDX-License-Identifier: GPL-2.0-or-later
/* control.c - the two ends of the socket between arcprof ctl and a recorder (control.h). */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "collect/control/control.h"
#include "jvm/proto.h"

#define NAME JVM_CONTROL_NAME

enum {
	MAX_COMMAND = 1024, MAX_REPLY = 65536, COMMAND_MS = 200, MAX_AT_ONCE = 16,
	REPLY_MS = 60000,		/* for what is surely a recorder of our own, or of root's */
	CONNECT_MS = 200, LIST_MS = 1000, MAX_NAME = 48, TRIES = 8,
};

/* Set the address; suffix: "", or "-0123456789abcdef" for a recorder whose name was taken. */
static socklen_t address(struct sockaddr_un *a, int pid, const char *suffix)
{
	int len;

	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	len = snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1, NAME "%d%s", pid, suffix);
	return offsetof(struct sockaddr_un, sun_path) + 1 + len;
}

static bool peer(int fd, struct ucred *c)
{
	socklen_t len = sizeof(*c);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, c, &len);
}

static void set_timeout(int fd, int ms)
{
	struct timeval t = { ms / 1000, MAX(ms, 1) % 1000 * 1000 };	/* 0 would be for ever */

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t));
}

/* --- the recorder's end --- */

/* Bind the socket to a name; return whether that worked. A random name cannot be taken before. */
static bool bind_some(int fd)
{
	struct sockaddr_un a;
	socklen_t len = address(&a, getpid(), "");
	char suffix[MAX_NAME];
	uint64_t v;
	int i;

	for (i = 0; i < TRIES && bind(fd, (struct sockaddr *)&a, len); i++) {
		if (errno != EADDRINUSE || random_bytes(&v, sizeof(v)))
			return false;
		snprintf(suffix, sizeof(suffix), "-%016llx", (unsigned long long)v);
		len = address(&a, getpid(), suffix);
	}
	return i < TRIES;
}

int control_open(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && bind_some(fd) && !listen(fd, 8))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

int control_check(struct err *e)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), r = 0;
	struct sockaddr_un a;
	socklen_t len = address(&a, getpid(), "");
	struct ucred c;

	if (fd >= 0 && !connect(fd, (struct sockaddr *)&a, len) && peer(fd, &c) && c.pid != getpid())
		r = err_set(e, EADDRINUSE, "process %d of user %u has taken the name of this recording's control socket: it has another one",
			    (int)c.pid, (unsigned int)c.uid);
	if (fd >= 0)
		close(fd);
	return r;
}

static void send_all(int fd, const char *p, size_t len)
{
	while (len) {
		ssize_t n = send(fd, p, len, MSG_NOSIGNAL);

		if (n <= 0)
			return;
		p += n;
		len -= n;
	}
}

static void control_answer(int fd, control_fn fn, void *ctx)
{
	char command[MAX_COMMAND];
	struct buf reply = BUF_INIT, whole = BUF_INIT;
	struct err e = { 0 };
	ssize_t n = recv(fd, command, sizeof(command) - 1, 0);

	if (n <= 0 || command[n - 1] != '\n')
		return;
	command[n - 1] = '\0';
	if (fn(ctx, command, &reply, &e))
		buf_fmt(&whole, "error %s\n", e.msg);
	else
		buf_fmt(&whole, "ok\n%s", reply.data ? reply.data : "");
	send_all(fd, whole.data, whole.len);
	buf_release(&reply);
	buf_release(&whole);
}

void control_serve(int listening, control_fn fn, void *ctx)
{
	int fd, i;

	/* anybody can connect, and the recording is not to wait for that */
	for (i = 0; i < MAX_AT_ONCE && (fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC)) >= 0; i++) {
		struct ucred c;

		set_timeout(fd, COMMAND_MS);
		if (peer(fd, &c) && (!c.uid || c.uid == geteuid()))
			control_answer(fd, fn, ctx);
		close(fd);
	}
}

/* --- who asks --- */

/*
 * Return whether a socket with the name of that process is a recorder's. Any process can bind any name,
 * but the kernel says who listens: the process itself, or one of root's or our own, which may be in a
 * container and have another number there.
 */
static bool is_recorder(const struct ucred *c, int pid)
{
	return c->pid == pid || !c->uid || c->uid == geteuid();
}

static bool control_is_trusted(const struct ucred *c, int pid)
{
	return c->pid == pid && (!c->uid || c->uid == geteuid());
}

/*
 * Connect; return -1 with errno ECONNREFUSED (nothing listens), EPERM (another user's) or EADDRINUSE (not a
 * recorder).
 */
static int connect_name(int pid, const char *suffix, struct ucred *c)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), error;
	struct sockaddr_un a;
	socklen_t len = address(&a, pid, suffix);

	if (fd < 0)
		return -1;
	set_timeout(fd, CONNECT_MS);
	if (connect(fd, (struct sockaddr *)&a, len) || !peer(fd, c))
		error = errno;
	else if (!is_recorder(c, pid))
		error = EADDRINUSE;
	else if (geteuid() && c->uid != geteuid())
		error = EPERM;
	else
		return fd;
	close(fd);
	errno = error;
	return -1;
}

/*
 * Read the next recorder in /proc/net/unix, whose lines end in the name of the socket, with an @ if it is
 * abstract; *at moves past it.
 */
static bool next_name(const char **at, int *pid, char suffix[MAX_NAME])
{
	const char *s;
	size_t len;
	char *end;
	long v;

	while ((s = strstr(*at, " @" NAME))) {
		s += strlen(" @" NAME);
		v = strtol(s, &end, 10);
		len = strcspn(end, "\n");
		*at = end + len;
		if (v <= 0 || v > INT32_MAX || len >= MAX_NAME || (len && *end != '-'))
			continue;
		*pid = v;
		memcpy(suffix, end, len);
		suffix[len] = '\0';
		return true;
	}
	return false;
}

/* Connect to the recorder of a process that has another name than its number alone; as connect_name(). */
static int connect_other(int pid, struct ucred *c)
{
	uint64_t until_ns = clock_mono_ns() + LIST_MS * 1000000ULL;
	struct buf b = BUF_INIT;
	char suffix[MAX_NAME];
	const char *at;
	int of, fd = -1;

	if (io_slurp("/proc/net/unix", &b) || !b.data)
		return -1;
	at = b.data;
	while (fd < 0 && clock_mono_ns() < until_ns && next_name(&at, &of, suffix))
		if (of == pid && *suffix)
			fd = connect_name(pid, suffix, c);
	buf_release(&b);
	return fd;
}

static int connect_to(int pid, struct ucred *c)
{
	int fd = connect_name(pid, "", c), error = errno, other;
	struct ucred of;

	if (fd < 0 ? error != EPERM : c->pid != pid) {
		other = connect_other(pid, &of);
		if (other >= 0) {
			if (fd >= 0)
				close(fd);
			fd = other;
			*c = of;
		}
	}
	errno = error;
	return fd;
}

static void control_skip(struct control_skipped *s, int error, const struct ucred *c)
{
	if (error == EPERM || error == ECONNREFUSED)
		return;
	s->nr++;
	if (error == EADDRINUSE && !s->pid) {
		s->pid = c->pid;
		s->uid = c->uid;
	}
}

size_t control_list(int **pids, struct control_skipped *skipped)
{
	uint64_t until_ns = clock_mono_ns() + LIST_MS * 1000000ULL;
	struct buf b = BUF_INIT;
	size_t nr = 0, alloc = 0, i;
	char suffix[MAX_NAME];
	struct ucred c;
	const char *at;
	int pid, fd;

	*pids = NULL;
	*skipped = (struct control_skipped){ 0 };
	if (io_slurp("/proc/net/unix", &b) || !b.data)
		return 0;
	for (at = b.data; next_name(&at, &pid, suffix);) {
		for (i = 0; i < nr && (*pids)[i] != pid; i++)
			;
		if (i < nr)
			continue;
		errno = ETIMEDOUT;
		fd = clock_mono_ns() < until_ns ? connect_name(pid, suffix, &c) : -1;
		if (fd < 0) {
			control_skip(skipped, errno, &c);
			continue;
		}
		close(fd);
		VEC_GROW(*pids, nr, alloc);
		(*pids)[nr++] = pid;
	}
	buf_release(&b);
	return nr;
}

static int control_take_answer(struct buf *reply, int pid, struct err *e)
{
	const char *text = reply->data ? reply->data : "";
	size_t len = strcspn(text, "\n");

	if (!strncmp(text, "error ", 6))
		return err_set(e, EINVAL, "%.*s", (int)len - 6, text + 6);
	if (strncmp(text, "ok\n", 3))
		return err_set(e, EIO, "process %d did not answer in time", pid);
	memmove(reply->data, reply->data + 3, reply->len - 3 + 1);
	reply->len -= 3;
	return 0;
}

/* Receive until the peer ends, or until_ns. */
static void receive(int fd, uint64_t until_ns, struct buf *reply)
{
	char piece[4096];
	uint64_t now_ns;
	ssize_t n;

	while (reply->len < MAX_REPLY && (now_ns = clock_mono_ns()) < until_ns) {
		set_timeout(fd, (until_ns - now_ns) / 1000000);
		n = recv(fd, piece, sizeof(piece), 0);
		if (n <= 0)
			break;
		buf_add(reply, piece, n);
	}
}

/* Ask as control_ask() does; our own recorders and root's have own_ns. */
static int control_request(int pid, const char *command, uint64_t own_ns, uint64_t *others_ns,
			   struct buf *reply, struct err *e)
{
	uint64_t begin_ns = clock_mono_ns();
	char line[MAX_COMMAND];
	struct ucred c = { 0 };
	int fd = connect_to(pid, &c), r;
	bool trusted = control_is_trusted(&c, pid);

	if (fd < 0 && errno == EPERM)
		return err_set(e, EPERM, "process %d records for another user", pid);
	if (fd < 0 && errno == EADDRINUSE)
		return err_set(e, ESRCH, "process %d does not record: another one has taken the name of its control socket", pid);
	if (fd < 0)
		return err_set(e, ESRCH, "process %d does not record", pid);
	snprintf(line, sizeof(line), "%s\n", command);
	send_all(fd, line, strlen(line));
	receive(fd, begin_ns + (trusted ? own_ns : *others_ns), reply);
	if (!trusted)
		*others_ns -= MIN(*others_ns, clock_mono_ns() - begin_ns);
	r = control_take_answer(reply, pid, e);
	close(fd);
	return r;
}

int control_ask(int pid, const char *command, uint64_t *others_ns, struct buf *reply, struct err *e)
{
	return control_request(pid, command, REPLY_MS * 1000000ULL, others_ns, reply, e);
}

/* Return whether the recorder records this JVM; *others_ns as for control_ask(). */
static bool has_jvm(int recorder, int pid, uint64_t *others_ns)
{
	struct buf reply = BUF_INIT;
	bool found = false;
	const char *s;
	struct err e;

	if (!control_request(recorder, "jvms", LIST_MS * 1000000ULL, others_ns, &reply, &e))
		for (s = reply.len ? reply.data : NULL; s && !found; s = strchr(s, '\n')) {
			s += *s == '\n';
			found = strtol(s, NULL, 10) == pid;
		}
	buf_release(&reply);
	return found;
}

int control_recorder_of(int pid)
{
	uint64_t others_ns = LIST_MS * 1000000ULL;
	struct control_skipped skipped;
	int *pids, found = 0;
	size_t nr, i;

	nr = control_list(&pids, &skipped);
	for (i = 0; i < nr && !found; i++)
		if (pids[i] != getpid() && has_jvm(pids[i], pid, &others_ns))
			found = pids[i];
	free(pids);
	return found;
}
