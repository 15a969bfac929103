/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wall_priv.h - what the files of the source "wall" share: wall.c looks at threads, and wallaccount.c
 * keeps an account of each and writes it.
 */
#ifndef COLLECT_WALL_PRIV_H
#define COLLECT_WALL_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/strtab.h"
#include "collect/wall/wallstack.h"
#include "collect/wall/wallwake.h"
#include "trace/frame.h"
#include "trace/record.h"
#include "wall/wall.h"

struct collect;
struct wallpolls;

enum {
	PLACE_ON_CPU = WALL_NR_PLACES,
	NR_PLACES,
	NR_RAN = 8,
};

/* which thread ended a block */
struct waker {
	enum wake_kind kind;
	uint32_t thread;		/* of the trace */
};

/* The last sighting of a thread in a state: blocked in a class of calls or at a site, or running. */
struct place {
	uint32_t thread;		/* in the trace; 0: it was not seen yet */
	uint32_t reason;		/* a function of the trace */
	struct waker waker;		/* of the last block there that is over */
	uint64_t set_ns;		/* when it was seen there */
	size_t nr, alloc;
	struct frame *frames;		/* outermost first */
	uint32_t marks;			/* stack_marks() of them */
	size_t nr_kernel;		/* 0: not known, or not yet */
	struct frame kernel[WALL_NR_ADDRS];	/* beneath them */
	uint32_t file;			/* a function of the trace; 0: none is known */
	struct wallwake_code code;	/* where the waker was */
};

/* The place where a thread ran, by a sample of a CPU's clock, until it gets its share of the time. */
struct ran {
	uint64_t time_ns;
	uint32_t thread, stack;		/* of the trace */
	uint32_t marks;			/* of the stack */
};

/* A block that was walked, and goes on as far as is known. */
struct block {
	uint32_t nr;			/* 0: there is none */
	unsigned int place;		/* which has its stack */
	uint64_t since_ns;
	uint64_t gap_ns;		/* between the look that saw it and the one before */
	uint64_t look_ns;		/* when that was */
	uint64_t inode;			/* of the file that its place has; 0: not known */
};

struct account {			/* of a slot */
	uint32_t slot;
	bool used;
	uint64_t born_ns;		/* whose it is */
	uint64_t from_ns;		/* since when it counts */
	uint32_t thread;		/* in the trace; 0: not known yet */
	uint32_t seen_nr;		/* the block that was looked at last */
	uint32_t late_nr;		/* the one that was left for later last */
	struct wall_times from;		/* what it had done by then, */
	uint64_t from_blocks;		/* and how often it had blocked */
	struct wall_times told;		/* what was written, with that */
	uint64_t told_ns;		/* of what goes on, up to then */
	struct {
		uint32_t nr, class;
	} sites[WALL_NR_SITES];		/* as the slot had them last */
	struct block block;
	struct place *places[NR_PLACES];
	struct ran ran[NR_RAN];
	size_t nr_ran;
};

struct walls {
	struct wall *wall;
	size_t source;			/* of the recording's */
	struct wallwakes *wakes;	/* NULL: not asked for */
	uint32_t clock;			/* the perf event whose samples say where on-CPU time goes */
	uint64_t interval_ns, look_ns, due_ns;	/* the last look, and the next */
	uint64_t looked_ns;		/* when the last look began that has been at all slots */
	uint64_t random;
	bool on;
	uint64_t begun_ns;		/* when it was on first; 0: it was not */
	/*
	 * Set while accounts begin: when that was. Until they have begun (0), only samples of younger
	 * threads count.
	 */
	uint64_t beginning_ns;
	char *no_bpf;			/* what is lost where the recorder fills the slots; NULL: BPF does */
	struct wallpolls *polls;	/* and no records report switches; NULL: they do */
	char *no_records;		/* why not, then */
	char *no_reading;		/* why stacks of threads cannot be read; NULL: they can */
	uint64_t nr_denied;		/* blocks whose stacks this user may not look at */
	struct account **accounts;	/* [alloc_accounts], by slot; NULL: it was never asked for */
	size_t alloc_accounts;
	struct map reasons, files;	/* string -> function of the trace */
	size_t nr_files;
	unsigned int ephemeral;		/* ports from there on are given to clients */
	struct strtab texts;
	struct map classes;		/* (process, leaf of its agent) -> its name, in texts */
	/* Blocks that were found when there had been enough to walk. */
	struct late {
		uint32_t slot, block_nr;
		uint64_t before_ns;	/* the look before the one that found it */
	} *late;
	size_t nr_late, alloc_late;
	uint64_t nr_missed;		/* of them, over before their turn came */
	uint64_t walked_until_ns;	/* our CPU time when there is enough, */
	bool enough;			/* in this look */
	uint32_t first;			/* slot that the next look begins with */
	/* Slots of threads that an agent is to walk; it may have ended, or know them no more. */
	uint32_t *left;
	size_t nr_left, alloc_left;
	uint32_t on_cpu, runnable;	/* functions */
	struct frame *stack;		/* MAX_FRAMES, and what a wait adds */
	struct waitfile file;
};

/* Return the part of a total that was not written yet. */
static inline uint64_t wall_untold(uint64_t total_ns, uint64_t told_ns)
{
	return total_ns > told_ns ? total_ns - told_ns : 0;
}

/* Look at a thread of which /proc has something new: at once, before a short block of it ends. */
void walls_look_at(struct collect *c, uint32_t slot);

/* ---- what goes into the trace ---- */

/* Return a function of the trace that stands for a reason. */
uint32_t walls_reason(struct collect *c, const char *text);
/* Write a stretch of ns that a thread spent there for that reason. */
void walls_write_time(struct collect *c, const struct place *p, uint32_t reason, uint64_t time_ns,
		      uint64_t ns);
/* Write a stretch in which a thread was blocked; wake: the length of the block, and which thread ended it. */
void walls_write_blocked(struct collect *c, struct place *p, uint64_t ns, struct rec_wake wake);
/* Time in run queues after it had been there; what is little waits. */
void walls_write_queue(struct collect *c, const struct place *p, uint64_t time_ns, uint64_t total_ns,
		       uint64_t *told_ns);

/* ---- accounts ---- */

/*
 * Note that the thread ran at PLACE_ON_CPU when a CPU's clock hit it at time_ns, and had used cpu_ns of CPUs
 * by then. What it used since the previous hit is less if it waited in between, as it is for the first hit
 * after a wait: so NR_RAN of them share.
 */
void account_ran(struct collect *c, struct account *a, uint64_t time_ns, uint64_t cpu_ns);

/* Return that of the slot; it may not be used yet. It stays where it is when others begin. */
struct account *account_of(struct walls *w, uint32_t slot);
/* Begin the account of a slot that was never read, or belongs to another thread by now. */
void account_begin(struct account *a, const struct wall_slot *s);
/*
 * Return whether the slot was given back, and not taken yet: giving it back again would make two threads
 * share it.
 */
bool account_given_back(const struct account *a, const struct wall_slot *s);
/* Note that the thread may have left sites since the last scan; s is of this account's thread. */
void account_follow_sites(struct collect *c, struct account *a, const struct wall_slot *s);
/* Set place number i, which is where it is seen now. */
struct place *account_set_place(struct account *a, unsigned int i, uint32_t thread, uint32_t reason,
				const struct frame *frames, size_t nr);
/* The state of a blocked thread as it was found. */
struct walked {
	uint32_t thread;		/* of the trace */
	const char *reason;
	const struct frame *frames;	/* outermost first */
	size_t nr;
	uint64_t look_ns, gap_ns;	/* when it was seen, and the time since the look before that */
};

/* s is in a block that was walked, and in walls.file is its file: the block is open. */
void account_walked(struct collect *c, struct account *a, const struct wall_slot *s, const struct walked *k);
/* Set the kernel's side of the open block. */
void account_set_where(struct collect *c, struct account *a, const struct wall_where *at);
/* Finish the open block, which has ended; others may have come after it. */
void account_finish_block(struct collect *c, struct account *a, const struct wall_slot *s);
/* Write everything up to now_ns; s was read then. A thread that was walked is taken to be still there. */
void account_tell(struct collect *c, struct account *a, const struct wall_slot *s, uint64_t now_ns);
/* Do the same for the last time: no more will be known of it. */
void account_settle(struct collect *c, struct account *a, const struct wall_slot *s, uint64_t now_ns);
/*
 * Forget what was seen before since_ns, except where the thread is now: it may have no names in the next
 * file.
 */
void account_forget_old(struct account *a, uint64_t since_ns);
void account_forget_codes(struct account *a);
void account_forget_places(struct account *a);

/* ---- wallpolls.c: the source where perf events and BPF are refused ---- */

struct proc;

/* Before the command is executed, if there is one. */
struct wallpolls *wallpolls_new(struct collect *c);
void wallpolls_free(struct wallpolls *x);	/* NULL: nothing */

/* Look at all threads; the first look finds the processes to record. */
void wallpolls_look(struct collect *c, struct wallpolls *x, uint64_t now_ns);
/* Return how long to wait before the next look, so that looks take only a small part of a CPU. */
uint64_t wallpolls_pause_ns(const struct wallpolls *x);
/* Read again what the process has mapped, before a thread of it is walked: no record says so. */
void wallpolls_map(struct collect *c, struct wallpolls *x, struct proc *p);
/* Return the time between two looks, on average; 0: there was one at most. */
uint64_t wallpolls_interval_ns(const struct wallpolls *x);

#endif
