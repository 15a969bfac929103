// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "collect/control.h"

#define NAME "arcprof-ctl-"

enum { MAX_COMMAND = 1024, MAX_REPLY = 65536, COMMAND_MS = 200, REPLY_MS = 60000, MAX_AT_ONCE = 16 };

static socklen_t address(struct sockaddr_un *a, int pid)
{
	int len;

	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	len = snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1, NAME "%d", pid);
	return offsetof(struct sockaddr_un, sun_path) + 1 + len;
}

static bool peer(int fd, struct ucred *c)
{
	socklen_t len = sizeof(*c);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, c, &len);
}

static void set_timeout(int fd, int ms)
{
	struct timeval t = { ms / 1000, ms % 1000 * 1000 };

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t));
}

/* --- the recorder's end --- */

int control_open(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un a;
	socklen_t len = address(&a, getpid());

	if (fd >= 0 && !bind(fd, (struct sockaddr *)&a, len) && !listen(fd, 8))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
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

static void answer(int fd, control_fn fn, void *ctx)
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
			answer(fd, fn, ctx);
		close(fd);
	}
}

/* --- who asks --- */

/* -1, and errno: nobody there (ECONNREFUSED), or somebody else's (EPERM). */
static int connect_to(int pid)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un a;
	socklen_t len = address(&a, pid);
	struct ucred c;

	if (fd < 0)
		return -1;
	set_timeout(fd, REPLY_MS);
	if (connect(fd, (struct sockaddr *)&a, len)) {
		close(fd);
		return -1;
	}
	if (peer(fd, &c) && (!geteuid() || c.uid == geteuid()))
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

/* Lines of /proc/net/unix end in the socket's name, the abstract ones with an @. */
size_t control_list(int **pids)
{
	struct buf b = BUF_INIT;
	size_t nr = 0, alloc = 0, i;
	const char *at;

	*pids = NULL;
	if (io_slurp("/proc/net/unix", &b) || !b.data)
		return 0;
	for (at = b.data; (at = strstr(at, " @" NAME)); at++) {
		int pid = atoi(at + strlen(" @" NAME)), fd;

		for (i = 0; i < nr && (*pids)[i] != pid; i++)
			;
		fd = i == nr ? connect_to(pid) : -1;
		if (fd < 0)
			continue;
		close(fd);
		VEC_GROW(*pids, nr, alloc);
		(*pids)[nr++] = pid;
	}
	buf_release(&b);
	return nr;
}

static int take_answer(struct buf *reply, int pid, struct err *e)
{
	const char *text = reply->data ? reply->data : "";
	size_t len = strcspn(text, "\n");

	if (!strncmp(text, "error ", 6))
		return err_set(e, EINVAL, "%.*s", (int)len - 6, text + 6);
	if (strncmp(text, "ok\n", 3))
		return err_set(e, EIO, "process %d did not answer", pid);
	memmove(reply->data, reply->data + 3, reply->len - 3 + 1);
	reply->len -= 3;
	return 0;
}

int control_ask(int pid, const char *command, struct buf *reply, struct err *e)
{
	char line[MAX_COMMAND], piece[4096];
	int fd = connect_to(pid), r;
	ssize_t n;

	if (fd < 0 && errno == EPERM)
		return err_set(e, EPERM, "process %d records for another user", pid);
	if (fd < 0)
		return err_set(e, ESRCH, "process %d does not record", pid);
	snprintf(line, sizeof(line), "%s\n", command);
	send_all(fd, line, strlen(line));
	while (reply->len < MAX_REPLY && (n = recv(fd, piece, sizeof(piece), 0)) > 0)
		buf_add(reply, piece, n);
	r = take_answer(reply, pid, e);
	close(fd);
	return r;
}
