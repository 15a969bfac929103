// SPDX-License-Identifier: MIT
/*
 * itrace.c - a program says between which two points its instructions are traced.
 *
 * A tracer by ptrace (arcprof itrace --bracket) runs the thread freely and wakes at signals, so the request
 * is a signal to the thread itself: SIGURG, which does nothing where nobody traces, with the
 * address of a request that the tracer reads and answers.  The signal is never delivered.
 *
 * Where the kernel module traces, the program has inherited the descriptor of the trace, and the thread
 * joins and leaves by itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arcprof.h"
#include "arcprof_uapi.h"
#include "itrace_request.h"

/* Initial-exec: no call to find it. */
#define THREAD_LOCAL static __thread __attribute__((tls_model("initial-exec")))

THREAD_LOCAL struct {
	int pid, tid;
	int fd;			/* of the module's trace, or -1 */
	enum { FREE, BY_PTRACE, BY_MODULE } traced;
} self;

/* Reads a small file; the length, terminated. */
static ssize_t slurp(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);

	if (fd >= 0)
		close(fd);
	out[n > 0 ? n : 0] = '\0';
	return n;
}

/* Return whether the thread's tracer is arcprof's. */
static int is_traced(void)
{
	char text[4096], path[64], *p;
	int tracer;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", self.tid);
	if (slurp(path, text, sizeof(text)) <= 0 || !(p = strstr(text, "\nTracerPid:")))
		return 0;
	tracer = atoi(p + 11);
	if (!tracer)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/comm", tracer);
	return slurp(path, text, sizeof(text)) > 0 && !strcmp(text, ITRACE_STEPPER_COMM "\n");
}

static inline __attribute__((always_inline)) uint32_t api_itrace_ask(uint32_t what)
{
	struct itrace_request r = { ITRACE_REQUEST_MAGIC, what, 0 };
	siginfo_t si;

	memset(&si, 0, sizeof(si));
	si.si_code = SI_QUEUE;
	si.si_pid = self.pid;
	si.si_value.sival_ptr = &r;
	syscall(SYS_rt_tgsigqueueinfo, self.pid, self.tid, SIGURG, &si);
	__asm__ volatile("" : : : "memory");
	r.magic = 0;
	return *(volatile uint32_t *)&r.answer;
}

/* Return the descriptor of the module's trace, or -1. */
static int trace_fd(void)
{
	const char *number = getenv(ITRACE_FD_VARIABLE);

	return number ? atoi(number) : -1;
}

static inline __attribute__((always_inline)) int api_itrace_join(int fd)
{
	struct arcprof_itrace_join j = { .size = sizeof(j) };

	return syscall(SYS_ioctl, fd, ARCPROF_IOC_ITRACE_JOIN, &j) ? -errno : 0;
}

int arcprof_itrace_on(void)
{
	if (self.traced)
		return -EALREADY;
	self.fd = trace_fd();
	self.traced = BY_MODULE;
	if (self.fd >= 0 && !api_itrace_join(self.fd))
		return 0;
	self.traced = FREE;
	self.pid = getpid();
	self.tid = (int)syscall(SYS_gettid);
	if (!is_traced())
		return -ENODEV;
	self.traced = BY_PTRACE;
	if (api_itrace_ask(ITRACE_REQUEST_ON) == ITRACE_ANSWER_DONE)
		return 0;
	self.traced = FREE;
	return -EAGAIN;
}

int arcprof_itrace_off(void)
{
	int by = self.traced;

	if (!by)
		return -EINVAL;
	self.traced = FREE;
	if (by == BY_MODULE)
		return syscall(SYS_ioctl, self.fd, ARCPROF_IOC_ITRACE_LEAVE) ? -EAGAIN : 0;
	return api_itrace_ask(ITRACE_REQUEST_OFF) == ITRACE_ANSWER_DONE ? 0 : -EAGAIN;
}
