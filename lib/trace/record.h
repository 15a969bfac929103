/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record.h - what a trace says, decoded: one struct a kind of record.  The writer takes them, the reader's
 * sink gives them.  They are made of table.h, which explains their members and says what bytes they are; here
 * are the values that the members can have, and the structs of what has code of its own.
 *
 * Identities.  The recorder numbers what it sees; a number is never used twice in a trace.
 *   proc    one process image: a pid from fork or exec to the next exec or exit, so that
 *           samples before and after an exec belong to different names and maps
 *   thread  one tid of a proc
 *   module  one mapped file (or [kernel.kallsyms], [vdso], a kernel module)
 *   method  one Java method of a proc
 *   function  one that is known by its name alone: profiles of other programs have these
 *   event   index of the sampled event, in the order of the Z vector's "event.N" keys
 * Number 0 is never used: it means "none".
 *
 * Times are CLOCK_MONOTONIC nanoseconds.  Addresses inside a module are file offsets
 * (addr - map start + map pgoff), of the kernel and its modules absolute addresses.
 */
#ifndef TRACE_RECORD_H
#define TRACE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/frame.h"

/* whether a sample's stack is complete; reports print the shares */
enum stack_end {
	STACK_COMPLETE,		/* reached the root */
	STACK_CUT,		/* ends in a FRAME_MARK */
	STACK_NOT_ASKED,	/* recorded without call graph */
};

struct rec_sample {
	uint64_t time_ns;
	uint32_t thread;
	uint32_t stack;		/* node of the current epoch; 0: no stack */
	uint64_t weight;	/* the event's period: ns of CPU, or number of events */
	uint16_t event;
	uint16_t cpu;
	bool user;		/* interrupted in user mode */
	/*
	 * Samples that it stands for beside itself, in the sums of an imported profile; -1: a value
	 * without a number of samples.
	 */
	int64_t more;
	/*
	 * Used only during a recording: the address of the data, such as that of a fault; 0 if not asked
	 * for.
	 */
	uint64_t data_addr;
};

enum sched_at {		/* what is so when a file begins */
	SCHED_AT_CPU,		/* the CPU has the thread; 0: one that is not covered */
	SCHED_AT_INTR,		/* the CPU's thread is interrupted by arg = sched_intr(); outermost first */
	SCHED_AT_RUNS,		/* the thread is on a CPU, */
	SCHED_AT_WAITS,		/* waits for one, */
	SCHED_AT_SLEEPS,	/* is blocked, */
	SCHED_AT_DISK,		/* in disk sleep, */
	SCHED_AT_UNKNOWN,	/* or who knows: records are missing */
};

enum module_flags {
	MODULE_KERNEL = 1 << 0,
	MODULE_VDSO = 1 << 1,
	MODULE_ANON = 1 << 2,	/* no file behind it */
	MODULE_ARCPROF = 1 << 3,	/* what arcprof itself puts into the programs that it measures */
};

/* The kind of a function as far as it is known: kinds.h. */
enum function_kind {
#define FUNCTION(number, kind, ...) FUNCTION_##kind = (number),
#include "trace/kinds.h"
	FUNCTION_NR = 0
#define FUNCTION(...) + 1
#include "trace/kinds.h"
};

enum tally_kind {
#define TALLY(kind) TALLY_##kind,
#include "base/eventkinds.h"
	TALLY_NR
};

enum lock_wait {			/* how threads waited for a lock */
#define WAIT(kind, name) LOCK_##kind,
#include "base/eventkinds.h"
	LOCK_NR_WAITS
};

enum footprint_kind {
	FOOTPRINT_PROCESS,	/* begins a reading; text: the JVM, "" if it is none or has not said */
	FOOTPRINT_NOT_ASKED,	/* text: why the JVM was not asked */
	FOOTPRINT_PART,		/* text: a part of lib/resident, such as "java_heap" */
	FOOTPRINT_CATEGORY,	/* text: one of the JVM's own account, such as "Java Heap" */
	FOOTPRINT_BUFFERS,	/* direct buffers of Java; text: why they are not known, "" they are */
};

enum footprint_flags { FOOTPRINT_IS_JVM = 1 << 0, FOOTPRINT_NOT_READ = 1 << 1 };

enum wake_kind {			/* who ended a wait */
	WAKE_UNKNOWN,
	WAKE_NOT_ENDED,		/* nobody, as long as was recorded */
	WAKE_THREAD,
	WAKE_TIMER,
	WAKE_INTERRUPT,		/* of a device, of the network, or a timer beside those */
	WAKE_NR
};

/* A trace with this label has records "waited": samples of "lock" without one weigh what the wait took. */
#define WAITED_LABEL "lock.lengths"

/*
 * Of a segment: what its samples of "blame" have of waits that end in a later one, and what those of earlier
 * ones have of waits that end here, in ns. What is charged here is what these waits took, and the first, less
 * the second.
 */
#define CHARGED_AHEAD_LABEL "lock.charged.ahead_ns"
#define CHARGED_BEFORE_LABEL "lock.charged.before_ns"

enum thread_label_flags {
	THREAD_LABEL_UNKNOWN = 1 << 0,	/* records of it were lost: which it has is not known */
};

/*
 * The name of Java threads that are arcprof's own, and the one function of what it puts into a program. What
 * these threads wait is not a wait of the program: reports leave it out.
 */
#define OWN_NAME "[arcprof]"

/* So end names of functions in modules of arcprof's own that stand for one of the program's, and call it. */
#define WAY_THROUGH "_through"

/* The innermost frames of the source "wall" that are no reason to wait, nor a file that is waited for. */
#define REASON_ON_CPU "[on CPU]"
#define REASON_RUNNABLE "[runnable]"

/*
 * Branches of one thread that follow each other; branch.h reads the bytes.  In an instruction
 * trace addresses are those of the process, and what is mapped there is what was written to the
 * file before the run.
 */
struct rec_branches {
	uint64_t time_ns;	/* of the first one */
	uint32_t thread;
	uint16_t cpu;		/* UINT16_MAX unknown */
	bool kernel;
	uint64_t start;		/* of the first block */
	uint64_t nr;
	const uint8_t *bytes;
	size_t len;
};

/*
 * The scheduler's view: who got a CPU, who lost it and why, who became ready, and what
 * interrupted them.  Thread 0 is one that the recording does not cover.
 */
enum sched_kind {
	SCHED_SWITCH,		/* the CPU goes from thread to arg; 0 when only one side is known */
	SCHED_WAKE,		/* thread became runnable; arg woke it, 0 unknown */
	SCHED_INTR,		/* thread is interrupted by arg = sched_intr() */
	SCHED_INTR_END,
	SCHED_NR
};

enum sched_state {		/* of the thread that lost the CPU */
	SCHED_RUNNABLE,		/* preempted, or it yielded: it waits for a CPU */
	SCHED_SLEEP,		/* interruptible */
	SCHED_DISK,		/* uninterruptible */
	SCHED_STOPPED,		/* by a signal or a tracer; parked */
	SCHED_DEAD,
	SCHED_IDLE_KTHREAD,		/* kernel threads: uninterruptible, not counted as load */
	SCHED_BLOCKED,		/* not runnable; which of these is unknown */
	SCHED_UNTOLD,		/* any; its own record is missing */
	SCHED_NR_STATES
};

enum sched_intr_class {
	SCHED_INTR_DEVICE,	/* number: of the line; the label "irq.N" has its name */
	SCHED_INTR_SOFT,	/* number: of the soft interrupt */
	SCHED_INTR_VECTOR,	/* number: of the vector; the label "vector.N" has its name */
	SCHED_INTR_IPI,		/* from another CPU; no number */
	SCHED_INTR_NR
};

static inline uint32_t sched_intr(enum sched_intr_class c, uint32_t number)
{
	return c << 24 | (number & 0xffffff);
}

struct rec_sched {
	uint64_t time_ns;
	uint32_t thread, arg;
	uint16_t cpu;
	uint8_t kind;		/* enum sched_kind */
	uint8_t state;		/* enum sched_state, of SCHED_SWITCH */
};

/* kinds of events, which happened at a time or lasted for one */
enum event_kind {
#define EVENT(kind, ...) EVENT_##kind,
#include "base/eventkinds.h"
	EVENT_NR
};

#define EVENT_UNKNOWN UINT64_MAX	/* a duration or value that is not known, or that the kind has not */

enum lost_cause {
	LOST_RING,		/* the kernel's buffer was full */
	LOST_AGENT,		/* the agent's buffer was full */
	LOST_FILE,		/* the limit of one of several files, or the disk was full */
	LOST_THROTTLED,		/* the kernel throttled the event; count is unknown (1 each) */
	LOST_UNPAIRED,		/* traps without their kernel half */
	LOST_CALLS,		/* calls of threads that did not fit */
	LOST_SCHED,		/* dispatches and interrupts; the buffer or the file was full */
	LOST_SKIPPED,		/* nothing is: hits of a JVM whose weight the next sample has */
	/* nothing is: what came from time_ns on, when the trace was as large as it may be */
	LOST_STOPPED,		/* samples */
	LOST_SCHED_STOPPED,	/* dispatches and interrupts */
	LOST_NR
};

/* struct rec_proc, struct rec_thread and so on. */
#define TYPE_u32 uint32_t
#define TYPE_x32 uint32_t
#define TYPE_i32 int32_t
#define TYPE_u64 uint64_t
#define TYPE_x64 uint64_t
#define TYPE_v uint64_t
#define TYPE_s char
#define TYPE_b uint8_t
#define TIME_TIMED uint64_t time_ns;
#define TIME_UNTIMED
#define NUMBER(type, name, member, unit, is_key) TYPE_##type member;
#define STRING(type, name, member, length) \
	const TYPE_##type *member; \
	size_t length;
#define PAIRS(count, first, second, member, length) STRING(b, count, member, length)
#define MEMBER(type, member) type member;
#define ELEMENT(type, name, member)
#define RECORD(s, chunk, time, major, code, name, fields) struct rec_##s { TIME_##time fields };
#include "trace/table.h"
#undef TYPE_u32
#undef TYPE_x32
#undef TYPE_i32
#undef TYPE_u64
#undef TYPE_x64
#undef TYPE_v
#undef TYPE_s
#undef TYPE_b
#undef TIME_TIMED
#undef TIME_UNTIMED

#endif
