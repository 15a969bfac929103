/*
 * stepcount.c - counts the instructions of a program by the plainest use of ptrace there is; nothing of
 * arcprof is in it.  It prints them to file descriptor 3, or to stderr.
 *
 * One instruction is one step that moved the program counter, or a jump to itself; a
 * repeated string instruction steps once a round and moves once.  The system call that ends
 * the program never comes back: it is one more.  Not for programs with atomic instructions that come in
 * pairs (arm64): a step between the two undoes the first.  With "-f N" only that: steps a second of
 * N of them.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
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

#ifdef __x86_64__
enum { JUMP_MASK = 0xffff, JUMP_TO_ITSELF = 0xfeeb };
#define PC rip
#else
enum { JUMP_MASK = 0xffffffff, JUMP_TO_ITSELF = 0x14000000 };
#define PC pc
#endif

static unsigned long where(pid_t pid)
{
	struct user_regs_struct r = { 0 };
	struct iovec v = { &r, sizeof(r) };

	ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &v);
	return r.PC;
}

/* Did a step end?  That of a system call says so in the name of nobody on arm64. */
static int is_step(pid_t pid)
{
	siginfo_t si = { 0 };

	ptrace(PTRACE_GETSIGINFO, pid, 0, &si);
	return si.si_code == TRAP_TRACE || si.si_code == TRAP_BRKPT || (si.si_code == SI_USER && !si.si_pid);
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
		where(pid);
	}
	printf("%ld steps, %.0f a second\n", i, i / (now() - start));
	ptrace(PTRACE_KILL, pid, 0, 0);
	return 0;
}

int main(int argc, char **argv)
{
	long quick = argc > 3 && !strcmp(argv[1], "-f") ? atol(argv[2]) : 0;
	unsigned long last, pc, n = 0;
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
	last = where(pid);
	for (;;) {
		ptrace(PTRACE_SINGLESTEP, pid, 0, sig);
		waitpid(pid, &status, 0);
		if (!WIFSTOPPED(status))
			break;
		sig = WSTOPSIG(status);
		pc = where(pid);
		if (sig == SIGTRAP) {
			sig = 0;
			/* The first stop in a handler is not a step. */
			if (is_step(pid) &&
			    (pc != last ||
			     (ptrace(PTRACE_PEEKTEXT, pid, last, 0) & JUMP_MASK) == JUMP_TO_ITSELF))
				n++;
		}
		last = pc;
	}
	n += WIFEXITED(status);
	fprintf(out ? out : stderr, "%lu\n", n);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
