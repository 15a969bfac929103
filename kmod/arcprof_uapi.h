/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * arcprof_uapi.h - metrics of threads as the kernel side writes them and user space maps them,
 * and the requests of /dev/arcprof.
 *
 * The same structures are written by the module and by the BPF programs of lib/ptt; one reader
 * serves both.  All sizes are fixed, all padding is zero, nothing here is ever reordered: a
 * change is a new ARCPROF_ABI.
 *
 * Of the module, the area is one mapping (header, then CPUs, then slots, at the header's
 * offsets); of BPF, it is three maps, and the offsets are 0.
 */
#ifndef ARCPROF_UAPI_H
#define ARCPROF_UAPI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define ARCPROF_DEVICE		"/dev/arcprof"
#define ARCPROF_MAGIC		0x50435241u	/* "ARCP" in memory, little-endian */
#define ARCPROF_ABI		1
#define ARCPROF_MAX_METRICS	8
#define ARCPROF_COMM_LEN	16

/* ---- the area ---- */

/* The unit of the time metric and of "last"; nanoseconds = ticks * mult >> shift (128 bits). */
enum arcprof_clock {
	ARCPROF_CLOCK_TSC = 0,			/* x86: rdtsc */
	ARCPROF_CLOCK_MONOTONIC = 1,		/* CLOCK_MONOTONIC, in ns: mult 1, shift 0 */
	ARCPROF_CLOCK_CNTVCT = 2,		/* arm64: cntvct_el0 */
};

enum arcprof_slot_flags {
	ARCPROF_SLOT_RUNNING = 1,		/* executing since last[]; clear in an interrupt */
	ARCPROF_SLOT_DEAD = 2,			/* the thread has ended; its values stay */
	ARCPROF_SLOT_USED = 4,			/* it is, or was, a thread's */
	ARCPROF_SLOT_BASED = 8,			/* the writer's: exec_base is valid */
};

/* The receivers of a CPU's time. All buckets and the time since last[0] sum up to now - start. */
enum arcprof_bucket {
	ARCPROF_BUCKET_IDLE = 0,		/* the idle thread */
	ARCPROF_BUCKET_OTHER = 1,		/* threads without a slot */
	ARCPROF_BUCKET_THREADS = 2,		/* threads with one */
	ARCPROF_BUCKET_HARDIRQ = 3,
	ARCPROF_BUCKET_SOFTIRQ = 4,
	ARCPROF_NR_BUCKETS = 5,
};

enum arcprof_cpu_state {			/* bits */
	ARCPROF_CPU_SOFTIRQ = 1,
	ARCPROF_CPU_HARDIRQ = 2,
};

enum arcprof_cpu_flags {
	ARCPROF_CPU_STARTED = 1,		/* start and last are valid */
	ARCPROF_CPU_IDLE = 2,			/* the idle thread runs */
	ARCPROF_CPU_RUN_SEEN = 4,		/* the writer's: run_nobody is of the thread that runs */
};

/*
 * A metric.  Metric 0 is always the time on the CPU.  The others are events of
 * perf_event_open(), counted on each CPU and charged by the same rules.
 */
struct arcprof_metric {
	__u32 type;				/* PERF_TYPE_*; of metric 0: 0 */
	__u32 reserved;
	__u64 config;
};

struct arcprof_ptt_header {
	__u32 magic;
	__u32 abi;
	__u32 size;				/* of this structure */
	__u32 nr_metrics;			/* 1 to 8, the time included */
	__u32 nr_cpus;				/* entries of the CPU table: highest possible number + 1 */
	__u32 nr_slots;				/* slot 0 included */
	__u32 clock;				/* enum arcprof_clock */
	__u32 shift;
	__u64 mult;
	__u64 cpu_off, slot_off;		/* bytes from the start of the mapping */
	__u64 start;				/* of the session, by its clock */
	/* of the session: another after each start, 0 when it has ended */
	__u64 generation;
	__u32 next_slot;			/* slots below have been used */
	__u32 nr_recycled;			/* slots of ended threads that were given to others */
	/* dispatches without a slot, since all were of living threads */
	__u32 nr_refused;
	__u32 flags;				/* of ARCPROF_IOC_PTT_START */
	struct arcprof_metric metric[ARCPROF_MAX_METRICS];
	__u64 reserved[5];
};						/* 256 bytes */

/*
 * One thread.  seq is odd while the kernel side writes, and has changed after each dispatch and
 * each interrupt.  The thread reads itself so, with compiler barriers only, since the writer
 * runs on the same CPU:
 *
 *	do {
 *		seq = slot->seq;
 *		value = slot->acc[0] + (slot->flags & ARCPROF_SLOT_RUNNING ? clock() - slot->last[0] : 0);
 *	} while (seq != slot->seq);
 *
 * Others need read barriers, must try again on an odd seq, and add clock() - last[0] only while
 * ARCPROF_SLOT_RUNNING is set.  acc[1..] are as of the last dispatch or interrupt.
 *
 * Slot 0 is not a thread's: it holds the sums of those whose slots were recycled.
 */
struct arcprof_slot {
	__u32 seq;
	__u32 flags;				/* enum arcprof_slot_flags */
	__s32 tid;				/* in the first PID namespace */
	__u32 cpu;				/* where it ran last */
	__u64 dispatches;			/* times it got a CPU */
	__u64 interrupts;			/* hardware interrupts that hit it */
	__u64 acc[ARCPROF_MAX_METRICS];		/* while it ran, interrupts left out */
	__u64 last[ARCPROF_MAX_METRICS];	/* raw values when it was dispatched or an interrupt ended */
	__u64 irq_time;				/* ticks of hard and soft interrupts that hit it */
	__u64 gen;				/* of the slot: another for each thread that gets it */
	__u64 switches;				/* times it left its CPU */
	__u64 migrations;			/* dispatches on another CPU than the one before */
	/* page faults of the session, as of the last dispatch or switch */
	__u64 faults;
	__u64 fault_base;			/* the thread's own count when the slot was given to it */
	__s32 tgid;				/* its process */
	__u32 reserved;
	char comm[ARCPROF_COMM_LEN];		/* name, terminated */
	__u64 start;				/* when the slot was given to it, by the session's clock */
	__u64 identity;				/* the writer's: distinguishes threads with the same number */
	/* the writer's: what the kernel charged the thread, in ns, less what is here */
	__u64 exec_base;
};						/* 256 bytes */

/* One CPU. seq is as in the slot; readers on other CPUs need barriers. */
struct arcprof_cpu {
	__u32 seq;
	__u32 state;				/* enum arcprof_cpu_state */
	__u32 cur;				/* slot of the thread that runs, or 0 */
	__u32 flags;				/* enum arcprof_cpu_flags */
	__u64 start;				/* first event seen, by the session's clock */
	__u64 bucket[ARCPROF_NR_BUCKETS];	/* ticks */
	__u64 last[ARCPROF_MAX_METRICS];	/* raw values at the last event */
	/* metrics consumed in interrupts; irq[0] = both irq buckets */
	__u64 irq[ARCPROF_MAX_METRICS];
	__u64 nr_hardirqs, nr_softirqs, nr_switches;
	/* events that did not fit: ends without a beginning, unseen switches */
	__u64 nr_lost;
	__u32 busy;				/* the writer's: an event is being handled */
	__s32 tid;				/* the thread that runs, as the last switch said; 0: idle */
	/* the writer's: ns that the kernel had charged to no thread at the dispatch */
	__u64 run_nobody;
	__u64 run_irq;				/* the same of irq[0] */
	__u64 pad;
};						/* 256 bytes */

/*
 * ---- /dev/arcprof ----
 * All structures begin with their size; reserved members and unknown flags must be 0.
 */

enum arcprof_ptt_flags {
	ARCPROF_PTT_NO_IRQ = 1,			/* interrupts stay with the thread */
	ARCPROF_PTT_FOLLOW = 2,			/* threads that registered ones create are registered too */
	ARCPROF_PTT_ALL = 4,			/* every thread of the machine is, when it is dispatched */
	/* the session outlives the descriptor, until ARCPROF_IOC_PTT_STOP */
	ARCPROF_PTT_KEEP = 8,
};

enum arcprof_features {
	ARCPROF_FEATURE_PTT = 1,		/* per-thread metrics */
	ARCPROF_FEATURE_ITRACE = 2,		/* instruction trace */
	ARCPROF_FEATURE_ITRACE_SYNC = 4,	/* with ARCPROF_ITRACE_SYNC, and joining other threads */
};

struct arcprof_version {
	__u32 size;
	__u32 abi;
	__u32 features;				/* enum arcprof_features */
	__u32 reserved;
};

/*
 * Starts the one session of the machine, which ends with the descriptor unless
 * ARCPROF_PTT_KEEP is set.  Whoever may open the device maps its area for reading.
 * -EBUSY: there is one.  -ENODEV: the kernel cannot count one of the metrics.  -EPERM: it
 * takes CAP_PERFMON.  Without a session the other requests, and mmap(), fail with -ENOENT.
 */
struct arcprof_ptt_start {
	__u32 size;
	__u32 flags;				/* enum arcprof_ptt_flags */
	__u32 nr_slots;				/* slot 0 included; at most 65536 */
	__u32 nr_metrics;			/* the time, metric[0], included */
	struct arcprof_metric metric[ARCPROF_MAX_METRICS];
	__u64 area_len;				/* out: what to mmap() at ARCPROF_MMAP_PTT */
};

/*
 * Gives a thread a slot, or says which it has.  -ESRCH: no such thread, or it is ending;
 * -ENOSPC: no slot is free; -EPERM: another's thread without CAP_PERFMON.  UNREGISTER takes tid;
 * -ESRCH then also: it has no slot.
 */
struct arcprof_ptt_register {
	__u32 size;
	__s32 tid;				/* in the caller's PID namespace; 0: the caller */
	__u32 slot;				/* out */
	__u32 reserved;
	__u64 gen;				/* out */
};

/*
 * The instruction trace (x86-64).  A descriptor has one session with rings, one per thread.
 * JOIN and LEAVE concern the caller, who may be of any process that was handed the descriptor;
 * JOIN may name another thread.  What traced threads create is traced too if the session says so.
 * The trace ends with the descriptor: when it is closed by the process that started the trace,
 * though others have it still.
 */
enum arcprof_itrace_flags {
	ARCPROF_ITRACE_WRAP = 1,		/* a full ring keeps the newest records; else a thread is */
	/* not traced further, or, here, waits for a reader (not itself!) */
	ARCPROF_ITRACE_CONTINUOUS = 2,
	ARCPROF_ITRACE_THREADS = 4,		/* threads that traced ones create */
	ARCPROF_ITRACE_FORKS = 8,		/* processes that they create */
	/*
	 * Wait with CONTINUOUS until all records of a thread are consumed: at START, unless a traced thread
	 * created it, at MAPS and at LAST, so that the reader can look addresses up in /proc.
	 */
	ARCPROF_ITRACE_SYNC = 16,
};

struct arcprof_itrace_start {
	__u32 size;
	__u32 flags;				/* enum arcprof_itrace_flags */
	__u64 nr_records;			/* of each ring, at least 64 */
	__u32 nr_rings;				/* at most 1024; all rings together at most 1 GiB */
	__u32 reserved;
	__u64 ring_stride;			/* out: bytes from ring to ring */
	__u64 area_len;				/* out: what to mmap() at ARCPROF_MMAP_ITRACE */
};

enum arcprof_itrace_join_flags {
	ARCPROF_ITRACE_AT_EXEC = 1,		/* not now: when the caller replaces its program */
};

/*
 * Trace the caller, or another thread, from its next return to its program, or its exec. -EBUSY: the thread
 * is traced, or has a debugger. -ENOSPC: no ring is free. -ESRCH: no such thread, or it is ending. -EPERM:
 * another user's thread requires CAP_SYS_PTRACE, except a child of the caller that has not executed a program
 * yet.
 */
struct arcprof_itrace_join {
	__u32 size;
	__u32 flags;				/* enum arcprof_itrace_join_flags */
	__u32 ring;				/* out */
	__s32 tid;				/* in the caller's PID namespace; 0: the caller */
};

/* Records of a ring below tail have been read: their place is free (continuous mode). */
struct arcprof_itrace_consume {
	__u32 size;
	__u32 ring;
	__u64 tail;
};

struct arcprof_itrace_stat {
	__u32 size;
	__u32 nr_threads;			/* traced now */
	/* as a single-stepper counts them: each round of a repeated one */
	__u64 steps;
	__u64 insns;				/* instructions executed */
	__u64 records, lost;			/* written; overwritten in wrap mode */
	/* traps of threads that are not traced any more, since the module was loaded */
	__u64 stray;
	__u64 nr_refused;			/* threads not traced, for no ring was free */
	__u64 pad[2];
};

/* The reason why a block of instructions ended. */
enum arcprof_branch_kind {
	/* a handler of a signal begins; "from" was not executed yet */
	ARCPROF_BRANCH_INTERRUPT,
	ARCPROF_BRANCH_CALL,
	ARCPROF_BRANCH_RETURN,
	ARCPROF_BRANCH_JUMP,
	ARCPROF_BRANCH_IRET,			/* a handler is left */
	/* control is elsewhere for no reason that an instruction gives */
	ARCPROF_BRANCH_OTHER,
	ARCPROF_BRANCH_CALL_INDIRECT,
	ARCPROF_BRANCH_JUMP_INDIRECT,
	ARCPROF_BRANCH_COND,			/* a conditional one, taken */
	ARCPROF_BRANCH_EXEC,			/* the program is replaced; to is 0 */
	ARCPROF_BRANCH_EXIT,			/* the thread ends; to is 0 */
	ARCPROF_BRANCH_STOP,			/* tracing ends; to is the next instruction */
	ARCPROF_BRANCH_START = 64,		/* it begins, at to; from is the time, CLOCK_MONOTONIC */
	/* ARCPROF_ITRACE_SYNC only.  The block goes on; from is the time: */
	ARCPROF_BRANCH_TIME = 65,		/* now and then */
	ARCPROF_BRANCH_MAPS = 66,		/* behind a call that may have mapped executable memory */
	/* the system call at to is next: it may unmap code, or end the process */
	ARCPROF_BRANCH_LAST = 67,
};

/* A block: begins where the record before it led to. */
struct arcprof_branch {
	__u64 from;				/* the instruction that branched; if none did, the next one */
	__u64 to;
	__u32 nr_insns;				/* of the block, it included; 2^32-1: as many or more */
	__u8 kind;				/* enum arcprof_branch_kind */
	__u8 len;				/* bytes of that instruction; 0: no instruction branched */
	__u16 reserved;
};

enum arcprof_ring_flags {
	ARCPROF_RING_USED = 1,
	/* nothing is added any more; may be a new thread's once consumed */
	ARCPROF_RING_ENDED = 2,
	ARCPROF_RING_FULL = 4,			/* it ended since it was full */
	ARCPROF_RING_REFUSED = 8,		/* it ended at a program of 32 bits, or with more rights */
};

/* Record i is at ARCPROF_RING_RECORDS bytes + (i % nr_records) * 24 from the ring's start. */
struct arcprof_ring {
	__u32 flags;				/* enum arcprof_ring_flags */
	__s32 tid, tgid;			/* in the first PID namespace */
	__s32 creator;				/* tgid of the traced thread that created it; 0: it joined */
	__u64 gen;				/* another for each thread that gets it */
	__u64 nr_records;
	__u64 head;				/* records written */
	__u64 tail;				/* records consumed; in wrap mode, overwritten */
	__u64 steps, insns;			/* of this thread */
	__u64 pad[24];
};

#define ARCPROF_RING_RECORDS		4096

#define ARCPROF_IOC			'A'
#define ARCPROF_IOC_VERSION		_IOWR(ARCPROF_IOC, 0, struct arcprof_version)
#define ARCPROF_IOC_PTT_START		_IOWR(ARCPROF_IOC, 1, struct arcprof_ptt_start)
#define ARCPROF_IOC_PTT_REGISTER	_IOWR(ARCPROF_IOC, 2, struct arcprof_ptt_register)
#define ARCPROF_IOC_PTT_UNREGISTER	_IOW(ARCPROF_IOC, 3, struct arcprof_ptt_register)
#define ARCPROF_IOC_PTT_STOP		_IO(ARCPROF_IOC, 4)
#define ARCPROF_IOC_ITRACE_START	_IOWR(ARCPROF_IOC, 5, struct arcprof_itrace_start)
#define ARCPROF_IOC_ITRACE_STOP		_IO(ARCPROF_IOC, 6)
#define ARCPROF_IOC_ITRACE_STAT		_IOWR(ARCPROF_IOC, 7, struct arcprof_itrace_stat)
#define ARCPROF_IOC_ITRACE_JOIN		_IOWR(ARCPROF_IOC, 8, struct arcprof_itrace_join)
#define ARCPROF_IOC_ITRACE_LEAVE	_IO(ARCPROF_IOC, 9)
#define ARCPROF_IOC_ITRACE_CONSUME	_IOW(ARCPROF_IOC, 10, struct arcprof_itrace_consume)

/* Offsets of mmap(): the area of the session, the rings of the instruction trace. */
#define ARCPROF_MMAP_PTT		0
#define ARCPROF_MMAP_ITRACE		(1ull << 28)

#endif
