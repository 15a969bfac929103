/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tasks.h - the processes and threads of a recording as they are at the time of the
 * record being handled: kept from the kernel's records in time order, and written to the
 * trace as they change.
 */
#ifndef COLLECT_TASKS_H
#define COLLECT_TASKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/hash.h"
#include "collect/engine/modules.h"
#include "sym/maps.h"

struct filters;
struct jitfiles;		/* jitfiles.h: where its runtime names code */
struct java;			/* java.h: what the recorder knows of a JVM */
struct pending;			/* java.h: halves of samples that wait for the other */

struct proc {
	uint32_t id;		/* in the trace */
	int pid;
	bool execed;		/* begun by an exec, not by a fork */
	bool descends;		/* from tasks.program, as records of forks say */
	uint64_t replaced_ns;	/* when an exec put another one in its place, 0 not yet */
	bool has_libjvm;	/* a JVM; without java, one that no agent came into */
	bool has_anon_hits;	/* samples in code without a file: its runtime may name it, */
	struct jitfiles *jit;	/* in these; NULL: none was looked for, or all is read */
	uint8_t runtime;	/* that made it (runtimes.h) */
	uint8_t beam_tries;	/* to read beam_exit, */
	uint64_t beam_exit;	/* 0 not read (beam_exit()) */
	bool memory;		/* its native memory is sampled */
	bool strange;		/* counted as a JVM without an agent */
	bool had_agent;
	uint16_t lacks_sources;	/* bits, by number: sources of which it said that it does not have all */
	uint8_t nr_tries;	/* to have an agent in it, */
	uint64_t try_ns;	/* and when the next is due */
	char *cgroup;		/* path of its control group; NULL: not known */
	char *resource;		/* what its environment says of it, as labels; NULL: nothing */
	uint32_t nr_holders;	/* who have pointers to it: it is not forgotten, */
	uint32_t nr_thread_holders;	/* and to its threads: nor are these */
	uint32_t nr_live, nr_threads;	/* of its threads; those that are not forgotten */
	uint64_t dead_ns;	/* when the last live one ended */
	struct maps maps;
	struct java *java;	/* NULL: no agent in it */
	struct proc *next;	/* list of all that are not forgotten */
};

struct thread {
	uint32_t id;		/* in the trace */
	int tid;
	bool dead;
	bool java;		/* its JVM has sent its name */
	uint64_t born_ns, dead_ns;	/* dead_ns is known when it is dead */
	struct thread *older;		/* that had the same number before */
	char comm[16];
	bool provisional;	/* read from /proc; its fork record is still to come */
	uint8_t sched_state, sched_how;	/* sched.c's: what it last did, */
	uint16_t sched_cpu;		/* on which CPU, + 1, */
	uint64_t sched_ns;		/* and when */
	uint32_t wall;		/* wall.c's: its slot, 0 none */
	uint32_t evset;		/* the event set that samples it, 0 none */
	uint64_t evset_ns;	/* since when it, or who it has it from, is in that set; 0: always */
	uint64_t used_ns;	/* parts/account.c's: CPU time that it had used when the file began */
	bool lived;		/* parts/lifetimes.c's: its life is counted */
	uint64_t allocated;	/* parts/allocated.c's: bytes that are accounted for, by the JVM's count */
	uint64_t trap_ns;	/* since when the events of its JVM do, 0 not at all */
	struct proc *proc;
	struct pending *kernel, **kernel_tail;	/* Java threads only: see java.h */
	struct pending *user, **user_tail;	/* in order of time */
	uint64_t user_last_ns;			/* of the last one */
	bool queued;				/* on java's list of threads with pending halves */
	bool needed;				/* tasks_forget()'s own */
};

struct virtual {		/* a virtual thread */
	uint32_t id;		/* in the trace */
	uint32_t proc;
	uint64_t key;		/* in tasks.virtual */
	uint64_t used_ns;	/* when it was last spoken of */
	bool fixed;		/* not to be forgotten before its process */
};

struct tasks {
	int program;			/* the process that is started to be recorded; 0: none */
	struct proc *procs;
	struct proc **procs_tail;
	uint32_t nr_procs, nr_threads;
	uint32_t nr_without_memory;	/* forgotten programs whose native memory was not sampled */
	struct map by_tid;		/* tid -> index into threads */
	struct map virtual;		/* process and id of a virtual thread -> index of it */
	struct virtual *virtuals;
	size_t nr_virtuals, alloc_virtuals;
	struct thread **threads;	/* in order of number */
	size_t alloc_threads, nr_all;
	size_t nr_dead;			/* of them */
	uint64_t forget_ns;		/* not before */
	bool cgroups;			/* say in which group each process is, and read its environment */
	bool keeps_ended;		/* threads of JVMs: what they have allocated is spoken of for ever */
	/*
	 * All this is read from a journal, begun at that time of CLOCK_REALTIME: /proc is not asked, and a
	 * file that has changed since is another one. 0: it happens now
	 */
	uint64_t replayed_ns;
	bool other_kernel;		/* then: it was not ours, */
	const char *replayed_name;	/* and the process was called this */
	struct trace_writer *w;
	struct modules *modules;
	struct filters *filters;	/* get the names of threads; NULL: not wanted */
};

void tasks_init(struct tasks *t, struct trace_writer *w, struct modules *m);
void tasks_release(struct tasks *t);

/*
 * Forgets threads that had ended TASKS_LATE_NS before now_ns, the time of what was handled last,
 * and processes that have no others: nothing that comes later is of them.  Those of a JVM with an
 * agent have longer, as its records come by themselves.  Kept are those that are held, and what a live
 * thread was before its process became another program.  To be called often; it only does something
 * when it pays.
 */
#define TASKS_LATE_NS 2000000000ull
#define TASKS_AGENT_LATE_NS 30000000000ull
void tasks_forget(struct tasks *t, uint64_t now_ns);

/* Ask the kernel whether a thread has ended, which no record may have reported. */
bool tasks_is_gone(const struct thread *th);
/* Return the live thread with that tid, or NULL. */
struct thread *tasks_find(struct tasks *t, int tid);
/* Return the same, made from /proc when it was not known; never NULL (0 is the idle task). */
struct thread *tasks_get(struct tasks *t, int pid, int tid, uint64_t time_ns);

/*
 * Return the thread of p that had that tid at that time, though it has ended since: agents' records come
 * later than the kernel's, and not in their order. Made from /proc when there is none.
 */
struct thread *tasks_get_at(struct tasks *t, struct proc *p, int tid, uint64_t time_ns);

/* Return the latest thread with that number in any process, even one that has ended; or NULL. */
struct thread *tasks_any(struct tasks *t, int tid);
/*
 * Return the thread that had the number at that time; if none is known, the first that had it afterwards, or
 * else the latest; or NULL.
 */
struct thread *tasks_at(struct tasks *t, int tid, uint64_t time_ns);
/* Return the latest thread with that number, made from /proc when it was not known. */
struct thread *tasks_by_tid(struct tasks *t, int tid, uint64_t time_ns);

/*
 * Return the leader of a live process that is known; NULL: there is none with that number, or another has
 * it by now: one that was started after the one known was seen first. start_ns: of the process that has
 * the number, to a clock tick.
 */
struct thread *tasks_leader(struct tasks *t, int pid, uint64_t start_ns);

/*
 * Return whether /proc says that pid is from, or was started by it, directly or not. For processes without a
 * record.
 */
bool tasks_descends(int pid, int from);

/* Return the user of a process; FOREIGN_ANYBODY: it has ended. */
uid_t tasks_owner(int pid);
/* Return whether its process still exists, as far as its number says. */
bool tasks_is_alive(const struct proc *p);

/* Take the kernel's records. */
struct thread *tasks_fork(struct tasks *t, int pid, int ppid, int tid, int ptid, uint64_t time_ns);
void tasks_exit(struct tasks *t, int pid, int tid, uint64_t time_ns);
/* Records were lost: threads that the kernel no longer knows have ended. */
void tasks_look_again(struct tasks *t, uint64_t time_ns);
void tasks_comm(struct tasks *t, int pid, int tid, const char *comm, bool exec, uint64_t time_ns);
void tasks_mmap(struct tasks *t, const struct module_id *id, uint64_t pgoff, int tid, uint64_t time_ns);

/*
 * Parse a line of /proc/PID/maps, "start-end perms pgoff major:minor inode path", to *id, whose path is
 * in it. Returns false if it is not executable, or no such line.
 */
bool tasks_map_line(char *line, struct module_id *id, uint64_t *pgoff);
/* Read the executable mappings in the text of /proc/PID/maps, which is cut up; known ones stay. */
void tasks_maps_again(struct tasks *t, struct proc *p, char *text, uint64_t time_ns);
/* Do the same for an unknown process. */
void tasks_maps_text(struct tasks *t, int pid, char *text, uint64_t time_ns);

/* Set a Java thread's own name, from the agent. */
void tasks_java_name(struct tasks *t, struct thread *th, const char *name, uint64_t time_ns);
/* Set the name of its group. */
void tasks_java_group(struct tasks *t, struct thread *th, const char *name, uint64_t time_ns);

/*
 * Return the number of a virtual thread; with a name, that is written too. In the trace it is a thread
 * without a tid. The name may come later.
 */
uint32_t tasks_virtual(struct tasks *t, struct proc *p, uint64_t java_id, const char *name, uint64_t time_ns);

/*
 * Return the number of a pseudo-thread, to which is charged what belongs to no thread. No virtual thread
 * has its java_id, and it is not forgotten before its process.
 */
uint32_t tasks_pseudo(struct tasks *t, struct proc *p, uint64_t java_id, const char *name, uint64_t time_ns);

/*
 * Forget the virtual threads of processes that are not a key of procs. Where there are more than max, also
 * forget those that were used longest ago, down to the half of it: these get another number if they come
 * again.
 */
void tasks_forget_virtual(struct tasks *t, const struct map *procs, size_t max);

/* Return the number of a virtual thread of the process with that number, or 0. */
uint32_t tasks_find_virtual(const struct tasks *t, uint32_t proc, uint64_t java_id);

/* Reads a running process: its name, threads and maps. -ESRCH when it is gone. */
int tasks_scan(struct tasks *t, int pid, struct err *e);
/* Looks for threads that were not known yet. */
void tasks_rescan(struct tasks *t, int pid);
/* Looks for mappings that were not known yet. */
void tasks_rescan_maps(struct tasks *t, struct proc *p);

#endif
