/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ptt.h - Per-Thread Time: what each thread of the machine consumed since a session began.
 *
 * A session outlives the command that starts it and is one for the machine, or, of "proc", one
 * for the user.  Back ends, the first that works is taken:
 *
 *	bpf	programs on the scheduler's and the interrupts' tracepoints write the slots
 *	module	/dev/arcprof writes them
 *	proc	nothing runs: a session is a note of what /proc said when it began
 */
#ifndef PTT_PTT_H
#define PTT_PTT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "pmu/event.h"

enum ptt_field {
	PTT_DISPATCHES,		/* times it got a CPU */
	PTT_INTERRUPTS,		/* hardware interrupts that hit it */
	PTT_TIME,		/* ns on a CPU; without interrupts where PTT_IRQ_TIME is known */
	PTT_IRQ_TIME,		/* ns in interrupts, hard and soft, that hit it */
	PTT_FAULTS,
	PTT_SWITCHES,		/* times it left its CPU */
	PTT_MIGRATIONS,
	PTT_COUNTER,		/* and six more: events of the session, in its order */
	PTT_NR_FIELDS = PTT_COUNTER + 7,
};

enum { PTT_MAX_COUNTERS = PTT_NR_FIELDS - PTT_COUNTER, PTT_NR_BUCKETS = 5 };

struct ptt_thread {
	int32_t pid, tid;
	char comm[16];
	bool alive;
	uint64_t id;			/* the same in each snapshot, and no other thread's */
	uint64_t v[PTT_NR_FIELDS];
};

struct ptt_cpu {
	uint32_t cpu;
	uint64_t elapsed_ns;		/* the sum of the buckets */
	uint64_t bucket_ns[PTT_NR_BUCKETS];	/* enum arcprof_bucket */
	uint64_t nr_hardirqs, nr_softirqs, nr_switches, nr_lost;
};

struct ptt_snapshot {
	uint64_t time_ns;		/* CLOCK_MONOTONIC */
	uint64_t session_ns;		/* how long the session is running */
	uint32_t known;			/* bit i: field i is measured */
	struct ptt_thread *threads;	/* by process, then thread */
	size_t nr_threads, alloc_threads;
	struct ptt_cpu *cpus;		/* empty: the back end does not know */
	size_t nr_cpus, alloc_cpus;
	uint64_t gone[PTT_NR_FIELDS];	/* sums of ended threads that are no longer listed */
	uint64_t nr_gone;
	uint64_t nr_refused;		/* dispatches of threads that found all slots taken */
};

struct ptt_config {
	const char *backend;		/* NULL: the first that works */
	uint32_t nr_slots;
	bool interrupts;		/* set them apart */
	bool all_users;			/* others may read the session too */
	const int *pids;		/* these processes and their children; none: all threads */
	size_t nr_pids;
	const struct pmu_event *counters;
	size_t nr_counters;		/* at most PTT_MAX_COUNTERS */
};

struct ptt_backend {
	const char *name;
	bool counts_events;		/* of perf, beside the fields before PTT_COUNTER */
	/* Checks whether this user can start a session here: 0, or -errno and what to do. */
	int (*check)(struct err *e);
	/* -EEXIST: there is a session. */
	int (*start)(const struct ptt_config *c, struct err *e);
	/* -ENOENT: there is none. */
	int (*stop)(struct err *e);
	int (*open)(void **session, struct err *e);
	int (*read)(void *session, struct ptt_snapshot *s, struct err *e);
	/* Name of counter i as the user knows it, into name; false: there is no counter i. */
	bool (*counter)(void *session, size_t i, char *name, size_t size);
	void (*close)(void *session);
};

extern const struct ptt_backend ptt_bpf, ptt_module, ptt_proc;
extern const struct ptt_backend *const ptt_backends[];		/* in order of preference; ends with NULL */

struct ptt {
	const struct ptt_backend *backend;
	void *session;
};

/*
 * Starts a session with the best back end, or the one named; *used says which.  Of the errors: EEXIST.
 * What kept a better one from working is the hint when the worst is used.
 */
int ptt_start(const struct ptt_config *c, const struct ptt_backend **used, struct err *e);
/* Open the running session. -ENOENT: there is none. */
int ptt_open(struct ptt *p, struct err *e);
/* Ends all sessions that this user may end; -ENOENT: there was none. */
int ptt_stop(struct err *e);
void ptt_close(struct ptt *p);

/* Replaces what is in *s. */
int ptt_read(struct ptt *p, struct ptt_snapshot *s, struct err *e);
void ptt_snapshot_release(struct ptt_snapshot *s);
/* Makes *to the same; its memory is used again. */
void ptt_snapshot_copy(struct ptt_snapshot *to, const struct ptt_snapshot *from);
/* Compute what was consumed between two snapshots, into *now; threads that consumed nothing are left out. */
void ptt_snapshot_diff(struct ptt_snapshot *now, const struct ptt_snapshot *before);

#endif
