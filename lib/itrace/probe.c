// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * probe.c - finds out whether hardware breakpoints work. Hypervisors and emulators may ignore them, or the
 * flag that passes over one; then threads would run away. A child that counts is the trial.
 */
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "itrace/stepper.h"

enum { VISITS = 8, STEPS_MAX = 1000 };

static volatile long visits;

static void __attribute__((noinline)) probe_visit(void)
{
	visits++;
}

static void __attribute__((noreturn)) probe_child(void)
{
	int i;

	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		_exit(1);	/* no tracer would see it stop, or resume it */
	raise(SIGSTOP);
	for (i = 0; i < VISITS; i++)
		probe_visit();
	_exit(0);
}

/* Resume the child; return where SIGTRAP stops it, 0 for everything else. */
static uint64_t resume_to_trap(pid_t pid, bool step, bool *passes)
{
	struct user_regs u;
	int status;

	if (ptrace(step ? PTRACE_SINGLESTEP : PTRACE_CONT, pid, NULL, NULL) < 0 ||
	    waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP ||
	    user_regs_get(pid, &u))
		return 0;
	*passes = u.passes;
	return u.pc;
}

static bool has_visited(pid_t pid, long nr)
{
	errno = 0;
	return ptrace(PTRACE_PEEKDATA, pid, &visits, NULL) == nr && !errno;
}

/*
 * Return whether a thread stops at a breakpoint, continues from it, and passes over one that it has reached
 * by steps.
 */
static bool works_on(pid_t pid)
{
	struct user_breakpoints b = { 0 };
	uint64_t at = (uintptr_t)probe_visit, pc;
	bool passes;
	int i;

	if (user_breakpoints_on(pid, &b, &at, 1))
		return false;
	for (i = 0; i < 2; i++)
		if (resume_to_trap(pid, false, &passes) != at || !passes || !has_visited(pid, i))
			return false;
	user_breakpoints_off(pid, &b);
	for (i = 0; i < STEPS_MAX && (pc = resume_to_trap(pid, true, &passes)) && pc != at; i++)
		;
	if (pc != at || !has_visited(pid, 2) || user_pass_breakpoint(pid) ||
	    user_breakpoints_on(pid, &b, &at, 1))
		return false;
	return resume_to_trap(pid, false, &passes) == at && has_visited(pid, 3);
}

bool probe_breakpoints(void)
{
	bool works = false;
	int status;
	pid_t pid;

	if (!arch_nr_breakpoints)
		return false;
	pid = fork();
	if (pid < 0)
		return false;
	if (!pid)
		probe_child();
	if (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status))
		works = works_on(pid);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return works;
}
