// SPDX-License-Identifier: MIT
/*
 * sys.c - the agent's own small C library (sys.h).
 */
#include <errno.h>
#include <linux/auxvec.h>
#include <linux/fcntl.h>
#include <linux/futex.h>
#include <linux/mman.h>
#include <linux/time_types.h>

#include "agent/cpu.h"
#include "agent/elf.h"
#include "agent/sys.h"

/* The compiler may call these by itself. */
void *memcpy(void *d, const void *s, size_t n)
{
	cpu_copy(d, s, n);
	return d;
}

void *memset(void *d, int c, size_t n)
{
	cpu_fill(d, c, n);
	return d;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *p = a, *q = b;

	for (; n; n--, p++, q++)
		if (*p != *q)
			return *p - *q;
	return 0;
}

size_t str_len(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

bool str_eq(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

void *sys_pages(size_t size)
{
	long p = sys(__NR_mmap, 0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		     -1, 0);

	return p < 0 && p > -4096 ? NULL : (void *)p;
}

void sys_clear_pages(void *p, size_t size)
{
	if (p && sys(__NR_madvise, p, size, MADV_DONTNEED))
		memset(p, 0, size);
}

void sys_sleep_ms(int ms)
{
	sys_sleep_ns(ms * 1000000ull);
}

void sys_sleep_ns(uint64_t ns)
{
	struct __kernel_timespec ts = { ns / 1000000000, ns % 1000000000 };

	sys(__NR_nanosleep, &ts, NULL);
}

int sys_tid(void)
{
	return sys(__NR_gettid);
}

uint64_t sys_thread_cpu(int tid)
{
	const int clock = ~tid << 3 | 6;
	int64_t t[2] = { 0, 0 };

	return tid && !sys(__NR_clock_gettime, clock, t) ? t[0] * 1000000000 + t[1] : 0;
}

uint64_t sys_own_cpu(void)
{
	enum { THREAD_CPUTIME = 3 };
	int64_t t[2] = { 0, 0 };

	return !sys(__NR_clock_gettime, THREAD_CPUTIME, t) ? t[0] * 1000000000 + t[1] : 0;
}

long sys_slurp(const char *path, char *buf, size_t size)
{
	long fd = sys(__NR_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC), n = 0, r;

	if (fd < 0)
		return fd;
	while ((size_t)n < size && (r = sys(__NR_read, fd, buf + n, size - n)) > 0)
		n += r;
	sys(__NR_close, fd);
	return n;
}

static int (*vdso_clock_gettime)(int, struct __kernel_timespec *);

/* Return 0 when the vector has no entry of that type. */
static uint64_t auxv_entry(uint64_t type)
{
	uint64_t auxv[64];
	long n = sys_slurp("/proc/self/auxv", (char *)auxv, sizeof(auxv));
	long i;

	for (i = 0; i + 1 < n / 8; i += 2)
		if (auxv[i] == type)
			return auxv[i + 1];
	return 0;
}

void *sys_vdso(const char *name)
{
	uint64_t base = auxv_entry(AT_SYSINFO_EHDR);

	return base ? elf_symbol(base, name) : NULL;
}

size_t sys_page_bytes(void)
{
	static size_t known;
	size_t bytes = load_relaxed(&known);

	if (!bytes) {
		bytes = auxv_entry(AT_PAGESZ);
		bytes = bytes ? bytes : 4096;
		store_relaxed(&known, bytes);
	}
	return bytes;
}

void sys_init_clock(void)
{
	vdso_clock_gettime = sys_vdso(CPU_VDSO_CLOCK_GETTIME);
}

uint64_t sys_now(void)
{
	struct __kernel_timespec ts;

	if (!vdso_clock_gettime || vdso_clock_gettime(1, &ts))
		sys(__NR_clock_gettime, 1, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/*
 * Used where a sandbox forbids process_vm_readv: rt_sigprocmask with an impossible "how" fails with
 * EFAULT when its argument cannot be read and with EINVAL when it can. It changes nothing, and no sandbox
 * forbids it.
 */
static bool sys_readable(uintptr_t p)
{
	return sys(__NR_rt_sigprocmask, ~0, p & ~7ul, 0, 8) != -EFAULT;
}

static size_t peek_probed(void *dst, uintptr_t src, size_t n)
{
	size_t done = 0, piece;

	while (done < n) {
		if (src + done < src || !sys_readable(src + done))
			break;
		piece = 4096 - ((src + done) & 4095);
		if (piece > n - done)
			piece = n - done;
		memcpy((char *)dst + done, (const void *)(src + done), piece);
		done += piece;
	}
	return done;
}

static int own_pid;	/* 0: not known */

void sys_forked(void)
{
	own_pid = 0;
}

size_t sys_peek_spans(void *dst, const struct sys_span *from, uint32_t nr)
{
	static bool forbidden;
	struct sys_span to = { (uintptr_t)dst, 0 };
	size_t done = 0, piece;
	uint32_t i;
	long r;

	for (i = 0; i < nr; i++)
		to.len += from[i].len;
	if (unlikely(!own_pid))
		own_pid = sys(__NR_getpid);
	/* a span is laid out as a struct iovec */
	r = load_relaxed(&forbidden) ? -EPERM : sys(__NR_process_vm_readv, own_pid, &to, 1, from, nr, 0);
	if (r != -EPERM && r != -ENOSYS && r != -ESRCH)
		return r > 0 ? r : 0;
	store_relaxed(&forbidden, true);
	for (i = 0; i < nr; i++) {
		piece = peek_probed((char *)dst + done, from[i].at, from[i].len);
		done += piece;
		if (piece < from[i].len)
			break;
	}
	return done;
}

size_t sys_peek(void *dst, uintptr_t src, size_t n)
{
	return sys_peek_spans(dst, &(struct sys_span){ src, n }, 1);
}

void sys_lock(struct sys_lock *l)
{
	uint32_t old = 0;

	if (__atomic_compare_exchange_n(&l->word, &old, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&l->word, 2, __ATOMIC_ACQUIRE))
		sys(__NR_futex, &l->word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2, 0);
}

void sys_unlock(struct sys_lock *l)
{
	if (__atomic_exchange_n(&l->word, 0, __ATOMIC_RELEASE) == 2)
		sys(__NR_futex, &l->word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
}
