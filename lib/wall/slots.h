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

/* What of /proc/PID/task/TID is read whenever a thread is found waiting. */
enum proc_file { PROC_SCHEDSTAT, PROC_SYSCALL, PROC_WCHAN, NR_PROC_FILES };

/* Of a thread that was found waiting before: to open them takes three times as long as to read them. */
struct proc_files {
	bool known;			/* they were read before */
	int fd[NR_PROC_FILES];		/* 0: not open */
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
};

struct switches {
	struct wall_slot *slots;	/* the same as the wall's */
	uint64_t *stamps;
	struct thread *threads;		/* [nr_slots] */
	uint64_t long_ns;
	size_t nr_open, most_open;	/* files of /proc that are kept open */
	struct map by_tid;		/* -> slot, 0 none any more */
	uint32_t *free;
	size_t nr_free, alloc_free;
};

/* NULL: of somebody who is asked once. */
struct asked {
	struct switches *switches;
	struct thread *thread;
};

#endif
