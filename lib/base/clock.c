// SPDX-License-Identifier: GPL-2.0-or-later
/* clock.c - reads clocks in nanoseconds (clock.h). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/io.h"

_Thread_local uint64_t clock_replayed_ns;

void clock_sleep_ns(uint64_t ns)
{
	struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

#define NS_PER_S 1000000000ull

/* Return whether the process's children will be in its own time namespace, as is usual. */
static bool keeps_clock(int pid)
{
	struct stat own, next;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/ns/time", pid);
	if (stat(path, &own))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/ns/time_for_children", pid);
	return stat(path, &next) || own.st_ino == next.st_ino;
}

int64_t clock_ahead_ns(int pid)
{
	struct buf b = BUF_INIT;
	int64_t s = 0, ns = 0;
	const char *at;
	char path[48];

	/* the file has the offsets of the children's */
	snprintf(path, sizeof(path), "/proc/%d/timens_offsets", pid);
	if (!io_slurp(path, &b) && b.len && keeps_clock(pid) && (at = strstr(b.data, "monotonic")) &&
	    sscanf(at, "monotonic %" SCNd64 " %" SCNd64, &s, &ns) != 2)
		s = ns = 0;
	buf_release(&b);
	return s * (int64_t)NS_PER_S + ns;
}

void ticker_init(struct ticker *t, bool children)
{
	sigemptyset(&t->signals);
	sigaddset(&t->signals, SIGINT);
	sigaddset(&t->signals, SIGTERM);
	sigaddset(&t->signals, SIGHUP);
	if (children)
		sigaddset(&t->signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &t->signals, &t->old);
	ticker_start(t);
}

void ticker_start(struct ticker *t)
{
	t->start_ns = clock_mono_ns();
}

int ticker_wait(struct ticker *t, uint64_t until_ns)
{
	for (;;) {
		uint64_t now = clock_mono_ns(), left = until_ns > now ? until_ns - now : 0;
		struct timespec ts = { left / NS_PER_S, left % NS_PER_S };
		int sig = until_ns == UINT64_MAX ? sigwaitinfo(&t->signals, &t->last) :
						   sigtimedwait(&t->signals, &t->last, &ts);

		if (sig > 0)
			return sig;
		if (errno == EAGAIN)
			return 0;
	}
}

uint64_t ticker_next(const struct ticker *t, uint64_t interval_ns, uint64_t now_ns)
{
	uint64_t since = now_ns > t->start_ns ? now_ns - t->start_ns : 0;

	return t->start_ns + (since / interval_ns + 1) * interval_ns;
}

void ticker_release(struct ticker *t)
{
	struct timespec none = { 0 };

	while (sigtimedwait(&t->signals, NULL, &none) > 0)
		;
	sigprocmask(SIG_SETMASK, &t->old, NULL);
}
