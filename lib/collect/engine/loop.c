// SPDX-License-Identifier: GPL-2.0-or-later
/* loop.c - the loop of a recording: waits for signals, commands and data (loop.h). */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "collect/engine/loop.h"

enum { FLUSH_NS = 1000000000 };

int loop_watch(struct loop *l, int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };

	return epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &ev);
}

/*
 * The socket is edge-triggered: one whose peer cannot be accepted, without a free descriptor, stays readable
 * for ever. Each turn checks it anyway.
 */
int loop_watch_jvms(struct loop *l, struct jvm_server *jvm)
{
	l->jvm = jvm;
	return loop_watch(l, jvm_server_fd(jvm), EPOLLIN | EPOLLET);
}

static void put_ends(sigset_t *mask)
{
	sigemptyset(mask);
	sigaddset(mask, SIGINT);
	sigaddset(mask, SIGTERM);
	sigaddset(mask, SIGHUP);
}

void loop_hold_signals(void)
{
	sigset_t ends;

	put_ends(&ends);
	sigprocmask(SIG_BLOCK, &ends, NULL);
}

bool loop_is_asked_to_end(void)
{
	sigset_t ends, pending;

	put_ends(&ends);
	sigpending(&pending);
	sigandset(&pending, &pending, &ends);
	return !sigisemptyset(&pending);
}

int loop_open(struct loop *l, const struct loop_ops *ops, void *ctx, struct err *e)
{
	*l = (struct loop){ .ops = ops, .ctx = ctx, .control_fd = -1 };
	l->most_ms = l->jvm_ms = LOOP_IDLE_MS;
	put_ends(&l->mask);
	if (ops->child)
		sigaddset(&l->mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &l->mask, &l->old_mask);
	l->signal_fd = signalfd(-1, &l->mask, SFD_CLOEXEC | SFD_NONBLOCK);
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (l->signal_fd < 0 || l->epoll_fd < 0 || loop_watch(l, l->signal_fd, EPOLLIN))
		return err_errno(e, "cannot wait for events");
	if (ops->command)
		l->control_fd = control_open();		/* -1: arcprof ctl does not find us */
	if (l->control_fd >= 0 && loop_watch(l, l->control_fd, EPOLLIN | EPOLLET))
		return err_errno(e, "cannot wait for events");
	return 0;
}

int loop_take_signal(struct loop *l, int sig)
{
	sigaddset(&l->mask, sig);
	sigprocmask(SIG_BLOCK, &l->mask, NULL);
	return signalfd(l->signal_fd, &l->mask, 0) < 0 ? -1 : 0;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void loop_close(struct loop *l)
{
	struct signalfd_siginfo si;

	while (l->signal_fd >= 0 && read(l->signal_fd, &si, sizeof(si)) == sizeof(si))
		;
	close_fd(l->signal_fd);
	close_fd(l->control_fd);
	close_fd(l->epoll_fd);
	sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
}

static void pass_signals(struct loop *l)
{
	struct signalfd_siginfo si;

	while (read(l->signal_fd, &si, sizeof(si)) == sizeof(si)) {
		bool from_terminal = si.ssi_signo == SIGINT && si.ssi_code == SI_KERNEL;

		if (si.ssi_signo == SIGCHLD)
			l->ops->child(l->ctx);
		else
			l->ops->signal(l->ctx, (int)si.ssi_signo, from_terminal);
	}
}

void loop_wait_signal(struct loop *l)
{
	struct pollfd fd = { l->signal_fd, POLLIN, 0 };

	poll(&fd, 1, LOOP_IDLE_MS);
	pass_signals(l);
}

static int timeout_ms(const struct loop *l)
{
	uint64_t now = clock_mono_ns(), due = l->due_ns, left;
	int ms = l->jvm && jvm_server_nr_jvms(l->jvm) ? MIN(l->jvm_ms, l->most_ms) : l->most_ms;

	if (l->turn_ns && (!due || l->turn_ns < due))
		due = l->turn_ns;
	if (!due)
		return ms;
	left = due > now ? (due - now + 999999) / 1000000 : 0;
	return (int)MIN(left, (uint64_t)ms);
}

static void wait_for_turn(struct loop *l)
{
	struct epoll_event evs[16];
	int i, n = epoll_wait(l->epoll_fd, evs, ARRAY_SIZE(evs), timeout_ms(l));

	for (i = 0; i < n; i++)
		if (evs[i].data.fd == l->signal_fd)
			pass_signals(l);
		else if (evs[i].data.fd == l->control_fd)
			control_serve(l->control_fd, l->ops->command, l->ctx);
}

void loop_serve(struct loop *l)
{
	if (l->control_fd >= 0)
		control_serve(l->control_fd, l->ops->command, l->ctx);
}

void loop_run(struct loop *l)
{
	uint64_t now, flushed_ns = clock_mono_ns();

	while (!l->stop) {
		wait_for_turn(l);
		now = clock_mono_ns();
		l->ops->drain(l->ctx, now);
		if (now - flushed_ns > FLUSH_NS) {
			l->ops->flush(l->ctx);
			flushed_ns = now;
		}
		l->ops->check(l->ctx);
		if (l->due_ns && now >= l->due_ns) {
			l->due_ns = 0;
			l->ops->due(l->ctx);
		}
	}
}
