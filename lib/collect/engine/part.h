/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * part.h - what a source of data is to the recording: a row of functions, which its file defines, named in
 * PARTS(). Only the functions below call what is in it, so that no other file has to name a source.
 *
 * The hooks stand here in the order in which a recording comes to them. Of several parts they are called in
 * the order of the table, but for ended and close, where the order is the opposite. NULL: the part has
 * nothing to do then. Hooks that return an error end the recording: *e says why.
 */
#ifndef COLLECT_PART_H
#define COLLECT_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "collect/jvm/java.h"
#include "jvm/server.h"

struct collect;
struct evconf;
struct frame;
struct map;
struct perf_event_header;
struct rec_sample;
struct ring;
struct thread;

struct part {
	/* ---- before the recording ---- */

	/* The trace is open, and nothing else; of a recording that is replayed (jvm/replay.h), too. */
	void (*init)(struct collect *c);
	/* The program to be run is there but does not run, and no ring or event is open. */
	int (*open)(struct collect *c, struct err *e);
	/* Rings are opened next, on that many CPUs: ask in *conf for what it needs of them and of events. */
	void (*configure)(struct collect *c, size_t nr_cpus, struct evconf *conf);
	/* The rings are open: open events of its own, for the program to be run or all that is recorded. */
	int (*open_events)(struct collect *c, struct err *e);
	/* The same for one more thread, which runs already and has no ring of its own. */
	int (*watch)(struct collect *c, int tid, struct err *e);
	/* The trace begins: say in labels how this is recorded. */
	void (*labels)(struct collect *c);
	/* all is open: the program starts next, or sampling of what runs already begins */
	void (*ready)(struct collect *c);
	/* Return whether agents are to send what their JVMs count, now and at the end. */
	bool (*counts)(const struct collect *c);

	/* ---- during the recording ---- */

	/* add to *o what is needed of agents, as if nothing were switched off */
	void (*ask)(const struct collect *c, struct jvm_server_opts *o);
	/*
	 * Events were turned off at that time, or on (switches.h), and its own may be among them. Return true
	 * if agents are to be asked anew.
	 */
	void (*turned_off)(struct collect *c, uint64_t now_ns);
	bool (*turned_on)(struct collect *c, uint64_t now_ns);
	/* Sampling begins, at that time: with the program, or after --delay. */
	void (*begins)(struct collect *c, uint64_t time_ns);
	/*
	 * A record of the kernel: of a sample in the rings for switches, of a switch, or of records that were
	 * lost. Return true if it was for this part alone.
	 */
	bool (*record)(struct collect *c, const struct ring *ring, const struct perf_event_header *h,
		       uint64_t time_ns);
	/* Called with what agents send for it; each kind of record has one taker. */
	const struct jvm_callbacks *agent;
	/* Called with the number of a leaf of samples: a class, or a reason to wait. */
	void (*leaf)(struct collect *c, const struct java *j, const struct jvm_leaf *leaf);
	/*
	 * Samples of JVMs' threads that agents take for that source, if there is this hook. The stack is in
	 * c->frames, outermost frame first, with nr frames. thread: its number in the trace.
	 */
	enum jvm_source source;
	void (*java_sample)(struct collect *c, struct java *j, const struct jvm_sample *s, uint32_t thread,
			    size_t nr);
	/* A sample that an agent took of a source that no part takes, and that is written. */
	void (*sampled)(struct collect *c, const struct java *j, const struct jvm_sample *s);
	/* Called for the kernel's records of recorded tasks, when tasks.h has taken them in. */
	void (*forked)(struct collect *c, int pid, int tid, uint64_t time_ns);
	void (*executed)(struct collect *c, int pid, uint64_t time_ns);
	void (*exited)(struct collect *c, int tid, uint64_t time_ns);
	/*
	 * The agent of that process walks its threads' stacks from now on: have the BPF program that
	 * configure() gave send samples of these to it. Return false if this part gave none, or it cannot.
	 */
	bool (*trap)(struct collect *c, int pid);
	/*
	 * A sample of a perf event; is_kept: it is written next, else dropped, as its event is off or it is
	 * not wanted (filters.h). frames: outermost first.
	 */
	void (*sample)(struct collect *c, const struct thread *th, const struct rec_sample *s,
		       const struct frame *frames, size_t nr, bool is_kept);
	/*
	 * what the kernel and agents have recorded was taken in, but samples of Java threads are not joined
	 * yet; at each turn of the loop, and at the end
	 */
	void (*taken_in)(struct collect *c, uint64_t now_ns);
	/* At each turn of the loop, after all that was recorded by then was taken in and joined. */
	void (*turn)(struct collect *c, uint64_t now_ns);
	/* Return when the next turn is to begin at the latest; 0: it may be later. */
	uint64_t (*due_ns)(const struct collect *c);

	/* ---- its end, or that of a file of several ---- */

	/* The recording ends: events are still on. */
	void (*ends)(struct collect *c, uint64_t now_ns);
	/* It has ended: all that the kernel and agents had to say was taken in. */
	void (*ended)(struct collect *c, uint64_t now_ns);
	/* A file of several ends, with what was recorded by then: what goes on does so in the next. */
	void (*cut)(struct collect *c, uint64_t now_ns);
	/* The same, after that: write what stands then. */
	void (*stand)(struct collect *c);
	/* The last records of a file, or of the only one, that has no cut or stand. */
	void (*end_file)(struct collect *c, uint64_t until_ns, bool last);
	/* The file is complete but for names: write what it adds up to, which the next file does not have. */
	void (*sums)(struct collect *c, bool last);
	/* The next file has begun, from that time on. */
	void (*next_file)(struct collect *c, uint64_t now_ns);
	/* between two files: drop what belongs to processes that are not in procs */
	void (*forget)(struct collect *c, const struct map *procs);
	/* The recording is over, or there will be none. */
	void (*close)(struct collect *c);
};

/* all parts; dispatches end first, and have ended last; the order of the others does not matter */
#define PARTS(P) P(clock) P(account) P(sched) P(footprint) P(live) P(allocated) P(tallies) P(virtuals) \
	P(wall) P(lifetimes) P(memory) P(locks) P(triggers) P(timedcalls) P(threadlabels) P(sources) P(cost)

#define EXTERN_PART(name) extern const struct part name##_part;
PARTS(EXTERN_PART)
#undef EXTERN_PART

/* The number of a part: collect.own[PART_<name>] is its state. */
#define PART_NUMBER(name) PART_##name,
enum part_number { PARTS(PART_NUMBER) NR_PARTS };
#undef PART_NUMBER

/* Give the recording its parts (parts.c), and call their init(); must come before the others. */
void parts_init(struct collect *c);
int parts_open(struct collect *c, struct err *e);
void parts_configure(struct collect *c, size_t nr_cpus, struct evconf *conf);
int parts_open_events(struct collect *c, struct err *e);
int parts_watch(struct collect *c, int tid, struct err *e);
void parts_labels(struct collect *c);
void parts_ready(struct collect *c);
/* Return true if any part wants what JVMs count. */
bool parts_count(const struct collect *c);
void parts_ask(const struct collect *c, struct jvm_server_opts *o);
void parts_turned_off(struct collect *c, uint64_t now_ns);
/* Return true if agents are to be asked anew. */
bool parts_turned_on(struct collect *c, uint64_t now_ns);
void parts_begin(struct collect *c, uint64_t time_ns);
void parts_leaf(struct collect *c, const struct java *j, const struct jvm_leaf *leaf);
/* Return true if the record was for one part alone. */
bool parts_record(struct collect *c, const struct ring *ring, const struct perf_event_header *h,
		  uint64_t time_ns);
/* Add what parts take of what agents say. */
void parts_take(const struct collect *c, struct jvm_callbacks *cb);
/* Return the part that takes samples of that source; NULL: none does. */
const struct part *parts_of_source(const struct collect *c, uint32_t source);
void parts_sampled(struct collect *c, const struct java *j, const struct jvm_sample *s);
void parts_forked(struct collect *c, int pid, int tid, uint64_t time_ns);
void parts_executed(struct collect *c, int pid, uint64_t time_ns);
void parts_exited(struct collect *c, int tid, uint64_t time_ns);
/* Return true if the samples of that process go to its agent now. */
bool parts_trap(struct collect *c, int pid);
void parts_sample(struct collect *c, const struct thread *th, const struct rec_sample *s,
		  const struct frame *frames, size_t nr, bool is_kept);
void parts_taken_in(struct collect *c, uint64_t now_ns);
void parts_turn(struct collect *c, uint64_t now_ns);
/* Return the earliest of what parts say; 0: none does. */
uint64_t parts_due_ns(const struct collect *c);
void parts_end(struct collect *c, uint64_t now_ns);
void parts_ended(struct collect *c, uint64_t now_ns);
void parts_cut(struct collect *c, uint64_t now_ns);
void parts_stand(struct collect *c);
void parts_end_file(struct collect *c, uint64_t until_ns, bool last);
void parts_sums(struct collect *c, bool last);
void parts_next_file(struct collect *c, uint64_t now_ns);
void parts_forget(struct collect *c, const struct map *procs);
void parts_close(struct collect *c);

#endif
