/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording.h - what the files of this room share during one recording.
 */
#ifndef COLLECT_RECORDING_H
#define COLLECT_RECORDING_H

#include "base/buf.h"
#include "collect/calls/refused.h"
#include "collect/control/crashes.h"
#include "collect/control/filters.h"
#include "collect/control/switches.h"
#include "collect/control/timedcalls.h"
#include "collect/engine/collect.h"
#include "collect/engine/modules.h"
#include "collect/engine/part.h"
#include "collect/engine/stackrest.h"
#include "collect/engine/tasks.h"
#include "collect/files/flight.h"
#include "collect/files/rotate.h"
#include "collect/files/segments.h"
#include "collect/jvm/java.h"
#include "collect/jvm/javatrace.h"
#include "collect/parts/live.h"
#include "collect/parts/locks.h"
#include "collect/parts/memory.h"
#include "collect/parts/sched.h"
#include "collect/parts/sources.h"
#include "collect/parts/threadlabels.h"
#include "collect/wall/wall.h"
#include "ring/ring.h"
#include "unwind/perfsample.h"

enum {
	MAX_USER_FRAMES = 1 << 16,
	SEGMENT_BYTES = 64 << 10,		/* of native stack that an agent copies */
	NR_CALLED = 2048,
	MAX_KERNEL_FRAMES = 256,
	MAX_FRAMES = MAX_USER_FRAMES + MAX_KERNEL_FRAMES,
};


struct rusage;

struct collect {
	struct javatrace javatrace;	/* first: callbacks of the JVM server get either */
	const struct collect_opts *o;	/* opts, whose sources and jvm_events "arcprof ctl" can add to */
	struct collect_opts opts;
	struct source_conf source_room[COLLECT_MAX_SOURCES];
	struct collect_result *res;
	struct trace_writer *w;
	struct evsets ev;
	struct modules modules;
	struct tasks tasks;
	struct jvm_server *jvm;		/* NULL: no Java */
	struct java *javas;
	struct java *programs;		/* whose native memory is sampled */
	uint32_t memory_functions[MEMORY_NR_CALLS];	/* in the trace; 0: not yet */
	struct callflows calls;
	struct sched *sched;		/* NULL: no dispatches */
	struct refused refused;
	struct sources sources;
	struct switches switches;
	struct filters filters;
	struct segments *segments;	/* NULL: there is one file */
	struct flight *flight;		/* NULL: all is kept */
	struct file_begin since;
	struct exited {			/* who ended last on a CPU */
		int pid, tid;
	} *exited;			/* [nr_exited] */
	size_t nr_exited;
	struct clock *clock;		/* NULL: no clock samples processes */
	struct cpu_account *account;	/* NULL: none is kept */
	struct walls *walls;		/* NULL: not recorded */
	struct locks locks;
	struct threadlabels *labels;	/* NULL: not recorded */
	struct triggers *triggers;	/* NULL: no condition is watched */
	struct crashes named;		/* those of opts.pids */
	struct timedcalls *timed;		/* NULL: no call is */
	struct probed *probed;		/* NULL: no event is of calls of native functions */
	uint64_t clock_ns;		/* of samples of the first perf event, added up */
	uint32_t main_set;
	struct ev_rate *rates;		/* of perf events, since one was changed (rates.h); NULL: none was */
	uint64_t *left_over;		/* [event], then: rates.c's */
	int child_pid;			/* of the command, 0 none */
	/*
	 * The resources that the program has used, when the recording has ended; NULL without a program
	 * or while it runs.
	 */
	const struct rusage *program_used;
	uint64_t begun_ns;		/* when events were enabled, 0 not yet */
	uint64_t asked_ns;		/* when agents were last asked for what JVMs count */
	uint64_t counted_ns;		/* what they told before that was of no recording yet */
	bool paused;			/* and all are off for a while */
	bool stop_asked;
	/* Set between two files: samples are of what is alive when one ends, and may be alive in the next. */
	bool is_standing;
	uint64_t give_up_ns;		/* a signal ends it: nothing is waited for longer; 0: none does */
	const struct part *const *parts;	/* part.h */
	size_t nr_parts;
	void *own[NR_PARTS];		/* what no other file needs; NULL: nothing yet */
	/* functions that take the rings' records and what agents send (drain.c) */
	merge_fn record;
	void (*hear_agents)(struct collect *c, bool all);
	/* answers commands between two turns, while something takes long; NULL: the loop has not begun */
	void (*serve)(void *ctx);
	void *serve_ctx;
	const char *why_outside;	/* not NULL: Java stacks are walked from there, unasked */
	bool only_jvms;			/* perf events are forbidden: JVMs' agents tell all there is, */
	uint64_t timer_ns;		/* and sample with this period; 0: they have no event to sample */
	uint64_t maps_ns;		/* when their mappings were last looked at */
	size_t max_chain;		/* addresses that the kernel gives of a stack; 0: not asked yet */
	uint64_t drained_ns;		/* when the last drain began */
	uint64_t merged_ns;		/* the rings' records are handled up to here */
	uint64_t naming_until_ns;	/* before that rings are not read while hits are named */
	uint64_t named_ns;		/* when names of new code were last read */
	uint64_t trimmed_ns;		/* cleanup.c's, */
	uint64_t looked_ns, looked_lost;	/* too */
	uint64_t nr_code_left;		/* bytes of machine code that the trace still takes */
	uint64_t nr_lost_told;		/* samples that records of the rings said were lost */
	struct unwind_frame unwound[MAX_USER_FRAMES];
	struct stackrest rest;		/* of the stack that is unwound */
	struct called {
		uint64_t addr;
		uint32_t proc;
		uint8_t len, code[UNWIND_CODE_MAX];
	} called[NR_CALLED];		/* stack.c: code of other runtimes at return addresses */
	struct frame frames[MAX_FRAMES];
};

/*
 * timers.c: return whether JVMs' agents suffice where perf events are forbidden, as *e says, with samples by
 * timers if any are requested; the recording then continues with these.
 */
bool timers_take_over(struct collect *c, struct err *e);
/* Write a sample of th, a JVM's thread; thread is the number of th in the trace, or of its virtual thread. */
void timers_sample(struct collect *c, const struct thread *th, const struct jvm_sample *s, uint32_t thread,
		   const struct frame *frames, size_t nr);
/* Look for new mappings, of which no event tells. */
void timers_look_at_maps(struct collect *c);

/* events.c: open the rings; target for evsets_open(). */
int collect_open_rings(struct collect *c, int target, struct err *e);
/* Open events on everything to be recorded. */
int collect_open_events(struct collect *c, struct err *e);
/* Samples a second of a busy CPU. */
uint64_t collect_expected_hz(const struct evconf *ev);

/* records.c: what the rings say. */
void collect_record(void *ctx, const struct ring *r, const struct perf_event_header *h, uint64_t time_ns);

/* stack.c: convert chains of frames, outermost first; each returns how many it stored at out. */
size_t stack_kernel(struct collect *c, const uint64_t *chain, size_t nr, struct frame *out);
size_t stack_user_chain(struct collect *c, struct proc *p, const uint64_t *chain, size_t nr,
			struct frame *out);
/*
 * Convert a chain that the kernel followed by frame pointers; full: to as many addresses as the kernel gives.
 */
size_t stack_user_fp(struct collect *c, struct proc *p, const uint64_t *chain, size_t nr, bool full,
		     struct frame *out);
size_t stack_user_dwarf(struct collect *c, struct proc *p, struct unwind_regs *regs,
			const struct unwind_stack *st, struct frame *out);
/* Return the same of a sample that was just taken, with what is above the copy of its stack. */
size_t stack_user_sample(struct collect *c, struct proc *p, struct perf_sample *ps, struct frame *out);
/* Return the native code above the innermost code of the JVM's own, in which regs are then if *to_java. */
size_t stack_native(struct collect *c, const struct java *j, struct unwind_regs *regs,
		    const struct unwind_stack *st, struct frame *out, bool *to_java);
/* Return the native code above the innermost Java frame: the rest is a mark. */
size_t stack_up_to_java(struct collect *c, struct java *j, struct unwind_regs *regs,
			const struct unwind_stack *st, struct frame *out);
size_t stack_java(struct collect *c, struct java *j, const struct jvm_sample *s, struct frame *out);
/* Convert an agent's pairs (struct jvm_blame) to frames in c->frames, which has room for two more. */
size_t stack_methods(struct collect *c, const struct java *j, const uint8_t *pairs, uint32_t len, bool cut);
/* Return the marks in it, as bits by enum frame_mark; 0: it is complete. */
uint32_t stack_marks(const struct frame *frames, size_t nr);
/* Count the marks of a sample that is written. */
void stack_count_marks(struct collect *c, uint32_t marks);

/* agents.c: open the server for JVMs' agents. */
int agents_open(struct collect *c, struct err *e);
/* Add a JVM whose journal is read: it reports what it reported then (jvm/replay.h). NULL: *e says why not. */
struct jvm *agents_replay(struct collect *c, int pid, struct err *e);
/* Attach to the JVMs among the running processes; their events are open. */
int agents_attach(struct collect *c, struct err *e);
/* Attach to JVMs that are new since the last call, if all_jvms is set. */
void agents_attach_jvms(struct collect *c);
void agents_close(struct collect *c);
void agents_drain(struct collect *c, bool all);
/* Return after how many milliseconds they are to be drained again. */
int agents_turn_ms(const struct collect *c);
/* Called before the last drain: agents report waits that go on at that time. */
void agents_end_waits(struct collect *c, uint64_t now_ns);
/* Note from now on which methods samples hit. */
void agents_watch_frames(struct collect *c);
void agents_write_lines(struct collect *c);
/* Joins halves of samples not younger than until_ns; last: also those that lack one. */
void agents_join(struct collect *c, uint64_t until_ns, bool last);

/* traps.c: this kernel can signal the thread that is sampled, or nobody may say. */
bool traps_possible(void);
/* Open a TRAP set on all threads of a JVM. False: refused, as *e says. */
bool traps_open(struct collect *c, struct proc *p, struct err *e);
/* Open traps of an existing set on threads that have one already. */
bool traps_open_again(struct collect *c, struct proc *p, uint32_t traps);
/* Disable traps while the JVM is in none of the recorded control groups; at each turn. */
void traps_turn(struct collect *c);

/* java.c: keep the innermost code of a sample whose frames, outermost first, are about to be written. */
void java_keep_code(struct collect *c, const struct frame *frames, size_t nr);
/* java.c: return where machine code of that JVM is written to. */
struct javacode_to java_code_to(struct collect *c, const struct java *j);

/* Return the number of perf events in the trace, whose numbers come first. */
static inline size_t collect_nr_events(const struct evconf *ev)
{
	return ev->nr_events - ev->nr_aside;
}

/*
 * records.c: a sample of th with its stack, outermost frame first; the sample's thread may be a virtual one.
 */
void collect_sample(struct collect *c, const struct thread *th, struct rec_sample *s,
		    const struct frame *frames, size_t nr);

static inline void collect_count_sample(struct collect *c, uint32_t event)
{
	c->res->nr_samples++;
	if (event < COLLECT_COUNTED_EVENTS)
		c->res->nr_of_event[event]++;
}

/* Return whether perf events are on, as far as switches.h says, so that further ones are too. */
static inline bool collect_is_on(const struct collect *c)
{
	return c->begun_ns;
}
/* Return whether the thread belongs to a recorded process. Who wakes one of these is known, too. */
static inline bool collect_is_recorded(struct collect *c, const struct thread *th)
{
	const struct thread *leader = tasks_any(&c->tasks, th->proc->pid);

	/* a thread whose fork was lost has no events that are known */
	return c->only_jvms || th->evset || (leader && leader->proc == th->proc && leader->evset);
}
/* Return whether the process ran before it was recorded: nothing is known of what it had done by then. */
static inline bool collect_attached(const struct collect *c, const struct proc *p)
{
	size_t i;

	for (i = 0; i < c->o->nr_pids; i++)
		if (c->o->pids[i] == p->pid)
			return true;
	return !c->o->argv && !p->execed;
}

/* Return whether JVMs get no agent. */
static inline bool collect_from_outside(const struct collect *c)
{
	return c->o->java_by == JAVA_OUTSIDE && c->o->java != JAVA_OFF;
}

/* Return whether kernel code was to be sampled, and is not allowed to be. */
static inline bool collect_kernel_refused(const struct collect *c)
{
	return c->ev.conf.exclude_kernel && !c->o->ev.exclude_kernel;
}

/* intake.c: take in all that was recorded by then, if both halves are there. */
void collect_take_in(struct collect *c, uint64_t until_ns);
/*
 * naming.c: write names and lines of what was hit since the last call. Reads the rings meanwhile, unless the
 * file is at its end; fetch: missing files may come from a server (sym/places.h).
 */
void collect_name_hits(struct collect *c, bool at_end, bool fetch);
/* naming.c: write names of code without a file that its runtime has published by now (jitfiles.h). */
void collect_name_anonymous(struct collect *c, struct proc *p);
/* naming.c: write what runtimes have added to the names of sampled code, from time to time. */
void collect_name_new_code(struct collect *c, uint64_t now_ns);
/* naming.c: do so for all processes. */
void collect_name_anonymous_hits(struct collect *c);
/* naming.c: count JVMs with samples that no agent has named, each once. */
void collect_count_strange(struct collect *c);
/* rotate.c: what a file has at its end, but its clock: counts, names, what is missing. */
void collect_end_file(struct collect *c, bool last);
/* intake.c: ask agents for what their JVMs count, and wait for that up to wait_ms. */
void collect_ask_counts(struct collect *c, int wait_ms);
/* intake.c: take in what is older than the previous drain; all: everything. */
void collect_drain(struct collect *c, uint64_t now_ns, bool all);
/* collect.c: write names, counts and labels after the last drain. */
void collect_finish(struct collect *c);
/*
 * patience.c: return whether a signal is pending that ends recordings; after the loop, which takes signals.
 */
bool collect_signal_waits(void);
/*
 * patience.c: return whether nothing is to be waited for at the end of a recording that a signal ended. A
 * second signal, which is not taken then, requests this at once.
 */
bool collect_hurries(const struct collect *c);
/* patience.c: return how long the rest of the end may take, at most usual_ns. */
uint64_t collect_patience_ns(const struct collect *c, uint64_t usual_ns);
/* events.c: turn all perf events on that switches_runs() names, or off. */
void collect_enable(struct collect *c, bool on);
/* commands.c: run a command of "arcprof ctl"; a control_fn, ctx is the struct collect. */
int collect_command(void *ctx, const char *command, struct buf *reply, struct err *e);
/* drain.c: take in the rings' records up to until_ns. */
void collect_merge(struct collect *c, uint64_t until_ns);
/* drain.c: take in what agents have reported, if there are any; all: the last of it. */
void collect_hear_agents(struct collect *c, bool all);

/*
 * cleanup.c: what a recording does not need any more, so that one of weeks takes no more memory than one of
 * minutes: files that no process has mapped, and what agents and locks of processes that have ended left.
 * Threads and processes themselves are tasks.h's, what later files need is carry.h's.
 */
/* Drop files when enough are new, or it is time to; must be called often. */
void cleanup_turn(struct collect *c, uint64_t now_ns);
/* Drop what the next file does not need; all addresses in the ended one have their names. */
void cleanup_at_change(struct collect *c, uint64_t now_ns);

#endif
