// SPDX-License-Identifier: MIT
/*
 * clock.c - the CPU time of the calling thread without a system call, and counters.
 *
 * A perf event of the thread has a page that the kernel marks whenever it gives the thread a
 * CPU: as long as the mark stands the thread never left, and its CPU time has grown as the time
 * stamp counter has. Only after a switch the kernel is asked. Works where the kernel does not
 * offer its own formula (cap_user_time), as in most virtual machines.
 */
#include <linux/mman.h>
#include <linux/perf_event.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <linux/time.h>
#include <linux/time_types.h>

#include "callflow/process.h"

enum { RESYNC_TRIES = 4 };

/* Where no event could be had: its mark never matches, so that every look asks the kernel. */
static const uint32_t no_seq;

uint64_t callflow_clock_ns(int clock)
{
	struct __kernel_timespec ts = { 0 };

	sys(__NR_clock_gettime, clock, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

uint64_t callflow_ratio(uint64_t cycles, uint64_t ns)
{
	uint64_t whole, rest;

	if (!ns)
		return 0;
	whole = cycles / ns;
	rest = cycles % ns;
	for (; ns >> 32; ns >>= 1)
		rest >>= 1;
	return (whole << 32) + (rest << 32) / ns;
}

/*
 * The ratio of the recorder is good to some parts in a million; what passed since the start
 * is a longer ruler. Computed anew each time it has doubled.
 */
static void refine_ratio(uint64_t tsc)
{
	uint64_t start_tsc = cf.area->start_tsc, cycles, ns;

	if (tsc < load_relaxed(&cf.ratio_tsc))
		return;
	ns = callflow_clock_ns(CLOCK_MONOTONIC) - cf.area->start_ns;
	cycles = cpu_tsc() - start_tsc;
	store_relaxed(&cf.ratio_tsc, start_tsc + 2 * cycles);
	if (ns)
		store_relaxed(&cf.ratio, callflow_ratio(cycles, ns));
}

static uint64_t to_cycles(uint64_t ns)
{
	return (uint64_t)((unsigned __int128)ns * load_relaxed(&cf.ratio) >> 32);
}

uint64_t callflow_cpu_set(struct callflow_kthread *k, uint64_t ns, uint64_t before, uint64_t after, bool ran)
{
	if (ns > k->cpu_ns) {
		k->cpu_tsc += to_cycles(ns - k->cpu_ns);
		k->cpu_ns = ns;
	}
	k->off_tsc = k->cpu_tsc - (ran ? (before + after) / 2 : after);
	return after + k->off_tsc;
}

uint64_t callflow_cpu_resync(struct callflow_kthread *k)
{
	uint64_t before, after, ns;
	uint32_t seq;
	bool ran;
	int i = 0;

	do {
		seq = *k->seq;
		before = cpu_tsc();
		ns = callflow_clock_ns(CLOCK_THREAD_CPUTIME_ID);
		after = cpu_tsc();
		ran = k->seq != &no_seq && *k->seq == seq;
	} while (!ran && k->seq != &no_seq && ++i < RESYNC_TRIES);
	refine_ratio(after);
	k->seen = k->seq == &no_seq ? 1 : seq;
	return callflow_cpu_set(k, ns, before, after, ran);
}

/*
 * Open a perf event on the calling thread, and map its first page; NULL: not available. It is not tried under
 * a filter of system calls: one that does not allow perf events may kill for it, as those of systemd do.
 */
static const volatile void *open_event(uint32_t type, uint64_t config, uint64_t config1, int *fd)
{
	struct perf_event_attr a = {
		.size = sizeof(a), .type = type, .config = config, .config1 = config1,
		.exclude_kernel = 1, .exclude_hv = 1,
	};
	long p;

	*fd = -1;
	if (sys(__NR_prctl, PR_GET_SECCOMP) == SECCOMP_MODE_FILTER)
		return NULL;
	*fd = sys(__NR_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (*fd < 0)
		return NULL;
	p = sys(__NR_mmap, 0, CALLFLOW_PAGE, PROT_READ, MAP_SHARED, *fd, 0);
	if (p > 0 || p < -4095)
		return (const volatile void *)p;
	sys(__NR_close, *fd);
	*fd = -1;
	return NULL;
}

static void close_event(const volatile void *page, int fd)
{
	if (page)
		sys(__NR_munmap, page, CALLFLOW_PAGE);
	if (fd >= 0)
		sys(__NR_close, fd);
}

uint64_t callflow_counter_read(const volatile void *page)
{
	const volatile struct perf_event_mmap_page *p = page;
	uint64_t v;
	uint32_t seq;

	do {
		uint32_t index;

		seq = p->lock;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		index = p->index;
		v = p->offset;
		if (index && p->cap_user_rdpmc) {
			unsigned int unused = 64 - p->pmc_width;

			v += (uint64_t)((int64_t)(cpu_counter(index - 1) << unused) >> unused);
		}
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	} while (p->lock != seq);
	return v;
}

/* Returns whether the thread has the counter. */
static bool start_counter(struct callflow_kthread *k, uint32_t m)
{
	struct callflow_counter *c = &k->counters[m];
	const volatile struct perf_event_mmap_page *p;

	c->page = open_event(cf.metrics[m].type, cf.metrics[m].config, cf.metrics[m].config1, &c->fd);
	p = c->page;
	if (p && p->cap_user_rdpmc)
		return true;
	close_event(c->page, c->fd);
	c->page = NULL;
	c->fd = -1;
	return false;
}

/* Returns whether the thread has the metric. */
static bool start_metric(struct callflow_kthread *k, uint32_t m)
{
	k->counters[m].fd = -1;
	switch (cf.metrics[m].kind) {
	case CALLFLOW_COUNTER:
		return start_counter(k, m);
	case CALLFLOW_DISPATCHES:
		return k->seq != &no_seq;
	case CALLFLOW_ALLOC_BYTES:
		return cf.alloc_bytes;
	case CALLFLOW_ALLOC_OBJECTS:
		return cf.alloc_objects;
	case CALLFLOW_BYTECODES:
		return cf.bytecodes;
	}
	return true;
}

void callflow_clock_start(struct callflow_kthread *k)
{
	uint32_t m;

	k->seq = &no_seq;
	k->seen = 1;
	k->fd = -1;
	if (cf.need_seq) {
		const volatile struct perf_event_mmap_page *p =
			open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 0, &k->fd);

		if (p)
			k->seq = (const volatile uint32_t *)&p->lock;
		else
			add_relaxed(&cf.area->slow_threads, 1);
		k->dispatches = *k->seq;
		k->seen = *k->seq + 1;
	}
	for (m = 0; m < cf.nr_metrics; m++)
		if (!start_metric(k, m))
			add_relaxed(&cf.area->metrics[m].refused, 1);
	k->start_ns = callflow_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void callflow_clock_end(struct callflow_kthread *k)
{
	uint32_t m;

	if (k->seq != &no_seq)
		close_event(k->seq == &no_seq ? NULL : (const volatile void *)((uintptr_t)k->seq & ~4095ul),
			    k->fd);
	k->seq = &no_seq;
	k->seen = 1;
	for (m = 0; m < cf.nr_metrics; m++)
		close_event(k->counters[m].page, k->counters[m].fd);
}
