/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe.h - what the kernel lets this user measure, found by trying, and which sysctl or
 * capability is in the way of the rest.
 */
#ifndef PMU_PROBE_H
#define PMU_PROBE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "pmu/cpus.h"

struct perf_limits {		/* sysctls of the running kernel; -1000 where there is no such */
	int64_t paranoid;	/* kernel.perf_event_paranoid */
	int64_t kptr_restrict;
	int64_t mlock_kb;	/* a CPU, of buffers for unprivileged users */
	int64_t max_rate;	/* samples per second */
	int64_t max_stack;	/* frames */
	int64_t ptrace_scope;	/* of the Yama module */
};

enum { PERF_LIMIT_UNKNOWN = -1000 };

void perf_limits_read(struct perf_limits *l);

/* Return the interval at which the kernel checks whether an event is sampled too often: 1/HZ. */
uint64_t perf_tick_ns(void);
/*
 * Return the shortest interval at which samples of an event come without a pause under that max_rate of
 * the limits; 0: any. The kernel allows an event its share of them in each tick, rounded up, and stops it
 * at the last one until the next tick.
 */
uint64_t perf_shortest_ns(int64_t max_rate, uint64_t tick_ns);

/* Return whether the process has the capability (CAP_PERFMON, ...) in effect. */
bool probe_has_cap(int cap);

/*
 * Return how to run a command with these capabilities ("cap_perfmon,cap_syslog"): "as root, or after
 * ...", where the file system of this file honours capabilities.
 */
struct probe_remedy {
	char text[224];
};
struct probe_remedy probe_remedy(const char *caps);

/*
 * Return attributes of a sampling event that no probe leaves running: disabled, 1 ms of time or 10^6 of a
 * counter.
 */
struct perf_event_attr probe_attr(uint32_t type, uint64_t config, bool kernel);
/* Opens the event and closes it again: 0 or -errno. */
int probe_perf(const struct perf_event_attr *attr, pid_t pid, int cpu);
/* Return the id of a tracepoint such as "sched:sched_switch", or -errno. */
int64_t probe_tracepoint(const char *name);

/*
 * Says why perf_event_open(attr, pid, cpu) failed with the errno value code, and as hint what
 * would allow it: the sysctl with its value now, or the capability.  Returns -code.
 */
int perf_open_err(struct err *e, int code, const struct perf_event_attr *attr, pid_t pid, int cpu);
/* Return whether that errno value says that this machine or kernel does not have the event, for any user. */
bool perf_event_is_missing(int code);
/* Explain why mmap() of an event's buffer of len bytes failed, as perf_open_err() does. */
int perf_mmap_err(struct err *e, int code, uint64_t len);

/*
 * hitcost.c: what a sample of a clock takes of the thread that it hits, on this machine: the interrupt, the
 * copy of the stack, and the signal in a JVM. A microsecond or two of hardware, and 40 in some virtual
 * machines, where an interval that is shorter leaves a program no time at all.
 */

/* samples of clocks may take a fifth of the whole time */
enum { HITCOST_SHARE = 5 };

/*
 * Return the cost of a sample in ns when stack_bytes of stack are copied, measured with our own thread in
 * some milliseconds; 0: it cannot be measured here.
 */
uint64_t hitcost_ns(uint32_t stack_bytes);

/*
 * deaf.c: CPUs on which the kernel takes no samples while they are idle.
 *
 * Seen on a virtual machine after hours of recording, until it was started again: a CPU counted what
 * happened in interrupts while it was idle, but gave no samples of it, whoever asked (arcprof, perf),
 * and lost none by its own count.  Wakeups by timers, interrupts and each switch away from idle are
 * then missing on that CPU.
 */

/*
 * Adds to deaf those CPUs that this thread may run on where it was woken, time and again, without a
 * sample of sched_wakeup; takes about 2 ms for each of them.  CPUs that are never idle meanwhile are
 * not found.  0, or -errno: it cannot be tried.
 */
int deaf_find(struct cpus *deaf);

#endif
