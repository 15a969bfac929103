/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record.h - what a trace says, decoded: one struct a kind of record.  The writer
 * takes them, the reader's sink gives them; table.h says what bytes they are.
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

/* How complete a sample's stack is; reports print the shares. */
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
};

struct rec_proc {		/* fork, exec, or found running */
	uint64_t time_ns;
	uint32_t proc, parent;	/* parent: the proc that forked it, or that exec replaced */
	uint32_t pid;
	bool exec;
	const char *comm;
	size_t comm_len;
};

struct rec_thread {		/* a new thread, or a new name for a known one */
	uint64_t time_ns;
	uint32_t thread, proc, tid;
	bool java;		/* name is the Java thread's */
	const char *name;
	size_t name_len;
};

struct rec_thread_group {	/* of a Java thread */
	uint64_t time_ns;
	uint32_t thread;
	const char *name;
	size_t name_len;
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

struct rec_sched_at {		/* in a file of several, before its dispatches */
	uint64_t time_ns;	/* since when */
	uint32_t thread;
	uint32_t what;		/* enum sched_at */
	uint32_t cpu;		/* its number + 1; of a thread: the last it had, 0 unknown */
	uint32_t arg;
};

struct rec_cgroup {		/* the control group of a process, when that began or was found */
	uint64_t time_ns;
	uint32_t proc;
	const char *path;	/* as the recorder saw it; base/cgroup.h finds containers in it */
	size_t path_len;
};

struct rec_end {		/* a process or thread is gone */
	uint64_t time_ns;
	uint32_t proc, thread;	/* one of them 0 */
	int32_t status;
};

enum module_flags {
	MODULE_KERNEL = 1 << 0,
	MODULE_VDSO = 1 << 1,
	MODULE_ANON = 1 << 2,	/* no file behind it */
	MODULE_ARCPROF = 1 << 3,	/* what arcprof itself puts into the programs that it measures */
};

struct rec_module {
	uint64_t time_ns;
	uint32_t module, flags;
	uint64_t dev, inode, size, mtime_ns;	/* 0 when unknown */
	const uint8_t *build_id;
	size_t build_id_len;
	const char *path;	/* as the process sees it */
	size_t path_len;
};

struct rec_map {		/* an executable mapping appeared */
	uint64_t time_ns;
	uint32_t proc, module;
	uint64_t addr, size, pgoff;
};

struct rec_symbol {		/* a function of a module that was hit */
	uint32_t module;
	uint64_t off, size;	/* file offset (kernel: address) */
	const char *name;	/* as the linker knows it, not demangled */
	size_t name_len;
};

/* What a function is, as far as that is known: kinds.h. */
enum function_kind {
#define FUNCTION(number, kind, ...) FUNCTION_##kind = (number),
#include "trace/kinds.h"
	FUNCTION_NR = 0
#define FUNCTION(...) + 1
#include "trace/kinds.h"
};

struct rec_function {		/* known by its name alone: of an imported profile, or a leaf of a source */
	uint32_t function, kind;	/* kind: enum function_kind */
	const char *name;
	size_t name_len;
	const char *module;	/* "" unknown */
	size_t module_len;
	const char *file;	/* "" unknown */
	size_t file_len;
};

enum lock_wait {			/* how threads waited for a lock */
	LOCK_ENTER,		/* to enter a monitor */
	LOCK_LOCK,		/* parked for a synchronizer of java.util.concurrent that can have an owner */
	LOCK_WAIT,		/* in Object.wait() */
	LOCK_PARK,		/* parked for anything else */
	LOCK_MUTEX,		/* of native code: for a pthread_mutex_t, */
	LOCK_RWLOCK,		/* a pthread_rwlock_t, */
	LOCK_CONDITION,		/* or in pthread_cond_wait() */
	LOCK_CLASS,		/* for another thread to initialise a class */
	LOCK_NR_WAITS
};

struct rec_lock {		/* all waits of one kind for one lock */
	uint64_t time_ns;
	uint32_t proc, function;	/* function: the lock's class */
	/* its identity hash, of native code the lower half of its address; 0: several of the class */
	uint32_t identity;
	uint32_t kind;		/* enum lock_wait */
	uint32_t waiters;	/* threads that waited */
	uint64_t n, ns, max_ns;	/* how often, how long together, how long at most */
	/* pairs of zigzag varints: class of length (lockstat.h) and number of waits, ascending */
	const uint8_t *buckets;
	size_t buckets_len;
	/* the same: thread that had the lock when waits began, 0 not known, and what was waited then */
	const uint8_t *owners;
	size_t owners_len;
};

struct rec_lock_use {		/* acquisitions of a lock that were counted (record --lock-exact) */
	uint64_t time_ns;
	uint32_t proc, function, identity, kind;	/* as in struct rec_lock: LOCK_ENTER or LOCK_LOCK */
	uint64_t nonrec, rec;	/* by a thread that did not have it, and that did */
	uint64_t held_ns;	/* completed holds, the outermost only */
	uint64_t counted_ns;	/* how long was counted */
};

struct rec_sweep {		/* the objects that are watched were looked at (record -e live) */
	uint64_t time_ns;	/* when the pause before it ended */
	uint32_t proc;
	uint32_t pauses;	/* of the collector since the recording began */
	uint64_t tracked, died;	/* objects left, and found dead */
	uint64_t interval;	/* bytes: with which those that are left are samples; 0: all */
	/* of objects allocated until then it is known whether they have survived; 0: of none */
	uint64_t known_ns;
	uint64_t took_ns;
	/* what was garbage by then was found dead, however old; 0: no collection of the old was noticed */
	uint64_t whole_ns;
};

/*
 * Sampled objects that were in use when a heap dump was made, and where each was allocated; several records
 * of one time and cookie, trace/roster.h.
 */
struct rec_roster {
	uint64_t time_ns;
	uint32_t proc;
	uint64_t cookie;	/* the dump has the same */
	uint64_t interval;	/* bytes: with which they are samples; 0: all */
	const uint8_t *objects;
	size_t objects_len;
};

struct rec_class_total {	/* all objects of a class that a JVM had after a whole collection */
	uint64_t time_ns;	/* when they had been counted */
	uint32_t proc;
	uint64_t objects, bytes;
	const char *name;
	size_t name_len;
};

enum footprint_kind {
	FOOTPRINT_PROCESS,	/* begins a reading; text: the JVM, "" if it is none or has not said */
	FOOTPRINT_NOT_ASKED,	/* text: why the JVM was not asked */
	FOOTPRINT_PART,		/* text: a part of lib/resident, such as "java_heap" */
	FOOTPRINT_CATEGORY,	/* text: one of the JVM's own account, such as "Java Heap" */
	FOOTPRINT_BUFFERS,	/* direct buffers of Java; text: why they are not known, "" they are */
};

enum footprint_flags { FOOTPRINT_IS_JVM = 1 << 0, FOOTPRINT_NOT_READ = 1 << 1 };

/* Where the resident memory of a process was: records of one time are one reading, the process first. */
struct rec_footprint {
	uint64_t time_ns;
	uint32_t proc, kind;
	/* bytes; of a process: flags, threads, what is not known of malloc; a category: malloc, committed */
	uint64_t resident, swapped, committed, mapped;
	const char *text;
	size_t text_len;
};

struct rec_line {		/* one sampled address; one record an inline level, innermost first */
	uint32_t module;
	uint64_t off;
	uint32_t depth;		/* 0 innermost, counts outwards */
	uint32_t nr_depth;	/* how many there are */
	uint32_t line;		/* 0 unknown */
	const char *func;	/* of an inlined level; "" for the outermost: its symbol names it */
	size_t func_len;
	const char *file;
	size_t file_len;
};

struct rec_method {
	uint64_t time_ns;
	uint32_t proc, method;
	const char *class_name;	/* java/lang/String */
	size_t class_len;
	const char *name;
	size_t name_len;
	const char *sig;
	size_t sig_len;
	const char *source;	/* file name or "" */
	size_t source_len;
};

/*
 * Lines of a method: pairs of varints (zigzag), the differences of bytecode index and line to the
 * pair before, at first to 0. In the method's own order, which need not ascend; line 0 is not
 * known. The reader checks that the pairs are whole.
 */
struct rec_method_lines {
	uint64_t time_ns;
	uint32_t proc, method;
	const uint8_t *table;
	size_t len;
};

/*
 * Code of a Java method.  inl is a blob of varints, ascending by pc: nr_pcs, then for each
 * pc: pc delta (from the code's start, then from the previous pc), nr frames,
 * and for each frame innermost first: method, bci + 1 (0: unknown).
 */
struct rec_code {
	uint64_t time_ns;
	uint32_t proc, method, compile_id, level;	/* level 1-3 C1, 4 C2; 0 calls a native method */
	uint64_t addr;
	uint32_t size;
	const uint8_t *inl;
	size_t inl_len;
};

struct rec_code_gone {
	uint64_t time_ns;
	uint32_t proc, compile_id;
	uint64_t addr;
};

/* The machine code of a method as it was when samples were first in it; code has what else is known of it. */
struct rec_code_bytes {
	uint64_t time_ns;
	uint32_t proc, compile_id;
	uint64_t addr;
	const uint8_t *bytes;
	size_t len;
};

struct rec_stub {		/* interpreter, stubs, adapters; also a foreign runtime's perf map */
	uint64_t time_ns;
	uint32_t proc;
	uint64_t addr, size;
	const char *name;
	size_t name_len;
};

/*
 * What the kernel's side counted for a thread while the source "wall" was recorded, from begin_ns to time_ns.
 * The states add up to that time, and the weights of the source's samples to each of them.
 */
struct rec_wall {
	uint64_t time_ns;
	uint32_t thread;
	uint64_t begin_ns, cpu_ns, runnable_ns, blocked_ns;
	uint64_t nr_blocks;		/* how often it blocked */
};

/*
 * What the agent of a JVM counted of virtual threads, with "wall": the states add up to their lives. Samples
 * of wall have what was runnable or blocked on no carrier; what was mounted is in the lives of carriers, too.
 */
struct rec_virtual {
	uint64_t time_ns;
	uint32_t proc;
	uint64_t nr_threads, nr_waits;	/* 0: not told yet, in this or a later file */
	uint64_t nr_lost;		/* comings and goings that there was no room for */
	uint64_t life_ns, mounted_ns, runnable_ns, blocked_ns;
};

enum wake_kind {			/* who ended a wait */
	WAKE_UNKNOWN,
	WAKE_NOT_ENDED,		/* nobody, as long as was recorded */
	WAKE_THREAD,
	WAKE_TIMER,
	WAKE_INTERRUPT,		/* of a device, of the network, or a timer beside those */
	WAKE_NR
};

/*
 * One for each sample of the source "wall" that is a wait: who ended it.  Waits that are longer than the time
 * between two looks weigh what they lasted.  Of the others this is one that was going on at a moment that
 * is random to the program, and it weighs what it stands for.
 */
struct rec_wake {
	uint64_t time_ns;	/* when it ended, or the recording did */
	uint32_t thread;	/* that waited */
	uint32_t function;	/* the reason */
	uint32_t kind;		/* enum wake_kind; a reader takes others for unknown */
	uint32_t waker;		/* the thread that ended it; 0: none */
	uint64_t ns;		/* how long it was; 0: not known */
	uint64_t seen_ns;	/* and how long when it was seen */
	uint64_t weight;	/* ns */
};

/*
 * From then on the thread has these labels, and no others, as its program says. Only what samples need is in
 * the trace: a change that no sample saw is not.
 */
struct rec_thread_label {
	uint64_t time_ns;
	uint32_t thread;
	uint32_t flags;		/* enum thread_label_flags */
	const char *text;	/* as base/labels.h has them: "key=value,key=value", by key; "": none */
	size_t text_len;
};

/*
 * From then on only what these rules say is kept (base/rules.h), all where there are none; or, of an event,
 * how many were left out since the last such record of it.
 */
struct rec_filter {
	uint64_t time_ns;
	uint64_t left_out;
	const char *event;	/* "": none, this is of rules */
	size_t event_len;
	const char *rules;
	size_t rules_len;
};

/*
 * How long the wait was of which the source "lock" has a sample of that thread and time, where that weighs
 * something else.
 */
struct rec_waited {
	uint64_t time_ns;
	uint32_t thread;
	uint64_t ns;		/* 0: the sample stands for several waits that are not known one by one */
};

/* Of traces that have records "waited": samples of "lock" without one weigh what the wait took. */
#define WAITED_LABEL "lock.lengths"

enum thread_label_flags {
	THREAD_LABEL_UNKNOWN = 1 << 0,	/* records of it were lost: which it has is not known */
};

/*
 * The name of Java threads that are arcprof's own, and the one function of what it puts into a program. What
 * these threads wait is no wait of the program: reports leave it out.
 */
#define OWN_NAME "[arcprof]"

/* So end names of functions in modules of arcprof's own that stand for one of the program's, and call it. */
#define WAY_THROUGH "_through"

/* The innermost frames of the source "wall" that are no reason to wait, nor a file that is waited for. */
#define REASON_ON_CPU "[on CPU]"
#define REASON_RUNNABLE "[runnable]"

/* What the thread branches to from then on, until its trace stops, is part of a call of the method. */
struct rec_bracket {
	uint64_t time_ns;
	uint32_t proc, thread, method;
};

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

/* The instructions of a block as they were executed from here on. */
struct rec_branch_code {
	uint64_t time_ns;
	uint32_t proc;
	uint64_t addr;
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

/*
 * What happened at a time, or lasted for one: event.h has a row for each kind, which says what its
 * members mean.
 */
enum event_kind {
	EVENT_GC,
	EVENT_GC_CONCURRENT,
	EVENT_SAFEPOINT,
	EVENT_COMPILE,
	EVENT_NOT_COMPILED,
	EVENT_INVALIDATE,
	EVENT_DEOPT,
	EVENT_CLASS_LOAD,
	EVENT_CLASS_UNLOAD,
	EVENT_EXCEPTION,
	EVENT_THREAD_START,
	EVENT_THREAD_END,
	EVENT_MARK,
	EVENT_PHASE,
	EVENT_OUT_OF_MEMORY,
	EVENT_TRIGGER,		/* in no record of an event: what struct rec_trigger is shown as */
	EVENT_CLASS_TIME,	/* of the EVENT_CLASS_LOAD that ended it: when it began, how long */
	EVENT_NR
};

#define EVENT_UNKNOWN UINT64_MAX	/* a duration or value that is not known, or that the kind has not */

struct rec_event {
	uint64_t time_ns;	/* when it began */
	uint32_t proc, thread;	/* thread 0: none, or not known */
	uint32_t kind;		/* enum event_kind; a reader ignores others */
	uint64_t duration_ns;
	uint64_t values[3];
	const char *what;
	size_t what_len;
	const char *cause;
	size_t cause_len;
};

/* Of the thread's EVENT_CLASS_LOAD at that time: the innermost method that is not a class loader's. */
struct rec_load_cause {
	uint64_t time_ns;
	uint32_t proc, thread;
	const char *by;
	size_t by_len;
};

/* A mark or phase of a program, with named values. */
struct rec_marked {
	uint64_t time_ns;	/* when it began */
	uint32_t proc, thread;	/* as struct rec_event has them, as well as */
	uint64_t duration_ns;	/* EVENT_UNKNOWN: a mark, else a phase */
	const char *name;
	size_t name_len;
	const uint8_t *fields;	/* base/fields.h */
	size_t fields_len;
};

/*
 * From then on the event is recorded, or it is not. Without such a record it is, all the time; if the first
 * says that it is, it was not before.
 */
struct rec_recorded {
	uint64_t time_ns;
	uint32_t on;
	const char *event;	/* "event.N" as its label has it, or one of the label "jvm_events" */
	size_t event_len;
};

/* A condition of "record --when" was met, or the last part of the recording was asked for. */
struct rec_trigger {
	uint64_t time_ns;
	uint32_t proc;		/* of which it was true; 0: of none, or of several */
	const char *when;	/* the condition, as it was given */
	size_t when_len;
	const char *cause;	/* what was seen */
	size_t cause_len;
};

/*
 * A tree of contexts as it is: what a merged trace has in place of samples and calls.  Sources, metrics and
 * consumers are numbered from 1, and come before what refers to them.
 */
struct rec_tree_source {	/* a stream of events, with an n of its own */
	uint32_t source;
	uint64_t total;		/* n of all nodes */
	const char *name;
	size_t name_len;
	const char *kind;	/* "calls" or "samples" */
	size_t kind_len;
};

struct rec_tree_metric {	/* a quantity of a source */
	uint32_t metric, source;
	uint64_t total;		/* base of all nodes */
	const char *name;
	size_t name_len;
	const char *unit;
	size_t unit_len;
};

struct rec_tree_consumer {
	uint32_t consumer;
	uint64_t key;		/* of a process: the pid, in the upper half; of a thread: also the tid */
	const char *kind;	/* as in text trees: "native", "java-compiled" */
	size_t kind_len;
	const char *name;
	size_t name_len;
	const char *module;
	size_t module_len;
	const char *detail;
	size_t detail_len;
};

/*
 * Contexts in preorder, nr of them from number first on; the first is at that level, roots are at 0.  Each is
 * varints: how many levels up from the one before its parent is (0: it is that one's child), its
 * consumer, n of each source, base of each metric.
 */
struct rec_tree_nodes {
	uint32_t first, level, nr;
	const uint8_t *nodes;
	size_t len;
};

struct rec_tree_part {		/* a recording that is in the tree */
	uint64_t start_ns;	/* CLOCK_REALTIME; 0: not known */
	uint64_t duration_ns;
	uint64_t lost;		/* samples */
	const char *host;
	size_t host_len;
	const char *command;
	size_t command_len;
};

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

struct rec_lost {
	uint64_t time_ns;
	uint32_t cause, stream;	/* stream: CPU or proc it happened on */
	uint64_t count;
};

#endif
