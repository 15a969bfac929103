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

/* the destination of the records */
enum { THREADS_BUFFER = 1 << 16 };

struct threads_out {
	int fd;			/* a file; -1: the log of the session, and nothing else of this is used */
	char *buf;		/* of THREADS_BUFFER */
	size_t used;
	uint64_t at;		/* bytes in the file */
	bool failed;		/* no more could be written */
};

void threads_flush(struct threads_out *out);

/* the threads to show: local references, and Thread.threadId() of each */
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

/* Return false if this VM has other names for the fields. */
bool threads_class_find(struct threads_class *c, jvmtiEnv *ti, JNIEnv *env);
/*
 * Find references and fields by name, for the files of this header; NULL, without an exception, if there is
 * none.
 */
jclass threads_find_class(JNIEnv *env, const char *name);
jfieldID threads_find_field(JNIEnv *env, jclass cls, const char *name, const char *sig);
/* Clear a pending exception; return whether there was one. */
bool threads_threw(JNIEnv *env);

/*
 * At most this many local references are made in a frame of JNI, which takes no memory for them beforehand.
 */
enum { THREADS_REFS = 65000 };

/*
 * Add the living threads to an empty list: Java's platform threads, or the virtual ones, for which code in
 * Java runs. Returns false without memory.
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

/*
 * Return what the thread waits in, as bits of JVMTI's GetThreadState(); only some exist for a virtual thread.
 */
uint32_t threads_waiting(const struct threads_class *c, jthread t);
/* Return the thread's CPU time; 0: a virtual thread, or not known. */
uint64_t threads_cpu_ns(const struct threads_class *c, jthread t);

/* Write the picture of the threads in the list; flags: enum jvm_dump_flags. */
void threads_show(const struct threads_class *c, const struct threads_list *l, uint32_t flags,
		  struct threads_out *out);

/*
 * stuck.c: report stuck threads to the log until the session ends, if the recorder wants that. The VM must be
 * up.
 */
void stuck_watch(JNIEnv *env);

#endif
