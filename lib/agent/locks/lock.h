/* SPDX-License-Identifier: MIT */
/*
 * lock.h - waits for locks: what the files of that source share (sources.h).
 *
 * A wait is described when it begins, told when it is over, and its stack is taken then: whole for waits of
 * the interval's length or longer, for shorter ones with a probability in proportion to their length.
 * Meanwhile it lies in a table (pending.c), where a thread of ours looks for who makes others wait (blame.c).
 */
#ifndef AGENT_LOCK_H
#define AGENT_LOCK_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "jvm/proto.h"

struct lock_wait {
	uint64_t since_ns;
	uint64_t vthread;		/* id; 0: none, or it is known when the wait ends */
	uint64_t owner_vthread;
	uint32_t owner;			/* tid; 0 not known */
	uint32_t kind;			/* enum jvm_wait_kind */
	uint32_t leaf, identity;
	uint32_t session;		/* a number of its own for each */
	uintptr_t monitor;		/* of JVM_WAIT_ENTER: its ObjectMonitor; 0 not known */
	bool owned;			/* of JVM_WAIT_LOCK: it had an owner */
	jobject lock;			/* then, of a virtual thread: a global reference; else NULL */
	uint64_t blamed_ns;		/* when it is over: what of it an owner was charged with, */
	uint32_t notifier;		/* and the tid of who called notify(); 0: nobody did, or not known */
	uint64_t notifier_vthread;
};

/* lock.c: */
/* Of what the thread waits for; false: nothing is to be told. Any Java thread, in a session. */
bool lock_describe(JNIEnv *env, jobject what, enum jvm_wait_kind kind, struct lock_wait *w);
/* The wait is over: on the thread that had it. */
void lock_tell(const struct lock_wait *w);
/* Whether waits are to be told; which session. */
bool lock_is_on(uint32_t *session);
/*
 * A wait of the calling thread begins, and is over: false: it is not to be told. self: its Thread, NULL
 * when not at hand.
 */
void lock_begin(JNIEnv *env, jthread self, struct lock_wait *w);
bool lock_end(JNIEnv *env, jthread self, struct lock_wait *w);
/*
 * The same where there is no JNIEnv. Returns the thread's id, for the end, as it may be out of reach then. 0:
 * it is now, and the wait is lost.
 */
struct vm_thread;
uint64_t lock_begin_alone(const struct vm_thread *self, struct lock_wait *w);
bool lock_end_alone(uint64_t id, struct lock_wait *w);
/* The calling thread, in sample_begin(). */
struct owner;
struct owner lock_self(void);
/* The calling thread is in a wait that has begun. */
bool lock_waits_already(const struct vm_thread *t);

/* ---- pending.c: waits that have begun, by the id of the thread; one thread waits once at a time ---- */

/* Also gives back the references of waits that were never over; env NULL: there are none. No look runs. */
bool pending_init(JNIEnv *env);
/* Takes over w->lock. False: there are too many. */
bool pending_begin(JNIEnv *env, uint64_t id, const struct lock_wait *w);
/* False: it is not known. w->lock is gone. */
bool pending_end(JNIEnv *env, uint64_t id, struct lock_wait *w);
/*
 * The calling thread, which has the monitor, calls notify() or notifyAll(): HotSpot notifies in the order in
 * which threads began to wait. Returns how many are notified.
 */
struct owner;
uint32_t pending_notify(uint32_t leaf, uint32_t identity, bool all, const struct owner *by);
/* Whether that wait goes on, and what it is for. */
bool pending_peek(uint64_t id, struct lock_wait *w);

/* For the one thread that looks: */
struct pending_seen {
	struct lock_wait w;
	uint64_t id;			/* of the thread that waits */
	uint32_t slot;
	uint64_t since_ns;		/* what of it nobody was charged with begins here */
};
/* The next one from *at on (at first 0) that can have an owner; false: there is none. */
bool pending_next(uint32_t *at, struct pending_seen *p);
/* It has not ended, and nobody was charged meanwhile. */
bool pending_holds(const struct pending_seen *p);
/* Somebody is charged until now_ns. False: it is over. */
bool pending_charge(struct pending_seen *p, uint64_t now_ns);
/* A local reference to what a virtual thread is parked for; NULL: it is over. */
jobject pending_lock(JNIEnv *env, const struct pending_seen *p);

/*
 * The next one from *at on, of any kind, that had begun by now_ns: nothing is told of its end any more; its
 * thread's id.
 */
struct pending_closed {
	struct lock_wait w;		/* with blamed_ns */
	uint64_t id;
};
bool pending_close(uint32_t *at, uint64_t now_ns, struct pending_closed *p);

/* ---- blame.c: charges those who have locks with what others wait, and tells of waits without an end ---- */

void blame_on(jvmtiEnv *ti, JNIEnv *env, uint64_t interval_ns);
void blame_off(void);
/* After blame_off(), within sample_begin(). */
void blame_end(JNIEnv *env, uint64_t now_ns);

/* owners.c: from what a monitor has as its owner to a thread. */
struct owner {
	uint32_t tid;			/* 0: not known, or a virtual thread */
	uint64_t vthread;
};
bool owners_init(void);
/* Say whether threads that are not known by owners_add() may be virtual ones. */
void owners_tell_virtual(bool yes);
void owners_forget(JNIEnv *env);		/* NULL: none was added */
/*
 * A Java thread that runs, on the kernel thread tid; id: Thread.threadId(). self: a weak reference, which is
 * owners.c's then; owners_remove() returns it to whoever calls, NULL: it was not known. owners_add() does if
 * it does not take it.
 */
jweak owners_add(uintptr_t thread, uint64_t id, uint32_t tid, jweak self);
jweak owners_remove(uintptr_t thread, uint64_t id);
/* word: as ObjectMonitor has it; object: where the monitor's is, at this moment. */
struct owner owners_of_monitor(uintptr_t word, uintptr_t object);
/* The owner has not noticed that there is a monitor. */
bool owners_is_anonymous(uintptr_t word);
/* The thread with that JavaThread (0: none, it is virtual) and id. */
struct owner owners_of_thread(uintptr_t thread, uint64_t id);
/* The thread with that Thread.threadId(). */
struct owner owners_of_id(uint64_t id);
/* The thread by what pending.c calls its id. */
struct owner owners_of_waiter(uint64_t id);

/*
 * A local reference to a thread that owners_of_...() told of; NULL: it has ended, or is virtual and on no
 * carrier. *carrier: it is that of its carrier.
 */
jthread owners_thread(JNIEnv *env, const struct owner *o, bool *carrier);

/* classwait.c: for who initialises a class. False: this VM's are not known well enough. */
bool classwait_on(void);
void classwait_off(void);

/* park.c: Unsafe.park(). False: this VM's is not where we look for it. */
bool park_on(JNIEnv *env);
void park_off(JNIEnv *env);
/*
 * What a thread is parked for; virtual ones park by unmounting, and need a reference. False: it says nothing.
 */
bool park_describe(JNIEnv *env, jthread thread, bool is_virtual, struct lock_wait *w);
/* A local reference to what a platform thread is parked for, with an owner; NULL: nothing. */
jobject park_blocker(JNIEnv *env, jthread thread);
/*
 * Find who has the lock that others are parked for, and return a local reference to it; of a lock that
 * several have for reading, one of them. NULL: nobody, or it is not known who.
 */
jthread park_owner(JNIEnv *env, jobject lock, struct owner *o);

#endif
