/* SPDX-License-Identifier: MIT */
/*
 * proto.h - what the agent inside a JVM and the recorder say to each other.
 *
 * Socket (SOCK_SEQPACKET, one struct jvm_msg per packet):
 *	agent     HELLO   version, pid and tid as the JVM sees them
 *	recorder  SETUP   with two descriptors: the shared area, the log; and with JVM_CALLFLOW
 *			  a third: the area of the call trees (callflow/area.h); and with JVM_VM_LOG
 *			  one for what the VM logs (vmlog.h)
 *	agent     READY   handlers are installed; waits at most JVM_GO_TIMEOUT_MS (JVM_LIVE_TIMEOUT_MS
 *			  in a running JVM). With call trees, it says where its struct
 *			  callflow_host is (callflow/host.h)
 *	recorder  GO      flags & JVM_SAMPLE: traps will come; JVM_WALL: threads that wait are to be
 *			  walked, and descriptors of the slots and stamps of jvm/wall.h come with it
 * An agent that was loaded into a running JVM and cannot work for this recorder says REFUSED instead
 * of HELLO, with the reason.
 * After that the socket carries, of an agent, nothing but what the recorder wants from now on:
 *	recorder  CHANGE  jvm_ctl has new sources, intervals, tell and off; with JVM_VM_LOG one descriptor,
 *			  of another file for what the VM logs. The agent answers in jvm_ctl.changed
 * Its end tells each side that the other is gone. Who finds a key beside the socket (key.h) says its half in
 * HELLO and REFUSED, and wants to read the other in SETUP.
 * A program with libarcprof-hookit says HELLO with JVM_PROGRAM: SETUP then has the area of the
 * call trees alone. When that has rules, the program asks for each function that it calls for
 * the first time: FUNCTION with its address, answered by FUNCTION with the same address and
 * JVM_INCLUDED or without. In a process whose agent keeps call trees SETUP brings no descriptor, but
 * with JVM_GUEST the address of the agent's struct callflow_host: a JNI library uses the JVM's trees.
 *
 * A program whose native memory or locks are looked at (lib/preload) says HELLO with JVM_MEMORY: SETUP has
 * the shared area alone, and the program closes the socket. Its samples have one segment of native stack.
 * The area ends with a struct memory_table (memory.h), as those of agents do then.
 *
 * A program that marks what it does (lib/api/mark.c) says HELLO with JVM_MARKS: SETUP then has, with the same
 * flag, the shared area alone, in whose rings the program writes records "event" and "marked" of marks and
 * phases, and "labels", as jvm_ctl.tell asks. That may be a process with an agent, too.
 *
 * A JVM that is asked for a picture of its threads says HELLO with JVM_DUMP; SETUP then brings one
 * descriptor, of a file for the records, which ends with a dump_end. That needs no session, and disturbs
 * none.
 *
 * Shared area (memfd, sealed against resizing): struct jvm_ctl in the first page, then
 * JVM_NR_ROOTS times struct jvm_root, then nr_rings times a page with struct jvm_ring and
 * ring_bytes of data.
 *
 * Rings have many producers (signal handlers) and one consumer. A producer moves head with
 * a compare-and-swap when head + size - tail <= ring_bytes, fills the record and publishes
 * it by a release store of its header. A record never wraps: the rest of the data is
 * skipped by a JVM_REC_PAD. What is left of an earlier lap is not taken for a header that
 * was not yet written, because a header carries the number of its lap (jvm_ring_stamp()).
 *
 * Log (memfd, append only): the same records, written outside signal handlers; log_head is
 * moved with release order after the bytes are there. The recorder frees what it has read
 * and says so in log_read; the agent drops and counts what would exceed log_limit.
 *
 * The recorder trusts nothing in here: sizes are its own, records are copied
 * before they are looked at. All integers are those of the machine.
 */
#ifndef JVM_PROTO_H
#define JVM_PROTO_H

#include <stddef.h>
#include <stdint.h>

#include "base/mix.h"
#include "jvm/key.h"

#define JVM_PROTO_MAGIC 0x4a435241u	/* "ARCJ" */
#define JVM_PROTO_VERSION 50
#define JVM_GO_TIMEOUT_MS 2000
#define JVM_LIVE_TIMEOUT_MS 20000
#define JVM_PAGE 4096u
#define JVM_MAX_RINGS 256u
#define JVM_MAX_SEGMENTS 64u		/* a sample */
#define JVM_MAX_DEPTH 65000u		/* frames of a sample: their number has 16 bits */
#define JVM_NR_ROOTS 1024u		/* power of two; of 64 bytes each: whole pages */
#define JVM_MAX_LINES 4096u		/* bytes of a line table in a record; what is longer ends in line 0 */
#define JVM_LOCK_FILTER 1024u		/* bytes of jvm_ctl.lock_filter */
#define JVM_MAX_STRING 4096u		/* bytes of a name in a record; longer ones are cut */

/* The agent's option for showing threads: this, then the socket's path. */
#define JVM_DUMP_OPTION "threads:"

enum jvm_msg_type {
	JVM_MSG_HELLO = 1,
	JVM_MSG_SETUP,
	JVM_MSG_READY,
	JVM_MSG_GO,
	JVM_MSG_FUNCTION,
	JVM_MSG_REFUSED,
	JVM_MSG_CHANGE,
};

enum jvm_refusal {
	JVM_REFUSED_BUSY = 1,	/* it works for another recorder */
	JVM_REFUSED_VM,		/* this JVM lacks what the agent cannot do without */
	JVM_REFUSED_EARLY,	/* it has not started yet: ask again */
};

enum jvm_flags {
	JVM_SAMPLE = 1 << 0,	/* walk stacks on traps */
	JVM_CALLFLOW = 1 << 1,	/* of SETUP and jvm_ctl: build call trees */
	JVM_INCLUDED = 1 << 3,	/* of FUNCTION: its calls are counted */
	JVM_PROGRAM = 1 << 2,	/* of HELLO: no JVM, a program with libarcprof-hookit */
	JVM_GUEST = 1 << 4,	/* of SETUP: the trees are those of the agent in this process */
	/* of GO: no traps will come, timers with the period timer_ns take their place */
	JVM_TIMERS = 1 << 5,
	/* of jvm_ctl: of compiled code, only the places that samples have are wanted */
	JVM_PLACES = 1 << 6,
	/* of HELLO: threads are to be shown, and nothing else; SETUP brings the file for their records */
	JVM_DUMP = 1 << 7,
	/* of jvm_ctl: all garbage is collected when the VM ends, before the last look at objects that live */
	JVM_LIVE_GC = 1 << 15,
	/* of jvm_ctl: the interval of JVM_SOURCE_LIVE grows where more objects are chosen than it takes */
	JVM_LIVE_ADAPTS = 1 << 16,
	/* of jvm_ctl: threads that are stuck are to be reported */
	JVM_STUCK = 1 << 8,
	/* of SETUP and CHANGE: the last descriptor is a file for the VM's log (agent/sources/vmevents.h) */
	JVM_VM_LOG = 1 << 9,
	JVM_WALL = 1 << 10,	/* of GO: threads that wait are looked at; of jvm_ctl.off: they are not now */
	/* of GO: the recorder writes the slots when it gets to it; whether a thread waits the kernel says */
	JVM_WALL_LATE = 1 << 11,
	JVM_MEMORY = 1 << 12,	/* of HELLO: no JVM's agent, but what samples native memory, or its locks */
	JVM_MARKS = 1 << 13,	/* of HELLO and SETUP: marks of a program, and nothing else */
	JVM_WALL_WAKES = 1 << 14,	/* of GO: threads that ended waits are walked; two more descriptors */
};

enum jvm_tell_bit {
#define TELL(what, ...) JVM_TELL_BIT_##what,
#include "base/eventkinds.h"
	JVM_NR_TELLS
};

/* Events that a JVM reports when it is asked to, in jvm_ctl.tell (collect/jvm/jvmevents.h). */
enum jvm_tell {
#define TELL(what, ...) JVM_TELL_##what = 1 << JVM_TELL_BIT_##what,
#include "base/eventkinds.h"
	JVM_TELL_ALL = (1 << JVM_NR_TELLS) - 1,
	/* of jvm_no_event alone: the part of JIT that some do not tell */
	JVM_TELL_DEOPT = 1 << JVM_NR_TELLS,
};
/* The events of "-e jvm" cost next to nothing; exceptions cost much in programs that throw many. */
#define JVM_TELL_USUAL (JVM_TELL_GC | JVM_TELL_SAFEPOINT | JVM_TELL_JIT | JVM_TELL_CLASS | JVM_TELL_THREAD)

/* The VM itself writes these to a log. */
#define JVM_TELL_BY_LOG (JVM_TELL_GC | JVM_TELL_SAFEPOINT | JVM_TELL_JIT | JVM_TELL_CLASS | \
			 JVM_TELL_CLASS_TIME | JVM_TELL_LAST)

/* Programs themselves send these. */
#define JVM_TELL_BY_PROGRAM (JVM_TELL_MARK | JVM_TELL_LABEL)

/* A struct jvm_event reports one of these. */
enum jvm_event_kind {
#define EVENT(kind, ...) JVM_EVENT_##kind,
#include "base/eventkinds.h"
	JVM_EVENT_NR
};

/* A recorder's socket for commands has this name and its pid, an abstract one (collect/control/control.h). */
#define JVM_CONTROL_NAME "arcprof-ctl-"

enum { JVM_MAX_FDS = 5 };		/* descriptors that come with a message */

struct jvm_msg {
	uint32_t magic, version;
	uint32_t type, flags;	/* enum jvm_msg_type, jvm_flags */
	union {
		struct {
			uint64_t area_bytes;	/* size of the shared area */
			uint64_t callflow_bytes;	/* with JVM_CALLFLOW: of the area of call trees */
			uint64_t host;		/* with JVM_GUEST: as the agent's READY has it */
			uint8_t key[JVM_KEY_HALF];
		} setup;
		struct {
			uint32_t pid, tid;
			uint64_t hook;		/* with JVM_MEMORY: address of a struct memory_hook */
			uint8_t key[JVM_KEY_HALF];
		} hello;
		struct {
			uint64_t host;		/* address of a struct callflow_host; 0: no call trees */
		} ready;
		struct {
			uint64_t timer_ns;	/* with JVM_TIMERS */
			uint64_t wall_ns;	/* with JVM_WALL: between two looks */
			uint64_t wall_slots;	/* their number */
		} go;
		struct {
			uint64_t addr;
		} function;
		struct {
			uint32_t reason;	/* enum jvm_refusal */
			uint8_t key[JVM_KEY_HALF];
		} refused;
	};
};

/*
 * Sources of samples that are not perf events: the agent itself notices their events, and takes the
 * stacks. A source is an amount that adds up, of bytes or of time. Its samples are points on it;
 * distances between them are exponentially distributed with a mean of jvm_ctl.intervals (Poisson). With
 * an interval of 0 every event is sent. collect/parts/sources.h says what the recorder makes of them.
 */
enum jvm_source {
	JVM_SOURCE_ALLOC,	/* objects that are allocated; value is their size, leaf their class */
	JVM_SOURCE_LOCK,	/* waits for locks; value is their length in ns, leaf the lock's class */
	/* native memory; value is the bytes asked for, leaf an enum memory_call (memory.h) */
	JVM_SOURCE_MEMORY,
	/* the same as ALLOC, with the object's number: what becomes of it is reported (jvm_gone_objects) */
	JVM_SOURCE_LIVE,
	JVM_SOURCE_THROW,	/* exceptions that are thrown; value is 1, leaf their class */
	/* virtual threads that are on no carrier: no samples, but records virtual_wait */
	JVM_SOURCE_VIRTUAL,
	JVM_SOURCE_HTTP,	/* calls over HTTP, by clients in Java; value is their length in ns */
	JVM_SOURCE_RMI,		/* the same by RMI */
	JVM_SOURCE_GRPC,	/* and by gRPC */
	JVM_SOURCE_SQL,		/* statements of JDBC; value is their length in ns, leaf their text */
	/* calls of notify() and notifyAll() of locks that are counted; value is 1, leaf the lock's class */
	JVM_SOURCE_NOTIFY,
	JVM_NR_SOURCES
};

#define JVM_MAX_SOURCES 16u

struct jvm_ctl {
	/* written by the recorder before SETUP */
	uint32_t magic, version;
	uint32_t nr_rings;	/* power of two */
	uint32_t max_depth;
	uint32_t max_stack;	/* bytes of native stack copied a segment */
	uint32_t flags;
	uint64_t ring_bytes;	/* power of two */
	uint64_t log_limit;
	uint64_t log_read;	/* the recorder has read the log up to here */
	uint64_t sources;	/* bits 1 << enum jvm_source: which are wanted */
	uint64_t intervals[JVM_MAX_SOURCES];	/* by enum jvm_source, in its unit: bytes or ns; 0: all */
	uint64_t tell;		/* enum jvm_tell: events in time */
	/*
	 * at the end: the agent reports waits for locks that go on, struct jvm_open_wait, and of virtual
	 * threads, struct jvm_virtual_total, as of this time
	 */
	uint64_t end_ns;
	uint64_t memory_hook;	/* as its process's HELLO with JVM_MEMORY has it; 0: there was none */
	uint64_t may_tell;	/* those that a CHANGE may ask for: what takes the VM's start is got then */
	uint32_t off;		/* what GO asked for and is not wanted now: JVM_WALL, JVM_TIMERS */
	uint32_t change;	/* number of the last CHANGE */
	uint32_t collect, pad2;	/* not 0: all garbage is to be collected, and objects that live looked at */
	/*
	 * with JVM_SOURCE_LOCK: each acquisition of locks of these classes is counted; patterns with * and ?,
	 * commas between them, terminated; "": none
	 */
	char lock_filter[JVM_LOCK_FILTER];
	uint32_t lock_cpu;	/* with that, not 0: CPU time while they are held is measured */
	/* samples per second of JVM_SOURCE_ALLOC, so of _THROW and _NOTIFY (agent/sources/rate.h); 0: any */
	uint32_t rate;
	/* written by the agent */
	uint64_t ended_ns;	/* end_ns, when it has reported all of them */
	uint64_t tells_open;	/* it would */
	uint64_t virtual_ended_ns, tells_virtual;	/* the same of virtual threads */
	uint32_t changed;	/* number of the last CHANGE that was carried out */
	uint32_t collected;	/* as collect, when that is done */
	uint64_t log_head;
	uint64_t log_lost;	/* records that would have exceeded log_limit */
	uint64_t code_lo, code_hi;
	uint64_t nr_traps;	/* handler runs */
	uint64_t trap_ns;	/* time spent in them, interrupts and preemption included */
	uint64_t trap_log2[32];	/* how many took [2^i, 2^(i+1)) ns */
	uint64_t left_out;	/* hits without a sample, because of the rate: others stand for them */
};

struct jvm_ring {
	uint64_t head;		/* reserved up to here */
	uint64_t pad0[7];
	uint64_t tail;		/* consumed up to here */
	uint64_t pad1[7];
	uint64_t lost;		/* samples dropped because it was full */
};

_Static_assert(sizeof(struct jvm_ctl) <= JVM_PAGE, "it has one page of the shared area");

enum jvm_rec_type {
	JVM_REC_NONE,		/* reserved, not yet written */
	JVM_REC_PAD,
	JVM_REC_SAMPLE,
#define RECORD(s, ...) JVM_REC_##s,
#include "jvm/table.h"
	JVM_NR_REC_TYPES
};

/*
 * Begins every record. In a ring it is written last, as one 64-bit store. What follows it is struct
 * jvm_rec_sample, or time_ns and the fields of a row of table.h.
 */
struct jvm_rec {
	uint32_t size;		/* with this header; a multiple of 8 */
	uint32_t type;		/* enum jvm_rec_type; in a ring with the lap's stamp above 8 bits */
};

/* Return what the header of a record at position pos of a ring must have above its type. */
static inline uint32_t jvm_ring_stamp(uint64_t pos, uint64_t ring_bytes)
{
	return (uint32_t)(pos / ring_bytes + 1) << 8;
}

enum jvm_sample_flags {
	JVM_SAMPLE_LATE = 1 << 0,	/* the trap was blocked: stack and time are of its delivery */
	JVM_SAMPLE_TIMER = 1 << 1,	/* of a timer: event is the number of its periods that have passed */
	JVM_SAMPLE_SOURCE = 1 << 2,	/* of a source: event is an enum jvm_source */
	JVM_SAMPLE_WALL = 1 << 3,	/* of a thread that waits: see struct jvm_rec_wall */
	JVM_SAMPLE_WAKE = 1 << 4,	/* with that: of the thread that ended that block */
	/*
	 * hits before it were skipped, so that the thread could get on: those of a perf event up to the time
	 * in value; of a timer so many as value has, whose periods are in event
	 */
	JVM_SAMPLE_SKIPPED = 1 << 5,
};

/*
 * Followed, with JVM_SAMPLE_WALL, by a struct jvm_rec_wall; by nr_frames jvm_rec_frame and nr_segments of
 * (jvm_rec_segment, stack, pad to 8).
 */
struct jvm_rec_sample {
	struct jvm_rec h;
	uint64_t time_ns;	/* CLOCK_MONOTONIC */
	uint32_t tid;
	uint32_t event;		/* perf_event_attr.sig_data, or see JVM_SAMPLE_TIMER */
	uint16_t nr_frames;
	uint16_t nr_segments;
	uint32_t flags;		/* enum jvm_sample_flags */
	/* Thread.threadId() of the virtual thread that is mounted; 0 none, or not known */
	uint64_t vthread;
	/* With JVM_SAMPLE_SOURCE: the amount that was hit, as it is, not scaled up; */
	uint64_t value;
	uint32_t leaf;		/* and the number of a struct jvm_leaf, the innermost frame; 0: none */
	/*
	 * of JVM_SOURCE_MEMORY: as the table of memory.h has it; 0: it has not. Of JVM_SOURCE_LIVE: the
	 * object's number, never 0 and never the same again. Of JVM_SOURCE_LOCK: whether it is of a
	 * jvm_native_wait.given_back. Of JVM_SOURCE_ALLOC and JVM_SOURCE_THROW: how often the interval was
	 * doubled with which it was chosen, at most JVM_MOST_DOUBLED; that of 0 is 1 then. Of
	 * JVM_SOURCE_NOTIFY the same and how many threads the call woke (jvm_woken_put())
	 */
	uint32_t id;
};

enum { JVM_MOST_DOUBLED = 24, JVM_DOUBLED_BITS = 8 };

static inline uint32_t jvm_woken_put(uint32_t nr_woken, uint32_t doubled)
{
	return nr_woken << JVM_DOUBLED_BITS | doubled;
}

static inline uint32_t jvm_woken(uint32_t id)
{
	return id >> JVM_DOUBLED_BITS;
}

static inline uint32_t jvm_woken_doubled(uint32_t id)
{
	return id & ((1u << JVM_DOUBLED_BITS) - 1);
}

/* Return the mean distance at which a sample of such a source was chosen. */
static inline uint64_t jvm_doubled_interval(uint64_t interval, uint32_t doubled)
{
	return doubled ? (interval ? interval : 1) << doubled : interval;
}

enum jvm_tally_kind {
#define TALLY(kind) JVM_TALLY_##kind,
#include "base/eventkinds.h"
	JVM_NR_TALLIES
};

enum jvm_wait_kind {
#define WAIT(kind, name) JVM_WAIT_##kind,
#include "base/eventkinds.h"
	JVM_NR_WAIT_KINDS
};

enum jvm_blamed {		/* who is charged with a wait */
	JVM_BLAMED_OWNER,	/* the owner of the lock, where its frames say */
	JVM_BLAMED_LATE,	/* who had it, but not any more when the stack was looked at */
	JVM_BLAMED_NO_STACK,	/* who has it: it cannot be looked at */
	JVM_BLAMED_NOBODY,	/* nobody had it: it was given back, and not yet taken */
	JVM_BLAMED_UNKNOWN,
	JVM_NR_BLAMED
};

enum jvm_gone {			/* why an object of JVM_SOURCE_LIVE is watched no more */
	JVM_GONE_DIED,		/* the collector has freed it, */
	JVM_GONE_THINNED,	/* it is not a sample with the interval that the next jvm_swept says, */
	JVM_GONE_LOST,		/* or it never was, for want of memory */
	JVM_GONE_NR
};

enum jvm_collector {		/* which pauses tell what has died */
	JVM_COLLECTS_AT_ONCE,	/* each one, of the young at least: Serial, Parallel */
	JVM_COLLECTS_G1,	/* all but Remark and Cleanup */
	JVM_COLLECTS_BESIDE,	/* several pauses make a collection: ZGC, Shenandoah */
	JVM_COLLECTS_OLD_LATE,	/* generational ZGC: weak references are cleared in major collections only */
	JVM_COLLECTS_NR
};

enum jvm_leaf_kind {
	JVM_LEAF_CLASS,		/* a signature as JNI has it: Ljava/lang/String; or [B */
	JVM_LEAF_REASON,	/* why a thread waits: the text as it is */
	JVM_NR_LEAF_KINDS
};

/*
 * A thread that waits. How long is not known yet: a wait that is longer than the interval between two looks
 * is hit for certain, a shorter one with a probability in proportion to its length.
 */
struct jvm_rec_wall {
	/* of its slot (jvm/wall.h): since when it is blocked; of late ones, the CPU time it had used */
	uint64_t since_ns;
	uint64_t interval_ns;	/* between this look and the one before */
	/* and which block of which slot; with JVM_WALL_LATE 0, not known: the one at the sample's time */
	uint32_t block_nr, slot;
	uint32_t reason;	/* enum wall_reason; WALL_UNKNOWN: as the slot says */
	/* number of a struct jvm_leaf, the class of what it is parked for; 0: none, or not known */
	uint32_t leaf;
	uint32_t class;		/* enum wall_class, of the slot as site, syscall and args are */
	int32_t syscall;
	uint64_t args[3];
	uint32_t site;
	uint32_t pad;
};

enum jvm_frame_kind {
	JVM_COMPILED = 1,
	JVM_INTERPRETED,
	JVM_STUB,		/* pc in a stub, adapter or the interpreter's own code */
	JVM_NATIVE,		/* what unwinding a segment gives stands here */
	JVM_MARK,		/* the walk ended here, but for JVM_MARK_LEFT_OUT */
	JVM_ROOT,		/* the thread's root as the recorder knows it stands here */
};

/* why; the recorder turns these into its enum frame_mark */
enum jvm_mark {
	JVM_MARK_NOT_WALKABLE = 1,	/* no rule fits the frame */
	JVM_MARK_INTERPRETER,		/* interpreter frame half built or half gone */
	JVM_MARK_STUB,			/* in a stub whose caller was not found */
	JVM_MARK_DEPTH,			/* deeper than the walker goes */
	JVM_MARK_VTHREAD,		/* the rest of a virtual thread is frozen in the heap */
	JVM_MARK_ANCHOR,		/* the thread's anchor does not lead to Java code */
	JVM_MARK_LEAF_CALL,		/* native code called from Java without an anchor: caller not found */
	/* from outside (lib/outside): the copy of the stack ends here; */
	JVM_MARK_CUT,
	JVM_MARK_LATE,		/* what is there now may not have been there when the sample was taken */
	JVM_MARK_LEFT_OUT,		/* the middle of a stack deeper than max_depth; pc: how many frames */
	JVM_MARK_NR
};

#define JVM_FRAME_PC_BITS 56	/* the kind is above them */
/*
 * Of a compile id: pc is where the frame is built or goes, in the compiled method itself and in
 * nothing inlined.
 */
#define JVM_NOT_INLINED (1u << 31)

struct jvm_rec_frame {
	uint64_t kind_pc;	/* enum jvm_frame_kind << 56 | pc */
	union {
		uint32_t method;	/* JVM_COMPILED, JVM_INTERPRETED */
		uint32_t line;		/* JVM_MARK: of the agent's source */
	};
	union {
		uint32_t compile_id;	/* JVM_COMPILED: perhaps with JVM_NOT_INLINED */
		uint32_t bci;		/* JVM_INTERPRETED */
		uint32_t segment;	/* JVM_NATIVE: index into the sample's */
		uint32_t mark;		/* JVM_MARK: enum jvm_mark, why */
		uint32_t root;		/* JVM_ROOT: jvm_root.id */
	};
};

enum jvm_segment_flags {
	JVM_SEG_VALID = 0x1f,		/* bits 0-4: which registers are known */
	JVM_SEG_EXACT = 1 << 8,
	JVM_SEG_TO_ROOT = 1 << 9,
	JVM_SEG_TRIMMED = 1 << 10,	/* the copy ends at jvm_root.top, not at the end of the stack */
};

struct jvm_rec_segment {
	uint64_t pc, sp, fp;
	uint64_t rbx, r12, r13, r14, r15;	/* on arm64 rbx is x30, and the others are not used */
	uint32_t flags;
	uint32_t len;
	/* of a segment that reaches the end of its thread's stack: that; else 0 */
	uint64_t end;
};

/*
 * The recorder's knowledge of a thread's stack, so that the same bytes are not sent and unwound sample
 * after sample. Threads are identified by where their stacks end; the slot of a thread is
 * jvm_root_slot(). Written by the recorder only, between two increments of seq; the agent copies it and
 * takes the copy when seq was even and is the same after.
 */
struct jvm_root {
	uint64_t seq;
	uint64_t end;		/* whose it is; 0: nobody's */
	uint64_t top;		/* beyond it is nothing that unwinding reads: the C library's data */
	uint64_t sp, hash;	/* of the segment below the first Java frame; sp 0: there is none */
	uint32_t len, id;	/* bytes of stack in the hash; what JVM_ROOT names when nothing changed */
	uint64_t pad[2];
};

static inline uint32_t jvm_root_slot(uint64_t end)
{
	return mix64(end) & (JVM_NR_ROOTS - 1);
}

/* Hash the registers and the stack, all that unwinding depends on. len is a multiple of 8. */
static inline uint64_t jvm_root_hash(const struct jvm_rec_segment *s, const void *stack, size_t len)
{
	const uint64_t regs[] = { s->pc, s->sp, s->fp, s->rbx, s->r12, s->r13, s->r14, s->r15, s->flags };
	uint64_t h = len, word;
	size_t i;

	for (i = 0; i < sizeof(regs) / 8; i++) {
		h = (h ^ regs[i]) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 29;
	}
	for (i = 0; i < len; i += 8) {
		__builtin_memcpy(&word, (const char *)stack + i, 8);
		h = (h ^ word) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 29;
	}
	return h;
}

#endif
