// SPDX-License-Identifier: GPL-2.0-or-later
/* deputy.c - see deputy.h. */
#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "jvm/deputy.h"
#include "jvm/server_priv.h"

static void __attribute__((noreturn))
be_deputy(struct jvm_ctl *area, pid_t parent, int keep_fd,
	  void (*run)(void *ctx, struct jvm_ctl *area, int keep_fd), void *ctx)
{
	enum { FIRST = 3, MOST = 1 << 16 };
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "arcprof-java");
	if (getppid() != parent)
		_exit(0);
	if (keep_fd != FIRST)
		dup2(keep_fd, FIRST);
	/* before Linux 5.9 one by one: with the other end of keep_fd among them it would not end */
	if (syscall(SYS_close_range, FIRST + 1, ~0u, 0))
		for (fd = FIRST + 1; fd < MIN(getdtablesize(), MOST); fd++)
			close(fd);
	run(ctx, area, FIRST);
	_exit(0);
}

struct jvm *jvm_deputy(struct jvm_server *s, int pid, int keep_fd,
		       void (*run)(void *ctx, struct jvm_ctl *area, int keep_fd), void *ctx, struct err *e)
{
	struct epoll_event ev = { .events = EPOLLIN };
	struct jvm *j = jvm_without_agent(s, pid, -1);
	pid_t parent = getpid();

	if (!j) {
		err_errno(e, "memory for the samples of a JVM");
		return NULL;
	}
	j->deputy = fork();
	if (!j->deputy)
		be_deputy(j->ctl, parent, keep_fd, run, ctx);
	j->sock = j->deputy < 0 ? -1 : (int)syscall(SYS_pidfd_open, j->deputy, 0);
	ev.data.ptr = j;
	if (j->sock < 0 || epoll_ctl(s->epoll, EPOLL_CTL_ADD, j->sock, &ev)) {
		err_errno(e, "a process that walks Java stacks");
		jvm_free(j);
		return NULL;
	}
	j->next = s->jvms;
	s->jvms = j;
	s->nr_jvms++;
	j->told = true;
	return j;
}
