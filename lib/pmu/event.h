/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event.h - event names, as perf spells them, to what perf_event_open() takes.
 *
 *	cpu-clock task-clock page-faults context-switches cpu-migrations ...	software
 *	cycles instructions cache-references cache-misses branches ...		hardware
 *	L1-dcache-load-misses LLC-loads dTLB-load-misses ...			hardware cache
 *	rHEX									raw
 *	PMU/term=value,.../							sysfs
 *	sched:sched_switch							tracepoint
 *	mem:ADDR[/LEN][:rwx]							breakpoint
 * A suffix :u, :k or :uk leaves out the other mode.
 */
#ifndef PMU_EVENT_H
#define PMU_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct pmu_event {
	char name[256];			/* as the user wrote it */
	const char *unit;		/* of the weights: "ns" for clocks, "calls" (uprobe.h), else "events" */
	struct perf_event_attr attr;	/* type, config*, exclude_*; the rest is the caller's */
	bool clock;			/* a clock: its period is nanoseconds */
};

int pmu_event_parse(const char *name, struct pmu_event *ev, struct err *e);

/* Name i of the software and hardware events that perf knows everywhere; NULL after the last. */
const char *pmu_event_generic(unsigned int i);

/* Set cycles if the machine counts them for this user, else cpu-clock. */
void pmu_event_default(struct pmu_event *ev);

/* Parse "HEX,..." of event files and "config:0-7" of format files; exposed for tests. */
int pmu_format_set(const char *format, uint64_t val, struct perf_event_attr *attr, struct err *e);

/* ---- list.c: the events that have names on this machine, and what they are ---- */

/* name: as pmu_event_parse() takes it; what: a phrase, or what the kernel says it is made of. */
typedef void pmu_list_fn(void *ctx, const char *name, const char *what);

/*
 * Calls fn() for those that perf knows everywhere, for those of caches, and for those of each PMU below root,
 * which is "/sys" or a folder of a test. That there is a name does not mean that it can be counted here.
 */
void pmu_list(const char *root, pmu_list_fn *fn, void *ctx);

#endif
