/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evset.h - opens the events of a recording, and replaces them when a JVM appears.
 *
 * Every event writes into the ring of its CPU.  Kinds:
 *   MAIN    samples a task and all it will start, or a CPU; the recorder unwinds
 *   TRAP    samples the threads of one JVM and raises a synchronous SIGTRAP in the sampled
 *           thread, whose handler (the agent) walks the user stack; not inherited by children.
 *           Or, on the CPUs, those of all JVMs that a BPF program lets through, which sends the signal
 *   LATENT  disabled on a JVM's threads; the kernel enables it when a child of the JVM execs
 *
 * A JVM must not be interrupted twice per period: when its agent sends HELLO, the MAIN set that
 * covers it is closed, a new one is opened on the tasks of that set that are not the JVM's, and
 * the JVM's threads get TRAP and LATENT events.  The gap for the others is a few microseconds.
 * Where a BPF program tells whose samples are whose (trapped_fd), no event changes hands.
 */
#ifndef COLLECT_EVSET_H
#define COLLECT_EVSET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "pmu/cpus.h"
#include "pmu/event.h"
#include "ring/ring.h"
#include "unwind/perfsample.h"

enum evset_kind { EVSET_MAIN, EVSET_TRAP, EVSET_LATENT };

struct evset {
	enum evset_kind kind;
	int *fds;
	size_t nr_fds, alloc_fds;
	uint32_t proc;		/* of TRAP: whose threads; the caller's. 0: on the CPUs */
	bool filtered;		/* its events are on the CPUs, and BPF says whose samples are kept */
	bool closed;
	bool free;		/* and nobody knows its number: it serves again */
};

struct ev_source {		/* what a sample's identifier means */
	uint64_t id;
	uint64_t told;		/* periods of its samples, added up */
	uint32_t evset;
	uint16_t event;
	bool trap;
	uint64_t period;	/* of its samples, which do not say it; 0: they do */
	bool varies;		/* or that of the CPU's clock, which changes: see evsets_clock_period() */
	struct perf_sample_format format;
};

struct ev_period {		/* of one clock, in ns */
	uint64_t now, before, since_ns;
};

struct ev_rate {			/* of one event: one of them */
	uint64_t freq_hz;		/* the kernel adapts the period to it */
	uint64_t period;		/* events, or ns of a clock */
};

struct ev_target {		/* whom an event is on */
	int id;			/* a task, -1: all, or the folder of a control group */
	bool cgroup;		/* the latter */
};

enum callgraph { CALLGRAPH_DWARF, CALLGRAPH_FP, CALLGRAPH_NO };

struct evconf {
	const struct pmu_event *events;
	size_t nr_events;
	size_t nr_aside;		/* the last ones: for a source, and not in the trace */
	const struct ev_rate *rates;	/* [nr_events] */
	uint64_t hit_ns;		/* what a hit of a clock takes; 0: not known (rates.h) */
	uint64_t with_data_addr;	/* events whose samples have rec_sample.data_addr, a bit each */
	enum callgraph callgraph;
	uint32_t stack_bytes;	/* copied per sample */
	uint32_t ring_samples;	/* a ring should hold this many until they are read */
	size_t ring_bytes;		/* for samples, per CPU; halved until this user may lock them */
	size_t sched_ring_bytes;	/* for dispatches and interrupts, per CPU; 0: none are recorded */
	bool switch_records;		/* PERF_RECORD_SWITCH in those rings, */
	bool switches_at_once;		/* also of what is done before the program is executed */
	bool all_cpus;			/* events are on the CPUs, whatever runs there */
	bool side_of_all;		/* side band of the machine: the caller drops what is not recorded, */
	int filter_fd;			/* and a BPF program says which samples of CPUs are; 0: none does */
	int trapped_fd;			/* and writes those for agents into events there; 0: it does not */
	bool main_has_all;		/* MAIN events count what those of single JVMs do, too */
	bool odd_periods;		/* of filtered clocks: see evset.c; else by chance */
	bool exclude_kernel;	/* requested, or this user may record no more */
	bool exclude_user;
};

struct evsets {
	struct evconf conf;
	struct ring *side_rings;	/* [nr_cpus]: forks, execs, maps */
	struct ring *sample_rings;	/* [nr_sampled] */
	struct ring *sched_rings;	/* [nr_sched]: sched.c's; on all CPUs too */
	struct ring *rings;		/* all, in one array: in this order */
	size_t nr_rings;
	uint32_t *cpus;			/* all that are online: a task may fork and exec on any */
	size_t nr_cpus, nr_sched;
	uint32_t *sampled;		/* those that samples are taken on */
	size_t nr_sampled;
	struct evset side;		/* side-band events of further tasks (attaching) */
	uint64_t *counts;		/* [nr_events]: what closed sets had counted */
	/* [nr_events]: stays disabled where a set is enabled; the caller's. Not in LATENT sets. */
	bool *off;
	struct ev_period *periods;	/* [nr_events][nr_sampled]: where samples of CPUs are filtered */
	uint64_t random;		/* by which they are chosen */
	uint32_t turn;			/* whose turn it is to get another */
	bool tells_lost;		/* PERF_FORMAT_LOST, since Linux 6.0 */
	uint64_t nr_lost;		/* samples of closed sets that found their ring full */
	struct evset *sets;		/* [number - 1] */
	size_t nr_sets, alloc_sets;
	struct map by_id;		/* sample identifier -> index into sources */
	struct ev_source *sources;
	size_t nr_sources, alloc_sources;
};

/*
 * Opens the rings: on the task target and all it starts, or (-1) on the CPUs themselves, or
 * (0) on nothing yet: evsets_watch() adds the tasks.  Falls back to user mode only when the
 * kernel's policy says so; *e names the sysctl or capability when nothing is allowed.
 */
int evsets_open(struct evsets *s, const struct evconf *conf, const struct cpus *all,
		const struct cpus *sampled, int target, struct err *e);
/* Prepare without any event: other means do what conf says, and count in s->counts. */
void evsets_init_empty(struct evsets *s, const struct evconf *conf);
void evsets_close(struct evsets *s);

/* Set what every event of a recording has in common: it ends in what merge.c needs. */
void evset_common_attr(struct perf_event_attr *a);
/*
 * Set the attributes of an event that counts nothing: it owns a ring, and reports what its attributes
 * request.
 */
void evset_dummy_attr(struct perf_event_attr *a, bool exclude_kernel, size_t ring_bytes);

/* Adds the side-band event for one more task (attaching to several threads), or a control group. */
int evsets_watch(struct evsets *s, struct ev_target on, struct err *e);
/* Do the same for its switches, into the rings of these. */
int evsets_watch_switches(struct evsets *s, int tid, struct err *e);

uint32_t evset_new(struct evsets *s, enum evset_kind kind);
/*
 * Opens all events of the set on tid (-1: system-wide, or as far as the filter lets samples through), on
 * every CPU that is sampled.
 */
int evset_add(struct evsets *s, uint32_t set, int tid, bool start_on_exec, struct err *e);
int evset_add_on(struct evsets *s, uint32_t set, struct ev_target on, bool start_on_exec, struct err *e);
void evset_enable(struct evsets *s, uint32_t set, bool on);
/*
 * Gives clocks whose samples are filtered another period, so that no program is in step with them. For the
 * source "wall" between half of what was asked for and one and a half, and at each call an eighth of them;
 * else all, by some percent. What has passed of a period then counts for nothing, half of one at each call.
 */
void evsets_vary_periods(struct evsets *s);
/* Note another rate of the event in conf: sets that are opened from now on have it. */
void evsets_renew_periods(struct evsets *s, size_t event);
/*
 * Return what a sample weighs if its source varies. The kernel keeps reporting the clock's first period
 * (hw_perf_event::last_period of perf_swevent_hrtimer()). Samples from before the last change are known by
 * their times (CLOCK_MONOTONIC).
 */
uint64_t evsets_clock_period(const struct evsets *s, uint16_t event, uint32_t cpu, uint64_t time_ns);
/* Return the longest period of all clocks in ns, as requested; 0: there are none. */
uint64_t evsets_longest_period(const struct evsets *s);
/* Closes the events after adding up in s->counts what they counted, and in s->nr_lost what they lost. */
void evset_close(struct evsets *s, uint32_t set);

/*
 * Forgets the identifiers of sets that are closed. All that their events have written was read.
 */
void evsets_forget_closed(struct evsets *s);

/*
 * Get what set number has counted of an event, and the weight of its samples that were read. Returns
 * false if samples were lost, so that the difference means nothing.
 */
bool evset_told(const struct evsets *s, uint32_t number, size_t ev, uint64_t *count, uint64_t *told);
/*
 * Return the same count of one target alone, in the order in which targets were added to the set; 0 if it
 * was never added. Not where samples are filtered: events count for others, too.
 */
uint64_t evset_counted(const struct evsets *s, uint32_t number, size_t target, size_t ev);
/*
 * Set what all sets have counted so far, closed ones too: [nr_events]. If samples are filtered, it is the
 * weight of those read, as the events count for others, too.
 */
void evsets_counts(const struct evsets *s, uint64_t *counts);

/* Return the source of an event, NULL if it is not ours. */
static inline struct ev_source *evsets_source(const struct evsets *s, uint64_t id)
{
	uint32_t i = map_get(&s->by_id, id);

	return i == MAP_NONE ? NULL : &s->sources[i];
}

#endif
