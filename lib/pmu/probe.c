// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * probe.c - trial openings of perf events, and the meaning of their errors.
 *
 * Source: kernel/events/core.c (perf_event_open, perf_copy_attr, perf_mmap) and
 * Documentation/admin-guide/sysctl/kernel.rst, section perf_event_paranoid.  Level 3 (Debian)
 * and 4 (Ubuntu) are patches of those distributions: nothing without CAP_PERFMON.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/io.h"
#include "pmu/probe.h"

enum { USUAL_TICK_NS = 4000000 };

static int64_t read_sysctl(const char *name)
{
	struct buf b = BUF_INIT;
	int64_t v = PERF_LIMIT_UNKNOWN;
	char path[128];

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	if (!io_slurp(path, &b) && b.len)
		v = strtoll(b.data, NULL, 10);
	buf_release(&b);
	return v;
}

void perf_limits_read(struct perf_limits *l)
{
	l->paranoid = read_sysctl("perf_event_paranoid");
	l->kptr_restrict = read_sysctl("kptr_restrict");
	l->mlock_kb = read_sysctl("perf_event_mlock_kb");
	l->max_rate = read_sysctl("perf_event_max_sample_rate");
	l->max_stack = read_sysctl("perf_event_max_stack");
	l->ptrace_scope = read_sysctl("yama/ptrace_scope");
}

uint64_t perf_tick_ns(void)
{
	struct timespec t;

	/* this clock moves at ticks */
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &t) || t.tv_sec || !t.tv_nsec)
		return USUAL_TICK_NS;
	return t.tv_nsec;
}

/* If the limit is one sample per tick, it stops the event each time: for half a tick of five, on average. */
uint64_t perf_shortest_ns(int64_t max_rate, uint64_t tick_ns)
{
	uint64_t most;

	if (max_rate <= 0)
		return 0;
	most = ((uint64_t)max_rate * tick_ns + 999999999) / 1000000000;
	return most > 1 ? (tick_ns + most - 2) / (most - 1) : 5 * tick_ns;
}

bool probe_has_cap(int cap)
{
	cap_flag_value_t v = CAP_CLEAR;
	cap_t caps = cap_get_proc();

	if (!caps)
		return false;
	if (cap_get_flag(caps, cap, CAP_EFFECTIVE, &v))
		v = CAP_CLEAR;
	cap_free(caps);
	return v == CAP_SET;
}

struct perf_event_attr probe_attr(uint32_t type, uint64_t config, bool kernel)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.sample_period = type == PERF_TYPE_TRACEPOINT ? 1 : 1000000,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.disabled = 1,
		.exclude_kernel = !kernel,
		.exclude_hv = 1,
	};

	return attr;
}

int probe_perf(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

int64_t probe_tracepoint(const char *name)
{
	static const char *const roots[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	const char *colon = strchr(name, ':');
	int r = -EINVAL;
	size_t i;

	for (i = 0; colon && i < 2; i++) {
		struct buf b = BUF_INIT;
		char path[256];
		int64_t id = 0;

		snprintf(path, sizeof(path), "%s/events/%.*s/%s/id", roots[i], (int)(colon - name), name,
			 colon + 1);
		r = io_slurp(path, &b);
		if (!r && b.len)
			id = strtoll(b.data, NULL, 10);
		buf_release(&b);
		if (id > 0)
			return id;
		if (r == -EACCES)
			break;
	}
	return r ? r : -ENOENT;
}

/* A container's system call filter answers before the kernel's own rules do. */
struct probe_remedy probe_remedy(const char *caps)
{
	struct probe_remedy r = { "as root" };
	struct statvfs fs;
	char exe[128];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe));

	if (len > 0 && len < (ssize_t)sizeof(exe) && !statvfs("/proc/self/exe", &fs) &&
	    !(fs.f_flag & ST_NOSUID))
		snprintf(r.text, sizeof(r.text), "as root, or after 'sudo setcap %s=ep %.*s' (for anyone who can run that file)", caps,
			 (int)len, exe);
	return r;
}

static bool is_filtered(void)
{
	struct buf b = BUF_INIT;
	bool filtered = false;
	const char *line;

	if (!io_slurp("/proc/self/status", &b) && b.len) {
		line = strstr(b.data, "\nSeccomp:");
		filtered = line && strtol(line + strlen("\nSeccomp:"), NULL, 10) == 2;
	}
	buf_release(&b);
	return filtered;
}

/* Return the highest perf_event_paranoid that allows the event without privileges. */
static int needed_paranoid(const struct perf_event_attr *attr, pid_t pid)
{
	if (attr->type == PERF_TYPE_TRACEPOINT && (pid < 0 || attr->sample_type & PERF_SAMPLE_RAW))
		return -1;
	if (pid < 0)
		return 0;
	return attr->exclude_kernel ? 2 : 1;
}

static int explain_denied(struct err *e, int code, const struct perf_event_attr *attr, pid_t pid)
{
	const char *what = pid < 0		 ? "measuring all processes" :
			   attr->type == PERF_TYPE_TRACEPOINT ? "using tracepoints" :
			   !attr->exclude_kernel ? "measuring kernel code" :
						   "measuring with perf events";
	int needed = needed_paranoid(attr, pid);
	bool capable = probe_has_cap(CAP_PERFMON) || probe_has_cap(CAP_SYS_ADMIN);
	struct perf_limits l;

	perf_limits_read(&l);
	if (code == EPERM && is_filtered()) {	/* the kernel's own rules say EACCES */
		err_set(e, code, "a system call filter forbids perf events (a container's default)");
		err_hint(e, "start the container with --cap-add PERFMON --security-opt seccomp=unconfined");
		return -code;
	}
	if (capable || l.paranoid <= needed) {
		if (pid > 0 && pid != getpid()) {
			err_set(e, code, "process %d may not be measured by this user", pid);
			err_hint(e, "run as its owner, %s", probe_remedy("cap_perfmon,cap_sys_ptrace").text);
		} else {
			err_set(e, code, "%s is not permitted: %s", what, strerror(code));
			if (l.paranoid > 2 && !probe_has_cap(CAP_SYS_ADMIN))
				err_hint(e, "kernel.perf_event_paranoid is %" PRId64 ", for which this kernel asks for CAP_SYS_ADMIN in place of CAP_PERFMON: 'sudo sysctl kernel.perf_event_paranoid=2' goes without",
					 l.paranoid);
		}
		return -code;
	}
	err_set(e, code, "%s is not permitted: kernel.perf_event_paranoid is %" PRId64, what, l.paranoid);
	err_hint(e, "'sudo sysctl kernel.perf_event_paranoid=%d' allows it%s, and so does CAP_PERFMON: run %s",
		 needed,
		 is_filtered() ? " (in a container also --security-opt seccomp=unconfined)" : "",
		 probe_remedy("cap_perfmon").text);
	return -code;
}

static int explain_invalid(struct err *e, int code, const struct perf_event_attr *attr)
{
	struct perf_limits l;

	perf_limits_read(&l);
	if (attr->freq && l.max_rate > 0 && attr->sample_freq > (uint64_t)l.max_rate) {
		err_set(e, code, "%" PRIu64 " samples per second are more than this kernel allows",
			(uint64_t)attr->sample_freq);
		err_hint(e, "at most %" PRId64 "; 'sudo sysctl kernel.perf_event_max_sample_rate=%" PRIu64
			    "' raises it", l.max_rate, (uint64_t)attr->sample_freq);
	} else if (attr->sample_type & PERF_SAMPLE_CALLCHAIN && l.max_stack > 0 &&
		   attr->sample_max_stack > l.max_stack) {
		err_set(e, code, "stacks of %u frames are deeper than this kernel takes",
			attr->sample_max_stack);
		err_hint(e, "at most %" PRId64 "; 'sudo sysctl kernel.perf_event_max_stack=%u' raises it",
			 l.max_stack, attr->sample_max_stack);
	} else if (attr->sigtrap) {
		err_set(e, code, "this kernel cannot signal the sampled thread (needs Linux 5.13)");
	} else {
		err_set(e, code, "this kernel does not know such an event, or not with these options");
	}
	return -code;
}

int perf_open_err(struct err *e, int code, const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	bool counter = attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
		       attr->type == PERF_TYPE_RAW;

	switch (code) {
	case EACCES:
	case EPERM:
		return explain_denied(e, code, attr, pid);
	case EINVAL:
	case E2BIG:
		return explain_invalid(e, code, attr);
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		if (!counter)
			return err_set(e, code, "this kernel has no such event");
		err_set(e, code, "this machine offers no such hardware counter");
		err_hint(e, "virtual machines often hide the counters; the event cpu-clock works everywhere");
		return -code;
	case ESRCH:
		return err_set(e, code, "no process or thread %d", pid);
	case EMFILE:
	case ENFILE:
		err_set(e, code, "too many open files: each event needs one on each CPU or thread");
		err_hint(e, "raise the limit: 'ulimit -n 65536'");
		return -code;
	case EBUSY:
		return err_set(e, code, "the counter is in use by another tool");
	case ENOSYS:
		return err_set(e, code, "this kernel was built without perf events");
	default:
		return err_set(e, code, "perf_event_open(pid %d, cpu %d): %s", pid, cpu, strerror(code));
	}
}

bool perf_event_is_missing(int code)
{
	return code == ENOENT || code == ENODEV || code == EOPNOTSUPP || code == EINVAL || code == ENXIO;
}

int perf_mmap_err(struct err *e, int code, uint64_t len)
{
	struct perf_limits l;
	struct rlimit r = { 0 };

	if (code != EPERM)
		return err_set(e, code, "cannot map a buffer of %" PRIu64 " kB for an event: %s", len / 1024,
			       strerror(code));
	perf_limits_read(&l);
	getrlimit(RLIMIT_MEMLOCK, &r);
	err_set(e, code, "this user may not lock buffers of %" PRIu64 " kB a CPU for events", len / 1024);
	err_hint(e, "use smaller ones, or raise kernel.perf_event_mlock_kb (%" PRId64 ") or 'ulimit -l' (%"
		 PRIu64
		    " kB), or give CAP_IPC_LOCK", l.mlock_kb, (uint64_t)r.rlim_cur / 1024);
	return -code;
}
