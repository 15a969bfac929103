// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * serve.c - answers one request after the other. What asks is read as an enemy's: at most so many bytes,
 * within two seconds, and of them only the first line, Host and If-None-Match are looked at.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "fleet/request.h"
#include "view.h"

enum {
	TOKEN_BYTES = 16, MOST_REQUEST = 8192, MOST_TAG = 80, REQUEST_MS = 2000, ANSWER_S = 20, BACKLOG = 16,
	LIVE_S = 15,			/* a trace that was written to since then is being recorded */
	REFRESH_S = 5,			/* when the page asks for what is new */
};

struct serve {
	const struct serve_opts *o;
	int listener, signals;
	uint16_t port;
	char token[2 * TOKEN_BYTES + 1];
	struct stat made_of;		/* the trace, when the page was made; st_ino 0: it was not */
};

static int make_token(char *token, struct err *e)
{
	uint8_t bytes[TOKEN_BYTES];

	if (random_bytes(bytes, sizeof(bytes)))
		return err_set(e, EIO, "no random bytes for a token");
	hex_put(token, bytes, sizeof(bytes));
	return 0;
}

static int listen_here(struct serve *s, struct err *e)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(s->o->port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int on = 1;

	s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->listener < 0)
		return err_errno(e, "a socket");
	setsockopt(s->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(s->listener, (struct sockaddr *)&at, sizeof(at)) || listen(s->listener, BACKLOG) ||
	    getsockname(s->listener, (struct sockaddr *)&at, &len))
		return err_errno(e, "127.0.0.1:%u", s->o->port);
	s->port = ntohs(at.sin_port);
	return 0;
}

/* ---- the page ---- */

static bool serve_is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Make the page in another process, as a damaged trace must not end this one. */
static void make_page(struct serve *s)
{
	struct stat now = { 0 };
	sigset_t none;
	pid_t pid;
	int status;

	if (stat(s->o->trace, &now) || (s->made_of.st_ino && serve_is_same(&now, &s->made_of)))
		return;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		if (s->made_of.st_ino)	/* it was reported the first time */
			log_set_verbosity(-1);
		status = s->o->make(s->o->ctx);
		fflush(NULL);
		_exit(status);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return;
	if (pid > 0 && !access(s->o->page, R_OK))
		s->made_of = now;
}

static bool is_live(const struct serve *s)
{
	return s->made_of.st_ino && time(NULL) - s->made_of.st_mtim.tv_sec < LIVE_S;
}

/* ---- an answer ---- */

/* Append the tag of the file that is served: a page that is made anew is another file. */
static void put_tag(struct buf *b, const struct serve *s)
{
	struct stat st;

	if (!stat(s->o->page, &st))
		buf_fmt(b, "\"%jx-%jx-%jx%08lx\"", (uintmax_t)st.st_ino, (uintmax_t)st.st_size,
			(uintmax_t)st.st_mtim.tv_sec, (unsigned long)st.st_mtim.tv_nsec);
	buf_u8(b, '\0');
}

static void serve_put_head(struct buf *b, const char *status, size_t len)
{
	buf_fmt(b, "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\nCache-Control: no-store\r\n"
		   "Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n",
		status, len);
}

static void serve_refuse(int fd, const char *status)
{
	struct buf b = BUF_INIT;

	serve_put_head(&b, status, strlen(status) + 1);
	buf_fmt(&b, "Content-Type: text/plain\r\n\r\n%s\n", status);
	io_write_quietly(fd, b.data, b.len);
	buf_release(&b);
}

/* Send the page; known: the tag of the client's page, or "". */
static void send_page(struct serve *s, int fd, const char *known, bool body)
{
	struct buf b = BUF_INIT, tag = BUF_INIT;
	struct io_map m;
	struct err e;
	bool same;

	make_page(s);
	put_tag(&tag, s);
	if (io_map(s->o->page, &m, &e)) {
		serve_refuse(fd, "503 Service Unavailable");
		buf_release(&tag);
		return;
	}
	same = *tag.data && !strcmp(tag.data, known);
	serve_put_head(&b, same ? "304 Not Modified" : "200 OK", same ? 0 : m.len);
	buf_fmt(&b, "Content-Type: text/html; charset=utf-8\r\nETag: %s\r\n", tag.data);
	if (is_live(s))
		buf_fmt(&b, "Arcprof-Live: %d\r\n", REFRESH_S);
	buf_str(&b, "\r\n");
	if (!io_write_quietly(fd, b.data, b.len) && body && !same)
		io_write_quietly(fd, m.data, m.len);
	buf_release(&b);
	buf_release(&tag);
	io_unmap(&m);
}

/* ---- a request ---- */

/* Read a request up to the empty line; return false if it is too long, or takes too long. */
static bool read_request(int fd, char *text, size_t room)
{
	uint64_t end_ns = clock_mono_ns() + REQUEST_MS * 1000000ull;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t len = 0;

	while (len + 1 < room) {
		uint64_t now_ns = clock_mono_ns();
		ssize_t n;

		if (now_ns >= end_ns || poll(&p, 1, (end_ns - now_ns) / 1000000 + 1) <= 0)
			return false;
		n = recv(fd, text + len, room - 1 - len, MSG_DONTWAIT);
		if (n <= 0)
			return false;
		if (memchr(text + len, '\0', n))
			return false;
		len += n;
		text[len] = '\0';
		if (strstr(text, "\r\n\r\n"))
			return true;
	}
	return false;
}

/* Compare all bytes, so that the time taken reveals nothing about the token. */
static bool is_token(const struct serve *s, const char *path)
{
	size_t len = strlen(s->token), i;
	unsigned char differs = 0;

	if (strcspn(path, " \r\n") != len + 2 || *path != '/' || path[len + 1] != '/')
		return false;
	for (i = 0; i < len; i++)
		differs |= path[1 + i] ^ s->token[i];
	return !differs;
}

static bool is_host(const struct serve *s, const char *text)
{
	char want[2][32];
	size_t i, len = 0;
	const char *host = request_header(text, "Host:", &len);

	snprintf(want[0], sizeof(want[0]), "127.0.0.1:%u", s->port);
	snprintf(want[1], sizeof(want[1]), "localhost:%u", s->port);
	for (i = 0; host && i < 2; i++)
		if (len == strlen(want[i]) && !strncasecmp(host, want[i], len))
			return true;
	return false;
}

/* Read the tag of the client's page; "": none that can be ours. */
static void known_tag(const char *text, char *tag, size_t room)
{
	size_t len = 0;
	const char *value = request_header(text, "If-None-Match:", &len);

	snprintf(tag, room, "%.*s", value && len < room ? (int)len : 0, value ? value : "");
}

static void answer(struct serve *s, int fd)
{
	const struct timeval patience = { .tv_sec = ANSWER_S };
	char text[MOST_REQUEST], tag[MOST_TAG];
	const char *path;

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (!read_request(fd, text, sizeof(text))) {
		serve_refuse(fd, "400 Bad Request");
		return;
	}
	path = !strncmp(text, "GET ", 4) ? text + 4 : !strncmp(text, "HEAD ", 5) ? text + 5 : NULL;
	known_tag(text, tag, sizeof(tag));
	if (!path)
		serve_refuse(fd, "405 Method Not Allowed");
	else if (!is_host(s, text))
		serve_refuse(fd, "403 Forbidden");
	else if (!is_token(s, path))
		serve_refuse(fd, "404 Not Found");
	else
		send_page(s, fd, tag, *text == 'G');
}

static int serve_all(struct serve *s, struct err *e)
{
	struct pollfd p[] = {
		{ .fd = s->listener, .events = POLLIN }, { .fd = s->signals, .events = POLLIN },
	};
	struct signalfd_siginfo si;
	int fd;

	for (;;) {
		if (poll(p, ARRAY_SIZE(p), -1) < 0) {
			if (errno == EINTR)
				continue;
			return err_errno(e, "poll");
		}
		/* taken, or it would end the process when it is let in again */
		if (p[1].revents && read(s->signals, &si, sizeof(si)) == sizeof(si))
			return 0;
		fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		answer(s, fd);
		close(fd);
	}
}

int serve_page(const struct serve_opts *o, struct err *e)
{
	struct serve s = { .o = o, .listener = -1, .signals = -1 };
	sigset_t ends, before;
	int r;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, &before);
	r = make_token(s.token, e);
	make_page(&s);
	if (!r && access(o->page, R_OK))
		r = err_set(e, EIO, "no page to serve");
	if (!r)
		r = listen_here(&s, e);
	if (!r && (s.signals = signalfd(-1, &ends, SFD_CLOEXEC)) < 0)
		r = err_errno(e, "signalfd");
	if (!r) {
		printf("http://127.0.0.1:%u/%s/\n", s.port, s.token);
		fflush(stdout);
		r = serve_all(&s, e);
	}
	if (s.listener >= 0)
		close(s.listener);
	if (s.signals >= 0)
		close(s.signals);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}
