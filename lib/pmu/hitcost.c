// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hitcost.c - reads the time again and again while a clock hits us: where two readings lie far apart, it
 * was hit in between. The median of these gaps is what a hit takes; ticks and other programs are too rare to
 * count.
 */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/clock.h"
#include "base/mem.h"
#include "pmu/probe.h"

enum { PERIOD_NS = 100000, NR_GAPS = 41, GAP_NS = 700, MOST_NS = 500000000, RING_PAGES = 64, STACK = 65528 };

static int open_clock(uint32_t stack_bytes)
{
	struct perf_event_attr a = {
		.size = sizeof(a), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS, .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
		.exclude_kernel = 1, .exclude_hv = 1, .disabled = 1,
	};

	if (stack_bytes) {
		a.sample_type |= PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER;
		a.sample_regs_user = arch_perf_regs_mask;
		a.sample_stack_user = stack_bytes & ~7u;
	}
	return syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int by_length(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return COMPARE(*x, *y);
}

static __attribute__((noinline)) uint64_t median_gap(void)
{
	uint64_t gaps[NR_GAPS], begin = clock_mono_ns(), last = begin, now;
	size_t nr = 0;

	while (nr < NR_GAPS && last - begin < MOST_NS) {
		now = clock_mono_ns();
		if (now - last > GAP_NS)
			gaps[nr++] = now - last;
		last = now;
	}
	if (nr < NR_GAPS / 2)
		return 0;
	qsort(gaps, nr, sizeof(*gaps), by_length);
	return gaps[nr / 2];
}

uint64_t hitcost_ns(uint32_t stack_bytes)
{
	const size_t bytes = (RING_PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE);
	volatile char stack[STACK];	/* what is copied */
	int fd = open_clock(stack_bytes);
	void *ring;
	uint64_t ns;

	if (fd < 0)
		return 0;
	memset((void *)stack, 1, sizeof(stack));
	/* not to be read, so it is written over and over; without it nothing is copied */
	ring = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	ns = median_gap();
	if (ring != MAP_FAILED)
		munmap(ring, bytes);
	close(fd);
	return stack[0] ? ns : 0;
}
