/* SPDX-License-Identifier: MIT */
/*
 * eventkinds.h - kinds of events in time, the names by which they are recorded, and kinds of waits for locks,
 * once: an agent and a trace give them the same numbers, and records, rules and reports the same names. The
 * order is that of the numbers, which are in traces: a new row is the last of its kind, and changes
 * JVM_PROTO_VERSION.
 *
 * There is no include guard: an includer defines EVENT, TELL or WAIT before; all are undefined at the end.
 *
 *	EVENT(kind, name, group, lasts, told, text, values)
 *		EVENT_<kind> (trace/record.h), JVM_EVENT_<kind> (jvm/proto.h)
 *		name	as reports show it, and rules and options choose it
 *		group	what it is recorded by, which chooses it as well
 *		lasts	whether it has a length
 *		told	whether an agent tells the length with it, so that rules can go by that
 *		text	what its text is, one of the TEXT_ below
 *		values	up to three, enum event_value (model/events.h): what values[] of its record are
 *	UNRULED(kind, name, group, lasts, told, text, values)
 *		An EVENT that rules cannot name. Without a macro UNRULED it is an EVENT.
 *	TELL(what, name, with)
 *		JVM_TELL_<what> (jvm/proto.h), what a JVM or a program is asked for
 *		name	for "record -e"; the group of the kinds that it brings
 *		with	other JVM_TELL_ without which it tells nothing; 0: none
 *	UNJOURNALED(what, name, with)
 *		A TELL that needs a recorder. Without a macro UNJOURNALED it is a TELL.
 *	TALLY(kind)
 *		TALLY_<kind> (trace/record.h), JVM_TALLY_<kind> (jvm/proto.h): what a VM counts of itself
 *	WAIT(kind, name)
 *		LOCK_<kind> (trace/record.h), JVM_WAIT_<kind> (jvm/proto.h): how threads wait for a lock
 */
#define TEXT_ANY 0
#define TEXT_CLASS 1		/* the name of a class, so that rules can go by that */
#define TEXT_JNI_CLASS 2	/* the same, and agents write it, and the cause, as JNI does: "LFoo;" */

#ifndef EVENT
#define EVENT(...)
#endif
#ifndef UNRULED
#define UNRULED(...) EVENT(__VA_ARGS__)
#endif
#ifndef TELL
#define TELL(...)
#endif
#ifndef UNJOURNALED
#define UNJOURNALED(...) TELL(__VA_ARGS__)
#endif
#ifndef TALLY
#define TALLY(...)
#endif
#ifndef WAIT
#define WAIT(...)
#endif

EVENT(GC, "pause", "gc", true, true, TEXT_ANY, VALUE_BEFORE, VALUE_AFTER, VALUE_CAPACITY)
EVENT(GC_CONCURRENT, "concurrent", "gc", true, true, TEXT_ANY, VALUE_BEFORE, VALUE_AFTER, VALUE_CAPACITY)
EVENT(SAFEPOINT, "safepoint", "safepoint", true, true, TEXT_ANY, VALUE_REACH, VALUE_STOPPED, VALUE_LAST)
EVENT(COMPILE, "compile", "jit", true, true, TEXT_ANY, VALUE_TIER, VALUE_BYTECODE, VALUE_COMPILE_ID)
EVENT(NOT_COMPILED, "not-compiled", "jit", false, false, TEXT_ANY,
	VALUE_TIER, VALUE_BYTECODE, VALUE_COMPILE_ID)
EVENT(INVALIDATE, "invalidate", "jit", false, false, TEXT_ANY, VALUE_TIER, VALUE_BYTECODE, VALUE_COMPILE_ID)
EVENT(DEOPT, "deopt", "jit", false, false, TEXT_ANY, VALUE_TIER, VALUE_BCI, VALUE_COMPILE_ID)
EVENT(CLASS_LOAD, "load", "class", true, false, TEXT_JNI_CLASS, VALUE_OWN)
EVENT(CLASS_UNLOAD, "unload", "class", false, false, TEXT_CLASS)
EVENT(EXCEPTION, "exception", "exception", false, false, TEXT_JNI_CLASS, VALUE_CAUGHT)
EVENT(THREAD_START, "thread-start", "thread", false, false, TEXT_ANY)
EVENT(THREAD_END, "thread-end", "thread", false, false, TEXT_ANY)
EVENT(MARK, "mark", "mark", false, false, TEXT_ANY, VALUE_VALUE)
EVENT(PHASE, "phase", "mark", true, true, TEXT_ANY)
EVENT(OUT_OF_MEMORY, "out-of-memory", "oom", false, false, TEXT_ANY)
/* No record of an event has this kind: the record "trigger" of a trace is shown as it. */
UNRULED(TRIGGER, "trigger", "trigger", false, false, TEXT_ANY)
/* A part of the CLASS_LOAD that ended it, which comes before: when it began, and how long it took. */
UNRULED(CLASS_TIME, "load-time", "class-time", false, false, TEXT_ANY)
/* This is not a load but a class that was there when the events were switched on, and its loader. */
EVENT(CLASS_PRESENT, "present", "class", false, false, TEXT_JNI_CLASS)

TELL(GC, "gc", 0)
TELL(SAFEPOINT, "safepoint", 0)
TELL(JIT, "jit", 0)
TELL(CLASS, "class", 0)
TELL(EXCEPTION, "exception", 0)
TELL(THREAD, "thread", 0)
/* The two programs themselves report these. */
UNJOURNALED(MARK, "mark", 0)
TELL(LABEL, "label", 0)
TELL(OOM, "oom", 0)
/* These report how long classes took to load. */
TELL(CLASS_TIME, "class-time", JVM_TELL_CLASS)
/* These report which thread was the last to reach a safepoint. */
TELL(LAST, "safepoint-last", JVM_TELL_SAFEPOINT)

/* These count pauses of the collector and their time. */
TALLY(PAUSES)
/* Waits to enter monitors, without their time. */
TALLY(ENTERS)

/* The thread is about to enter a monitor that another one has. */
WAIT(ENTER, "enter")
/* It is parked for a synchronizer of java.util.concurrent that can have an owner. */
WAIT(LOCK, "lock")
/* It is in Object.wait(). */
WAIT(WAIT, "wait")
/* It is parked for anything else, such as a condition. */
WAIT(PARK, "park")
/* These are waits of native code: for a pthread_mutex_t, a pthread_rwlock_t, or in pthread_cond_wait(). */
WAIT(MUTEX, "mutex")
WAIT(RWLOCK, "rwlock")
WAIT(CONDITION, "cond")
/* It waits until another thread has initialised a class. */
WAIT(CLASS, "class")

#undef EVENT
#undef UNRULED
#undef TELL
#undef UNJOURNALED
#undef TALLY
#undef WAIT
#undef TEXT_ANY
#undef TEXT_CLASS
#undef TEXT_JNI_CLASS
