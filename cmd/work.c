// SPDX-License-Identifier: GPL-2.0-or-later
/* work.c - the process in which something works: what it may take, and what it says. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "work.h"

void work_answer_release(struct work_answer *a)
{
	buf_release(&a->out);
	buf_release(&a->messages);
}

/* Give the child streams of its own in place of the parent's, and have it do the work. */
static void do_work(int (*work)(void *ctx), void *ctx, int out, int messages, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), status;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent || null < 0 ||
	    dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(messages, STDERR_FILENO) < 0)
		_exit(1);
	status = work(ctx);
	_exit(fflush(stdout) && !status ? 1 : status);
}

/* Takes what there is; false at the end.  What is over max is dropped, and *over says so. */
static bool work_read_some(int fd, struct buf *b, size_t max, bool *over)
{
	char chunk[16384];
	ssize_t n = read(fd, chunk, sizeof(chunk));
	size_t room = max - b->len;

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	*over |= (size_t)n > room;
	buf_add(b, chunk, MIN((size_t)n, room));
	return n > 0;
}

/* Read until both streams have ended, or there is a reason to stop. */
static void listen_to(int out, int messages, size_t max, uint64_t timeout_ns, struct work_answer *a)
{
	const uint64_t end_ns = clock_mono_ns() + timeout_ns;
	struct pollfd fds[] = { { out, POLLIN, 0 }, { messages, POLLIN, 0 } };
	bool too_many = false;

	while ((fds[0].fd >= 0 || fds[1].fd >= 0) && !a->truncated && !a->timed_out) {
		uint64_t now_ns = clock_mono_ns();
		uint64_t left_ms = now_ns < end_ns ? (end_ns - now_ns) / 1000000 + 1 : 0;

		fds[0].revents = fds[1].revents = 0;
		poll(fds, 2, MIN(left_ms, (uint64_t)3600000));
		if (fds[0].revents && !work_read_some(out, &a->out, max, &a->truncated))
			fds[0].fd = -1;
		if (fds[1].revents && !work_read_some(messages, &a->messages, WORK_MESSAGES_MAX, &too_many))
			fds[1].fd = -1;
		a->timed_out = !left_ms;
	}
}

static int exit_status(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int work_run(int (*work)(void *ctx), void *ctx, size_t max, uint64_t timeout_ns, struct work_answer *a,
	     struct err *e)
{
	const pid_t parent = getpid();
	int out[2], messages[2];
	pid_t pid;

	fflush(stdout);		/* or the child has it, too */
	if (pipe2(out, O_CLOEXEC))
		return err_errno(e, "a pipe");
	if (pipe2(messages, O_CLOEXEC)) {
		err_errno(e, "a pipe");
		close(out[0]);
		close(out[1]);
		return -e->code;
	}
	pid = fork();
	if (!pid)
		do_work(work, ctx, out[1], messages[1], parent);
	if (pid < 0)
		err_errno(e, "a process");
	close(out[1]);
	close(messages[1]);
	if (pid > 0) {
		listen_to(out[0], messages[0], max, timeout_ns, a);
		if (a->truncated || a->timed_out)
			kill(pid, SIGKILL);
		a->status = exit_status(pid);
	}
	close(out[0]);
	close(messages[0]);
	return pid < 0 ? -e->code : 0;
}
