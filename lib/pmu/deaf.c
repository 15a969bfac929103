// SPDX-License-Identifier: GPL-2.0-or-later
/* deaf.c - sleeps on each CPU, and counts the samples of its own wakeups. */
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "pmu/probe.h"

enum { SLEEPS = 10, SLEEP_NS = 100000 };
enum { SAMPLE_BYTES = sizeof(struct perf_event_header) + 2 * sizeof(uint32_t) };	/* pid and tid */

struct ring {
	int fd;
	const struct perf_event_mmap_page *page;
};

struct rings {			/* one per CPU: a wakeup is where its timer is */
	struct ring *rings;
	size_t nr_rings, alloc_rings, bytes;
};

static void deaf_close_rings(struct rings *all)
{
	for (; all->nr_rings; all->nr_rings--) {
		struct ring *r = &all->rings[all->nr_rings - 1];

		if (r->page)
			munmap((void *)r->page, all->bytes);
		close(r->fd);
	}
	free(all->rings);
}

static int open_on(struct rings *all, const struct perf_event_attr *attr, uint32_t cpu, const char *name)
{
	struct ring r = { syscall(SYS_perf_event_open, attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC), NULL };
	char filter[40];
	void *at;

	if (r.fd < 0)
		return -errno;
	at = mmap(NULL, all->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r.fd, 0);
	r.page = at == MAP_FAILED ? NULL : at;
	*VEC_ADD(all->rings, all->nr_rings, all->alloc_rings) = r;
	/* By name: the number of a thread is another one in a namespace. */
	snprintf(filter, sizeof(filter), "comm == \"%s\"", name);
	return !r.page || ioctl(r.fd, PERF_EVENT_IOC_SET_FILTER, filter) < 0 ? -errno : 0;
}

static int open_all(struct rings *all, const char *name)
{
	int64_t id = probe_tracepoint("sched:sched_wakeup");
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = id,
		.sample_period = 1, .sample_type = PERF_SAMPLE_TID };
	struct cpus online = { 0 };
	int r = id < 0 ? (int)id : 0;
	size_t i;

	all->bytes = 2 * sysconf(_SC_PAGESIZE);
	cpus_online(&online);
	for (i = 0; i < online.nr_cpu && !r; i++)
		r = open_on(all, &attr, online.cpu[i], name);
	cpus_release(&online);
	return r;
}

static uint64_t count_in_rings(const struct rings *all)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < all->nr_rings; i++)
		bytes += __atomic_load_n(&all->rings[i].page->data_head, __ATOMIC_ACQUIRE);
	return bytes / SAMPLE_BYTES;
}

static bool is_deaf(const struct rings *all)
{
	const struct timespec ts = { 0, SLEEP_NS };
	uint64_t before = count_in_rings(all);
	int i;

	for (i = 0; i < SLEEPS; i++)
		nanosleep(&ts, NULL);
	return count_in_rings(all) - before < SLEEPS / 2;
}

static void try_each(const struct rings *all, const cpu_set_t *may, size_t bytes, struct cpus *deaf)
{
	cpu_set_t *one = xcalloc(1, bytes);
	char number[16];
	struct err e;
	size_t cpu;

	for (cpu = 0; cpu < bytes * 8; cpu++) {
		if (!CPU_ISSET_S(cpu, bytes, may))
			continue;
		CPU_ZERO_S(bytes, one);
		CPU_SET_S(cpu, bytes, one);
		snprintf(number, sizeof(number), "%zu", cpu);
		if (!sched_setaffinity(0, bytes, one) && is_deaf(all))
			cpus_add(deaf, number, &e);
	}
	free(one);
}

int deaf_find(struct cpus *deaf)
{
	size_t bytes = CPU_ALLOC_SIZE(CPUS_MAX);
	cpu_set_t *may = xcalloc(1, bytes);
	struct rings all = { 0 };
	char own[16], name[16];
	int r;

	prctl(PR_GET_NAME, own);
	snprintf(name, sizeof(name), "deaf-%d", (int)getpid());
	r = sched_getaffinity(0, bytes, may) < 0 ? -errno : open_all(&all, name);
	if (!r) {
		prctl(PR_SET_NAME, name);
		try_each(&all, may, bytes, deaf);
		prctl(PR_SET_NAME, own);
		sched_setaffinity(0, bytes, may);
	}
	deaf_close_rings(&all);
	free(may);
	return r;
}
