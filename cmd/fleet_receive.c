// SPDX-License-Identifier: GPL-2.0-or-later
/* fleet_receive.c - the processes of "fleet push --listen": one accepts connections, and forks for each. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "fleet_receive.h"

enum { BACKLOG = 128, MAX_TOKEN = 4096, PEER = 64, SPOOL_NS = 1000000000 };

/* ---- where ---- */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* "4318", "127.0.0.1:4318", "[::1]:4318" */
static int parse_address(const char *s, union address *a, struct err *e)
{
	const char *colon = strrchr(s, ':'), *port = colon ? colon + 1 : s;
	char *host = colon ? xstrndup(s, colon - s) : xstrdup("127.0.0.1"), *end;
	size_t len = strlen(host);
	unsigned long number = strtoul(port, &end, 10);
	bool ok;

	*a = (union address){ .any.sa_family = AF_INET };
	if (len > 2 && host[0] == '[' && host[len - 1] == ']') {
		host[len - 1] = '\0';
		a->v6.sin6_family = AF_INET6;
		a->v6.sin6_port = htons(number);
		ok = inet_pton(AF_INET6, host + 1, &a->v6.sin6_addr) == 1;
	} else {
		a->v4.sin_port = htons(number);
		ok = inet_pton(AF_INET, host, &a->v4.sin_addr) == 1;
	}
	free(host);
	if (!ok || !*port || *end || *port == '-' || *port == '+' || number > UINT16_MAX)
		return err_set(e, EINVAL, "--listen: '%.80s' is not [<address>:]<port>, such as 4318, 0.0.0.0:4318 or [::1]:4318",
			       s);
	return 0;
}

static bool is_loopback(const union address *a)
{
	return a->any.sa_family == AF_INET ? ntohl(a->v4.sin_addr.s_addr) >> 24 == 127 :
					     IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
}

static void name_address(const union address *a, char text[PEER])
{
	char host[INET6_ADDRSTRLEN] = "?";

	if (a->any.sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &a->v6.sin6_addr, host, sizeof(host));
		snprintf(text, PEER, "[%s]:%u", host, ntohs(a->v6.sin6_port));
	} else {
		inet_ntop(AF_INET, &a->v4.sin_addr, host, sizeof(host));
		snprintf(text, PEER, "%s:%u", host, ntohs(a->v4.sin_port));
	}
}

static int listen_at(struct receiver *x, struct err *e)
{
	union address a;
	socklen_t len = sizeof(a);
	char name[PEER];
	int on = 1, r = parse_address(x->o->listen, &a, e);

	if (r)
		return r;
	if (!x->token && !is_loopback(&a))
		return err_set(e, EINVAL, "--listen %s needs --token-file: whoever reaches this address could send anything",
			       x->o->listen);
	x->listener = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (x->listener < 0)
		return err_errno(e, "a socket");
	setsockopt(x->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	name_address(&a, name);
	if (bind(x->listener, &a.any, a.any.sa_family == AF_INET ? sizeof(a.v4) : sizeof(a.v6)) ||
	    listen(x->listener, BACKLOG) || getsockname(x->listener, &a.any, &len))
		return err_errno(e, "%s", name);
	name_address(&a, name);
	log_info("profiles are taken at http://%s/", name);
	return 0;
}

static int read_token(struct receiver *x, struct err *e)
{
	struct buf b = BUF_INIT;
	int r;

	if (!x->o->token_file)
		return 0;
	r = io_read_file(x->o->token_file, &b, MAX_TOKEN, e);
	if (!r) {
		while (b.len && strchr(" \t\r\n", b.data[b.len - 1]))
			b.data[--b.len] = '\0';
		if (!b.len || strlen(b.data) != b.len || strpbrk(b.data, " \t\r\n"))
			r = err_set(e, EINVAL, "%s: not a token, which is one line without blanks",
				    x->o->token_file);
	}
	if (!r)
		x->token = buf_take(&b);
	buf_release(&b);
	return r;
}

/* ---- the processes ---- */

struct serving {
	struct receiver *x;
	int signals;
	uint64_t spool_known_ns;	/* when its size was found */
	struct client {
		pid_t pid;		/* 0: free */
		int fd;
		char peer[PEER];
	} clients[RECEIVE_CONNECTIONS];
};

static struct client *free_client(struct serving *s)
{
	size_t i;

	for (i = 0; i < RECEIVE_CONNECTIONS; i++)
		if (!s->clients[i].pid)
			return &s->clients[i];
	return NULL;
}

/* Memory and time of one request. */
static void bound_process(void)
{
	const struct rlimit none = { 0, 0 };
#ifndef SANITIZED		/* a sanitizer's shadow of the memory is larger than any bound */
	const struct rlimit memory = { 2ull << 30, 2ull << 30 };

	setrlimit(RLIMIT_AS, &memory);
#endif
	setrlimit(RLIMIT_CORE, &none);
	alarm(RECEIVE_S);
}

static void serve_client(struct serving *s, struct client *c)
{
	sigset_t none;
	size_t i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGALRM, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	close(s->x->listener);
	close(s->signals);
	for (i = 0; i < RECEIVE_CONNECTIONS; i++)
		if (s->clients[i].pid)		/* or they would not end before this one does */
			close(s->clients[i].fd);
	bound_process();
	receive_request(s->x, c - s->clients, c->fd, c->peer);
	fflush(NULL);
	_exit(0);
}

/* Look at the spool at most once a second: others count what they add, and push takes things away. */
static void measure_spool(struct serving *s)
{
	uint64_t now_ns = clock_mono_ns();

	if (s->spool_known_ns && now_ns - s->spool_known_ns < SPOOL_NS)
		return;
	s->x->counts->spool_len = spool_len(s->x->spool);
	s->spool_known_ns = now_ns;
}

static void accept_client(struct serving *s, struct client *c)
{
	union address a = { .any.sa_family = AF_INET };
	socklen_t len = sizeof(a);

	c->fd = accept4(s->x->listener, &a.any, &len, SOCK_CLOEXEC);
	if (c->fd < 0)
		return;
	name_address(&a, c->peer);
	measure_spool(s);
	fflush(NULL);
	c->pid = fork();
	if (!c->pid)
		serve_client(s, c);
	if (c->pid < 0) {
		log_warn("%s: no process for it: %s", c->peer, strerror(errno));
		c->pid = 0;
		close(c->fd);
	}
}

/* Answer for a process that did not: the profile killed it, or one of its limits. */
static void answer_for(const struct client *c, int status)
{
	static const char answer[] = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		log_warn("%s: 500 the request took longer than %d s", c->peer, RECEIVE_S);
	else if (WIFSIGNALED(status))
		log_warn("%s: 500 the profile ended its process: %s", c->peer, strsignal(WTERMSIG(status)));
	else
		log_warn("%s: 500 the profile needs too much memory", c->peer);
	send(c->fd, answer, strlen(answer), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void reap(struct serving *s)
{
	struct signalfd_siginfo si;
	int status;
	pid_t pid;
	size_t i;

	while (read(s->signals, &si, sizeof(si)) == sizeof(si))
		;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (i = 0; i < RECEIVE_CONNECTIONS; i++) {
			struct client *c = &s->clients[i];

			if (c->pid != pid)
				continue;
			if (status)
				answer_for(c, status);
			close(c->fd);
			c->pid = 0;
			s->x->counts->body_len[i] = 0;
		}
}

static int serve(struct serving *s, struct err *e)
{
	struct client *c;

	for (;;) {
		struct pollfd p[] = { { .fd = s->signals, .events = POLLIN }, { .events = POLLIN } };

		c = free_client(s);
		p[1].fd = c ? s->x->listener : -1;
		if (poll(p, ARRAY_SIZE(p), -1) < 0 && errno != EINTR)
			return err_errno(e, "poll");
		if (p[0].revents)
			reap(s);
		if (p[1].revents)
			accept_client(s, c);
	}
}

/* Run the process that listens; its parent is the one that pushes. */
static void run_receiver(struct receiver *x, pid_t parent)
{
	struct serving s = { .x = x };
	struct err e = { 0 };
	sigset_t children;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	sigprocmask(SIG_BLOCK, &children, NULL);
	s.signals = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s.signals < 0)
		err_errno(&e, "signalfd");
	else
		serve(&s, &e);
	log_err(&e);
	fflush(NULL);
	_exit(1);
}

static int share_memory(struct receiver *x, struct err *e)
{
	void *shared = mmap(NULL, sizeof(*x->counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			    0);

	x->turns = memfd_create("arcprof-turns", MFD_CLOEXEC);
	if (shared == MAP_FAILED || x->turns < 0)
		return err_errno(e, "memory for --listen");
	x->counts = shared;
	return 0;
}

int receiver_start(struct receiver *x, int spool_dir, struct err *e)
{
	pid_t parent = getpid();
	int r = read_token(x, e);

	if (!r)
		r = share_memory(x, e);
	if (!r)
		r = listen_at(x, e);
	if (r)
		return r;
	fflush(NULL);
	x->pid = fork();
	if (!x->pid) {
		close(spool_dir);	/* and with it the lock, which would stay when push is killed */
		run_receiver(x, parent);
	}
	close(x->listener);
	close(x->turns);
	return x->pid < 0 ? err_errno(e, "a process for --listen") : 0;
}

bool receiver_runs(const struct receiver *x)
{
	return !waitpid(x->pid, NULL, WNOHANG);
}
