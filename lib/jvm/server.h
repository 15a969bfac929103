/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server.h - the recorder's side of the JVM agent: places the agent, hands it to the JVMs a
 * command starts, talks to each over a Unix socket and drains what they measured.
 *
 * Life of a JVM, seen from here (proto.h has the bytes):
 *   hello    Agent_OnLoad or Agent_OnAttach connected; handlers are installed; it waits.  The callback opens
 *            the sampling events on the threads that exist; later threads inherit them.
 *   go       sent when the hello callback returns; the JVM starts up.
 *   drain    samples, methods, code and thread names arrive through shared memory.
 *   gone     the socket closed: the JVM exited, or execed, or crashed.  What its memory still
 *            holds was drained before this is called.
 * If the recorder dies the agent turns inert and the JVM goes on.
 */
#ifndef JVM_SERVER_H
#define JVM_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "jvm/proto.h"
#include "jvm/record.h"

struct jvm_server;
struct memory_table;
struct jvm;			/* one connected JVM */

struct jvm_frame {		/* innermost first */
	uint64_t pc;		/* innermost: interrupted; callers: return address - 1 */
	uint8_t kind;		/* enum jvm_frame_kind */
	union {
		uint32_t method;	/* JVM_COMPILED, JVM_INTERPRETED */
		uint32_t line;		/* JVM_MARK: of the agent's source */
	};
	union {
		uint32_t compile_id;	/* JVM_COMPILED: perhaps with JVM_NOT_INLINED */
		uint32_t bci;		/* JVM_INTERPRETED */
		uint32_t segment;	/* JVM_NATIVE: index into the sample's; it is there */
		uint32_t mark;		/* JVM_MARK: enum frame_mark */
		uint32_t root;		/* JVM_ROOT: jvm_root.id */
	};
};

/* Native code between two Java frames (or at either end): registers there and the stack copied. */
struct jvm_segment {
	uint64_t pc, sp, fp;			/* pc: the return address itself when not exact */
	/* callee-saved, on x86-64; on arm64 rbx is x30, and the others mean nothing */
	uint64_t rbx, r12, r13, r14, r15;
	uint32_t valid;				/* bit 0 rbx, 1 r12, 2 r13, 3 r14, 4 r15 */
	bool exact;				/* pc was interrupted, not a return address */
	/* no Java frame outside it: the chain must reach the thread's root */
	bool to_root;
	bool trimmed;				/* ends where jvm_tell_root() said */
	/* of the thread's stack, when the segment reaches to it; else 0 */
	uint64_t end;
	const uint8_t *stack;			/* copy of [sp, sp + len); borrowed for the call */
	size_t len;
};

/* A thread that waits, walked from outside (jvm_server_use_wall()). */
struct jvm_wall {
	/* CLOCK_MONOTONIC: since when it is blocked; of late slots the CPU time that it had used */
	uint64_t since_ns;
	uint64_t interval_ns;	/* between two looks: what a wait stands for that is shorter; not 0 */
	/* which block of which slot, as the agent says: odd, or 0 for the one at the sample's time */
	uint32_t block_nr, slot;
	uint32_t reason;	/* enum wall_reason; WALL_UNKNOWN: as the slot says */
	uint32_t leaf;		/* class of what it is parked for: a struct jvm_leaf's number; 0: not known */
	uint32_t class;		/* enum wall_class; with site, system call and its arguments as in the slot */
	int32_t syscall;
	uint64_t args[3];
	uint32_t site;
	bool wakes;		/* the thread is not the one that waits, but ended that block */
};

struct jvm_sample {
	uint64_t time_ns;	/* CLOCK_MONOTONIC when the handler ran */
	uint32_t tid;
	uint32_t event;		/* perf_event_attr.sig_data of the event that fired */
	/* of a timer (jvm_server_use_timers()): so many of its periods; 0: a perf event's */
	uint32_t nr_periods;
	bool of_source;		/* event is an enum jvm_source, or a number that we do not know */
	uint64_t value;		/* of a source: proto.h */
	uint32_t leaf;
	/* of native memory: its number in the process's table, 0: it is in none; of live: the object's */
	uint32_t id;
	/* the signal was blocked: time and stack are of its delivery, not of the event */
	bool late;
	/*
	 * hits that were skipped before it, for which it stands as well: of a perf event those up to this
	 * time, of a timer so many, whose periods are in nr_periods; 0: none were
	 */
	uint64_t skipped;
	uint64_t vthread;	/* id of the virtual thread on it; 0: none, or not known */
	const struct jvm_wall *wall;	/* of a thread that waits, or ended a wait; NULL: of one that ran */
	const struct jvm_frame *frames;
	size_t nr_frames;
	const struct jvm_segment *segments;
	size_t nr_segments;
};

struct jvm_callbacks {
	/*
	 * Return whether the process is one of those being recorded. It connected just now, and was started
	 * at start_ns (CLOCK_MONOTONIC, to a clock tick). NULL: all of the right user are. Not asked while
	 * attaching: then no other process may connect.
	 */
	bool (*admit)(void *ctx, int pid, uint64_t start_ns);
	/* Called again and again while a JVM is being attached to; returning false gives up. May be NULL. */
	bool (*meanwhile)(void *ctx);
	/*
	 * With opts.callflow: makes the area of call trees for a process that has just connected, a
	 * JVM or (program) one with libarcprof-hookit, which sends nothing else and gets no hello().
	 * Returns its descriptor, which is then the server's, and its size; or -1: no trees.
	 */
	int (*callflow)(void *ctx, struct jvm *j, int pid, bool program, uint64_t *bytes);
	/* Return whether to count calls of the function at addr, which a program calls for the first time. */
	bool (*function)(void *ctx, struct jvm *j, uint64_t addr);
	/*
	 * With JVM_TELL_BY_PROGRAM, a program connected that sends marks or labels and nothing else:
	 * event(), labels() and lost() are called for it, and gone(). May be NULL: no marks, no labels.
	 */
	void (*marks)(void *ctx, struct jvm *j, int pid);
	/* The process has left; comes before gone(), and also where hello() did not. */
	void (*callflow_gone)(void *ctx, struct jvm *j);
	/*
	 * A program whose native memory is sampled has connected. What it says comes to the other callbacks;
	 * no hello().
	 */
	void (*program)(void *ctx, struct jvm *j, int pid);
	/*
	 * A JVM is starting and waits: open events on its threads. tid ran Agent_OnLoad. Return false
	 * to leave it unsampled (names only).
	 */
	bool (*hello)(void *ctx, struct jvm *j, int pid, int tid);
	void (*sample)(void *ctx, struct jvm *j, const struct jvm_sample *s);	/* May be NULL. */
	/*
	 * method(), code() and so on, for the rows of table.h; each may be NULL. A method may come after
	 * the first sample or code that uses its number, and twice. Threads have the numbers that we
	 * know them by; what else is in a record is what the JVM says.
	 */
#define RECORD(s, ...) void (*s)(void *ctx, struct jvm *j, const struct jvm_##s *r);
#include "jvm/table.h"
	void (*lost)(void *ctx, struct jvm *j, uint64_t nr);	/* samples dropped since last reported */
	void (*gone)(void *ctx, struct jvm *j);			/* May be NULL. */
	/* its shared data are invalid: gone() follows, the JVM runs on; may be NULL */
	void (*broken)(void *ctx, struct jvm *j, const struct err *e);
};

struct jvm_server_opts {
	bool sample;			/* false: names only (tprof, system-wide) */
	bool places;			/* of compiled code, only the places of samples (record.h) */
	bool live_gc;			/* collect all garbage when the VM ends: of JVM_SOURCE_LIVE */
	bool live_adapts;		/* the interval of JVM_SOURCE_LIVE may grow */
	bool stuck;			/* report threads that wait for locks and do nothing else */
	uint32_t max_depth;		/* Java frames per sample */
	uint32_t max_stack_bytes;	/* native stack copied a segment */
	uint64_t ring_bytes;		/* of each of the rings of a JVM; power of two */
	uint64_t sources;		/* bits 1 << enum jvm_source: report these, too */
	uint64_t intervals[JVM_MAX_SOURCES];	/* as jvm_ctl has them */
	uint32_t inject;		/* enum inject_what: for all of the recording */
	const char *lock_filter;	/* as jvm_ctl has it; NULL: none */
	bool lock_cpu;			/* as jvm_ctl has it */
	uint32_t tell;			/* events that JVMs are asked to report: enum jvm_tell */
	uint32_t may_tell;		/* and those that they may be asked for later */
	uint32_t off;			/* JVM_WALL, JVM_TIMERS: not now */
	bool callflow;			/* call trees: callbacks.callflow makes their memory */
	/* no JVMs: the agent is not placed, and the environment left as it is */
	bool programs;
	uint64_t patience_ns;		/* so long may a connection say nothing; 0: 5 s */
	bool kernels_clock;		/* only processes whose clock is the kernel's (clock_ahead_ns()) */
};

int jvm_server_open(struct jvm_server **s, const struct jvm_server_opts *o,
		    const struct jvm_callbacks *cb, void *ctx, struct err *e);
void jvm_server_close(struct jvm_server *s);

/* Makes the socket for the programs that a command starts: jvm_server_path(). */
int jvm_server_listen(struct jvm_server *s, struct err *e);
/*
 * Do the same, place the agent, and set in the environment that the command will get what makes JVMs load it
 * (inject_setenv).
 */
int jvm_server_setenv(struct jvm_server *s, struct err *e);

/*
 * Loads the agent into a running HotSpot JVM. Returns when the agent works and has reported
 * what is there already (code, threads), or with an error that says what is in the way; callbacks are called
 * meanwhile. Not while a thread of the JVM is stopped by ptrace.
 */
int jvm_server_attach(struct jvm_server *s, int pid, struct err *e);

/* Return where the server listens. Pass this only to the command; jvm_server_setenv() passes it to JVMs. */
const char *jvm_server_path(const struct jvm_server *s);

/* Make JVMs that say hello from now on sample themselves by CPU-time timers, as perf events are forbidden. */
void jvm_server_use_timers(struct jvm_server *s, uint64_t period_ns);

/*
 * Agents of JVMs that say hello from now on walk threads that wait, which they find in these maps
 * (jvm/wall.h) at about that interval. Who has the maps sees the registers of every thread that is
 * recorded, and can write the marks: with own_user_only they go to JVMs of our own user alone.
 */
struct jvm_wall_maps {
	int slots_fd, stamps_fd, marks_fd;	/* the caller's; slots_fd -1: no longer */
	int wakes_fd, anchors_fd;	/* wakes_fd -1: where wakers are is not to be reported */
	uint32_t nr_slots;
	uint64_t interval_ns;
	bool own_user_only;
	bool late;			/* the slots are not of this moment: agents ask the kernel */
};
void jvm_server_use_wall(struct jvm_server *s, const struct jvm_wall_maps *maps);
/*
 * Make all JVMs, running and new ones, report what o says: sources, intervals, tell and off.
 * jvm_server_nr_unchanged() returns how many running ones have not changed yet; what they sent before must be
 * drained.
 */
void jvm_server_change(struct jvm_server *s, const struct jvm_server_opts *o);
size_t jvm_server_nr_unchanged(const struct jvm_server *s);

/* Return whether its agent was given the maps. */
bool jvm_has_wall_maps(const struct jvm *j);

/* Return a descriptor that is readable when jvm_server_poll() has something to do (connections, messages). */
int jvm_server_fd(const struct jvm_server *s);
void jvm_server_poll(struct jvm_server *s);
/*
 * Drain all rings and logs; must be called often (every few ms while sampling). all: the logs to their
 * current end, before the end; else a share of each that is more than an honest agent writes meanwhile.
 */
void jvm_server_drain(struct jvm_server *s, bool all);
/*
 * Unmap the pages of all JVMs' rings, which come back when they are read next: they are those JVMs' memory,
 * and are to count as ours only while we need them.
 */
void jvm_server_unmap_pages(struct jvm_server *s);
/*
 * Have agents report open waits for locks, as of now_ns, before the last drain. Takes some ms, a second with
 * JVMs that do not answer, or as much of it as patience_ns() allows. Returns how many did not answer.
 */
size_t jvm_server_end_waits(struct jvm_server *s, uint64_t now_ns,
			    uint64_t (*patience_ns)(void *ctx, uint64_t usual_ns));
/*
 * Has a JVM of which objects are watched collect all garbage, and look at them then. False: it has not yet;
 * true also of one that has ended, or has no agent.
 */
void jvm_collect(struct jvm *j);
bool jvm_has_collected(const struct jvm *j);
size_t jvm_server_nr_jvms(const struct jvm_server *s);
/* Connections that were closed. */
struct jvm_refusals {
	uint64_t strangers;	/* of processes that are not being recorded, or are of another user */
	uint64_t crowd;		/* more than one process, or all, may have */
	uint64_t silent;	/* their process said nothing */
	uint64_t clocks;	/* their process has another clock than the kernel */
	uint64_t unknown_vms;	/* JVMs that we started, of which the agent knows too little */
	uint64_t late;		/* it had ended, or gone on without us, before we looked */
	/* whose side is of another version: an agent or a preloaded library; marks; exact calls */
	uint64_t foreign, foreign_marks, foreign_hooks;
	bool no_files;		/* some could not be served: our limit of open files */
	int no_memory;		/* errno: why there is no memory to share with them; 0: there is */
};
const struct jvm_refusals *jvm_server_refusals(const struct jvm_server *s);

/* Return the process's table of sampled blocks, which it may write to at any time, or NULL. */
const struct memory_table *jvm_memory_table(const struct jvm *j);
/* Return the table of its waits for native locks; the recorder may mark slots as reported. */
struct waiting_table *jvm_waiting_table(const struct jvm *j);

/* Attach data of the caller to a JVM. */
void jvm_set_user(struct jvm *j, void *user);
void *jvm_user(const struct jvm *j);
/* Get the bounds of HotSpot's code cache as far as known, for unwinding up to it; 0, 0 before. */
void jvm_code_cache(const struct jvm *j, uint64_t *lo, uint64_t *hi);

/* Return our number of a thread, from the process's own. */
int jvm_host_tid(struct jvm *j, int tid);

/*
 * Tell the agent what it need not send again of a thread (proto.h): r->end says which one; seq is
 * ignored. With j NULL, for a JVM that is gone, this does nothing.
 */
void jvm_tell_root(struct jvm *j, const struct jvm_root *r);

/* The number and the time of its handler's runs as the JVM reports them, not checked. */
struct jvm_trap_cost {
	uint64_t nr, ns;
	uint64_t log2[32];	/* how many took [2^i, 2^(i+1)) ns */
};
void jvm_trap_cost(const struct jvm *j, struct jvm_trap_cost *c);

#endif
