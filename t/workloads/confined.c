// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * confined.c - computes, takes a right from itself for good, and goes on: whoever records it must do nothing
 * in it that is forbidden now, as the kernel would end it or change what it says.
 *
 *	confined strict|kill|errno|user|chroot|mounts|pids|users
 */
#define _GNU_SOURCE
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void compute(long rounds)
{
	volatile double x = 0;

	while (rounds--)
		x = x + rounds;
}

/* Nothing but what is needed to say goodbye. */
static int filter(unsigned int how)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, how),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
}

static int fork_in_new_pids(void)
{
	int status, pid;

	if (unshare(CLONE_NEWPID))
		return 1;
	pid = fork();
	if (!pid) {
		compute(20000000);
		_exit(getpid());	/* 1 */
	}
	return waitpid(pid, &status, 0) != pid || status != 1 << 8;
}

static int confine(const char *how)
{
	if (!strcmp(how, "strict"))
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	if (!strcmp(how, "kill"))
		return filter(SECCOMP_RET_KILL_PROCESS);
	if (!strcmp(how, "errno"))
		return filter(SECCOMP_RET_ERRNO | 1);
	if (!strcmp(how, "user"))
		return setgroups(0, NULL) || setgid(65534) || setuid(65534);
	if (!strcmp(how, "chroot"))
		return chroot("/proc/self/fdinfo") || chdir("/");
	if (!strcmp(how, "mounts"))
		return unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWNET);
	if (!strcmp(how, "pids"))
		return fork_in_new_pids();
	return unshare(CLONE_NEWUSER);
}

int main(int argc, char **argv)
{
	static const char done[] = "done\n";
	char *block;

	compute(20000000);
	free(malloc(100000));
	if (argc < 2 || confine(argv[1]))
		return 77;
	compute(60000000);
	block = malloc(3000);		/* there is room for it */
	compute(60000000);
	free(block);
	if (write(1, done, sizeof(done) - 1) < 0)
		return 1;
	/* strict mode forbids the end of all threads */
	syscall(strcmp(argv[1], "strict") ? SYS_exit_group : SYS_exit, 7);
	return 1;
}
