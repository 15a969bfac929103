/* SPDX-License-Identifier: MIT */
/*
 * lock.h - waits for locks: what the files of that source share (sources.h).
 *
 * A wait is described when it begins, told when it is over, and its stack is taken then: whole for waits of
 * the interval's length or longer, for shorter ones with a probability in proportion to their length.
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
};

/* lock.c: */
/* Of what the thread waits for; false: nothing is to be told. Any Java thread, in a session. */
bool lock_describe(JNIEnv *env, jobject what, enum jvm_wait_kind kind, struct lock_wait *w);
/* The wait is over: on the thread that had it. */
void lock_tell(const struct lock_wait *w);
/* Whether waits are to be told; which session. */
bool lock_is_on(uint32_t *session);

/* owners.c: from what a monitor has as its owner to a thread. */
struct owner {
	uint32_t tid;			/* 0: not known, or a virtual thread */
	uint64_t vthread;
};
bool owners_init(void);
void owners_forget(void);
/* A Java thread that runs, on the kernel thread tid; id: Thread.threadId(). */
void owners_add(uintptr_t thread, uint64_t id, uint32_t tid);
void owners_remove(uintptr_t thread, uint64_t id);
/* word: as ObjectMonitor has it; object: where the monitor's is, at this moment. */
struct owner owners_of_monitor(uintptr_t word, uintptr_t object);
/* The thread with that JavaThread (0: none, it is virtual) and id. */
struct owner owners_of_thread(uintptr_t thread, uint64_t id);

/* park.c: Unsafe.park(). False: this VM's is not where we look for it. */
bool park_on(JNIEnv *env);
void park_off(JNIEnv *env);
/* What a thread is parked for; virtual ones park by unmounting. False: it says nothing. */
bool park_describe(JNIEnv *env, jthread thread, struct lock_wait *w);

#endif
