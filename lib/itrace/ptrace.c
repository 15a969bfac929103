// SPDX-License-Identifier: GPL-2.0-or-later
/* ptrace.c - the engine that steps by ptrace: starts the stepper, and reads what it tells. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "itrace/stepper.h"

enum { PIPE_BYTES = 1 << 20, READ_BYTES = 256 << 10 };

struct itrace {
	int fd;
	pid_t stepper;
	int program;		/* pid of what was started, 0 none */
	struct buf in;
	size_t at;		/* of in: handled up to here */
	struct itrace_totals totals;
	bool ended;
};

static int usable(const struct itrace_opts *o, struct err *e)
{
	char byte = 0, copy;
	struct iovec local = { &copy, 1 }, remote = { &byte, 1 };

	/* the kernel reports at once if a program may not be traced, but not if its code cannot be read */
	if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1)
		return 0;
	err_errno(e, "cannot read the code of other processes (process_vm_readv)");
	err_hint(e, "a system call filter may forbid it: start the container with --cap-add SYS_PTRACE --security-opt seccomp=unconfined");
	return -e->code;
}

/* Fork the stepper. A request to stop may come before it can be handled: it waits until then. */
static pid_t fork_stepper(void)
{
	sigset_t stop, old;
	pid_t pid;

	sigemptyset(&stop);
	sigaddset(&stop, STEPPER_STOP);
	sigprocmask(SIG_BLOCK, &stop, &old);
	pid = fork();
	if (pid)
		sigprocmask(SIG_SETMASK, &old, NULL);
	return pid;
}

static int ptrace_start(struct itrace **out, const struct itrace_opts *o, struct err *e)
{
	struct itrace *it;
	int fds[2], parent = getpid(), r = usable(o, e);
	pid_t pid;

	if (r)
		return r;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_errno(e, "pipe");
	fcntl(fds[1], F_SETPIPE_SZ, PIPE_BYTES);
	pid = fork_stepper();
	if (pid < 0) {
		close(fds[0]);
		close(fds[1]);
		return err_errno(e, "cannot fork");
	}
	if (!pid) {
		close(fds[0]);
		stepper_run(o, fds[1], parent);
	}
	close(fds[1]);
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	it = xcalloc(1, sizeof(*it));
	it->fd = fds[0];
	it->stepper = pid;
	it->program = o->argv ? -1 : 0;
	*out = it;
	return 0;
}

static int get_fd(const struct itrace *it)
{
	return it->fd;
}

static int ptrace_failed(const struct wire *w, const char *msg, struct err *e)
{
	int r;

	errno = (int)w->a;
	r = err_errno(e, "%s", msg);
	e->kind = w->b;
	if (w->a == EPERM)
		err_hint(e, "another tracer may be attached, or kernel.yama.ptrace_scope forbids it, which does not bind root; or a system call filter does (a container's default)");
	return r;
}

static int ptrace_give(struct itrace *it, const struct wire *w, char *p, const struct itrace_sink *sink,
		       void *ctx, struct err *e)
{
	struct rec_branches run = {
		.time_ns = w->time_ns, .cpu = UINT16_MAX, .start = w->a, .nr = w->b, .bytes = (uint8_t *)p,
		.len = w->len,
	};
	struct rec_branch_code code = { .time_ns = w->time_ns, .addr = w->a, .bytes = (uint8_t *)p,
		.len = w->len };

	switch (w->type) {
	case WIRE_THREAD:
		if (it->program < 0)
			it->program = w->pid;
		sink->thread(ctx, w->time_ns, w->pid, w->tid, (int)w->a);
		break;
	case WIRE_EXEC:
		p[strcspn(p, "\n")] = '\0';
		sink->exec(ctx, w->time_ns, w->pid, (int)w->a, p);
		break;
	case WIRE_MAPS:
		sink->maps(ctx, w->time_ns, w->pid, p);
		break;
	case WIRE_GONE:
		sink->gone(ctx, w->time_ns, w->pid, w->tid);
		break;
	case WIRE_CODE:
		sink->code(ctx, w->tid, &code);
		break;
	case WIRE_RUN:
		sink->branches(ctx, w->tid, &run);
		break;
	case WIRE_STOPPED:
	case WIRE_ENDED:
		memcpy(&it->totals, p, sizeof(it->totals));
		it->ended = w->type == WIRE_ENDED;
		if (!it->ended)
			sink->stopped(ctx, &it->totals);
		break;
	case WIRE_FAILED:
		it->ended = true;
		return ptrace_failed(w, p, e);
	}
	return 0;
}

/* Pass on every message that has arrived whole. */
static int give_all(struct itrace *it, const struct itrace_sink *sink, void *ctx, struct err *e)
{
	int r = 0;

	while (!r && it->in.len - it->at >= sizeof(struct wire)) {
		char *p = it->in.data + it->at + sizeof(struct wire), kept;
		struct wire w;

		memcpy(&w, it->in.data + it->at, sizeof(w));
		if (w.len > it->in.len - it->at - sizeof(w))
			break;
		kept = p[w.len];
		p[w.len] = '\0';	/* texts end there */
		r = ptrace_give(it, &w, p, sink, ctx, e);
		p[w.len] = kept;
		it->at += sizeof(w) + w.len;
	}
	if (it->at) {
		memmove(it->in.data, it->in.data + it->at, it->in.len - it->at + 1);
		it->in.len -= it->at;
		it->at = 0;
	}
	return r;
}

static int ptrace_read_some(struct itrace *it, const struct itrace_sink *sink, void *ctx, struct err *e)
{
	void *room = buf_room(&it->in, READ_BYTES);
	ssize_t n = read(it->fd, room, READ_BYTES);
	int r;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 1 : err_errno(e, "the stepper's pipe");
	it->in.len += n;
	it->in.data[it->in.len] = '\0';
	r = give_all(it, sink, ctx, e);
	if (r)
		return r;
	if (!n && !it->ended)
		return err_set(e, EPIPE, "the stepping process was killed, which may have killed what it traced");
	return !it->ended;
}

static void ptrace_stop(struct itrace *it)
{
	kill(it->stepper, STEPPER_STOP);
}

static void send_signal(struct itrace *it, int sig)
{
	if (it->program > 0)
		kill(it->program, sig);
}

static const struct itrace_totals *totals(const struct itrace *it)
{
	return &it->totals;
}

static void close_it(struct itrace *it)
{
	close(it->fd);
	if (!it->ended)
		ptrace_stop(it);
	while (waitpid(it->stepper, NULL, 0) < 0 && errno == EINTR)
		;
	buf_release(&it->in);
	free(it);
}

const struct itrace_engine itrace_ptrace = {
	.name = "ptrace",
	.usable = usable,
	.start = ptrace_start,
	.fd = get_fd,
	.read = ptrace_read_some,
	.stop = ptrace_stop,
	.signal = send_signal,
	.totals = totals,
	.close = close_it,
};
