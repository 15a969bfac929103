// SPDX-License-Identifier: GPL-2.0-or-later
/* clocks.c - see clocks.h. */
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clocks.h"
#include "pmu/bpf.h"
#include "unit.h"

static int fds[2 * CLOCKS_MOST_CPUS], nr_fds;

static int open_on(struct perf_event_attr *a, int cpu)
{
	int fd = syscall(SYS_perf_event_open, a, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		fds[nr_fds++] = fd;
	return fd;
}

static int nr_cpus(void)
{
	long nr = sysconf(_SC_NPROCESSORS_CONF);

	return nr < CLOCKS_MOST_CPUS ? (int)nr : CLOCKS_MOST_CPUS;
}

void clocks_open(int filter)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(a), .config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000, .exclude_idle = 1,
	};
	int cpu, fd;

	for (cpu = 0; cpu < nr_cpus(); cpu++) {
		fd = open_on(&a, cpu);
		CHECK(fd < 0 || !ioctl(fd, PERF_EVENT_IOC_SET_BPF, filter));
	}
}

void clocks_tell(int map)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(a), .config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_type = PERF_SAMPLE_RAW,
	};
	int cpu, fd;

	for (cpu = 0; cpu < nr_cpus(); cpu++) {
		fd = open_on(&a, cpu);
		if (fd < 0)
			continue;
		/* the kernel writes over what nobody reads; it is unmapped at the test's end */
		CHECK(mmap(NULL, 2 * sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED);
		CHECK(!bpf_map_set_event(map, cpu, fd));
	}
}

void clocks_close(void)
{
	while (nr_fds)
		close(fds[--nr_fds]);
}
