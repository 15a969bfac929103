/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * itrace.h - the trace of instructions on x86-64: the trap flag is set in a thread's registers,
 * and the trap behind each instruction is handled here instead of becoming a signal.
 *
 * Invariants, cited below as [n]:
 *  [1] only a thread itself steps its struct thread: in its traps, its hooks, its task work.
 *      Others may take it out of the table, and then wait (synchronize_rcu) before they touch it;
 *  [2] a task is in the table only until sched_process_exit; no reference is held;
 *  [3] a trap flag may survive where the program keeps flags: in frames of signal handlers. So a
 *      process that was traced is marked until its end or its exec, and what traps there is
 *      swallowed; a marked process holds the module;
 *  [4] whoever debugs the thread comes first: from its first trap on, nothing of ours is left.
 */
#ifndef ARCPROF_ITRACE_H
#define ARCPROF_ITRACE_H

#include <linux/list.h>
#include <linux/ptrace.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/task_work.h>
#include <linux/wait.h>
#include "branch.h"
#include "module.h"

struct thread {
	struct hlist_node hash;
	struct task_struct *task;	/* NULL: no thread's; under itrace.lock */
	struct itrace *it;
	struct arcprof_ring *ring;
	struct arcprof_branch *record;
	u64 next;			/* place of the next record: head % nr_records */
	/* not traced yet: before its exec, or before it goes back to its program */
	bool waiting;
	/* JOIN is using it: no thread gets the ring, even if its own has ended */
	bool joining;
	bool removed;			/* by itrace_stop() */
	/* The instruction that is executed next, and the block before it. */
	u64 ip;
	struct branch_insn insn;
	bool known;			/* insn is; else its page was not there */
	u64 resume_ip;			/* where it goes if it is sigreturn, or 0 */
	u64 flags;			/* of the CPU, before a system call */
	bool maps;			/* the system call may map executable memory */
	u64 nr_insns;
	/* Task work. */
	struct callback_head work;
	unsigned long work_bits;	/* enum thread_work */
};

enum thread_work {
	WORK_QUEUED,
	WORK_HANDLER,			/* a signal's handler is about to run */
	WORK_WAKE,			/* readers have something to read */
	WORK_SYNC,			/* and must have read all of it */
	WORK_BEGIN,			/* another thread said JOIN */
	WORK_LAST,			/* the work is behind that of others */
};

struct itrace {
	refcount_t refs;		/* the descriptor, and each task work */
	fl_owner_t owner;		/* the table of descriptors of whoever started it */
	u32 flags;
	u32 nr_rings;
	u64 nr_records;
	size_t stride;
	struct area area;
	bool privileged;		/* may follow where the program gains rights */
	bool stopped;
	raw_spinlock_t lock;		/* thread[].task, the counts */
	u32 nr_threads, nr_refused;
	u64 nr_joined;
	struct arcprof_itrace_stat past;	/* of rings that were given to others */
	wait_queue_head_t readable, room;
	struct rcu_head rcu;
	struct thread *thread;		/* one a ring */
};

/* ---- step.c: one thread ---- */

/* Return the traced thread of a task, or NULL. */
struct thread *thread_find_hook(const struct task_struct *task);
/*
 * Give a task a ring and a place in the table. Returns NULL when all are in use, or it is there already.
 * creator: the traced task that made it, or NULL; waiting: see there.
 */
struct thread *thread_new_hook(struct itrace *it, struct task_struct *task, const struct task_struct *creator,
			       bool waiting);
/* Remove a thread from the table: it is not traced from now on. Returns false if it was removed already. */
bool thread_remove_hook(struct thread *t);
/* Begin tracing with the instruction that regs point to. */
void thread_begin_hook(struct thread *t, struct pt_regs *regs);
/* Retire the instruction before a trap. */
void thread_step_hook(struct thread *t, struct pt_regs *regs);
/*
 * Settle a thread, in its hook, before a signal or its end: a system call that it is in, or has just made,
 * counts as executed. So does an instruction whose purpose is the signal.
 */
void thread_settle_hook(struct thread *t, struct pt_regs *regs);
/* Note that its system call has replaced the program. */
void thread_exec_hook(struct thread *t);
/* Note that a signal's handler is next, at regs->ip. */
void thread_handler_hook(struct thread *t, struct pt_regs *regs);
/* End a thread's trace with a last record. What it does next is not traced. */
void thread_end_hook(struct thread *t, enum arcprof_branch_kind kind, u64 to);
/* Do the same where its program is not to be traced. */
void thread_refuse_hook(struct thread *t, const struct pt_regs *regs);
/* End a thread that was removed from the table elsewhere, after synchronize_rcu(). */
void thread_close_late(struct thread *t);

/* ---- itrace.c ---- */

void itrace_queue_hook(struct thread *t, enum thread_work why);

#endif
