/* SPDX-License-Identifier: MIT */
/*
 * sources.h - sources of samples that are no perf events (jvm/proto.h, enum jvm_source): each is a file of
 * its own, turned on and off by sources.c. Documentation/howto/add-an-event.adoc.
 */
#ifndef AGENT_SOURCES_H
#define AGENT_SOURCES_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm/proto.h"

/* Those that the recorder asks for; env NULL: the VM is not up yet. sample_on() comes before. */
void sources_on(JavaVM *jvm, JNIEnv *env);
/* Afterwards none begins a sample; sample_off() waits for those that have begun. */
void sources_off(JNIEnv *env);

/*
 * The number of what samples end in, told to the recorder when it is new; 0: out of memory. Not for signal
 * handlers.
 */
uint32_t sources_leaf(enum jvm_leaf_kind kind, const char *name, size_t len);

/*
 * A sample of the calling thread: from its last Java frame outwards, with the leaf as the innermost frame.
 * value: what was hit, in the source's unit, not scaled up. The thread is in a JNI function, or in a callback
 * of JVMTI; also for signal handlers.
 */
void sources_sample(enum jvm_source source, uint64_t value, uint32_t leaf);

/* ---- the sources: false: this VM lacks what it takes, or does not give it ---- */

/* alloc.c: objects that are allocated. */
bool alloc_on(JavaVM *jvm, uint64_t interval);
void alloc_off(void);
/* lock.c: waits for locks. env as in sources_on(). */
bool lock_on(JavaVM *jvm, JNIEnv *env, uint64_t interval);
void lock_off(JNIEnv *env);
/* The VM ends: tells of waits that do not. */
void lock_death(JNIEnv *env);

#endif
