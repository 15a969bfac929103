/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wall.h - the source "wall": what each thread did at every moment.
 *
 * The slots of lib/wall have exact totals for each thread, by state and kind of system call.  What is sampled
 * is which stacks they belong to: at each look, the threads that have newly blocked are walked once.  A
 * block that is longer than the time between two looks is always seen, and weighs what it lasted.
 * A shorter one is seen with the probability length / that time; what it weighs is all that the thread was
 * blocked for in that kind of call since the last such sample, of blocks that were not exact. So the
 * weights of a thread add up to its totals, and each stack has its share.
 * On-CPU time is shared out by the samples of a CPU clock, some together, and time in run queues with
 * the samples of what came before it: of the block, or of the CPU where the thread was preempted.
 */
#ifndef COLLECT_WALL_H
#define COLLECT_WALL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "trace/record.h"

struct collect;
struct evconf;
struct frame;
struct java;
struct jvm_sample;
struct perf_event_header;
struct ring;
struct thread;
struct wall;

/* Return the slots, where they are filled from records of switches (wallrecords.c); NULL: they are not. */
struct wall *walls_switches(const struct collect *c);
/*
 * Fill the slots by reading /proc (wallpolls.h), as perf events are forbidden and records would not come.
 * Must be called before the recording begins. *why: what is missing without them.
 */
int walls_use_polls(struct collect *c, const struct err *why, struct err *e);
/* Return whether that is so. */
bool walls_polled(const struct collect *c);
/* Write a sample of a running thread, taken by a timer on its CPU time. */
void walls_timed(struct collect *c, const struct thread *th, const struct rec_sample *s,
		 const struct frame *frames, size_t nr);
/* Return when it began first, or 0 if it has not. */
uint64_t walls_begun_ns(const struct collect *c);
/* Return why threads may have no samples; NULL: all have. */
const char *walls_missing(const struct collect *c);
/*
 * Write a sample of a waiting thread, walked by the agent of its JVM: thread is the number of th in the
 * trace, or of its virtual thread; frames outermost first.
 */
void walls_java(struct collect *c, struct thread *th, const struct jvm_sample *s, uint32_t thread,
		const struct frame *frames, size_t nr);
/* A wait of a virtual thread that was on no carrier, as its agent tells (virtuals.c). */
struct walls_unmounted {
	const struct java *java;	/* whose leaf it is */
	uint32_t thread;		/* of the trace */
	uint64_t time_ns;		/* when it ended, or the recording did */
	uint64_t ns, length_ns;		/* what it stands for; how long it was, 0: not known */
	uint32_t reason;		/* enum wall_reason; WALL_NR_REASONS: not known */
	uint32_t leaf;			/* as in struct jvm_virtual_wait */
	bool ready;			/* it waited for a carrier */
	struct frame *frames;		/* outermost first */
	size_t nr;
};

/* Return false if nothing is recorded now. */
bool walls_write_unmounted(struct collect *c, const struct walls_unmounted *s);

/*
 * wallrecords.c: where there is no BPF, the kernel's records of switches fill the slots (wall/switches.h).
 * Where there is, these functions do nothing.
 */
/* Configure the rings before they are opened. */
void wallrecords_configure(const struct collect *c, size_t nr_cpus, struct evconf *conf);
/* Watch one more task, for which no ring was opened; it has a slot from now on. */
int wallrecords_watch(struct collect *c, int tid, struct err *e);
bool wallrecords_take(struct collect *c, const struct ring *ring, const struct perf_event_header *h,
		      uint64_t time_ns);
void wallrecords_fork(struct collect *c, int pid, int tid, uint64_t time_ns);
void wallrecords_exec(struct collect *c, int pid, uint64_t time_ns);
void wallrecords_exit(struct collect *c, int tid, uint64_t time_ns);

/*
 * virtuals.c: the source "virtual": what virtual threads wait while they are on no carrier, as samples of the
 * source "wall". Agents report waits, each of which may stand for short ones, and at the end the sums: what
 * no sample stands for is written then, without a stack.
 */
/* Write the reports up to now at the end of a file, or of the recording. */
void virtuals_write(struct collect *c);

#endif
