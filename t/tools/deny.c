// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * deny.c - runs a program to which the kernel refuses system calls, as the filters of containers do.
 *
 *	deny [-n | -a | -k] CALL[,CALL...] PROGRAM [ARG...]
 *
 * They fail with EPERM; -n: with ENOSYS; -a: with EACCES; -k: the process is killed. "ring" is a shared
 * mapping of a file of at least 8 KiB that can be written, as those of perf events are; "bpf-run" runs a BPF
 * program.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_CALLS = 24 };

#define CALL(name) { #name, SYS_##name }

static const struct {
	const char *name;
	unsigned int nr;
} calls[] = {
	CALL(perf_event_open), CALL(bpf), CALL(ptrace), CALL(process_vm_readv),
	CALL(process_vm_writev), CALL(timer_create), CALL(memfd_create), CALL(pidfd_open),
	CALL(pidfd_getfd), CALL(pidfd_send_signal), CALL(setns), CALL(syslog), CALL(kcmp),
	CALL(membarrier), CALL(fsopen), CALL(inotify_init1), CALL(inotify_add_watch),
	CALL(epoll_create1), CALL(epoll_ctl), CALL(eventfd2), CALL(signalfd4), CALL(timerfd_create),
	CALL(openat2), CALL(getrandom), CALL(sched_setaffinity), CALL(sched_getaffinity),
	CALL(close_range), CALL(clone3), CALL(rseq), CALL(mlock), CALL(madvise), CALL(fallocate),
	CALL(ftruncate), CALL(socket), CALL(bind), CALL(listen), CALL(connect), CALL(accept4),
	CALL(sendmsg), CALL(recvmsg), CALL(getsockopt), CALL(ioctl), CALL(mount), CALL(unshare),
	CALL(capget), CALL(prctl), CALL(prlimit64), CALL(rt_tgsigqueueinfo), CALL(rt_sigtimedwait),
	CALL(tgkill), CALL(kill), CALL(statfs), CALL(getdents64), CALL(renameat2), CALL(unlinkat),
	CALL(mkdirat), CALL(fchmod), CALL(fchmodat), CALL(fchown), CALL(get_robust_list),
	CALL(sysinfo), CALL(personality), CALL(pwrite64), CALL(pread64), CALL(msync), CALL(mincore),
	CALL(sched_setscheduler), CALL(setpriority), CALL(getpriority), CALL(wait4), CALL(waitid),
	CALL(pipe2), CALL(ppoll), CALL(statx), CALL(readlinkat), CALL(faccessat2), CALL(flock),
	CALL(setgroups), CALL(setresuid), CALL(copy_file_range), CALL(sendfile),
	CALL(clock_gettime), CALL(clock_nanosleep), CALL(mprotect), CALL(mremap), CALL(fsync),
	CALL(chdir), CALL(fchdir), CALL(umask), CALL(sendto), CALL(recvfrom), CALL(setsockopt),
	CALL(socketpair), CALL(shutdown), CALL(dup3), CALL(fcntl), CALL(linkat), CALL(symlinkat),
	CALL(utimensat), CALL(setitimer), CALL(timer_settime), CALL(uname), CALL(execveat),
};

struct program {
	struct sock_filter code[8 * MAX_CALLS];
	unsigned short nr;
};

static void add(struct program *p, struct sock_filter f)
{
	p->code[p->nr++] = f;
}

static void load(struct program *p, size_t offset)
{
	add(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
}

static void skip_unless(struct program *p, unsigned int is, unsigned char nr)
{
	add(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, is, 0, nr));
}

static void refuse(struct program *p, unsigned int how)
{
	add(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, how));
}

static void refuse_rings(struct program *p, unsigned int how)
{
	skip_unless(p, SYS_mmap, 6);
	load(p, offsetof(struct seccomp_data, args[2]));
	skip_unless(p, PROT_READ | PROT_WRITE, 3);
	load(p, offsetof(struct seccomp_data, args[3]));
	skip_unless(p, MAP_SHARED, 1);
	refuse(p, how);
	load(p, offsetof(struct seccomp_data, nr));
}

static void refuse_bpf_runs(struct program *p, unsigned int how)
{
	skip_unless(p, SYS_bpf, 4);
	load(p, offsetof(struct seccomp_data, args[0]));
	skip_unless(p, BPF_PROG_TEST_RUN, 1);
	refuse(p, how);
	load(p, offsetof(struct seccomp_data, nr));
}

static int add_call(struct program *p, const char *name, unsigned int how)
{
	size_t i;

	if (!strcmp(name, "ring"))
		return refuse_rings(p, how), 0;
	if (!strcmp(name, "bpf-run"))
		return refuse_bpf_runs(p, how), 0;
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strcmp(calls[i].name, name)) {
			skip_unless(p, calls[i].nr, 1);
			refuse(p, how);
			return 0;
		}
	fprintf(stderr, "deny: no system call '%s' is known\n", name);
	return -1;
}

int main(int argc, char **argv)
{
	unsigned int how = SECCOMP_RET_ERRNO | EPERM, nr = 0;
	struct program p = { .nr = 0 };
	struct sock_fprog prog = { .filter = p.code };
	char *name;

	if (argc > 1 && !strcmp(argv[1], "-n"))
		how = SECCOMP_RET_ERRNO | ENOSYS;
	else if (argc > 1 && !strcmp(argv[1], "-a"))
		how = SECCOMP_RET_ERRNO | EACCES;
	else if (argc > 1 && !strcmp(argv[1], "-k"))
		how = SECCOMP_RET_KILL_PROCESS;
	argv += 1 + (argc > 1 && argv[1][0] == '-');
	if (!argv[0] || !argv[1])
		return fprintf(stderr, "usage: deny [-n | -a | -k] CALL[,CALL...] PROGRAM [ARG...]\n"), 2;
	load(&p, offsetof(struct seccomp_data, nr));
	for (name = strtok(argv[0], ","); name && nr < MAX_CALLS; name = strtok(NULL, ","), nr++)
		if (add_call(&p, name, how))
			return 2;
	refuse(&p, SECCOMP_RET_ALLOW);
	prog.len = p.nr;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog)) {
		perror("seccomp");
		return 77;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
