/* SPDX-License-Identifier: MIT */
/*
 * lock.h - waits for locks: what the files of that source share (sources.h).
 *
 * A wait is described when it begins and reported when it ends, with its stack: always if it lasted for the
 * interval or longer, else with a probability in proportion to its length. Until then it is in a table
 * (pending.c), where a thread of ours finds out who makes others wait (blame.c).
 */
#ifndef AGENT_LOCK_H
#define AGENT_LOCK_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "jvm/proto.h"

struct lock_wait {
	uint64_t since_ns;
	uint64_t vthread;		/* id; 0: none, or not known until the wait ends */
	uint64_t owner_vthread;
	uint32_t owner;			/* tid; 0 not known */
	uint32_t kind;			/* enum jvm_wait_kind */
	uint32_t leaf, identity;
	uint32_t session;		/* number of the session */
	uintptr_t monitor;		/* of JVM_WAIT_ENTER: its ObjectMonitor; 0 not known */
	bool owned;			/* of JVM_WAIT_LOCK: the lock had an owner */
	jobject lock;			/* if so, for a virtual thread: a global reference; else NULL */
	uint64_t blamed_ns;		/* set at the end: the part that owners were charged with */
	uint32_t notifier;		/* set at the end: who called notify(); 0: none, or not known */
	uint64_t notifier_vthread;
};

/* lock.c: */
/* Describe what a Java thread waits for, in a session. Returns false if the wait is not to be reported. */
bool lock_describe(JNIEnv *env, jobject what, enum jvm_wait_kind kind, struct lock_wait *w);
/* Report a wait that has ended, on the thread that waited. */
void lock_tell(const struct lock_wait *w);
/* Return whether waits are to be reported, and the number of the session. */
bool lock_is_on(uint32_t *session);
/*
 * Begin and end a wait of the calling thread. self is its Thread, or NULL when not at hand. lock_end()
 * returns false if the wait is not to be reported.
 */
void lock_begin(JNIEnv *env, jthread self, struct lock_wait *w);
bool lock_end(JNIEnv *env, jthread self, struct lock_wait *w);
/*
 * Do the same without a JNIEnv. lock_begin_alone() returns the thread's id, which lock_end_alone() needs as
 * it may not be found then. 0: it was not found even now, and the wait is lost.
 */
struct vm_thread;
uint64_t lock_begin_alone(const struct vm_thread *self, struct lock_wait *w);
bool lock_end_alone(uint64_t id, struct lock_wait *w);
/* Return the calling thread. Within sample_begin(). */
struct owner;
struct owner lock_self(void);
/* Return whether a wait of the calling thread is open. */
bool lock_waits_already(const struct vm_thread *t);

/* ---- pending.c: open waits by the id of the thread, which has one at a time at most ---- */

/*
 * Prepare the table, and delete the references of waits that never ended; env NULL: there are none. Must not
 * run during a scan of blame.c.
 */
bool pending_init(JNIEnv *env);
/* Add a wait; takes over w->lock. Returns false if there are too many. */
bool pending_begin(JNIEnv *env, uint64_t id, const struct lock_wait *w);
/* Remove a wait and set *w; w->lock is deleted. Returns false if it is not in the table. */
bool pending_end(JNIEnv *env, uint64_t id, struct lock_wait *w);
/*
 * Note that the calling thread, which owns the monitor, calls notify() or notifyAll(): HotSpot notifies in
 * the order in which threads began to wait. Returns how many are notified.
 */
struct owner;
uint32_t pending_notify(uint32_t leaf, uint32_t identity, bool all, const struct owner *by);
/* Return whether that thread has an open wait, and set *w. */
bool pending_peek(uint64_t id, struct lock_wait *w);

/* These are for the one thread that scans the table. */
struct pending_seen {
	struct lock_wait w;
	uint64_t id;			/* of the waiting thread */
	uint32_t slot;
	uint64_t since_ns;		/* start of the part that no owner was charged with */
};
/* Find the next wait from *at (first 0) that can have an owner. Returns false at the end. */
bool pending_next(uint32_t *at, struct pending_seen *p);
/* Return whether the wait is still open and has not been charged to anyone since. */
bool pending_holds(const struct pending_seen *p);
/* Note that an owner is charged with the wait until now_ns. Returns false if it has ended. */
bool pending_charge(struct pending_seen *p, uint64_t now_ns);
/* Return a local reference to what a virtual thread is parked for; NULL if the wait has ended. */
jobject pending_lock(JNIEnv *env, const struct pending_seen *p);

/* Remove the next wait of any kind from *at that began before now_ns; its end is no longer reported. */
struct pending_closed {
	struct lock_wait w;		/* with blamed_ns */
	uint64_t id;
};
bool pending_close(uint32_t *at, uint64_t now_ns, struct pending_closed *p);

/* ---- blame.c: charges owners with the waits of others, and reports waits that never end ---- */

void blame_on(jvmtiEnv *ti, JNIEnv *env, uint64_t interval_ns);
void blame_off(void);
/* Report the open waits; after blame_off(), within sample_begin(). */
void blame_end(JNIEnv *env, uint64_t now_ns);

/* owners.c: finds the thread from the owner field of a monitor. */
struct owner {
	uint32_t tid;			/* 0: not known, or a virtual thread */
	uint64_t vthread;
};
bool owners_init(void);
/* Set whether threads unknown to owners_add() may be virtual ones. */
void owners_tell_virtual(bool yes);
void owners_forget(JNIEnv *env);		/* env NULL: none was added */
/*
 * Add a running Java thread with the kernel's tid and Thread.threadId() id. owners.c takes over self, a weak
 * reference; owners_add() returns it if the thread was not added. owners_remove() returns it to the caller,
 * NULL if the thread was not known.
 */
jweak owners_add(uintptr_t thread, uint64_t id, uint32_t tid, jweak self);
jweak owners_remove(uintptr_t thread, uint64_t id);
/* Return the owner of a monitor; word: its owner field; object: address of its object at this moment. */
struct owner owners_of_monitor(uintptr_t word, uintptr_t object);
/* Return whether the owner field says that the owner does not know of the monitor yet. */
bool owners_is_anonymous(uintptr_t word);
/* Return the thread with that JavaThread (0: none, it is virtual) and id. */
struct owner owners_of_thread(uintptr_t thread, uint64_t id);
/* Return the thread with that Thread.threadId(). */
struct owner owners_of_id(uint64_t id);
/* Return the thread with that id in the table of pending.c. */
struct owner owners_of_waiter(uint64_t id);

/*
 * Return a local reference to a thread found by owners_of_...(), or with *carrier set to the carrier of that
 * virtual thread. NULL: it has ended, or is virtual and not mounted.
 */
jthread owners_thread(JNIEnv *env, const struct owner *o, bool *carrier);

/* classwait.c: waits for the initialisation of a class. Returns false if this VM is not known well enough. */
bool classwait_on(void);
void classwait_off(void);

/* park.c: Unsafe.park(). Returns false if the native method of this VM was not found. */
bool park_on(JNIEnv *env);
void park_off(JNIEnv *env);
/*
 * Describe what a thread is parked for; a virtual thread parks by unmounting, and needs a reference. Returns
 * false if that is unknown.
 */
bool park_describe(JNIEnv *env, jthread thread, bool is_virtual, struct lock_wait *w);
/* Return a local reference to the lock with an owner that a platform thread is parked for, or NULL. */
jobject park_blocker(JNIEnv *env, jthread thread);
/*
 * Find the owner of a lock that threads are parked for, and return a local reference to it; of several
 * readers, one of them. NULL: it has none, or its owner is not known.
 */
jthread park_owner(JNIEnv *env, jobject lock, struct owner *o);

#endif
