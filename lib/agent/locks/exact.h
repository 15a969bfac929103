/* SPDX-License-Identifier: MIT */
/*
 * exact.h - each acquisition of the locks of selected classes, counted by probes in bytecode (record
 * --lock-exact): part of the source of waits for locks (lock.h).
 *
 * Why it is so: Documentation/technical/locks.adoc, "Every acquisition".
 */
#ifndef AGENT_EXACT_H
#define AGENT_EXACT_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#define EXACT_HELPER "java/lang/ArcLock"

/*
 * exact.c: counts from now on what jvm_ctl.lock_filter selects; false: the VM does not let us. The VM is up.
 * Nothing happens where nothing is selected.
 */
bool exact_on(JavaVM *jvm, JNIEnv *env);
/* The classes are as they were without us; what was counted is told by then. */
void exact_off(JNIEnv *env);
/* The calling thread, which has the object's monitor, is about to wait() for it. */
void exact_wait(JNIEnv *env, jobject object);
/* Tells what was counted since the last time, at most once a second unless now is set; in sample_begin(). */
void exact_tell(bool now);

/* notify.c: the calling thread notifies so many who wait for a monitor of the class with that leaf. */
void notify_called(uint32_t leaf, uint32_t nr_woken);

/* exact_helper.c: the class of the probes, with these natives; a global reference, NULL: it was refused. */
struct exact_natives {
	void *enter, *exit, *waited, *owns, *state, *notify, *stamped;
};
jclass exact_helper(JNIEnv *env, const struct exact_natives *n);
/* An object that is locked has its hash at hand: the probes give it. */
bool exact_has_hash_in_lock(void);

/* exact_classes.c: which classes get probes, and putting them in and taking them out. */
bool exact_classes_on(JavaVM *jvm, JNIEnv *env);
void exact_classes_off(JNIEnv *env);

#endif
