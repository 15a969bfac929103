/* SPDX-License-Identifier: MIT */
/*
 * table.h - every kind of record that an agent writes, once, but for samples.  The structs (record.h), the
 * numbers of their types, the agent's writer, the recorder's decoder and callbacks, what hands them over to
 * the trace, and the tests are made of these rows.
 *
 * There is no include guard: who includes this defines RECORD, and what of the rows it takes, before; all
 * are undefined at the end.
 *
 *	RECORD(struct, TRACED or OWN, fields)
 *		A record that is one struct jvm_<struct>.  The row makes the struct, JVM_REC_<struct>,
 *		send_<struct>() in the agent, and the member <struct> of struct jvm_callbacks.
 *		TRACED	the trace has a record of that name with the same members, and proc:
 *			javatrace_<struct>() (collect/jvm/javatrace.h) writes it
 *		OWN	the recorder has a callback of its own
 *		fields	in the order of the bytes and of the struct, after time_ns, without commas
 *			between them
 *
 *	FIELD(type, member)	u32: 4 bytes, u64: 8
 *	BYTES(member, length)	4 bytes of length and so many bytes
 * Of the others each is one of these two for includers that do not define it:
 *	KEY(type, member)	a field that must not be 0
 *	ASIDE(type, member)	a field for the recorder, which the trace's record does not have
 *	TID(member)		a thread: 4 bytes, its tid as the JVM sees it; decoded, as the
 *				recorder does; in the trace, the number of a thread
 *	ELEMENT(type, member)	an element of an array
 *	TEXT(member, length)	bytes that are a name; the agent cuts what is longer than JVM_MAX_STRING
 *	PAIRS(member, length)	bytes that are whole pairs of varints, such as a line table.  A TRACED
 *				record is handed over without it: the trace has lines of sampled methods only
 *	INLINES(member, length)	bytes that are an inline table as struct rec_code has it, or none
 *	FIELDS(member, length)	bytes that are named values (base/fields.h), or none
 * And of the struct alone:
 *	MEMBER(type, member)	an array
 *
 * Who changes a row changes JVM_PROTO_VERSION.
 */
#ifndef KEY
#define KEY(type, m) FIELD(type, m)
#endif
#ifndef ASIDE
#define ASIDE(type, m) FIELD(type, m)
#endif
#ifndef TID
#define TID(m) FIELD(u32, m)
#endif
#ifndef ELEMENT
#define ELEMENT(type, m) FIELD(type, m)
#endif
#ifndef TEXT
#define TEXT(m, l) BYTES(m, l)
#endif
#ifndef PAIRS
#define PAIRS(m, l) BYTES(m, l)
#endif
#ifndef INLINES
#define INLINES(m, l) BYTES(m, l)
#endif
#ifndef FIELDS
#define FIELDS(m, l) BYTES(m, l)
#endif
#ifndef MEMBER
#define MEMBER(type, m)
#endif

RECORD(method, TRACED,
	KEY(u32, method)	/* its number, never 0 */
	TEXT(class_name, class_len)	/* java/lang/String */
	TEXT(name, name_len)
	TEXT(sig, sig_len)
	TEXT(source, source_len)	/* file name or "" */
	/* as method_lines in trace/table.h; at most JVM_MAX_LINES bytes */
	PAIRS(lines, lines_len))

/* Of size 1 it is a place: not all of the code, but an address in it that a sample has. */
RECORD(code, TRACED,
	FIELD(u64, addr)
	FIELD(u32, size)
	FIELD(u32, method)
	FIELD(u32, compile_id)
	FIELD(u32, level)
	ASIDE(u64, begin)	/* of a place: the address of all of the code */
	ASIDE(u32, whole)	/* and its size; 0: not known */
	INLINES(inl, inl_len))	/* as code in trace/table.h */
RECORD(code_gone, TRACED,
	FIELD(u64, addr)
	FIELD(u32, compile_id))	/* 0: not known any more */
RECORD(stub, TRACED,
	FIELD(u64, addr)
	FIELD(u64, size)
	TEXT(name, name_len))

RECORD(thread, OWN,
	TID(thread)	/* tid; 0 of a virtual thread */
	FIELD(u64, vthread)	/* the name is that of this virtual thread; 0: of the kernel thread */
	TEXT(name, name_len)
	TEXT(group, group_len))	/* "": not known, or of a virtual thread */

/* A method, or with an empty name a class, that was to be instrumented and is not. */
RECORD(refused, OWN,
	TEXT(class_name, class_len)
	TEXT(name, name_len)
	TEXT(sig, sig_len)
	TEXT(why, why_len))

/* From now on the branches of the thread are traced, as part of a call of the method. */
RECORD(bracket, TRACED,
	TID(thread)
	FIELD(u32, method))

/* A thread has waited for a lock, or for whatever has this class, until time_ns. */
RECORD(wait, OWN,
	TID(thread)	/* tid of the one that it goes on on */
	FIELD(u32, kind)	/* enum jvm_wait_kind */
	FIELD(u64, vthread)	/* id of the virtual thread; 0: none */
	FIELD(u64, ns)
	KEY(u32, leaf)	/* of the lock's class */
	FIELD(u32, identity)	/* its identity hash; 0 not known */
	TID(owner)	/* tid of who had it when the wait began; 0 not known */
	FIELD(u64, weight_ns)	/* that its next sample of JVM_SOURCE_LOCK stands for; 0: there is none */
	FIELD(u64, owner_vthread)	/* id of the virtual thread that had it; 0 none, or not known */
	FIELD(u64, blamed_ns)	/* of ns: what somebody was charged with before (blame) */
	/* of JVM_WAIT_WAIT: who ended it by notify() of a lock that is counted (lock_filter), as the owner */
	TID(notifier)
	FIELD(u64, notifier_vthread))

/* The same for a lock of native code, which has no class. */
RECORD(native_wait, OWN,
	KEY(u64, addr)	/* of the lock */
	FIELD(u64, ns)
	TID(thread)
	FIELD(u32, kind)	/* enum jvm_wait_kind */
	TID(owner)	/* as in a wait, these three */
	FIELD(u64, weight_ns)
	FIELD(u64, blamed_ns)
	/* not 0: it has not waited itself, but gives back what so many others wait for: charged with ns */
	FIELD(u32, given_back))

/* At time_ns, who has a lock that others wait for is charged with what these have waited since last time. */
RECORD(blame, OWN,
	FIELD(u64, ns)	/* of all who wait for it, */
	FIELD(u32, waits)	/* so many */
	KEY(u32, leaf)	/* which lock, as in their wait; so with these two */
	FIELD(u32, identity)
	FIELD(u32, kind)
	FIELD(u32, what)	/* enum jvm_blamed */
	TID(owner)	/* 0: none, not known, or a virtual thread */
	FIELD(u32, cut)	/* there are more frames */
	FIELD(u64, owner_vthread)	/* the id of the virtual thread; 0: none */
	/*
	 * Pairs of varints: a method, 0 not known, and how often it is there in a row; innermost first. At
	 * most JVM_MAX_LINES bytes.
	 */
	PAIRS(frames, frames_len))

/* A wait that goes on when the recording ends, or the VM does: what of it has passed by time_ns. */
RECORD(open_wait, OWN,
	FIELD(u64, vthread)	/* as in a wait, all up to the owner */
	FIELD(u64, ns)
	FIELD(u64, blamed_ns)
	FIELD(u64, owner_vthread)
	TID(thread)
	FIELD(u32, kind)
	KEY(u32, leaf)
	FIELD(u32, identity)
	TID(owner)
	FIELD(u32, cut)	/* there are more frames of who waits */
	PAIRS(frames, frames_len))	/* as in blame; none: not known */

/* Acquisitions of a lock since since_ns, when it was counted from (jvm_ctl.lock_filter). */
RECORD(lock_use, OWN,
	FIELD(u64, since_ns)
	FIELD(u64, nonrec)	/* by a thread that did not have it */
	FIELD(u64, rec)	/* by one that did */
	FIELD(u64, held_ns)	/* of what is over, without the probes */
	FIELD(u64, measured)	/* holds of which the CPU time was measured (jvm_ctl.lock_cpu), */
	FIELD(u64, cpu_ns)	/* and that, without the probes */
	FIELD(u64, notify)	/* calls of notify(), */
	FIELD(u64, notify_all)	/* and of notifyAll(); */
	FIELD(u64, idle)	/* those of both that found nobody waiting */
	FIELD(u64, reads)	/* how often readers have given it back */
	KEY(u32, leaf)	/* which lock, as in a wait */
	FIELD(u32, identity)
	FIELD(u32, kind))	/* JVM_WAIT_ENTER or JVM_WAIT_LOCK */

/* A virtual thread was on no carrier, until time_ns, and stands for others that were for a short time. */
RECORD(virtual_wait, OWN,
	KEY(u64, vthread)	/* its id */
	FIELD(u64, ns)	/* how long it was */
	FIELD(u64, weight_ns)	/* what it stands for */
	FIELD(u32, reason)	/* enum wall_reason (wall.h) */
	/* of WALL_PARK the class of what it was parked for, of WALL_IO the reason in words; 0: none */
	FIELD(u32, leaf)
	FIELD(u32, ready)	/* it could have gone on all the time, and had no carrier */
	FIELD(u32, cut)	/* as in blame, as are the frames */
	PAIRS(frames, frames_len))

/* The sum of what virtual threads did until time_ns: once, at the end, after all virtual_waits. */
RECORD(virtual_total, OWN,
	FIELD(u64, nr_threads)	/* that were there */
	FIELD(u64, nr_waits)	/* how often they came back to a carrier */
	FIELD(u64, nr_lost)	/* events of threads beyond those that there is room for */
	FIELD(u64, life_ns)	/* of all of them, since the source began: the sum of these */
	FIELD(u64, mounted_ns)
	FIELD(u64, runnable_ns)
	FIELD(u64, blocked_ns))

/* The leaf of a source's samples: a class, a reason. Sent once, perhaps after the first such sample. */
RECORD(leaf, OWN,
	KEY(u32, leaf)	/* its number, never 0 */
	FIELD(u32, kind)	/* enum jvm_leaf_kind */
	TEXT(name, name_len))

/*
 * Bytes that a thread has allocated in its life by then, as counted by the VM, with JVM_SOURCE_ALLOC. Sent
 * for all live threads when the VM is up and the source begins, when the recorder sends a CHANGE, and when
 * the VM ends; for other threads when they end.
 */
RECORD(allocated, OWN,
	TID(thread)	/* 0: all that live have been reported */
	FIELD(u64, bytes))	/* without a thread 1: the VM ends */

/* Objects of JVM_SOURCE_LIVE that are watched no more. */
RECORD(gone_objects, OWN,
	FIELD(u32, why)	/* enum jvm_gone */
	PAIRS(numbers, numbers_len))	/* varints, an even number of them; 0 is none */

/*
 * The agent has checked all objects after a pause that ended at time_ns, and reported those that died before.
 */
RECORD(swept, OWN,
	FIELD(u32, pauses)	/* of the collector since the recording began */
	FIELD(u32, collector)	/* enum jvm_collector */
	FIELD(u32, tracked)	/* objects that are left */
	FIELD(u64, interval)	/* bytes with which those that are left are samples; 0: all */
	FIELD(u64, took_ns)
	FIELD(u64, young_ns)	/* young garbage by then is known to be dead; 0: not known */
	/* the same of garbage however old; equal after a collection that the agent asked for then */
	FIELD(u64, whole_ns))

/* The objects of JVM_SOURCE_LIVE that are left are in the heap dump that is made next (jvm/roster.h). */
RECORD(roster, OWN,
	FIELD(u64, cookie)	/* which one */
	FIELD(u32, nr))	/* objects; what was reported before is not among them */

/* A source that was asked for, and of which this JVM has no samples. */
RECORD(no_source, OWN,
	FIELD(u32, source)	/* enum jvm_source */
	TEXT(why, why_len))

/* Something that is recorded rests on a fact that this JVM does not have. */
RECORD(lacks, OWN,
	FIELD(u32, feature)	/* enum facts_feature */
	TEXT(fact, fact_len))	/* as facttable.h has it */

/*
 * A picture of threads: dump_begin, a dump_thread for each with its dump_frames, innermost first, and
 * dump_locks; then perhaps dump_edges; dump_end. Sent on demand (JVM_DUMP), or, of threads that are stuck,
 * to the recorder (agent/dump/threads.h).
 */
RECORD(dump_begin, OWN,
	FIELD(u32, flags)	/* enum jvm_dump_flags */
	FIELD(u32, nr_threads))

RECORD(dump_thread, OWN,
	FIELD(u64, id)	/* Thread.threadId() */
	TID(thread)	/* its tid; 0 of a virtual thread, or not known */
	FIELD(u32, state)	/* bits of JVMTI's GetThreadState() */
	FIELD(u32, flags)	/* enum jvm_dump_thread_flags */
	FIELD(u32, priority)
	FIELD(u64, carrier)	/* id of the thread that carries it, 0 none */
	FIELD(u64, cpu_ns)	/* that it has consumed; 0: not known */
	TEXT(name, name_len)
	TEXT(group, group_len))	/* of Java's; "": it has none any more */

RECORD(dump_frame, OWN,
	FIELD(u32, line)	/* 0: not known; JVM_DUMP_NATIVE: a native method */
	TEXT(class_name, class_len)
	TEXT(name, name_len)
	TEXT(source, source_len))

RECORD(dump_lock, OWN,
	FIELD(u64, owner)	/* of what is wanted: id of the thread that has it; 0: nobody, or not known */
	KEY(u32, role)	/* enum jvm_dump_role */
	FIELD(u32, depth)	/* of what is held: in the thread's frames, 0 innermost */
	FIELD(u32, hash)	/* identity hash code */
	TEXT(class_name, class_len))	/* java.lang.Object */

/* Thread id, in a further look, still wanted the lock with this hash, from that owner. */
RECORD(dump_edge, OWN,
	FIELD(u64, id)
	FIELD(u64, owner)
	FIELD(u64, cpu_ns)
	KEY(u32, round)	/* 1 and so on */
	FIELD(u32, hash))

RECORD(dump_end, OWN,
	FIELD(u32, rounds)	/* looks after the first */
	FIELD(u32, lost)	/* threads that ended meanwhile, or could not be looked at */
	FIELD(u32, hidden)	/* virtual threads that this JDK does not let us look at */
	TEXT(why, why_len))	/* it is not complete; "": it is */

/* The same as the event of that name in trace/table.h. */
RECORD(event, OWN,
	/* time_ns: when it began */
	FIELD(u32, kind)	/* enum jvm_event_kind */
	TID(thread)	/* 0: none, or not known */
	FIELD(u64, vthread)	/* id of the virtual thread that it is of; 0: of the thread itself */
	FIELD(u64, duration_ns)
	MEMBER(uint64_t, values[3])
	ELEMENT(u64, values[0])
	ELEMENT(u64, values[1])
	ELEMENT(u64, values[2])
	TEXT(what, what_len)
	TEXT(cause, cause_len))

/* From then on a thread has these labels, and no others. */
RECORD(labels, OWN,
	TID(thread)	/* its tid; of a virtual thread that of a carrier, which says nothing */
	FIELD(u32, nr)	/* of the thread's records: 1, 2, ...; what is missing was lost */
	FIELD(u64, vthread)	/* id of the virtual thread that has them; 0: the thread itself */
	TEXT(text, text_len))	/* "key=value,key=value"; "": none */

/* A mark or phase with named values. */
RECORD(marked, OWN,
	/* time_ns: when it began */
	TID(thread)
	FIELD(u64, vthread)	/* id of the virtual thread that it is of; 0: of the thread itself */
	FIELD(u64, duration_ns)	/* UINT64_MAX: it is a point in time */
	TEXT(name, name_len)
	FIELDS(fields, fields_len))	/* base/fields.h */

/* The innermost method that is not a loader's, of the thread's JVM_EVENT_CLASS_LOAD at that time. */
RECORD(load_cause, TRACED,
	TID(thread)
	TEXT(by, by_len))	/* java.lang.String.concat */

/*
 * A count that the VM keeps of itself from its start on. Sent when its recording begins, when the
 * recorder sends a CHANGE, and when the VM ends.
 */
RECORD(tally, OWN,
	FIELD(u32, kind)	/* enum jvm_tally_kind */
	FIELD(u64, n)
	FIELD(u64, ns)
	TEXT(why, why_len))	/* it does not; "": it does */

/* What was asked for in jvm_ctl.tell, and will not come. */
RECORD(no_event, OWN,
	FIELD(u32, tell)	/* enum jvm_tell */
	TEXT(why, why_len))

#undef RECORD
#undef FIELD
#undef KEY
#undef ASIDE
#undef TID
#undef ELEMENT
#undef BYTES
#undef TEXT
#undef PAIRS
#undef INLINES
#undef FIELDS
#undef MEMBER
#undef TRACED
#undef OWN
