// SPDX-License-Identifier: GPL-2.0-or-later
/* program.c - starts the recorded program, passes signals on, and reports its end (program.h). */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "collect/engine/program.h"

void program_discard(struct program *p)
{
	if (!program_exists(p))
		return;
	close(p->child.go_fd);
	waitpid(p->child.pid, NULL, 0);
}

bool program_reap(struct program *p)
{
	if (!program_exists(p) || p->gone ||
	    wait4(p->child.pid, &p->status, WNOHANG, &p->used) != p->child.pid)
		return false;
	p->gone = true;
	return true;
}

bool program_signal(struct program *p, int sig, bool from_terminal)
{
	if (p->ending) {
		kill(p->child.pid, SIGKILL);
		return false;
	}
	if (!p->nr_signals++)
		p->signal = sig;
	if (!program_exists(p) || p->gone || p->nr_signals > 1)
		return true;
	if (!from_terminal)
		kill(p->child.pid, sig);
	return false;
}

bool program_end(struct program *p, struct loop *l, bool (*hurry)(void *ctx), void *ctx)
{
	enum { TURN_NS = 5000000 };
	bool asked = false;

	if (!program_exists(p))
		return false;
	program_reap(p);
	if (!p->gone)
		asked = !kill(p->child.pid, SIGTERM);
	p->ending = !p->nr_signals;
	while (!p->gone && (p->ending || !hurry(ctx))) {
		if (p->ending)
			loop_wait_signal(l);
		else
			clock_sleep_ns(TURN_NS);
		program_reap(p);
	}
	return asked;
}

int program_exit_status(const struct program *p)
{
	if (!program_exists(p))
		return 0;
	if (!p->gone)
		return 128 + p->signal;
	return WIFSIGNALED(p->status) ? 128 + WTERMSIG(p->status) : WEXITSTATUS(p->status);
}
