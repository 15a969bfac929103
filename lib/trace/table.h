/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - every kind of record, once.  The structs (record.h), the writer, the reader, the schema in each
 * trace, which dump goes by, and the tests are made of these rows.  Their order is that of the schema, and
 * the manual page arcprof-trace(5) has a line for each; the tests compare the two.
 *
 * There is no include guard: an includer defines RECORD, VARIANT or BY_HAND before, and what of the fields it
 * takes; all are undefined at the end.
 *
 *	RECORD(struct, chunk, time, major, code, name, fields)
 *		A record that is one struct rec_<struct>.  The row makes the struct, trace_write_<struct>(),
 *		the member <struct> of struct trace_sink, and what encodes and decodes it.
 *		chunk	where it is written: META, BRANCHES or CALLS
 *		time	TIMED: the struct begins with time_ns; UNTIMED: it has no time, and the record
 *			gets that of the latest sample
 *		major	TRF_MAJOR_<major>
 *		code	CODE(n): the minor code; CODE_LOW(n): its low byte, the rest is 0 when written;
 *			CODE_OF(struct, member): the member's value, any; CODE_ANY: any, 0 when written
 *		fields	in the order of the payload and of the struct, without commas between them
 *	VARIANT(struct, major, code, name, member)
 *		Another code of the same struct, which it has when the member is not 0; of several the
 *		last counts.  A bool is set by the reader, any other member is a field.
 *	BY_HAND(major, code, name, fields)
 *		A record that has code of its own elsewhere; fields as schema.h describes them.
 *
 *	FIELD(type, member)		u32, x32, i32: 4 bytes; u64, x64: 8; v: varint of a uint64_t
 *	FIELD(type, member, ":bytes")	the same with a unit
 *	NS(type, name)			<name>_ns, in ns
 *	KEY(type, member)		a field that must not be 0
 *	TEXT(member), BYTES(member)	with its length, <member>_len
 *	NAMED(type, name, member), NAMED(type, name, member, ":ns"), NAMED_TEXT(name, member, length),
 *	NAMED_BYTES(name, member, length)
 *		what is not called as the member is
 *	PAIRS(count, first, second, member, length)
 *		pairs of zigzag varints; the record has their number, the struct their length in bytes
 *	MEMBER(type, member)		of the struct alone: the bool of a VARIANT, or an array
 *	ELEMENT(type, name, member)	an element of that array
 *
 * An includer that takes fields defines PAIRS, MEMBER, ELEMENT, and these, of which the others are made:
 *	NUMBER(type, name, member, unit, is_key)
 *	STRING(type, name, member, length)	type: s or b
 */
#ifndef RECORD
#define RECORD(...)
#endif
#ifndef VARIANT
#define VARIANT(...)
#endif
#ifndef BY_HAND
#define BY_HAND(...)
#endif

#define FIELD(type, member, ...) NUMBER(type, #member, member, "" __VA_ARGS__, false)
#define NAMED(type, name, member, ...) NUMBER(type, name, member, "" __VA_ARGS__, false)
#define NS(type, name) NUMBER(type, #name, name##_ns, ":ns", false)
#define KEY(type, member) NUMBER(type, #member, member, "", true)
#define TEXT(member) STRING(s, #member, member, member##_len)
#define BYTES(member) STRING(b, #member, member, member##_len)
#define NAMED_TEXT(name, member, length) STRING(s, name, member, length)
#define NAMED_BYTES(name, member, length) STRING(b, name, member, length)

#define SAMPLE "event:m8.8 cpu:m16.16 thread:u32 stack:u32"
#define BLOCKS "cpu:m16.16 thread:u32 start:x64 nr:v *nr( what:u8 instructions:v span:v to:z )"

BY_HAND(FILE, CODE(TRF_FILE_SCHEMA), "schema", "major:x32 minor:x32 minor_mask:x32 name:s fields:s")
BY_HAND(FILE, CODE(TRF_FILE_INDEX), "index",
	"offset:u64:bytes first:u64:ns last:u64:ns type:u32:4cc stream:u32 records:u32 stored:u32:bytes")
BY_HAND(FILE, CODE(TRF_FILE_END), "end",
	"index:u64:bytes samples:u64 records:u64 lost:u64 realtime:u64:ns chunks:u32")
BY_HAND(LABEL, CODE_ANY, "label", "key:s value:s")

/* Something was lost. */
RECORD(lost, META, TIMED, LOST, CODE_OF(lost, cause), "lost",
	FIELD(u32, cause)	/* enum lost_cause */
	FIELD(u32, stream)	/* CPU or proc it happened on */
	FIELD(u64, count))

BY_HAND(DISPATCH, CODE(TRF_DISPATCH_RUN), "dispatches", "nr:u32 *nr( dt:z:ns what:v thread:v arg:v )")
BY_HAND(TPROF, CODE_LOW(TRF_TPROF_PLAIN), "sample.kernel", SAMPLE)
BY_HAND(TPROF, CODE_LOW(TRF_TPROF_PLAIN | TRF_TPROF_USER), "sample.user", SAMPLE)
BY_HAND(TPROF, CODE_LOW(TRF_TPROF_WEIGHT), "sample.kernel", SAMPLE " weight:u64")
BY_HAND(TPROF, CODE_LOW(TRF_TPROF_WEIGHT | TRF_TPROF_USER), "sample.user", SAMPLE " weight:u64")
BY_HAND(TPROF, CODE_LOW(TRF_TPROF_WIDE), "sample.kernel", SAMPLE " weight:u64 event_wide:u32")
BY_HAND(TPROF, CODE_LOW(TRF_TPROF_WIDE | TRF_TPROF_USER), "sample.user",
	SAMPLE " weight:u64 event_wide:u32")
BY_HAND(TPROF, CODE_LOW(TRF_TPROF_SUM), "sample.kernel",
	SAMPLE " weight:u64 event_wide:u32 samples:u64")
BY_HAND(TPROF, CODE_LOW(TRF_TPROF_SUM | TRF_TPROF_USER), "sample.user",
	SAMPLE " weight:u64 event_wide:u32 samples:u64")
BY_HAND(STACK, CODE(TRF_STACK_FRAMES), "frames", "first:u32 nr:u32 *nr( kind:v a:v b:z c:v d:v )")
BY_HAND(STACK, CODE(TRF_STACK_NODES), "stacks", "first:u32 runs:u32 *runs( up:v n:v *n( frame:v ) )")
BY_HAND(BRANCH, CODE_LOW(TRF_BRANCH_KERNEL), "branches.kernel", BLOCKS)
BY_HAND(BRANCH, CODE_LOW(TRF_BRANCH_USER), "branches.user", BLOCKS)

/* The instructions of a block as they were executed from here on. */
RECORD(branch_code, BRANCHES, TIMED, BRANCH, CODE_LOW(0x10), "branch.code",
	FIELD(x64, addr)
	FIELD(u32, proc)
	NAMED_BYTES("bytes", bytes, len))

/* A process image: forked, changed by exec, or found running. */
RECORD(proc, META, TIMED, MTE, CODE(0x34), "proc",
	FIELD(u32, proc)
	FIELD(u32, parent)	/* the proc that forked it, or that exec replaced; 0: found */
	FIELD(u32, pid)
	MEMBER(bool, exec)
	TEXT(comm))
VARIANT(proc, MTE, CODE(0x63), "fork", parent)
VARIANT(proc, MTE, CODE(0x81), "exec", exec)

/* The control group of a process, when that began or was found. */
RECORD(cgroup, META, TIMED, MTE, CODE(0x91), "proc.cgroup",
	FIELD(u32, proc)
	TEXT(path))	/* as the recorder saw it; base/cgroup.h finds containers in it */

/* The labels that the environment of a process gives to it, from when it began or was found. */
RECORD(resource, META, TIMED, MTE, CODE(0xa9), "proc.resource",
	FIELD(u32, proc)
	TEXT(labels))	/* base/labels.h; base/resource.h says from where */

/* A process or a thread is gone. */
RECORD(end, META, TIMED, MTE, CODE(0x65), "proc.end",
	FIELD(u32, proc)	/* 0: it is a thread */
	FIELD(u32, thread)	/* 0: it is a process */
	FIELD(i32, status))

/* A new thread, or a new name of a known one. */
RECORD(thread, META, TIMED, MTE, CODE(0x66), "thread",
	FIELD(u32, thread)
	FIELD(u32, proc)
	FIELD(u32, tid)
	MEMBER(bool, java)	/* the name is the Java thread's */
	TEXT(name))
VARIANT(thread, MTE, CODE(0x42), "thread.java", java)

/* The name of the group in which Java has the thread. */
RECORD(thread_group, META, TIMED, MTE, CODE(0x97), "thread.group",
	FIELD(u32, thread)
	TEXT(name))
VARIANT(end, MTE, CODE(0x67), "thread.end", thread)

/* A mapped file, the kernel, a module of it, or memory that has no file. */
RECORD(module, META, TIMED, MTE, CODE(0x82), "module",
	FIELD(u32, module)
	FIELD(x32, flags)	/* enum module_flags */
	FIELD(x64, dev)	/* 0 when unknown, as are these three */
	FIELD(u64, inode)
	FIELD(u64, size, ":bytes")
	NS(u64, mtime)
	BYTES(build_id)
	TEXT(path))	/* as the process sees it */

/* An executable mapping appeared. */
RECORD(map, META, TIMED, MTE, CODE(0x01), "map",
	FIELD(u32, proc)
	FIELD(u32, module)
	FIELD(x64, addr)
	FIELD(x64, size)	/* bytes */
	FIELD(x64, pgoff))	/* bytes: the offset in the module */

/* A Java method. */
RECORD(method, META, TIMED, MTE, CODE(0x83), "method",
	FIELD(u32, proc)
	FIELD(u32, method)
	NAMED_TEXT("class", class_name, class_len)	/* java/lang/String */
	TEXT(name)
	NAMED_TEXT("signature", sig, sig_len)
	TEXT(source))	/* file name or "" */

/*
 * Lines of a method: pairs of varints (zigzag), the differences of bytecode index and line to the pair
 * before, at first to 0. In the method's own order, which need not ascend; line 0 is not known. The reader
 * checks that the pairs are whole.
 */
RECORD(method_lines, META, TIMED, MTE, CODE(0x87), "method.lines",
	FIELD(u32, proc)
	FIELD(u32, method)
	PAIRS("nr", "bci", "line", table, len))

/*
 * Code of a Java method. inl is a blob of varints, ascending by pc: nr_pcs, then for each pc its delta, from
 * the code's start or the previous pc, and the number of frames. A frame, innermost first, has its method and
 * its bci + 1 (0: unknown).
 */
RECORD(code, META, TIMED, MTE, CODE(0x41), "code",
	FIELD(x64, addr)
	FIELD(u32, proc)
	FIELD(u32, method)
	FIELD(u32, compile_id)
	FIELD(u32, level)	/* 1 to 3: C1, 4: C2; 0: it calls a native method */
	FIELD(u32, size, ":bytes")
	NAMED_BYTES("inline", inl, inl_len))

/* The code has been removed. */
RECORD(code_gone, META, TIMED, MTE, CODE(0x84), "code.gone",
	FIELD(x64, addr)
	FIELD(u32, proc)
	FIELD(u32, compile_id))

/* The machine code of a method as it was when samples were first in it; code has what else is known of it. */
RECORD(code_bytes, META, TIMED, MTE, CODE(0x88), "code.bytes",
	FIELD(x64, addr)
	FIELD(u32, proc)
	FIELD(u32, compile_id)
	NAMED_BYTES("bytes", bytes, len))

/* The interpreter, a stub or an adapter; also what another runtime's perf map names. */
RECORD(stub, META, TIMED, MTE, CODE(0x85), "stub",
	FIELD(x64, addr)
	FIELD(x64, size)	/* bytes */
	FIELD(u32, proc)
	TEXT(name))

/*
 * Lines of the stub that was written last, which begins at that address. As those of a method, they are pairs
 * of an offset in it and a line, each up to the offset of the next in this or another record. A record has
 * those of one file; several records of a stub follow each other. Line 0 is not known.
 */
RECORD(stub_lines, META, TIMED, MTE, CODE(0xa4), "stub.lines",
	FIELD(x64, addr)
	FIELD(u32, proc)
	TEXT(file)
	PAIRS("nr", "offset", "line", table, len))

/*
 * CPU time that the kernel charged a thread from its birth, or the beginning of the recording or of this
 * file, to its end, or theirs. One for each thread of the kernel: what it executed before is in it, too.
 */
RECORD(used, META, TIMED, MTE, CODE(0x9f), "thread.used",
	FIELD(u32, thread)	/* the last with that number */
	NS(u64, cpu))

/*
 * Time in which a CPU ran threads, as the kernel counts it, of a recording of the whole machine: from the
 * beginning of the recording, or of this file, to its end.
 */
RECORD(cpu_used, META, TIMED, MTE, CODE(0xa2), "cpu.used",
	FIELD(u32, cpu)
	NS(u64, busy))

/*
 * CPU time that the kernel charged to a control group, with those below it, of a recording of some: from the
 * beginning of the recording, or of this file, to its end.
 */
RECORD(cgroup_used, META, TIMED, MTE, CODE(0xa3), "cgroup.used",
	NS(u64, cpu)
	TEXT(path))	/* as it was named; base/cgroup.h says which processes are in it */

/*
 * The amount of an event that a complete count charges to a thread, such as the bytes that it allocated
 * as the JVM counts them. It counts from the last such record of the thread, or from when the thread or
 * the recording began. event.N.counted is the sum of all threads.
 */
RECORD(counted, META, TIMED, MTE, CODE(0xa0), "thread.counted",
	FIELD(u32, thread)
	FIELD(u32, event)
	FIELD(v, amount))

/*
 * The times that the kernel's side counted for a thread while the source "wall" was recorded, from
 * begin_ns to time_ns. The states add up to that time, and the weights of the source's samples to each of
 * them.
 */
RECORD(wall, META, TIMED, MTE, CODE(0x89), "thread.wall",
	FIELD(u32, thread)
	NS(u64, begin)
	NS(v, cpu)
	NS(v, runnable)
	NS(v, blocked)
	NAMED(v, "blocks", nr_blocks))	/* how often it blocked */

/*
 * The times of virtual threads that the agent of a JVM counted, with "wall": the states add up to their
 * lives. Samples of wall have what was runnable or blocked on no carrier; what was mounted is in the
 * lives of carriers, too.
 */
RECORD(virtual, META, TIMED, MTE, CODE(0x95), "proc.virtual",
	FIELD(u32, proc)
	NAMED(v, "threads", nr_threads)	/* 0: not known yet, this or a later file has it */
	NAMED(v, "waits", nr_waits)	/* the same */
	NAMED(v, "lost", nr_lost)	/* comings and goings that there was no room for */
	NS(v, life)
	NS(v, mounted)
	NS(v, runnable)
	NS(v, blocked))

/*
 * For each sample of the source "wall" that is a wait, there is one record of which thread ended it. Waits
 * longer than the time between two scans weigh what they lasted. Shorter ones were open at a moment that is
 * random to the program, and weigh what they stand for.
 */
RECORD(wake, META, TIMED, MTE, CODE(0x8c), "thread.wake",
	/* time_ns: when the wait ended, or the recording did */
	FIELD(u32, thread)	/* that waited */
	FIELD(u32, function)	/* the reason */
	FIELD(u32, kind)	/* enum wake_kind; a reader takes others for unknown */
	FIELD(u32, waker)	/* the thread that ended it; 0: none */
	NAMED(v, "duration", ns, ":ns")	/* how long it was; 0: not known */
	NS(v, seen)	/* how long it had lasted when it was seen */
	FIELD(v, weight, ":ns"))

/*
 * From then on the thread has these labels, and no others, as its program says. Only what samples need is
 * in the trace: a change that no sample saw is not.
 */
RECORD(thread_label, META, TIMED, MTE, CODE(0x8d), "thread.label",
	FIELD(u32, thread)
	FIELD(x32, flags)	/* enum thread_label_flags */
	/* as base/labels.h has them: "key=value,key=value", by key; "": none */
	NAMED_TEXT("labels", text, text_len))

/* The state of a CPU or thread when a file of several began; before the dispatches of that file. */
RECORD(sched_at, META, TIMED, MTE, CODE(0x9d), "sched.at",
	/* time_ns: since when it did that */
	FIELD(u32, thread)
	FIELD(u32, what)	/* enum sched_at */
	FIELD(u32, cpu)	/* its number + 1; of a thread: the last it had, 0 unknown */
	FIELD(x32, arg))

/* From then on the branches of the thread, until its trace stops, are part of a call of the method. */
RECORD(bracket, META, TIMED, MTE, CODE(0x86), "bracket",
	FIELD(u32, proc)
	FIELD(u32, thread)
	FIELD(u32, method))

/* An event, which happened at a time or lasted for one; base/eventkinds.h defines the values of each kind. */
RECORD(event, META, TIMED, EVENT, CODE(0x01), "event",
	/* time_ns: when it began */
	FIELD(u32, kind)	/* enum event_kind; a reader ignores others */
	FIELD(u32, proc)
	FIELD(u32, thread)	/* 0: none, or not known */
	NS(v, duration)	/* EVENT_UNKNOWN: not known, or the kind has none; so with values */
	MEMBER(uint64_t, values[3])
	ELEMENT(v, "value1", values[0])
	ELEMENT(v, "value2", values[1])
	ELEMENT(v, "value3", values[2])
	TEXT(what)
	TEXT(cause))

/* A mark or phase of a program, with named values. */
RECORD(marked, META, TIMED, MTE, CODE(0x92), "marked",
	/* time_ns: when it began */
	FIELD(u32, proc)
	FIELD(u32, thread)	/* 0: none, or not known */
	NS(v, duration)	/* EVENT_UNKNOWN: a mark, else a phase */
	TEXT(name)
	BYTES(fields))	/* base/fields.h */

/* How much there was of something between two times, as the JVM counts it itself. */
RECORD(tally, META, TIMED, MTE, CODE(0xa1), "proc.tally",
	NS(u64, begin)
	FIELD(u32, proc)
	FIELD(u32, kind)	/* enum tally_kind; a reader ignores others */
	FIELD(v, n)
	NAMED(v, "duration", ns, ":ns")	/* of all of them */
	TEXT(why))	/* it is not known; "": it is */

/* The innermost method that is not a class loader's, for the thread's EVENT_CLASS_LOAD at that time. */
RECORD(load_cause, META, TIMED, MTE, CODE(0x98), "load.cause",
	FIELD(u32, proc)
	FIELD(u32, thread)
	TEXT(by))

/*
 * From then on the event is recorded, or it is not. Without such a record it is, all the time; if the first
 * says that it is, it was not before.
 */
RECORD(recorded, META, TIMED, EVENT, CODE(0x02), "recorded",
	FIELD(u32, on)
	TEXT(event))	/* "event.N" as its label has it, or one of the label "jvm_events" */

/* A condition of "record --when" was met, or the last part of the recording was asked for. */
RECORD(trigger, META, TIMED, EVENT, CODE(0x03), "trigger",
	FIELD(u32, proc)	/* of which it was true; 0: of none, or of several */
	TEXT(when)	/* the condition, as it was given */
	TEXT(cause))	/* what was seen */

/*
 * Rules for what is kept from then on (base/rules.h), everything without rules; or, for an event, how many
 * were left out since its last such record.
 */
RECORD(filter, META, TIMED, MTE, CODE(0x93), "filter",
	FIELD(v, left_out)
	TEXT(event)	/* "": none, this is of rules */
	TEXT(rules))

/*
 * The length of the wait that a sample of the source "lock" of that thread and time stands for, where its
 * weight is something else.
 */
RECORD(waited, META, TIMED, MTE, CODE(0x94), "thread.waited",
	FIELD(u32, thread)
	/* 0: the sample stands for several waits that are not known one by one */
	NAMED(v, "duration", ns, ":ns"))

/* All waits of one kind for one lock. */
RECORD(lock, META, TIMED, MTE, CODE(0x8a), "lock",
	FIELD(u32, proc)
	FIELD(u32, function)	/* the lock's class */
	/* its identity hash, of native code the lower half of its address; 0: several of the class */
	FIELD(x32, identity)
	FIELD(u32, kind)	/* enum lock_wait */
	FIELD(u32, waiters)	/* threads that waited */
	FIELD(v, n)	/* how often they waited */
	NAMED(v, "sum", ns, ":ns")	/* how long together */
	NS(v, max)	/* how long at most */
	/* pairs of zigzag varints: class of length (lockstat.h) and number of waits, ascending */
	PAIRS("lengths", "class", "n", buckets, buckets_len)
	/* the same: thread that had the lock when waits began, 0 not known, and what was waited then */
	PAIRS("owners", "thread", "ns", owners, owners_len))

/* A wait that has a sample of the source "lock", and what is not in that. */
RECORD(lock_wait, META, TIMED, MTE, CODE(0xae), "lock.wait",
	/* time_ns: when it was over, or the recording was */
	FIELD(u32, thread)	/* that waited */
	FIELD(u32, owner)	/* that had the lock when the wait began; 0: not known, or it has none */
	FIELD(u32, proc)
	FIELD(u32, function)	/* these three as in a lock */
	FIELD(x32, identity)
	FIELD(u32, kind)
	NAMED(v, "duration", ns, ":ns")	/* how long it was */
	FIELD(v, weight, ":ns"))	/* what it stands for, with others as short */

/* Acquisitions of a lock that were counted (record --lock-exact). */
RECORD(lock_use, META, TIMED, MTE, CODE(0x96), "lock.use",
	FIELD(u32, proc)
	FIELD(u32, function)
	FIELD(x32, identity)
	FIELD(u32, kind)	/* as in a lock: LOCK_ENTER or LOCK_LOCK */
	FIELD(v, nonrec)	/* by a thread that did not have it */
	FIELD(v, rec)	/* by one that did */
	NS(v, held)	/* completed holds, the outermost only */
	NS(v, counted))	/* how long was counted */

/* CPU time that threads consumed while they had a lock (record --lock-cpu). */
RECORD(lock_cpu, META, TIMED, MTE, CODE(0xa6), "lock.cpu",
	FIELD(u32, proc)
	FIELD(u32, function)
	FIELD(x32, identity)
	FIELD(u32, kind)	/* as in a lock.use */
	FIELD(v, holds)	/* completed ones that were measured: not those of virtual threads */
	NS(v, cpu))

/* Calls of notify() and notifyAll() of a lock (record --lock-exact). */
RECORD(lock_notify, META, TIMED, MTE, CODE(0xa7), "lock.notify",
	FIELD(u32, proc)
	FIELD(u32, function)
	FIELD(x32, identity)
	FIELD(v, notify)
	FIELD(v, notify_all)
	FIELD(v, idle))	/* of both: nobody waited */

/* The number of times that a lock for reading was given back (record --lock-exact). */
RECORD(lock_reads, META, TIMED, MTE, CODE(0xaf), "lock.reads",
	FIELD(u32, proc)
	FIELD(u32, function)
	FIELD(x32, identity)
	FIELD(v, reads))

/* Of calls of notify(), waits of one thread that another one has ended. */
RECORD(lock_notified, META, TIMED, MTE, CODE(0xa8), "lock.notified",
	FIELD(u32, proc)
	FIELD(u32, function)
	FIELD(x32, identity)
	FIELD(u32, notifier)	/* a thread; both 0: several */
	FIELD(u32, waiter)
	FIELD(v, n)
	NS(v, waited))	/* how long together */

/* The objects that are watched were looked at (record -e live). */
RECORD(sweep, META, TIMED, MTE, CODE(0x8b), "sweep",
	/* time_ns: when the pause before it ended */
	FIELD(u32, proc)
	FIELD(u32, pauses)	/* of the collector since the recording began */
	FIELD(v, tracked)	/* objects that are left */
	FIELD(v, died)	/* objects that were found dead */
	/* with which those that are left are samples; 0: all */
	FIELD(v, interval, ":bytes")
	/* of objects allocated until then it is known whether they have survived; 0: of none */
	NS(v, known)
	NS(v, took)
	/* what was garbage by then was found dead, however old; 0: no collection of the old was noticed */
	NS(v, whole))

/*
 * Sampled objects that were in use when a heap dump was made, and where each was allocated; several records
 * of one time and cookie, trace/roster.h.
 */
RECORD(roster, META, TIMED, MTE, CODE(0x8f), "roster",
	FIELD(u32, proc)
	FIELD(x64, cookie)	/* the dump has the same */
	FIELD(v, interval, ":bytes")	/* with which they are samples; 0: all */
	BYTES(objects))

/* The number of objects of a class that a JVM had after a whole collection. */
RECORD(class_total, META, TIMED, MTE, CODE(0x8e), "class.total",
	/* time_ns: when they had been counted */
	FIELD(u32, proc)
	FIELD(v, objects)
	FIELD(v, bytes, ":bytes")
	NAMED_TEXT("class", name, name_len))

/* The places of the resident memory of a process: records of one time are one reading, the process first. */
RECORD(footprint, META, TIMED, MTE, CODE(0x90), "proc.memory",
	FIELD(u32, proc)
	FIELD(u32, kind)	/* enum footprint_kind */
	/* bytes; of a process: flags, threads, what is not known of malloc; a category: malloc, committed */
	FIELD(v, resident)
	FIELD(v, swapped)
	FIELD(v, committed)
	FIELD(v, mapped)
	TEXT(text))

BY_HAND(CALLS, CODE(TRF_CALLS_CONSUMER), "call.consumer", "consumer:u32 kind:v a:v b:v")

/* A call tree: when it appears, and again at its end with all that was counted. */
RECORD(call_tree, CALLS, TIMED, CALLS, CODE(0x02), "call.tree",
	KEY(u32, tree)
	FIELD(u32, proc)
	FIELD(u32, thread)	/* 0: a thread without one of the kernel's for itself */
	FIELD(x32, flags)	/* enum call_tree_flags */
	FIELD(v, java_id)	/* Thread.getId(), 0 none */
	NS(v, start)
	NS(v, end)	/* 0: it lived on */
	NS(v, kernel_cpu)	/* CPU time by the kernel's account from its start to its end; 0 unknown */
	FIELD(v, popped)
	FIELD(v, inserted)
	FIELD(v, over_range)
	FIELD(v, folded)
	FIELD(v, folded_recursion)
	FIELD(v, thrown)
	FIELD(v, missed)
	FIELD(v, mounts)
	FIELD(v, lost_events)
	FIELD(v, open)	/* calls that had not returned */
	TEXT(name))	/* "": the thread's */

BY_HAND(CALLS, CODE(TRF_CALLS_NODES), "call.nodes", "tree:u32 first:u32 nr:u32 *nr( up:v consumer:v )")
BY_HAND(CALLS, CODE(TRF_CALLS_VALUES), "call.values",
	"tree:u32 metrics:u32 nr:u32 *nr( skip:v calls:v *metrics( base:v ) )")

/* What was to be counted and is not: a method, or without a name the whole class. */
RECORD(call_refused, CALLS, TIMED, CALLS, CODE(0x09), "call.refused",
	FIELD(u32, proc)
	NAMED_TEXT("class", class_name, class_len)
	TEXT(name)
	NAMED_TEXT("signature", sig, sig_len)
	TEXT(why))

/* The labels that a consumer of kind MARK_LABELS stands for. */
RECORD(call_label, CALLS, TIMED, CALLS, CODE(0x9a), "call.label",
	KEY(u32, consumer)
	FIELD(x32, flags)	/* THREAD_LABEL_UNKNOWN */
	TEXT(labels))	/* "key=value,..." */

BY_HAND(CALLS, CODE(TRF_CALLS_EVENTS), "call.events",
	"tree:u32 metrics:u32 nr:u32 *nr( kind:v consumer:v time:v:ns *metrics( charged:v ) )")

/* A function of a module that was hit. */
RECORD(symbol, META, UNTIMED, SYMBOL, CODE(0x01), "symbol",
	FIELD(x64, off)	/* in the file; of the kernel an address */
	FIELD(x64, size)	/* bytes */
	FIELD(u32, module)
	TEXT(name))	/* as the linker knows it, not demangled */

/* A line of one sampled address: a record for each inline level, the innermost first. */
RECORD(line, META, UNTIMED, SYMBOL, CODE(0x02), "line",
	FIELD(x64, off)	/* as in a symbol */
	FIELD(u32, module)
	FIELD(u32, depth)	/* 0 innermost, counts outwards */
	FIELD(u32, nr_depth)	/* how many there are */
	FIELD(u32, line)	/* 0 unknown */
	TEXT(func)	/* of an inlined level; "" for the outermost: its symbol names it */
	TEXT(file))

/* A function that is known by its name alone: of an imported profile, or the leaf of a source's sample. */
RECORD(function, META, UNTIMED, SYMBOL, CODE(0x03), "function",
	KEY(u32, function)
	FIELD(u32, kind)	/* enum function_kind */
	TEXT(name)
	TEXT(module)	/* "" unknown */
	TEXT(file))	/* "" unknown */

/*
 * A tree of contexts as it is: what a merged trace has in place of samples and calls.  Its sources, metrics
 * and consumers are numbered from 1, and come before what refers to them.  This is a recording that is in it.
 */
RECORD(tree_part, CALLS, UNTIMED, TREE, CODE(0x01), "tree.part",
	NS(u64, start)	/* CLOCK_REALTIME; 0: not known */
	NS(u64, duration)
	FIELD(u64, lost)	/* samples */
	TEXT(host)
	TEXT(command))

/* A stream of events, with an n of its own. */
RECORD(tree_source, CALLS, UNTIMED, TREE, CODE(0x02), "tree.source",
	KEY(u32, source)
	FIELD(u64, total)	/* n of all nodes */
	TEXT(name)
	TEXT(kind))	/* "calls" or "samples" */

/* A quantity of a source. */
RECORD(tree_metric, CALLS, UNTIMED, TREE, CODE(0x03), "tree.metric",
	KEY(u32, metric)
	KEY(u32, source)
	FIELD(u64, total)	/* base of all nodes */
	TEXT(name)
	TEXT(unit))

/* What contexts are of. */
RECORD(tree_consumer, CALLS, UNTIMED, TREE, CODE(0x04), "tree.consumer",
	KEY(u32, consumer)
	FIELD(x64, key)	/* of a process: the pid, in the upper half; of a thread: also the tid */
	TEXT(kind)	/* as in text trees: "native", "java-compiled" */
	TEXT(name)
	TEXT(module)
	TEXT(detail))

/*
 * Contexts in preorder, nr of them from number first on; the first is at that level, roots are at 0. Each
 * is varints: how many levels up from the one before its parent is (0: it is that one's child), its
 * consumer, n of each source, base of each metric.
 */
RECORD(tree_nodes, CALLS, UNTIMED, TREE, CODE(0x05), "tree.nodes",
	KEY(u32, first)
	FIELD(u32, level)
	FIELD(u32, nr)
	NAMED_BYTES("nodes", nodes, len))

#undef SAMPLE
#undef BLOCKS
#undef FIELD
#undef NAMED
#undef NS
#undef KEY
#undef TEXT
#undef BYTES
#undef NAMED_TEXT
#undef NAMED_BYTES
#undef NUMBER
#undef STRING
#undef PAIRS
#undef MEMBER
#undef ELEMENT
#undef RECORD
#undef VARIANT
#undef BY_HAND
