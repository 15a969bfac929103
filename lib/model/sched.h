/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sched.h - what the dispatches and interrupts of a trace say about threads and CPUs.
 *
 * Every thread is at any time in one state; the times in them add up to its life within the window.
 *   on a CPU      its own time and, separately, interrupts that came meanwhile
 *   runnable      it could run and waits for a CPU: woken, preempted, or just made
 *   blocked       asleep (interruptible, stopped, parked), or in disk sleep (uninterruptible)
 *   unknown       before it was seen first, and where records are missing
 * Where records were lost, every thread is unknown from its last record to the end of the loss.
 * Every CPU is busy, idle, in an interrupt or unknown: these add up to the window.
 *
 * Without records from before the start, only this is concluded: the first thread to lose a CPU had
 * it since the start, a thread created by fork is runnable, one created by exec is running. One file of
 * several says what each thread and CPU did when it began.
 */
#ifndef MODEL_SCHED_H
#define MODEL_SCHED_H

#include "base/buf.h"
#include "model/checks.h"
#include "model/names.h"

enum sched_bucket { SCHED_ON_CPU, SCHED_WAITS, SCHED_ASLEEP, SCHED_IN_DISK, SCHED_UNKNOWN, SCHED_NR_BUCKETS };

struct sched_thread {
	uint32_t number, tid, pid;
	const char *name, *comm;	/* as long as the sched_model */
	bool seen, gone, by_exec, softirqd;
	uint64_t born_ns, gone_ns;	/* gone_ns: 0 not gone */
	uint64_t times[SCHED_NR_BUCKETS];	/* on CPU: interrupts included */
	uint64_t intr_ns;
	uint64_t nr_dispatches, nr_preempted, nr_voluntary, nr_migrations, nr_intr, nr_soft;
	uint64_t nr_waits, wait_sum_ns, wait_max_ns;	/* of dispatches that had to wait */
	uint64_t odd;			/* records that do not fit the one before */
	/* at the moment */
	enum sched_bucket state;
	uint64_t since_ns;
	uint64_t intr_run_ns;		/* of intr_ns, since it got the CPU */
	int cpu;			/* last one, -1 none */
};

struct sched_cpu {
	bool seen;
	uint64_t busy_ns, idle_ns, intr_ns, unknown_ns;
	uint64_t nr_dispatches, nr_intr;
	/* at the moment */
	uint32_t thread;
	uint64_t since_ns, intr_in_ns;	/* intr_in_ns: interrupts since then */
	unsigned int depth;
	uint64_t intr_since_ns;
	uint32_t intr;			/* the outermost */
};

/* A line of the timeline: what ended at time_ns. */
struct sched_line {
	uint64_t time_ns, ran_ns, waited_ns, blocked_ns;
	uint32_t cpu;
	const struct sched_thread *out, *in;	/* NULL: not covered; of an interrupt: out is interrupted */
	bool ran_known, waited_known, is_intr;
	enum sched_state state;
	uint32_t intr;
};

struct sched_opts {
	const struct selection *select;	/* the time of it; NULL: all */
	void (*line)(void *ctx, const struct sched_line *l);	/* may be NULL */
	void *line_ctx;
	/* Each time that a thread was in a state, within the window; may be NULL. */
	void (*state)(void *ctx, const struct sched_thread *t, enum sched_bucket b, uint64_t from_ns,
		      uint64_t to_ns);
	void *state_ctx;
};

struct sched_model {
	struct names names;		/* labels, processes and threads */
	struct model strings;		/* theirs */
	struct map by_number;		/* thread of the trace -> index */
	struct sched_thread *threads;
	size_t nr_threads, alloc_threads;
	struct map exec_of;		/* process of the trace -> index */
	struct sched_exec {
		uint64_t replaced_ns;	/* by an exec; 0: it was not */
		bool made;		/* by an exec */
	} *execs;
	size_t nr_execs, alloc_execs;
	struct sched_cpu *cpus;
	size_t nr_cpus;
	bool system, states, irq;	/* what was recorded */
	uint64_t start_ns, end_ns;	/* of the window, CLOCK_MONOTONIC */
	uint64_t trace_start_ns;
	uint64_t nr_dispatches, nr_intr, nr_lost, nr_odd, last_ns;
	uint64_t nr_after;		/* not stored, from names.stopped_ns on */
	struct sched_loss {		/* of records of a CPU, UINT32_MAX any, up to that time */
		uint64_t time_ns;
		uint32_t cpu;
	} *losses;
	size_t nr_losses, alloc_losses, next_loss;
	struct rec_sched_at *begun;	/* what was so at the start, of one file of several */
	size_t nr_begun, alloc_begun;
	struct sched_opts opts;
};

/* Read dispatches; opts NULL: all, and no lines. -ENODATA: none were recorded. */
int sched_read(struct sched_model *m, struct trace_reader *t, const struct sched_opts *opts, struct err *e);
void sched_release(struct sched_model *m);

/* Append "24 virtio0-input.0", "TIMER", "local_timer". */
void sched_intr_name(const struct sched_model *m, uint32_t intr, struct buf *b);

static inline uint64_t sched_life_ns(const struct sched_model *m, const struct sched_thread *t)
{
	uint64_t from = t->born_ns > m->start_ns ? t->born_ns : m->start_ns;
	uint64_t to = t->gone_ns && t->gone_ns < m->end_ns ? t->gone_ns : m->end_ns;

	return to > from ? to - from : 0;
}

/* Check that the times of each thread and each CPU add up. */
void sched_check(const struct sched_model *m, struct sums_check *out);

/* Return "R", "S", "D" ...: arcprof-report(1) says what they mean. */
const char *sched_state_letter(enum sched_state s);

#endif
