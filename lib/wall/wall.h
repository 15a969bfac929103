/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wall.h - the slots of threads (jvm/wall.h), and the BPF programs that write them. The programs go with
 * the process that loaded them.
 */
#ifndef WALL_WALL_H
#define WALL_WALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "jvm/wall.h"
#include "wall/bpf/config.h"

enum { WALL_DEFAULT_SLOTS = 1 << 15 };

struct wall_opts {
	uint32_t nr_slots;		/* threads at a time; 0: WALL_DEFAULT_SLOTS */
	bool wakes;			/* with BPF: also where wakers were */
	bool basic;			/* take the programs for Linux 5.10 on any kernel, to test them */
	bool all;			/* of the machine; else those of */
	const int *pids;		/* processes, and what they will start */
	size_t nr_pids;
	const int *tids;		/* threads, and what they will start */
	size_t nr_tids;
	uint64_t interval_ns;		/* without BPF: between looks; half as long is a long block */
};

struct wall;

/*
 * Loads the programs and makes a slot for each thread there is. -ENOTSUP: this kernel cannot, -EPERM: this
 * user may not; *e says what would help.
 */
int wall_open(struct wall **w, const struct wall_opts *o, struct err *e);
void wall_close(struct wall *w);	/* NULL: nothing */

/* Return the end of used slot numbers, which begin at 1; it grows. */
uint32_t wall_nr_used(const struct wall *w);
/* Return the number of threads that found no slot. */
uint32_t wall_nr_refused(const struct wall *w);
/*
 * Begin a scan. Without BPF wall_done_of() will know the blocks that have begun by now, as the scan can find
 * them, and long ones.
 */
void wall_look(struct wall *w, uint64_t now_ns);
/* Mark a block that is about to be walked, with BPF; when it is over wall_done_of() will know it. */
void wall_mark(struct wall *w, uint32_t slot, uint32_t block_nr);
uint64_t wall_stamp_of(const struct wall *w, uint32_t slot);
/* Return the slot as it is being written. */
const struct wall_slot *wall_slot_at(const struct wall *w, uint32_t slot);
/* Copy a slot at one moment; return false if it changed all the time. */
bool wall_read(const struct wall *w, uint32_t slot, struct wall_slot *copy);
/*
 * Do the same, waiting up to a second for the writer: a hypervisor may take the CPU from it for as long as it
 * likes.
 */
bool wall_read_surely(const struct wall *w, uint32_t slot, struct wall_slot *copy);
/* Give back a slot that is WALL_GONE and that is not looked at any more: another thread may have it. */
void wall_give_back(struct wall *w, uint32_t slot);
/* Return a block that was marked (without BPF, seen) and is over; NULL: it is not, or is forgotten by now. */
const struct wall_done *wall_done_of(const struct wall_slot *s, uint32_t block_nr);

/*
 * Get where in the kernel a marked block was that is over, and for which file. False: that is forgotten by
 * now, or was not seen, or there is no BPF.
 */
bool wall_where_of(const struct wall *w, uint32_t slot, uint32_t block_nr, struct wall_where *copy);
/*
 * Get where the thread was that ended a marked block, if it has a slot. False: that is forgotten by now, or
 * was not requested.
 */
bool wall_wake_of(const struct wall *w, uint32_t slot, uint32_t block_nr, struct wall_wake *copy);
/*
 * Call each() with what wall_where_of() returns, for all threads that are in a block now. It looks at
 * each thread of the machine.
 */
void wall_each_where(struct wall *w, void (*each)(void *ctx, const struct wall_where *at), void *ctx);

/*
 * Return a BPF program for perf events of CPUs, which lets through samples of threads with a slot. 0: no BPF.
 */
int wall_filter(const struct wall *w);
/*
 * Return the file that the program writes samples to of processes for which wall_trap() was called, in
 * place of letting them through. After that it sends a SIGTRAP to the thread when it returns to user
 * code: si_code is SI_KERNEL, and si_value the time, CLOCK_MONOTONIC. The file is of a
 * BPF_MAP_TYPE_PERF_EVENT_ARRAY and gets struct trapped_sample; a CPU without an event there has no such
 * samples. 0: this kernel cannot (before 6.18), or no BPF.
 */
int wall_trapped(const struct wall *w);
/* Note a process that handles the signal, until it executes another program. Returns -errno. */
int wall_trap(struct wall *w, int pid);

/* The maps, for others who look; the descriptors are the wall's. */
struct wall_maps {
	int slots_fd, stamps_fd, marks_fd;
	int wakes_fd, anchors_fd;	/* -1: where wakers were was not asked for */
	uint32_t nr_slots;
};
void wall_maps(const struct wall *w, struct wall_maps *m);

/*
 * Return which totals have a block of that class and site (wall_slot.site): those of the class or, from
 * WALL_NR_CLASSES on, those of the site, when no other has it by now.
 */
unsigned int wall_place(const struct wall_slot *s, uint32_t class, uint32_t site);

/*
 * Get what it had used of CPUs when a clock's sample of it was taken, at that time. Returns false if that
 * is not known any more, or without BPF.
 */
bool wall_cpu_at(const struct wall_slot *s, uint64_t time_ns, uint64_t *cpu_ns);

/* The times of a thread until a moment, complete: the sum is that less born_ns. */
struct wall_times {
	uint64_t cpu_ns, preempted_ns;
	uint64_t blocked_ns[WALL_NR_PLACES], queued_ns[WALL_NR_PLACES];	/* by place: see wall_place() */
};

/*
 * Return the moment up to which s is known. now_ns: just before s was read, or later while it is known that
 * nothing changed. If s is younger, the times are those of when it changed: so that their sum is that moment
 * less born_ns.
 */
uint64_t wall_moment(const struct wall_slot *s, uint64_t now_ns);
/* Move the times of one place to another. */
void wall_times_move(struct wall_times *t, unsigned int to, unsigned int from);
/* Get the times without what goes on: only of what is over. */
void wall_times_over(const struct wall_slot *s, struct wall_times *t);
void wall_times_at(const struct wall_slot *s, uint64_t now_ns, struct wall_times *t);
/*
 * Correct times at now_ns: a thread that seems to wait for a CPU all the time may have run, where a kernel
 * hides switches. What it was charged since then, as /proc has it, was no waiting.
 */
void wall_times_charged(const struct wall_slot *s, uint64_t now_ns, struct wall_times *t);
/*
 * Level times after a wait that was reported turned out to be something else: no time of t may be less
 * than what was reported. What was reported too much is taken from the others, CPU time first; the sum stays.
 */
void wall_times_level(struct wall_times *t, const struct wall_times *told);

#endif
