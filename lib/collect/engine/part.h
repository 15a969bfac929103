/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * part.h - what a source of data is to the recording: a row of functions, which its file defines, named in
 * PARTS(). Only the functions below call what is in it, so that no other file has to name a source.
 *
 * Hooks are called in the order of the table but for ended and close, where the order is the opposite. NULL:
 * the part has nothing to do then.
 */
#ifndef COLLECT_PART_H
#define COLLECT_PART_H

#include <stddef.h>
#include <stdint.h>

#include "collect/jvm/java.h"
#include "jvm/server.h"

struct collect;
struct frame;
struct map;
struct rec_sample;
struct thread;

struct part {
	/* These take what agents say of it; each kind of record has one taker. */
	const struct jvm_callbacks *agent;
	/*
	 * Samples of JVMs' threads that agents take for that source, if there is this hook. The stack is in
	 * c->frames, outermost frame first, with nr frames. thread: its number in the trace.
	 */
	enum jvm_source source;
	void (*java_sample)(struct collect *c, struct java *j, const struct jvm_sample *s, uint32_t thread,
			    size_t nr);
	/* What the kernel says of tasks that are recorded, when tasks.h has taken it in. */
	void (*forked)(struct collect *c, int pid, int tid, uint64_t time_ns);
	void (*executed)(struct collect *c, int pid, uint64_t time_ns);
	void (*exited)(struct collect *c, int tid, uint64_t time_ns);
	/*
	 * A sample of a perf event, before it is written, or dropped as its event is off or it is not wanted
	 * (filters.h). frames: outermost first.
	 */
	void (*sample)(struct collect *c, const struct thread *th, const struct rec_sample *s,
		       const struct frame *frames, size_t nr);
	/* At each turn of the loop, after all that was recorded by then was taken in. */
	void (*turn)(struct collect *c, uint64_t now_ns);
	/* The recording ends: events are still on. */
	void (*ends)(struct collect *c, uint64_t now_ns);
	/* It has ended: all that the kernel and agents had to say was taken in. */
	void (*ended)(struct collect *c, uint64_t now_ns);
	/* A file of several ends: write to it what stands then. */
	void (*stand)(struct collect *c);
	/* The next file has begun, from that time on. */
	void (*next_file)(struct collect *c, uint64_t now_ns);
	/* Between two files: keep nothing of other processes than these. */
	void (*forget)(struct collect *c, const struct map *procs);
	/* The recording is over, or there will be none. */
	void (*close)(struct collect *c);
};

/* All parts. Dispatches end first, and have ended last; between the others the order does not matter. */
#define PARTS(P) P(clock) P(account) P(sched) P(footprint) P(live) P(allocated) P(tallies) P(virtuals) \
	P(wall) P(lifetimes) P(memory) P(locks) P(triggers) P(timed)

#define EXTERN_PART(name) extern const struct part name##_part;
PARTS(EXTERN_PART)
#undef EXTERN_PART

/* Where the recording has what a part alone knows: collect.own[PART_<name>]. */
#define PART_NUMBER(name) PART_##name,
enum part_number { PARTS(PART_NUMBER) NR_PARTS };
#undef PART_NUMBER

/* Give the recording its parts (parts.c); must come before the others. */
void parts_init(struct collect *c);
/* Add what parts take of what agents say. */
void parts_take(const struct collect *c, struct jvm_callbacks *cb);
/* Return the part that takes samples of that source; NULL: none does. */
const struct part *parts_of_source(const struct collect *c, uint32_t source);
void parts_forked(struct collect *c, int pid, int tid, uint64_t time_ns);
void parts_executed(struct collect *c, int pid, uint64_t time_ns);
void parts_exited(struct collect *c, int tid, uint64_t time_ns);
void parts_sample(struct collect *c, const struct thread *th, const struct rec_sample *s,
		  const struct frame *frames, size_t nr);
void parts_turn(struct collect *c, uint64_t now_ns);
void parts_end(struct collect *c, uint64_t now_ns);
void parts_ended(struct collect *c, uint64_t now_ns);
void parts_stand(struct collect *c);
void parts_next_file(struct collect *c, uint64_t now_ns);
void parts_forget(struct collect *c, const struct map *procs);
void parts_close(struct collect *c);

#endif
