/*
 * stepcount.c - counts the instructions of a program by the plainest use of ptrace there is; nothing of
 * arcprof is in it.  It prints them to file descriptor 3, or to stderr.
 *
 * One instruction is one step that moved the program counter, or a jump to itself (eb fe); a
 * repeated string instruction steps once a round and moves once.  The system call that ends
 * the program never comes back: it is one more.  With "-f N" only that: steps a second of
 * N of them.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Nothing but the step and the program counter. */
static int rate(pid_t pid, long n)
{
	double start = now();
	long i;
	int status;

	for (i = 0; i < n; i++) {
		ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
		if (waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
			break;
		ptrace(PTRACE_PEEKUSER, pid, offsetof(struct user_regs_struct, rip), 0);
	}
	printf("%ld steps, %.0f a second\n", i, i / (now() - start));
	ptrace(PTRACE_KILL, pid, 0, 0);
	return 0;
}

int main(int argc, char **argv)
{
	long quick = argc > 3 && !strcmp(argv[1], "-f") ? atol(argv[2]) : 0;
	struct user_regs_struct r;
	unsigned long last, n = 0;
	int status, sig = 0;
	FILE *out;
	pid_t pid;

	if (quick)
		argv += 2;
	if (argc < 2)
		return 2;
	pid = fork();
	if (!pid) {
		close(3);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	out = fdopen(3, "w");
	waitpid(pid, &status, 0);
	if (quick)
		return rate(pid, quick);
	ptrace(PTRACE_GETREGS, pid, 0, &r);
	last = r.rip;
	for (;;) {
		siginfo_t si = { 0 };

		ptrace(PTRACE_SINGLESTEP, pid, 0, sig);
		waitpid(pid, &status, 0);
		if (!WIFSTOPPED(status))
			break;
		sig = WSTOPSIG(status);
		ptrace(PTRACE_GETREGS, pid, 0, &r);
		if (sig == SIGTRAP) {
			ptrace(PTRACE_GETSIGINFO, pid, 0, &si);
			sig = 0;
			/* The first stop in a handler is no step. */
			if ((si.si_code == TRAP_TRACE || si.si_code == TRAP_BRKPT) &&
			    (r.rip != last || (ptrace(PTRACE_PEEKTEXT, pid, last, 0) & 0xffff) == 0xfeeb))
				n++;
		}
		last = r.rip;
	}
	n += WIFEXITED(status);
	fprintf(out ? out : stderr, "%lu\n", n);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
