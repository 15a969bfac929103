// SPDX-License-Identifier: GPL-2.0-or-later
/* far.c - see far.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "agent/sys.h"
#include "base/mix.h"
#include "outside/far.h"

enum {
	NR_KEPT = 4096,		/* pages outside the code cache */
	NR_COPIES = 16,
	MARGIN = 2,		/* pages around the mirror */
	MAX_STRING = 128,
};

struct far far;

static struct kept {
	uintptr_t page;
	uint32_t age;
	bool bad;
} kept[NR_KEPT];
static char (*pages)[FAR_PAGE];
static char copies[NR_COPIES][FAR_PAGE];
static unsigned int turn;

static bool read_now(void *to, uintptr_t from, size_t n)
{
	struct iovec local = { to, n }, remote = { (void *)from, n };

	return process_vm_readv(far.pid, &local, 1, &remote, 1, 0) == (ssize_t)n;
}

bool far_init(int pid)
{
	far = (struct far){ .pid = pid, .age = 1 };
	pages = sys_pages((size_t)NR_KEPT * FAR_PAGE);
	return pages;
}

bool far_mirror(uintptr_t lo, uintptr_t hi)
{
	const uintptr_t largest = 4ul << 30;
	size_t nr;
	char *p;

	lo &= ~(uintptr_t)(FAR_PAGE - 1);
	if (hi <= lo || hi - lo > largest)
		return false;
	nr = (hi - lo + FAR_PAGE - 1) / FAR_PAGE + 2 * MARGIN;
	p = sys_pages(nr * FAR_PAGE);
	far.read_in = sys_pages(nr * sizeof(*far.read_in));
	if (!p || !far.read_in)
		return false;
	far.mirror = p + MARGIN * FAR_PAGE;
	far.lo = lo;
	far.size = hi - lo;
	return true;
}

void far_forget(void)
{
	if (++far.age)
		return;
	/* pages of the ages before would be new again */
	memset(kept, 0, sizeof(kept));
	sys_clear_pages(far.read_in, (far.size / FAR_PAGE + 1 + MARGIN) * sizeof(*far.read_in));
	far.age = 1;
}

bool far_look(const struct iovec *to, const struct iovec *from, size_t nr)
{
	size_t i, want = 0;

	for (i = 0; i < nr; i++)
		want += to[i].iov_len;
	return process_vm_readv(far.pid, to, nr, from, nr, 0) == (ssize_t)want;
}

void far_read_page(size_t i)
{
	char *to = far.mirror + i * FAR_PAGE;

	if (!read_now(to, far.lo + i * FAR_PAGE, FAR_PAGE))
		memset(to, 0, FAR_PAGE);
	far.read_in[i] = far.age;
}

static const char *far_page_of(uintptr_t p, bool *bad)
{
	uintptr_t page = p / FAR_PAGE;
	struct kept *k = &kept[mix64(page) % NR_KEPT];
	char *data = pages[k - kept];

	if (k->page != page || k->age != far.age) {
		*k = (struct kept){ page, far.age, !read_now(data, page * FAR_PAGE, FAR_PAGE) };
		if (k->bad)
			memset(data, 0, FAR_PAGE);
	}
	*bad |= k->bad;
	return data + p % FAR_PAGE;
}

static char *next_copy(void)
{
	return copies[turn++ % NR_COPIES];
}

const char *far_elsewhere(uintptr_t p, size_t n)
{
	size_t first = FAR_PAGE - p % FAR_PAGE;
	bool bad = false;
	char *copy;

	if (n <= first)
		return far_page_of(p, &bad);
	copy = next_copy();
	memcpy(copy, far_page_of(p, &bad), first);
	memcpy(copy + first, far_page_of(p + first, &bad), n - first);
	return copy;
}

const char *vm_string(uintptr_t p)
{
	char *copy;

	if (!p)
		return NULL;
	copy = next_copy();
	memset(copy, 0, MAX_STRING);
	sys_peek(copy, p, MAX_STRING - 1);
	return copy;
}

/* ---- of agent/sys.h, what the walker's files need ---- */

size_t sys_peek(void *dst, uintptr_t src, size_t n)
{
	size_t done = 0, len;

	for (; done < n; done += len) {
		uintptr_t at = src + done;
		bool bad = false;
		const char *from;

		len = FAR_PAGE - at % FAR_PAGE;
		len = len < n - done ? len : n - done;
		from = at - far.lo < far.size ? far_at(at, len) : far_page_of(at, &bad);
		if (bad)
			break;
		memcpy((char *)dst + done, from, len);
	}
	return done;
}

size_t str_len(const char *s)
{
	return strlen(s);
}

bool str_eq(const char *a, const char *b)
{
	return !strcmp(a, b);
}

void *sys_pages(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		       -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void sys_clear_pages(void *p, size_t size)
{
	madvise(p, size, MADV_DONTNEED);
}
