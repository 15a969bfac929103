/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * switches.h - the slots without BPF: the recorder writes them itself, from the kernel's records of switches
 * (PERF_RECORD_SWITCH), which every user gets of his own threads.
 *
 * They say when a thread lost a CPU and got one again, and whether it could have run on.  So the time on
 * CPUs, preempted, and off them otherwise are exact. What these do not say:
 *  - when a thread was woken: the time that it then waited for a CPU is the kernel's count of it
 *    (/proc/PID/task/TID/schedstat), which is read whenever somebody looks.  What comes after the last
 *    reading of a thread that ends counts as blocked;
 *  - the system call, and the registers: wall_ask_kernel(), of a thread that is blocked still. So all time is
 *    of one class, WALL_CLASS_OTHER;
 *  - who woke it.
 * A slot is as late as the records that were handled: a block that is not over here may be over by now.
 */
#ifndef WALL_SWITCHES_H
#define WALL_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "wall/wall.h"

/* Open slots for threads that are yet to be named. *o is not used for who they are. */
int wall_open_switches(struct wall **w, const struct wall_opts *o, struct err *e);

/* Enter records, in order of time. Those of threads without a slot are ignored. */
void wall_thread_begins(struct wall *w, int pid, int tid, uint64_t time_ns);
void wall_thread_ends(struct wall *w, int tid, uint64_t time_ns);
void wall_switch_out(struct wall *w, int tid, bool preempted, uint64_t time_ns);
void wall_switch_in(struct wall *w, int tid, uint64_t time_ns);
/*
 * Note an exec: only the first thread of a process is left, and may have been another before. It gets a new
 * slot, so that each slot is of one program.
 */
void wall_execs(struct wall *w, int pid, uint64_t time_ns);
/* Add a thread that already exists, as it is now; its records come from before that on. */
void wall_thread_found(struct wall *w, int pid, int tid);
/* Return the slot of a thread; 0: it has none. */
uint32_t wall_slot_of(const struct wall *w, int tid);

/* Count what goes on up to now, and from now on: no total is later less than what a reader saw. */
void wall_cut(struct wall *w, uint32_t slot, uint64_t now_ns);
/* Asks the kernel how long the thread waited for CPUs after its blocks, and tells these two apart. */
void wall_settle(struct wall *w, uint32_t slot);

struct wall_block {
	uint32_t nr;
	uint64_t since_ns, end_ns;	/* end_ns 0: it goes on */
	uint64_t ran_ns;		/* by looks (polls.h): CPU time that the thread had used; else 0 */
};

/* Find the block that a thread was in then; return false, with *b unchanged, if none is remembered. */
bool wall_block_at(const struct wall *w, uint32_t slot, uint64_t time_ns, struct wall_block *b);

/*
 * Get the system call of a blocked thread with its arguments and class, pc and sp into *copy. -EAGAIN: it
 * runs by now, or is gone; -EACCES: this user may not look at it.
 */
int wall_ask_kernel(struct wall_slot *copy);
/* Do the same for a slot's thread, whose files stay open from the second time on. */
int wall_ask_again(struct wall *w, uint32_t slot, struct wall_slot *copy);
/* Do the same for a thread that this user may not inspect: its class, by where in the kernel it is. */
void wall_ask_where(struct wall_slot *copy);
/* Read memory of that process: return the bytes read, which end where a mapping does, or -errno. */
ssize_t wall_read_memory(int pid, uint64_t addr, void *buf, size_t len);
/*
 * Return whether the kernel counts how long threads wait for CPUs: else all of that after a block is part of
 * it.
 */
bool wall_counts_delays(void);
/* Return the class of a system call; -1: of a fault. */
enum wall_class wall_class_of_call(int nr);

#endif
