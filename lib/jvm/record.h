/* SPDX-License-Identifier: MIT */
/*
 * record.h - what an agent says, one struct a kind of record: the agent fills it, the recorder gets
 * the same from the decoder. table.h says what bytes they are. Samples are not here: the
 * agent writes them where they go, and server.h has what becomes of them.
 *
 * Every struct begins with time_ns, CLOCK_MONOTONIC. Texts are bytes of the VM that need no
 * terminator; decoded they have one, and their length is that up to the first 0.
 */
#ifndef JVM_RECORD_H
#define JVM_RECORD_H

#include <stddef.h>
#include <stdint.h>

struct jvm_method {
	uint64_t time_ns;
	uint32_t method;	/* its number, never 0 */
	const char *class_name;	/* java/lang/String */
	const char *name, *sig;
	const char *source;	/* file name or "" */
	uint32_t class_len, name_len, sig_len, source_len;
	/* As struct rec_method_lines (trace/record.h) has it; at most JVM_MAX_LINES bytes. */
	const uint8_t *lines;
	uint32_t lines_len;
};

/* Of size 1 it is a place: not all of the code, but an address in it that a sample has. */
struct jvm_code {
	uint64_t time_ns, addr;
	uint32_t size, method, compile_id, level;
	uint64_t begin;		/* of all of it, */
	uint32_t whole;		/* and its size; 0: not known */
	const uint8_t *inl;	/* as struct rec_code has it */
	uint32_t inl_len;
};

struct jvm_code_gone {
	uint64_t time_ns, addr;
	uint32_t compile_id;	/* 0: not known any more */
};

struct jvm_stub {
	uint64_t time_ns, addr, size;
	const char *name;
	uint32_t name_len;
};

/* The name of threads that the agent made, as records of the trace have it (OWN_NAME in trace/record.h). */
#define JVM_OWN_THREAD "[arcprof]"

struct jvm_thread {
	uint64_t time_ns;
	uint32_t thread;	/* tid; 0 of a virtual thread */
	uint64_t vthread;	/* the name is that of this virtual thread; 0: of the kernel thread */
	const char *name, *group;	/* group "": not known, or of a virtual thread */
	uint32_t name_len, group_len;
};

/* A method, or with an empty name a class, that was to be instrumented and is not. */
struct jvm_refused {
	uint64_t time_ns;
	const char *class_name, *name, *sig, *why;
	uint32_t class_len, name_len, sig_len, why_len;
};

/* What the thread executes from now on is traced, as part of a call of the method. */
struct jvm_bracket {
	uint64_t time_ns;
	uint32_t thread;	/* tid */
	uint32_t method;
};

/* What samples of a source end in: a class, a reason. Told once, perhaps after the first such sample. */
struct jvm_leaf {
	uint64_t time_ns;
	uint32_t leaf;		/* its number, never 0 */
	uint32_t kind;		/* enum jvm_leaf_kind */
	const char *name;
	uint32_t name_len;
};

/* Objects of JVM_SOURCE_LIVE that are watched no more. */
struct jvm_gone_objects {
	uint64_t time_ns;
	uint32_t why;		/* enum jvm_gone */
	const uint8_t *numbers;	/* varints, an even number of them; 0 is none */
	uint32_t numbers_len;
};

/* All objects were looked at after a pause that ended at time_ns; those that are gone were told of before. */
struct jvm_swept {
	uint64_t time_ns;
	uint32_t pauses;	/* of the collector since the recording began */
	uint32_t collector;	/* enum jvm_collector */
	uint32_t tracked;	/* objects that are left */
	uint64_t interval;	/* bytes: with which those that are left are samples; 0: all */
	uint64_t took_ns;
	/*
	 * Garbage by then is known to be dead: what was young, and what was however old; 0: not known. They
	 * are equal after a collection that the agent asked for at that time.
	 */
	uint64_t young_ns;
	uint64_t whole_ns;
};

/* The objects of JVM_SOURCE_LIVE that are left are in the heap dump that is made next (jvm/roster.h). */
struct jvm_roster {
	uint64_t time_ns;
	uint64_t cookie;	/* which one */
	uint32_t nr;		/* objects; what was told of before is not among them */
};

/* A source that was asked for, and of which this JVM has no samples. */
struct jvm_no_source {
	uint64_t time_ns;
	uint32_t source;	/* enum jvm_source */
	const char *why;
	uint32_t why_len;
};

/*
 * A picture of threads: dump_begin, a dump_thread for each with its dump_frames, innermost first, and
 * dump_locks; then perhaps dump_edges; dump_end. Sent on demand (JVM_DUMP), or, of threads that are
 * stuck, to the recorder (agent/threads.h).
 */
struct jvm_dump_begin {
	uint64_t time_ns;
	uint32_t flags;		/* enum jvm_dump_flags */
	uint32_t nr_threads;
};

enum jvm_dump_flags {
	JVM_DUMP_ATOMIC = 1 << 0,	/* all of it is of one moment; else each thread is of its own */
	JVM_DUMP_STUCK = 1 << 1,	/* only threads that have waited for a lock for some time */
	/* virtual threads that wait may be missing: jdk.trackAllThreads is off */
	JVM_DUMP_UNTRACKED = 1 << 2,
};

struct jvm_dump_thread {
	uint64_t time_ns;
	uint64_t id;		/* Thread.threadId() */
	uint32_t thread;	/* its tid; 0 of a virtual thread, or not known */
	uint32_t state;		/* bits of JVMTI's GetThreadState() */
	uint32_t flags;		/* enum jvm_dump_thread_flags */
	uint32_t priority;
	uint64_t carrier;	/* id of the thread that carries it, 0 none */
	uint64_t cpu_ns;	/* that it has consumed; 0: not known */
	const char *name;
	uint32_t name_len;
};

enum jvm_dump_thread_flags {
	JVM_DUMP_VIRTUAL = 1 << 0,
	JVM_DUMP_DAEMON = 1 << 1,
};

struct jvm_dump_frame {
	uint64_t time_ns;
	uint32_t line;		/* 0: not known; JVM_DUMP_NATIVE: a native method */
	const char *class_name, *name, *source;
	uint32_t class_len, name_len, source_len;
};

#define JVM_DUMP_NATIVE 0xffffffffu

struct jvm_dump_lock {
	uint64_t time_ns;
	uint64_t owner;		/* of what is wanted: id of the thread that has it; 0: nobody, or not known */
	uint32_t role;		/* enum jvm_dump_role */
	uint32_t depth;		/* of what is held: in the thread's frames, 0 innermost */
	uint32_t hash;		/* identity hash code */
	const char *class_name;	/* java.lang.Object */
	uint32_t class_len;
};

enum jvm_dump_role {
	JVM_DUMP_ENTERS = 1,	/* waits to enter its monitor */
	JVM_DUMP_WAITS,		/* is in its wait() */
	JVM_DUMP_PARKS,		/* is parked by it */
	JVM_DUMP_HOLDS,		/* holds its monitor */
	JVM_DUMP_NR_ROLES
};

/* In a further look, thread id still wanted what has this hash, from that owner. */
struct jvm_dump_edge {
	uint64_t time_ns;
	uint64_t id, owner;
	uint64_t cpu_ns;
	uint32_t round;		/* 1 and so on */
	uint32_t hash;
};

struct jvm_dump_end {
	uint64_t time_ns;
	uint32_t rounds;	/* looks after the first */
	uint32_t lost;		/* threads that ended meanwhile, or could not be looked at */
	uint32_t hidden;	/* virtual threads that this JDK does not let us look at */
	const char *why;	/* it is not complete; "": it is */
	uint32_t why_len;
};

/* What trace/record.h has as struct rec_event: that explains the members. */
struct jvm_event {
	uint64_t time_ns;	/* when it began */
	uint32_t kind;		/* enum jvm_event_kind */
	uint32_t thread;	/* tid; 0: none, or not known */
	uint64_t vthread;	/* id of the virtual thread that it is of; 0: of the thread itself */
	uint64_t duration_ns;
	uint64_t values[3];
	const char *what, *cause;
	uint32_t what_len, cause_len;
};

/* Of the thread's JVM_EVENT_CLASS_LOAD at that time: the innermost method that is not a loader's. */
struct jvm_load_cause {
	uint64_t time_ns;
	uint32_t thread;	/* tid */
	const char *by;		/* java.lang.String.concat */
	uint32_t by_len;
};

/* A mark or phase with named values. */
struct jvm_marked {
	uint64_t time_ns;	/* when it began */
	uint64_t duration_ns;	/* UINT64_MAX: it is a point in time */
	uint64_t vthread;	/* id of the virtual thread that it is of; 0: of the thread itself */
	const char *name;
	const uint8_t *fields;	/* base/fields.h */
	uint32_t thread;	/* tid */
	uint32_t name_len, fields_len;
};

/* From then on a thread has these labels, and no others. */
struct jvm_labels {
	uint64_t time_ns;
	uint32_t thread;	/* its tid; of a virtual thread that of a carrier, which says nothing */
	uint32_t nr;		/* of the thread's records: 1, 2, ...; what is missing was lost */
	uint64_t vthread;	/* id of the virtual thread that has them; 0: the thread itself */
	const char *text;	/* "key=value,key=value"; "": none */
	uint32_t text_len;
};

/* What was asked for in jvm_ctl.tell, and will not come. */
struct jvm_no_event {
	uint64_t time_ns;
	uint32_t tell;		/* enum jvm_tell */
	const char *why;
	uint32_t why_len;
};

/* A thread has waited for a lock, or for whatever has this class, until time_ns. */
struct jvm_wait {
	uint64_t time_ns;
	uint32_t thread;	/* tid of the one that it goes on on */
	uint32_t kind;		/* enum jvm_wait_kind */
	uint64_t vthread;	/* id of the virtual thread; 0: none */
	uint64_t ns;
	uint32_t leaf;		/* of the lock's class */
	uint32_t identity;	/* its identity hash; 0 not known */
	uint32_t owner;		/* tid of who had it when the wait began; 0 not known */
	uint64_t weight_ns;	/* that its next sample of JVM_SOURCE_LOCK stands for; 0: there is none */
	uint64_t owner_vthread;	/* id of the virtual thread that had it; 0 none, or not known */
	uint64_t blamed_ns;	/* of ns: what somebody was charged with before (struct jvm_blame) */
};

/* The same for a lock of native code, which has no class. */
struct jvm_native_wait {
	uint64_t time_ns;
	uint64_t addr;		/* of the lock */
	uint64_t ns;
	uint32_t thread;	/* tid */
	uint32_t kind;		/* enum jvm_wait_kind */
	uint32_t owner;		/* as in struct jvm_wait, these three */
	uint64_t weight_ns;
	uint64_t blamed_ns;
	/* not 0: it has not waited itself, but gives back what so many others wait for: charged with ns */
	uint32_t given_back;
};

/* At time_ns, who has a lock that others wait for is charged with what these have waited since last time. */
struct jvm_blame {
	uint64_t time_ns;
	uint64_t ns;		/* of all who wait for it, */
	uint32_t waits;		/* so many */
	uint32_t leaf, identity, kind;	/* which lock, as in their struct jvm_wait */
	uint32_t what;		/* enum jvm_blamed */
	uint32_t owner;		/* tid; 0: none, not known, or a virtual thread: */
	uint32_t cut;		/* there are more frames */
	uint64_t owner_vthread;	/* its id */
	/* pairs of varints: a method, 0 not known, and how often it is there in a row; innermost first */
	const uint8_t *frames;
	uint32_t frames_len;	/* at most JVM_MAX_LINES */
};

/* A wait that goes on when the recording ends, or the VM does: what of it has passed by time_ns. */
struct jvm_open_wait {
	uint64_t time_ns;
	uint64_t vthread;	/* as in struct jvm_wait, all of them */
	uint64_t ns, blamed_ns, owner_vthread;
	uint32_t thread, kind, leaf, identity, owner;
	uint32_t cut;		/* of who waits, as in struct jvm_blame */
	const uint8_t *frames;	/* none: not known */
	uint32_t frames_len;
};

/* A virtual thread was on no carrier, until time_ns, and stands for others that were for a short time. */
struct jvm_virtual_wait {
	uint64_t time_ns;
	uint64_t vthread;	/* its id */
	uint64_t ns;		/* how long it was */
	uint64_t weight_ns;	/* what it stands for */
	uint32_t reason;	/* enum wall_reason (wall.h) */
	/* of WALL_PARK the class of what it was parked for, of WALL_IO the reason in words; 0: none */
	uint32_t leaf;
	uint32_t ready;		/* it could have gone on all the time, and had no carrier */
	uint32_t cut;		/* as in struct jvm_blame */
	const uint8_t *frames;
	uint32_t frames_len;
};

/* All that virtual threads did until time_ns: once, at the end, after all struct jvm_virtual_wait. */
struct jvm_virtual_total {
	uint64_t time_ns;
	uint64_t nr_threads;	/* that were there */
	uint64_t nr_waits;	/* how often they came back to a carrier */
	uint64_t nr_lost;	/* events of threads beyond those that there is room for */
	uint64_t life_ns;	/* of all of them, since the source began: */
	uint64_t mounted_ns, runnable_ns, blocked_ns;	/* it is the sum of these */
};

/* Acquisitions of a lock since since_ns, when it was counted from (jvm_ctl.lock_filter). */
struct jvm_lock_use {
	uint64_t time_ns;
	uint64_t since_ns;
	uint64_t nonrec, rec;	/* by a thread that did not have it, and that did */
	uint64_t held_ns;	/* of what is over, without the probes */
	uint32_t leaf, identity, kind;	/* which lock, as in struct jvm_wait: JVM_WAIT_ENTER or _LOCK */
};

/* Any record; the members have the names of their structs. */
union jvm_record {
#define RECORD(s, ...) struct jvm_##s s;
#include "jvm/table.h"
};

#endif
