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
 * exact.c: count acquisitions of the locks that jvm_ctl.lock_filter selects; does nothing when it selects
 * none. Returns false if the VM does not allow it. The VM must be up.
 */
bool exact_on(JavaVM *jvm, JNIEnv *env);
/* Restore the original classes, after reporting what was counted. */
void exact_off(JNIEnv *env);
/*
 * Must be called before the calling thread, which owns the object's monitor, waits for it in Object.wait().
 */
void exact_wait(JNIEnv *env, jobject object);
/*
 * Report what was counted since the last report, at most once a second unless now is set. Within
 * sample_begin().
 */
void exact_tell(bool now);

/*
 * notify.c: record that the calling thread notified nr_woken waiters of a monitor of the class with that
 * leaf.
 */
void notify_called(uint32_t leaf, uint32_t nr_woken);

/* exact_helper.c: define the class of the probes with these natives. Returns a global reference, or NULL. */
struct exact_natives {
	void *enter, *exit, *waited, *owns, *state, *notify, *stamped;
};
jclass exact_helper(JNIEnv *env, const struct exact_natives *n);
/* Return whether the hash of a locked object is cheap to get; the probes pass it then. */
bool exact_has_hash_in_lock(void);

/* exact_classes.c: put probes into the classes that lock something, and remove them. */
bool exact_classes_on(JavaVM *jvm, JNIEnv *env);
void exact_classes_off(JNIEnv *env);

#endif
