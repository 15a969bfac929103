/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * polls.h - the slots where nothing reports switches (perf events and BPF are refused): the recorder reads
 * /proc at each look.
 *
 * What a thread ran and how long it waited for CPUs the kernel counts (/proc/PID/task/TID/schedstat), so its
 * totals are exact up to the latest look: what is left of its life it was blocked.  What is sampled is in
 * what.  A block is known from the first look that found it to the last; all that the thread was blocked
 * since a look found it so before, it stands for.  It is the same block while the kernel has not given the
 * thread a CPU.
 */
#ifndef WALL_POLLS_H
#define WALL_POLLS_H

#include <stdbool.h>
#include <stdint.h>

#include "wall/switches.h"
#include "wall/wall.h"

/* Fill slots made by wall_open_switches() by scans from now on. */
void wall_use_polls(struct wall *w);

/* A thread as /proc/PID/task/TID/stat has it. */
struct wall_task {
	char state;			/* one letter, as the kernel has it */
	char comm[16];
	int parent;			/* of its process */
	uint64_t start_ns;		/* CLOCK_MONOTONIC, to a clock tick */
	uint64_t stack;			/* where the first thread's begins: moves at an exec; 0: not known */
};

/* -ESRCH: it has ended, also where its number is kept for its parent. */
int wall_task_read(int pid, int tid, struct wall_task *task);

/*
 * Look at a slot's thread, at now_ns. *task: its state, if that had to be read; else state is 0. -ESRCH: it
 * has ended.
 */
int wall_poll(struct wall *w, uint32_t slot, uint64_t now_ns, struct wall_task *task);
/* Return when the thread was looked at last; 0: not yet. */
uint64_t wall_polled_ns(const struct wall *w, uint32_t slot);
/* Return since when the current block stands for what its thread was blocked. */
uint64_t wall_stands_ns(const struct wall *w, uint32_t slot);
/* Return whether the slot's thread has not run since the latest look. */
bool wall_stays(struct wall *w, const struct wall_slot *s);
/*
 * Find the block in which a thread was that had used that much CPU time, with what it stands for; return
 * false if no scan found it in one, or it is forgotten by now.
 */
bool wall_block_of(const struct wall *w, uint32_t slot, uint64_t ran_ns, struct wall_block *b);

#endif
