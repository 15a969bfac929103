/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ptt.h - per-thread metrics: what each thread consumed, interrupts set apart, in memory that
 * user space maps.
 *
 * Each CPU has a state: in a hard interrupt, in a soft one, in a registered thread (cur), in
 * another, idle.  Every event (dispatch, begin or end of an interrupt) first charges what was
 * consumed since the last one to the state, then changes the state.
 *
 * Invariants, cited below as [n]:
 *  [1] all is charged to something: the buckets of a CPU sum up to last[0] - start;
 *  [2] the state heals itself: probes go live one by one, so an end may come without its
 *      beginning and the reverse; hence no counters of nesting.  A dispatch is never inside an
 *      interrupt, and an end of a hard interrupt asks the kernel whether there is an outer one;
 *  [3] a task is in the table only until sched_process_exit, so that its pointer, on which no
 *      reference is held, is never another task's: it is entered first, then PF_EXITING is
 *      looked at, which is set before that tracepoint;
 *  [4] a slot is written on the CPU that runs its thread only, or where no CPU has it as cur.
 *
 * Locks, all raw and taken with interrupts off, for the scheduler calls with its own held:
 * session.lock (slots) outside of bucket.lock (the table).  Nothing is allocated after the start.
 */
#ifndef ARCPROF_PTT_H
#define ARCPROF_PTT_H

#include <linux/list.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include "module.h"

#define HASH_BITS	12

struct entry {
	struct hlist_node hash;
	struct task_struct *task;
	u32 next_dead;			/* queue of those that may be recycled; 0: last */
};

struct bucket {
	raw_spinlock_t lock;
	struct hlist_head head;
};

struct session {
	u32 flags;
	struct area area;
	struct arcprof_ptt_header *header;	/* start of the area */
	struct arcprof_cpu *cpu;
	struct arcprof_slot *slot;
	struct counters counters;
	raw_spinlock_t lock;			/* header's counts, the queue */
	u32 dead_first, dead_last;		/* queue; 0: empty */
	u64 next_gen;
	struct entry *entry;			/* one per slot */
	struct bucket bucket[1 << HASH_BITS];
};

/* ---- slots.c; interrupts are off in all of these ---- */

/* Begin writing a slot or a CPU, the writer's side of the sequence. */
static inline void write_begin(u32 *seq)
{
	WRITE_ONCE(*seq, *seq + 1);
	smp_wmb();
}

static inline void write_end(u32 *seq)
{
	smp_wmb();
	WRITE_ONCE(*seq, *seq + 1);
}

static inline u64 faults_of(const struct task_struct *task)
{
	return task->maj_flt + task->min_flt;
}

/* Return the slot of a task, or 0. */
u32 slot_lookup_hook(struct session *s, const struct task_struct *task);
/* Enters a task that is not in the table.  Its slot, or 0 when all are living threads'. */
u32 slot_insert_hook(struct session *s, struct task_struct *task);
/* Takes a task out of the table.  Its slot, or 0. */
u32 slot_remove_hook(struct session *s, const struct task_struct *task);
/* Bury a slot that no thread or CPU uses any more: its values stay until it is recycled. */
void slot_bury_hook(struct session *s, u32 idx);
void slot_names_hook(struct arcprof_slot *slot, const struct task_struct *task);

/* ---- hooks.c ---- */

int hooks_attach(struct session *s);
/* Detach the hooks; afterwards nothing writes the area. */
void hooks_detach(struct session *s);
/* Adopt whatever runs on this CPU: its slot is cur from now on. For on_each_cpu(). */
void hooks_adopt(void *session);

#endif
