/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collect.h - one recording, from opening the events to the last symbol in the file.
 */
#ifndef COLLECT_COLLECT_H
#define COLLECT_COLLECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/opt.h"
#include "collect/calls/callflow.h"
#include "collect/control/triggers.h"
#include "collect/engine/cgroups.h"
#include "collect/engine/clocks.h"
#include "collect/engine/evset.h"
#include "collect/files/flight.h"
#include "collect/parts/cost.h"
#include "trace/writer.h"

struct source_conf;

enum java_mode {
	JAVA_SAMPLE,	/* walk Java stacks in the JVMs the command starts */
	JAVA_NAMES,	/* only the names of compiled code (tprof) */
	JAVA_OFF,
};

enum java_choice {
	JAVA_AUTO,	/* an agent, or where none can come, we, from outside (jvm/outside.h) */
	JAVA_AGENT,
	JAVA_OUTSIDE,
};

/* how far a recording is */
struct collect_status {
	uint64_t elapsed_ns;		/* since sampling began */
	uint64_t nr_samples, nr_lost, nr_bytes;
};

enum collect_next {
	COLLECT_GO_ON,
	COLLECT_STORE,			/* all that was taken in, and its names */
	COLLECT_STOP,
};

/* A command that shows a recording while it goes on. */
struct collect_watcher {
	int fd;				/* is watched, too; -1: none */
	uint32_t most_ms;		/* between two turns */
	enum collect_next (*turn)(void *ctx, uint64_t now_ns);	/* called at each */
	/* everything so far was passed to trace.take(): after COLLECT_STORE, and at the end */
	void (*stored)(void *ctx, const struct collect_status *s, bool end);
	void *ctx;
};

struct rules;

/* A recording in several files (segments.h). */
struct segment_opts {
	uint64_t length_ns;		/* of each; 0: there is one file */
	uint64_t keep_bytes, keep_ns;	/* older ones are removed; 0: none is */
	/* Nothing is stored from now on; or it is again: why is NULL, and nr_lost were not. May be NULL. */
	void (*storing)(const char *why, uint64_t nr_lost);
	/* The folder has traces; idle_ns is the time since the last one was closed. May be NULL. */
	void (*goes_on)(uint64_t idle_ns);
};

/* The time during which one event is recorded, if not always. */
struct event_time {
	char *event;			/* as "arcprof ctl enable" takes it */
	const char *mark;		/* begins with this mark, or the end of this phase; NULL: at once */
	uint64_t delay_ns;		/* begins so long after that */
	uint64_t duration_ns;		/* ends so long after its begin; 0: it does not */
};

/* Fields for options have the options' names; commands compute the rest from options. */
struct collect_opts {
	struct evconf ev;
	const struct source_conf *sources;	/* beside them (sources.h) */
	size_t nr_sources;
	const char *lock_exact;		/* with "lock": a filter as jvm/proto.h has it; NULL: none */
	bool lock_cpu;			/* with that: measure the CPU time while these are held */
	char *const *argv;		/* the command to run, or NULL */
	bool system_wide;
	const struct cgroups *groups;	/* then: only of processes in these; NULL: of all */
	bool cgroups;			/* say in which control group each process is */
	int clock;			/* enum clock_choice */
	struct cpus cpus;		/* samples only on these; none: on all that are online */
	const int *pids;		/* running processes, or */
	size_t nr_pids;
	bool pids_may_end;		/* those that are gone, or cannot be attached to, are left out */
	const int *tids;		/* running threads */
	size_t nr_tids;
	/* attach to running JVMs; with a watcher also to new ones */
	bool all_jvms;
	enum java_mode java;
	enum java_choice java_by;	/* who walks Java stacks */
	uint64_t java_depth;		/* frames a Java sample may have */
	bool sched, irq;		/* dispatches; also interrupts */
	uint32_t jvm_events;		/* which events of JVMs (jvmevents.h): enum jvm_tell */
	uint64_t delay_ns;		/* wait this long before sampling, */
	const char *start_mark;		/* from this mark, or this phase's end on; NULL: from the start */
	const struct event_time *times;
	size_t nr_times;
	uint64_t window_ns;		/* record this long per period */
	uint64_t window_every_ns;	/* the period, which is longer; 0: all the time */
	bool live_gc;			/* JVMs collect all garbage in the end (live.h) */
	bool live_histogram;		/* JVMs count all objects in the end (histogram.c) */
	uint64_t memory_ns;		/* read processes' memory this often (footprint.c); 0: never */
	const struct rules *filter;	/* what is kept (base/rules.h); NULL: all, until ctl says otherwise */
	const char *disabled;		/* events that are off at first, with commas; NULL: none */
	uint64_t duration_ns;		/* 0: until the command ends, or a signal */
	bool wait;			/* not until it ends, but until all that it has started has ended */
	uint64_t ring_size;		/* bytes per CPU; 0: from the rate */
	struct callflow_opts callflow;
	bool code;			/* the machine code of Java methods that were hit into the trace */
	bool lines;			/* file:line and inlined calls into the trace */
	bool cache;			/* use and update the cache of symbols (sym/cache.h) */
	const char *output;
	struct segment_opts segment;
	struct flight_opts flight;
	struct trace_writer_opts trace;
	struct trigger_opts trigger;
	struct cost_opts cost;
	const char *version;
	const char *command_line;	/* ours, for the label */
	struct opt_list labels;		/* of our own, key=value, checked */
	/*
	 * Called before the program runs, for each thing that cannot be recorded here; hint: how it could be,
	 * or "". May be NULL.
	 */
	void (*lacks)(const char *what, const char *hint);
	/* A deadlock was noticed in a JVM; text describes it, with names that others gave. May be NULL. */
	void (*deadlock)(int pid, const char *text);
	/* Called when the events are open, and again every half second or so. May be NULL. */
	void (*status)(void *ctx, const struct collect_status *s);
	void *status_ctx;
	const struct collect_watcher *watcher;	/* NULL: none */
};

enum { COLLECT_COUNTED_EVENTS = 64, COLLECT_MAX_SOURCES = 16 };

struct collect_result {
	int status;			/* of the command, as a shell gives it; 0 without one */
	bool ended_program;		/* it was still running at the end, and was sent SIGTERM */
	int left_pid;			/* and still is: a signal ended the recording; 0: it does not */
	char program_name[16];		/* when it has ended: of what it executed last */
	uint32_t nr_left;		/* processes that it has started, and that go on when it has ended; */
	int a_left_pid;			/* one of them, */
	char a_left_name[16];		/* and what it is called */
	bool cut_names;			/* a signal came before all names were written */
	uint64_t nr_samples, nr_lost, nr_incomplete;
	uint64_t nr_throttled;		/* hits of JVMs without a sample: the next one has their weight */
	uint64_t nr_held_back;		/* times the kernel stopped an event for a while */
	uint64_t nr_of_event[COLLECT_COUNTED_EVENTS];	/* of nr_samples, written or not */
	uint64_t nr_of_source[COLLECT_MAX_SOURCES];	/* too */
	/* what the samples weigh, and what there was by another count; 0: that is not known */
	uint64_t sampled_of_source[COLLECT_MAX_SOURCES], counted_of_source[COLLECT_MAX_SOURCES];
	bool uncounted_source[COLLECT_MAX_SOURCES];	/* or of a part */
	struct collect_tally {		/* the same of what JVMs count of themselves, in number */
		uint64_t counted, recorded;
		bool uncounted;
	} tallies[JVM_NR_TALLIES];
	uint64_t nr_no_source[COLLECT_MAX_SOURCES];	/* JVMs that do not report it */
	uint64_t nr_lacking;		/* JVMs without a fact that something rests on (jvm/facttable.h) */
	uint64_t nr_marks[MARK_NR];
	uint64_t nr_procs, nr_threads, nr_jvms;
	uint64_t nr_programs;		/* whose native memory was sampled */
	uint64_t nr_untracked;		/* of its samples, that could not be followed to their end */
	uint64_t nr_deadlocks;		/* in JVMs */
	uint64_t nr_turned_away;	/* connections to the agent's socket that were closed */
	char no_agent[256];		/* why JVMs could not be given the agent, "": they could */
	char no_traps[256];		/* why agents cannot walk at samples, "": they can */
	/*
	 * of the processes that were named: who crashed or was killed; how many there were, and what of one
	 */
	uint64_t nr_died;
	char died[256];
	int no_memory;			/* errno, why JVMs tell nothing; 0: they do */
	uint64_t nr_foreign;		/* programs whose libarcprof-hookit is of another version */
	uint64_t nr_outside;		/* JVMs that were walked from outside */
	uint64_t nr_strange_jvms;	/* sampled without an agent: no Java stacks */
	uint32_t unnamed;		/* bits, by number: runtimes (runtimes.h) whose code lacks names */
	uint64_t nr_unknown_jvms;	/* of which the agent knows too little */
	uint64_t nr_dispatches, nr_interrupts, nr_lost_sched;
	/* mode normal stopped storing, that long after the beginning, and so much came then; 0: it did not */
	uint64_t stopped_ns, nr_after, nr_after_sched;
	uint64_t nr_jvm_events;
	uint64_t duration_ns, nr_bytes;
	uint64_t nr_files;		/* closed, with segments */
	/* changes from one to the next: how many, how long together and at most nothing else was done */
	uint64_t nr_changes, change_ns, longest_change_ns;
	uint64_t kept_ns;		/* of mode wrap: how long the part is that was kept */
	struct callflow_result calls;
	double rate_hz;			/* samples per second of the first event's clock, 0 unknown */
	/* "user" or "kernel": of the time in that code alone; NULL: of all, and measured */
	const char *rate_mode;
	bool user_only;			/* kernel code was not allowed */
	/* why JVMs were sampled by timers, and nothing else; code 0: it was not so */
	struct err no_perf;
	struct err no_records;	/* "wall" was recorded by looks at /proc: why; code 0: it was not */
	uint64_t wall_interval_ns;	/* between two of these, on average */
	/* CPU time that the kernel charged, and what samples have of it; 0: not known */
	uint64_t charged_ns, sampled_ns;
	char why_unsampled[400];	/* what is missing is missing */
	bool no_samples;		/* there is not one, and there had to be */
	bool kernel_hidden;		/* kernel names were not allowed */
	int write_error;		/* errno when the file is not whole */
};

/* 0, or -errno: *e says what kept it from recording; result is zeroed then. */
int collect_run(const struct collect_opts *o, struct collect_result *res, struct err *e);

#endif
