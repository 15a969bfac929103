/* SPDX-License-Identifier: MIT */
/*
 * threads.h - a picture of threads: what each does, waits for and holds; the records dump_begin to dump_end
 * (jvm/record.h).
 *
 * It is the VM that looks, by functions that its own tools use: where there is jdk.internal.vm.ThreadSnapshot
 * (JDK 25), one handshake a thread, platform or virtual; before, ThreadMXBean's, one safepoint for all
 * platform threads. Both say who owns a lock, and need no capability: an agent that came late sees
 * as much as one that was there from the start. Nothing is read from HotSpot's structures here, for
 * monitors come and go; so these functions are not for the callbacks of monitor events.
 *
 * For ordinary threads of the VM, with a JNIEnv and no exception pending.
 */
#ifndef AGENT_THREADS_H
#define AGENT_THREADS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the records go. */
enum { THREADS_BUFFER = 1 << 16 };

struct threads_out {
	int fd;			/* a file; -1: the log of the session, and nothing else of this is used */
	char *buf;		/* of THREADS_BUFFER */
	size_t used;
	uint64_t at;		/* bytes in the file */
	bool failed;		/* no more could be written */
};

void threads_flush(struct threads_out *out);

/* The threads to look at: local references, and Thread.threadId() of each. */
struct threads_list {
	jthread *threads;
	uint64_t *ids;
	size_t nr, room;
	bool untracked;		/* virtual threads may be missing: jdk.trackAllThreads is off */
};

/* The fields of class Thread that dumps need; references are local, fields NULL where this VM lacks them. */
struct threads_class {
	JNIEnv *env;
	jvmtiEnv *ti;
	jclass thread;
	jclass virtual, carrier;	/* NULL before JDK 21 */
	jclass ownable;			/* AbstractOwnableSynchronizer */
	jfieldID id, eetop, blocker, owner;
	jfieldID holder, status;	/* of a platform thread: where its status is, since JDK 19 */
	jfieldID state;			/* of a virtual thread; NULL before JDK 24 */
	jint parked, pinned, blocked;	/* values of it */
};

/* False: this VM has other names for them. */
bool threads_class_find(struct threads_class *c, jvmtiEnv *ti, JNIEnv *env);
/* References and fields by name, for the files of this header: NULL and no exception when there is none. */
jclass threads_find_class(JNIEnv *env, const char *name);
jfieldID threads_find_field(JNIEnv *env, jclass cls, const char *name, const char *sig);
/* An exception was thrown: it is not any more. */
bool threads_threw(JNIEnv *env);

/* Local references that are made at most in a frame of JNI's, which takes memory for none of them. */
enum { THREADS_REFS = 65000 };

/*
 * Adds those that live to an empty list: Java's platform threads, and virtual ones, for which code in Java
 * runs. False: no memory.
 */
bool threads_list_platform(const struct threads_class *c, struct threads_list *l);
bool threads_list_virtual(const struct threads_class *c, struct threads_list *l);
void threads_list_release(const struct threads_class *c, struct threads_list *l);

/*
 * Return the id (Thread.threadId()) of the owner of the j.u.c. lock that parks the thread "self", or 0 if
 * it has none or is not such a lock. If a ReentrantReadWriteLock is held for reading, return self if it
 * is known to be one of the readers, since no other can free it then; else the first of them.
 */
uint64_t threads_park_owner(const struct threads_class *c, jobject blocker, uint64_t self);

/* Return what it waits in, as bits of JVMTI's GetThreadState(), of which a virtual thread has only some. */
uint32_t threads_waiting(const struct threads_class *c, jthread t);
/* CPU time; 0: of a virtual thread, or not known. */
uint64_t threads_cpu_ns(const struct threads_class *c, jthread t);

/* Writes the picture of those in the list; flags of enum jvm_dump_flags. */
void threads_show(const struct threads_class *c, const struct threads_list *l, uint32_t flags,
		  struct threads_out *out);

/*
 * stuck.c: for as long as the session lasts, if the recorder wants that, tells the log of threads that are
 * stuck. The VM is up.
 */
void stuck_watch(JNIEnv *env);

#endif
