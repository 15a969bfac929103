// SPDX-License-Identifier: MIT
/*
 * switch.c - a program turns events of the recording on and off in which it runs: it asks its recorder as
 * "arcprof ctl" does, over the same socket (collect/control/control.h).
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "api/recorder.h"
#include "arcprof.h"

enum {
	ANSWER_S = 10,		/* the recorder waits for JVMs that it records half a second each */
	MAX_EVENTS = 1000,	/* bytes: of a command, the recorder takes 1023 */
};

/* Check that the peer is the recorder, and not a process that has taken the name of its socket. */
static bool is_recorder(int fd, int pid)
{
	struct ucred c;
	socklen_t len = sizeof(c);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &len) && c.pid == pid;
}

static int connect_to(int pid)
{
	const struct timeval t = { ANSWER_S, 0 };
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = offsetof(struct sockaddr_un, sun_path) + 1;

	if (fd < 0)
		return -errno;
	len += (socklen_t)snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, JVM_CONTROL_NAME "%d", pid);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof(t));
	if (!connect(fd, (struct sockaddr *)&a, len) && is_recorder(fd, pid))
		return fd;
	close(fd);
	return -ENODEV;
}

/*
 * Read the answer: "ok", or "error" and why, in its first line. Without one, the recorder serves only root
 * and its own user.
 */
static int take_answer(int fd)
{
	char line[3];
	size_t len = 0;
	ssize_t n;

	while (len < sizeof(line)) {
		n = recv(fd, line + len, sizeof(line) - len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -ENODEV;
		if (!n)
			return -EPERM;
		len += (size_t)n;
	}
	return memcmp(line, "ok\n", sizeof(line)) ? -EINVAL : 0;
}

static int api_switch_ask(const char *command, const char *events)
{
	const struct arcprof_recorder *m = arcprof_recorder_of(JVM_TELL_ALL);
	char line[MAX_EVENTS + 16];
	int fd, len, r;

	if (!m || !m->pid)
		return -ENODEV;
	if (strlen(events) > MAX_EVENTS || strchr(events, '\n'))
		return -EINVAL;
	fd = connect_to(m->pid);
	if (fd < 0)
		return fd;
	len = snprintf(line, sizeof(line), "%s%s%s\n", command, *events ? " " : "", events);
	r = send(fd, line, (size_t)len, MSG_NOSIGNAL) == len ? take_answer(fd) : -ENODEV;
	close(fd);
	return r;
}

int arcprof_recording_on(const char *events)
{
	return events ? api_switch_ask("enable", events) : api_switch_ask("resume", "");
}

int arcprof_recording_off(const char *events)
{
	return events ? api_switch_ask("disable", events) : api_switch_ask("pause", "");
}
