/* SPDX-License-Identifier: MIT */
/*
 * wall.h - what each thread does at this moment: memory that BPF programs write on every switch
 * (lib/wall/bpf/wall.bpf.c), and that the recorder and the agents of JVMs map and read.
 *
 * Two array maps, frozen for user space: wall_slots, a struct wall_slot a thread, and wall_stamps, a u64 a
 * slot: the time when it last began to block, had ended a block that somebody marked, or ended
 * itself.  Map both PROT_READ, MAP_SHARED.  A third, wall_marks, a u64 a slot, is for all who look to
 * write: the number of the block that is being walked.  When that is over, its length and its waker are in
 * wall_slot.done.
 *
 * Who wants to walk the stacks of blocked threads looks at all stamps at an interval, and at the slots whose
 * stamp is not older than their last look (wall_is_new()): whoever stays blocked costs nothing.  A slot's
 * registers, since_ns and syscall belong to a block, and are those of block_nr: read block_nr, which must
 * be odd, and with acquire order state, which must be WALL_BLOCKED; take what is wanted and the copy of the
 * stack; and read block_nr again behind an acquire fence.  The same: all of it was valid, because the thread
 * did not run meanwhile (it may have been woken, and waits for a CPU). Keep the number of the block that was
 * walked last, by slot: once is enough.
 *
 * Which blocks get walked is decided by the moment of the look alone, so that a block of length L is hit with
 * the probability L / interval, or 1 when it is longer; walk right then, without waiting, or the
 * short ones are missed.  Mark the block before its state is read: one that ends meanwhile is known, then.
 */
#ifndef JVM_WALL_H
#define JVM_WALL_H

#include <linux/types.h>

enum {
	WALL_LATE_NS = 2000000, WALL_NR_ARGS = 3, WALL_NR_CLASSES = 12, WALL_NR_DONE = 4,
	WALL_NR_TICKS = 16,			/* a power of two */
	WALL_NR_SITES = 8,
	WALL_NR_PLACES = WALL_NR_CLASSES + WALL_NR_SITES,	/* what has totals of its own */
	WALL_NR_WAKES = 1024,			/* a power of two */
	WALL_PAGE = 4096,
	WALL_WAKE_PAGES = 4,			/* of a waker's stack, and the part of one before them */
	WALL_NR_ANCHOR = 32,
};

/* which thread ended a block: its number as the recorder sees it, or one of these */
enum wall_waker {
	WALL_WAKER_UNKNOWN,		/* no wake-up was seen */
	WALL_WAKER_FIRST = 0xfffffff0,	/* from here on there are no threads */
	WALL_WAKER_TIMER = WALL_WAKER_FIRST,
	WALL_WAKER_INTERRUPT,
};

enum wall_state {
	WALL_FREE,		/* nobody's */
	WALL_NEW,		/* somebody's, and nothing is known yet */
	WALL_ON_CPU,
	WALL_BLOCKED,
	WALL_RUNNABLE,		/* woken, or just created: waits for a CPU */
	WALL_PREEMPTED,		/* waits for a CPU again */
	WALL_GONE,		/* has ended; what is here are its last values */
};

/* The file in the arguments of a system call. */
enum wall_files {
	WALL_NO_FILE,
	WALL_FILE,		/* the first is a descriptor */
	WALL_LIST,		/* the first is of struct pollfd, the second their number */
};

/* why a thread does not run, as far as the kernel's side knows: by its state and system call */
enum wall_class {
	WALL_CLASS_OTHER,	/* a system call that is none of these */
	WALL_CLASS_FUTEX,
	WALL_CLASS_SLEEP,	/* nanosleep, clock_nanosleep */
	WALL_CLASS_READ,	/* read, recv, accept: something has to come */
	WALL_CLASS_WRITE,	/* write, send, connect: something has to go */
	WALL_CLASS_POLL,	/* poll, select, epoll_wait */
	WALL_CLASS_FILE,	/* open, stat, fsync, rename ...: a file system */
	WALL_CLASS_CHILD,	/* wait4, waitid */
	WALL_CLASS_SIGNAL,	/* pause, sigwait, sigsuspend */
	WALL_CLASS_FAULT,	/* a page fault */
	WALL_CLASS_STOPPED,	/* by a signal or a tracer, or frozen */
	WALL_CLASS_KERNEL,	/* no user code: a kernel thread, or one that begins or ends */
};

/* The reason for which a thread waits, as reports show it. */
enum wall_reason {
	WALL_UNKNOWN,
	WALL_MONITOR,		/* Java's synchronized */
	WALL_PARK,		/* LockSupport.park; with the blocker's class */
	WALL_WAIT,		/* Object.wait */
	WALL_SLEEP,
	WALL_SAFEPOINT,		/* a safepoint, or an operation of the VM */
	WALL_GC,
	WALL_IO,		/* the system call, and the kind of file */
	WALL_LOCK,		/* a lock of native code, and its condition variables */
	WALL_FAULT,
	WALL_STOPPED,
	WALL_OTHER,		/* another system call */
	WALL_NR_REASONS
};

struct wall_regs {		/* of the user code that blocked; on x86-64 all of these */
	__u64 pc, sp, fp;
	__u64 rbx, r12, r13, r14, r15;
};

/*
 * The place where a thread blocks: its class and stack pointer. Functions mostly wait at depths of their
 * own, so that the wait of each is known exactly. Functions mostly wait at depths of their own, so that
 * what each of them waits is known whatever the luck of sampling. The latest few of a thread have totals;
 * one that makes room for another adds its own to those of its class.
 */
struct wall_site {
	__u64 key;		/* stack pointer and class; 0: nobody's */
	__u64 used_ns;		/* when it was used last */
	__u32 class;
	__u32 nr;		/* another when another takes its place */
	__u64 blocked_ns, queued_ns;	/* as those of a class */
};

struct wall_slot {
	__u32 tid;		/* as the recorder sees it; 0: the slot is free */
	__u32 pid;
	__u32 own_tid, own_pid;	/* as the process itself sees them; 0 free */
	/*
	 * Odd from a switch that blocks until the thread runs again; it never comes back to a number, whoever
	 * has the slot.
	 */
	__u32 block_nr;
	__u32 state;		/* enum wall_state */
	__u32 seq;		/* of all that follows: odd while it is being written */
	__s32 syscall;		/* at the block; -1: none */
	__u64 args[WALL_NR_ARGS];	/* of WALL_LIST: [1] files, and if that is 1 [0] is it */
	struct wall_regs regs;
	__u32 class;		/* enum wall_class, of the block */
	__u32 site;		/* of the block, as wall_site_id(); 0: none, it counts for its class */
	__u32 woken_early;	/* BPF's own: a wake-up came while it was not blocked */
	__u32 waker;		/* who ended the last block: a tid, or an enum wall_waker */
	/* CLOCK_MONOTONIC */
	__u64 since_ns;		/* of the state; after a block (WALL_RUNNABLE) still of the block */
	__u64 woken_ns;		/* when it was made runnable: since when it waits for a CPU */
	__u64 born_ns;		/* since when the slot counts */
	/* Totals of what is over; what goes on since since_ns comes on top. */
	__u64 cpu_ns;
	__u64 preempted_ns;	/* waited for a CPU when it was new, was preempted, or yielded */
	__u64 blocked_ns[WALL_NR_CLASSES];	/* at no site */
	__u64 queued_ns[WALL_NR_CLASSES];	/* waited for a CPU after such a block */
	struct wall_site sites[WALL_NR_SITES];
	__u64 nr_blocks;
	/* The latest blocks that are over and were marked. */
	struct wall_done {
		__u32 nr;		/* block_nr */
		__u32 waker;
		__u64 ns;		/* how long it was */
	} done[WALL_NR_DONE];
	__u64 nr_done;		/* the next is at its remainder */
	/* The CPU time that the thread had used when clocks last hit it: samples are looked at later. */
	struct wall_tick {
		__u64 time_ns, cpu_ns;
	} ticks[WALL_NR_TICKS];
	__u64 nr_ticks;		/* the next is at its remainder */
	/* BPF's own */
	__u32 kernel_tid;	/* in the first PID namespace */
	__u32 pad;
	__u64 identity;
	__u64 exec_ns;		/* what the kernel had charged the thread when it lost a CPU last */
};

/*
 * The user code in which a thread was when it ended a marked block: its registers, and the innermost part
 * of its stack. It is at wall_wake_at() of that block until another takes its place. Only of wakers with
 * a slot. wall_anchors, a u64 a slot, is for agents to write: where a thread that may wake others has its
 * JavaFrameAnchor, and behind it its state.
 */
struct wall_wake {
	__u32 slot, block_nr;		/* of the block that it ended; block_nr 0: it is being written */
	__u32 busy;			/* somebody writes it: whoever comes meanwhile does not */
	__u32 tid, pid;			/* whose stack it is, as the recorder sees them */
	__u32 own_tid, own_pid;		/* and as the process itself does */
	__u32 nr_bytes;			/* of it, from the stack pointer on */
	struct wall_regs regs;
	__u64 anchor_at;		/* of the waker's slot; 0: none */
	__u64 anchor[WALL_NR_ANCHOR];	/* what was there */
	__u8 stack[(WALL_WAKE_PAGES + 1) * WALL_PAGE];
};

static inline __u32 wall_wake_at(__u32 slot, __u32 block_nr)
{
	return (slot * 4 + (block_nr >> 1 & 3)) & (WALL_NR_WAKES - 1);
}

static inline __u32 wall_site_id(__u32 i, __u32 nr)
{
	return nr << 4 | (i + 1);
}

/* Return whether something has happened to the slot since a scan that began at look_ns, or a bit before. */
static inline int wall_is_new(__u64 stamp, __u64 look_ns)
{
	return stamp + WALL_LATE_NS >= look_ns;
}

#endif
