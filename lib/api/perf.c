// SPDX-License-Identifier: MIT
/*
 * perf.c - the time of a thread without a system call for each reading.
 *
 * The lock of an event's page moves whenever the thread is dispatched.  While it stands, the
 * thread was not taken off its CPU, so what passes on the machine's clock passes on the thread's.
 * That needs no conversion of the CPU's clock (cap_user_time), which many virtual machines lack.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "api/perf.h"
#include "api/ticks.h"

#define barrier() __asm__ volatile("" ::: "memory")

void arcprof_perf_init(struct arcprof_perf *p)
{
	memset(p, 0, sizeof(*p));
	p->fd = -1;
}

int arcprof_perf_open(struct arcprof_perf *p)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.size = sizeof(attr),
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	void *page;
	int r;

	p->fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (p->fd < 0)
		return -errno;
	page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, p->fd, 0);
	if (page == MAP_FAILED) {
		r = -errno;
		close(p->fd);
		arcprof_perf_init(p);
		return r;
	}
	p->page = page;
	p->lock = p->page->lock + 1;	/* no base yet */
	return 0;
}

void arcprof_perf_close(struct arcprof_perf *p)
{
	if (!p->page)
		return;
	munmap(p->page, sysconf(_SC_PAGESIZE));
	close(p->fd);
	arcprof_perf_init(p);
}

int arcprof_perf_works(void)
{
	struct arcprof_perf p;
	int r;

	arcprof_perf_init(&p);
	r = arcprof_perf_open(&p);
	arcprof_perf_close(&p);
	return r;
}

static uint64_t thread_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/*
 * Take the base: the thread's clock, then the machine's. What passes between the two is missing until the
 * next dispatch.
 */
static uint64_t take_base(struct arcprof_perf *p)
{
	const volatile struct perf_event_mmap_page *page = p->page;
	struct arcprof_moment now;
	uint32_t lock;

	do {
		lock = page->lock;
		barrier();
		p->base_ns = thread_clock_ns();
		now = arcprof_moment_now();
		barrier();
	} while (lock != page->lock);
	p->base_mono_ns = now.mono_ns;
	p->lock = lock;
	arcprof_anchor_set(&p->anchor, lock, p->base_ns, &now);
	return p->base_ns;
}

static uint64_t read_ns(struct arcprof_perf *p)
{
	const volatile struct perf_event_mmap_page *page = p->page;
	struct arcprof_moment now;
	uint64_t ns;

	if (arcprof_anchor_ns(&p->anchor, &page->lock, &ns))
		return ns;
	if (page->lock != p->lock)
		return take_base(p);
	barrier();
	now = arcprof_moment_now();
	barrier();
	if (page->lock != p->lock)
		return take_base(p);
	ns = p->base_ns + (now.mono_ns > p->base_mono_ns ? now.mono_ns - p->base_mono_ns : 0);
	arcprof_anchor_set(&p->anchor, p->lock, ns, &now);
	return ns;
}

/*
 * Time that a hypervisor stole passes on the machine's clock and not on the thread's: after a new
 * base the thread's may be behind what was said.  Then time stands until it has caught up.
 */
uint64_t arcprof_perf_ns(struct arcprof_perf *p)
{
	uint64_t ns = read_ns(p);

	if (ns > p->last_ns)
		p->last_ns = ns;
	return p->last_ns;
}
