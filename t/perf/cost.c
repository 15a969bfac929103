// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cost.c - what one process itself takes, without its children: CPU time and most memory, read when it ends.
 *
 * usage: cost <file> <command> [<arg>...] appends "<CPU ms> <KiB>" to <file>; ends with the
 * command's status
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static double cpu_ms(pid_t pid)
{
	unsigned long long ns = 0;
	char path[64];
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	in = fopen(path, "r");
	if (!in || fscanf(in, "%llu", &ns) != 1)
		ns = 0;
	if (in)
		fclose(in);
	return ns / 1e6;
}

static long peak_kb(pid_t pid)
{
	char path[64], line[256];
	long kb = 0;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	in = fopen(path, "r");
	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "VmHWM: %ld", &kb) == 1)
			break;
	if (in)
		fclose(in);
	return kb;
}

/* Until it has ended: signals are passed on, and at its exit it is looked at while its memory is there. */
static int follow(pid_t pid, FILE *out)
{
	int status, sig;

	for (;;) {
		if (waitpid(pid, &status, 0) < 0)
			return 127;
		if (WIFEXITED(status))
			return WEXITSTATUS(status);
		if (WIFSIGNALED(status))
			return 128 + WTERMSIG(status);
		sig = WSTOPSIG(status);
		if (status >> 16 == PTRACE_EVENT_EXIT)
			fprintf(out, "%.1f %ld\n", cpu_ms(pid), peak_kb(pid));
		if (status >> 16)
			sig = 0;
		ptrace(PTRACE_CONT, pid, NULL, (void *)(long)sig);
	}
}

int main(int argc, char **argv)
{
	int go[2], r;
	FILE *out;
	pid_t pid;
	char c;

	if (argc < 3 || !(out = fopen(argv[1], "a")) || pipe(go)) {
		fprintf(stderr, "usage: cost <file> <command> [<arg>...]\n");
		return 127;
	}
	pid = fork();
	if (!pid) {
		close(go[1]);
		r = read(go[0], &c, 1);
		close(go[0]);
		if (r == 1)
			execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || ptrace(PTRACE_SEIZE, pid, NULL, (void *)PTRACE_O_TRACEEXIT)) {
		fprintf(stderr, "cost: %s\n", strerror(errno));
		return 127;
	}
	if (write(go[1], "", 1) != 1)
		return 127;
	close(go[1]);
	signal(SIGINT, SIG_IGN);
	r = follow(pid, out);
	fclose(out);
	return r;
}
