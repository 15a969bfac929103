// SPDX-License-Identifier: MIT
/*
 * quiesce.c - waits until threads have left code of ours (flow.h), by what the kernel says each has done
 * since: its state, from /proc/self/task/TID/stat, and its CPU time, from schedstat beside it.
 */
#include <linux/fcntl.h>

#include "agent/calls/flow.h"
#include "agent/sys.h"

enum { MAX_THREADS = 1 << 16, LOOK_MS = 5, RUN_NS = 5000000, DIRENT_BYTES = 32768 };

struct thread {
	int tid;
	uint64_t cpu_ns;	/* at the first look */
};

struct dirent_ {		/* struct linux_dirent64 */
	uint64_t ino, off;
	uint16_t len;
	uint8_t type;
	char name[];
};

static uint64_t decimal_at(const char *s)
{
	uint64_t v = 0;

	for (; *s >= '0' && *s <= '9'; s++)
		v = v * 10 + (*s - '0');
	return v;
}

static char *append_string(char *d, const char *s)
{
	while (*s)
		*d++ = *s++;
	*d = '\0';
	return d;
}

/* Read /proc/self/task/TID/what and terminate it; return false if the thread has ended. */
static bool read_file(int tid, const char *what, char *buf, size_t size)
{
	char path[64], digits[12];
	int i = sizeof(digits) - 1;
	long n;

	digits[i] = '\0';
	for (; tid; tid /= 10)
		digits[--i] = '0' + tid % 10;
	append_string(append_string(append_string(path, "/proc/self/task/"), digits + i), what);
	n = sys_slurp(path, buf, size - 1);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	return true;
}

static bool cpu_time(int tid, uint64_t *ns)
{
	char buf[128];

	if (!read_file(tid, "/schedstat", buf, sizeof(buf)))
		return false;
	*ns = decimal_at(buf);
	return true;
}

/* Return whether the thread waits: in "12 (its (own) name) S ..." the state follows the last parenthesis. */
static bool waits(int tid)
{
	char buf[512], *p, *end = NULL;

	if (!read_file(tid, "/stat", buf, sizeof(buf)))
		return true;
	for (p = buf; *p; p++)
		if (*p == ')')
			end = p;
	return end && end[1] == ' ' && (end[2] == 'S' || end[2] == 'Z' || end[2] == 'X');
}

static size_t list_threads(struct thread *t, size_t max)
{
	static char buf[DIRENT_BYTES] __attribute__((aligned(8)));
	long fd = sys(__NR_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0), n, at;
	size_t nr = 0;

	if (fd < 0)
		return max;
	while ((n = sys(__NR_getdents64, fd, buf, sizeof(buf))) > 0)
		for (at = 0; at < n && nr < max; at += ((struct dirent_ *)(buf + at))->len) {
			t[nr].tid = decimal_at(((struct dirent_ *)(buf + at))->name);
			if (t[nr].tid && t[nr].tid != sys_tid() && cpu_time(t[nr].tid, &t[nr].cpu_ns))
				nr++;
		}
	sys(__NR_close, fd);
	return nr;
}

static bool is_out(const struct thread *t)
{
	uint64_t now;

	return waits(t->tid) || !cpu_time(t->tid, &now) || now - t->cpu_ns >= RUN_NS;
}

bool quiesce_wait(int max_ms)
{
	size_t bytes = MAX_THREADS * sizeof(struct thread), nr, i;
	struct thread *t = sys_pages(bytes);
	bool quiet;
	int ms;

	if (!t)
		return false;
	nr = list_threads(t, MAX_THREADS);
	quiet = nr < MAX_THREADS;
	for (i = 0, ms = 0; quiet && i < nr; i++)
		for (; quiet && !is_out(&t[i]); ms += LOOK_MS) {
			sys_sleep_ms(LOOK_MS);
			quiet = ms < max_ms;
		}
	sys(__NR_munmap, t, bytes);
	return quiet;
}
