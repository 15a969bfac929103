// SPDX-License-Identifier: GPL-2.0-or-later
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/program.h"

void program_discard(struct program *p)
{
	if (!program_exists(p))
		return;
	close(p->child.go_fd);
	waitpid(p->child.pid, NULL, 0);
}

bool program_reap(struct program *p)
{
	if (!program_exists(p) || p->gone || waitpid(p->child.pid, &p->status, WNOHANG) != p->child.pid)
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
	if (!program_exists(p) || p->nr_signals++)
		return true;
	if (!from_terminal)
		kill(p->child.pid, sig);
	return false;
}

bool program_end(struct program *p, struct loop *l)
{
	bool asked = false;

	if (!program_exists(p))
		return false;
	program_reap(p);
	if (!p->gone)
		asked = !kill(p->child.pid, SIGTERM);
	p->ending = true;
	while (!p->gone) {
		loop_wait_signal(l);
		program_reap(p);
	}
	return asked;
}

int program_exit_status(const struct program *p)
{
	if (!program_exists(p))
		return 0;
	return WIFSIGNALED(p->status) ? 128 + WTERMSIG(p->status) : WEXITSTATUS(p->status);
}
