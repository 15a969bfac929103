/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slots.h - what the recorder knows of a thread beside its slot, where it fills the slots itself. */
#ifndef WALL_SLOTS_H
#define WALL_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "jvm/wall.h"
#include "wall/switches.h"

enum { NR_PAST = 8 };

/* The files in /proc/PID/task/TID that are read whenever a thread is found waiting. */
enum proc_file { PROC_SCHEDSTAT, PROC_SYSCALL, PROC_WCHAN, NR_PROC_FILES };

/* Open files of a thread that was found waiting before: opening takes three times as long as reading. */
struct proc_files {
	bool known;			/* they were read before */
	int fd[NR_PROC_FILES];		/* 0: not open */
};

/* The kernel's counts of a thread. */
struct run_counts {
	uint64_t ran_ns, waited_ns;	/* on CPUs, and for them */
	uint64_t nr_runs;		/* how often it was given one */
};

struct thread {				/* beside its slot */
	/* Blocks that are over and were long, or had begun at the last look; a ring. */
	struct wall_block past[NR_PAST];
	uint64_t nr_past, nr_settled;	/* of them, those whose time is in the totals */
	uint64_t off_ns, nr_off;	/* of blocks that are over, and not in the totals */
	uint64_t delay_ns;		/* the kernel's count of waiting for CPUs, when read last */
	uint64_t preempted_ns;		/* that much of it was no block's */
	uint64_t owed_ns;		/* waited for a CPU after blocks, and not in the totals */
	struct proc_files files;
	/* polls.c's: */
	struct run_counts last, charged;	/* at the latest look; what of that is in the totals */
	uint64_t polled_ns;		/* when that was; 0: there was none */
	uint64_t stands_ns;		/* since when the block stands for what the thread was blocked */
	uint64_t pending_ns;		/* blocked, since the latest look that found it so */
	uint64_t voluntary;		/* how often it had blocked, when found running; 0: not known */
};

struct switches {
	struct wall_slot *slots;	/* the same as the wall's */
	uint64_t *stamps;
	struct thread *threads;		/* [nr_slots] */
	uint64_t long_ns;
	bool polls;			/* no records tell */
	size_t nr_open, most_open;	/* files of /proc that are kept open */
	struct map by_tid;		/* -> slot, 0 none any more */
	uint32_t *free;
	size_t nr_free, alloc_free;
};

/* NULL: for a thread that is asked once */
struct asked {
	struct switches *switches;
	struct thread *thread;
};

/* switches.c's. From the beginning of the file: bytes read, at least one, or -errno. */
int slots_read_proc(int pid, int tid, const char *name, char *text, size_t size);
/* Read the counts of a thread. -ESRCH: it has ended, or the kernel does not count that. */
int slots_read_counts(const struct asked *a, const struct wall_slot *s, struct run_counts *counts);
/* Move what is over into the totals. */
void slots_settle(struct wall *w, uint32_t slot);
/* Note for readers that the slot changed: the next scan that begins after this finds it. */
void slots_stamp(struct wall *w, uint32_t slot);

/* polls.c: note a thread that was found, and is in its state since then. */
void polls_begin(struct wall *w, uint32_t slot, uint64_t now_ns);
/* Note that it ends then, perhaps in a block. */
void polls_end(struct wall *w, uint32_t slot, uint64_t time_ns);
/* Note that it executes another program then. */
void polls_exec(struct wall *w, uint32_t slot, uint64_t time_ns);

#endif
