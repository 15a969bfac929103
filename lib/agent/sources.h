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
/* The same later on, while the VM is up: those that the recorder asks for now, and no others. */
void sources_change(JavaVM *jvm, JNIEnv *env);
/*
 * Afterwards none begins a sample; sample_off() waits for those that have begun. False: a thread of a source
 * still runs.
 */
bool sources_off(JNIEnv *env);

/*
 * A sample of the calling thread: from its last Java frame outwards, with the leaf as the innermost frame.
 * value: what was hit, in the source's unit, not scaled up. The thread is in a JNI function, or in a callback
 * of JVMTI; also for signal handlers. object: its number, of JVM_SOURCE_LIVE. False: it was not taken, or
 * was lost.
 */
bool sources_sample(enum jvm_source source, uint64_t value, uint32_t leaf, uint32_t object);

/*
 * A sample of what the calling thread does at these registers, native frames included; value, leaf and id as
 * struct jvm_rec_sample has them. False: not now. For any place that may call malloc().
 */
struct memory_regs;
bool sources_sample_native(const struct memory_regs *at, enum jvm_source source, uint64_t value,
			   uint32_t leaf, uint32_t id);

/* ---- the sources: false: this VM lacks what it takes, or does not give it ---- */

/* alloc.c: objects that are allocated, and which of them live on (live.h); NULL: that is not wanted. */
bool alloc_on(JavaVM *jvm, const uint64_t *all, const uint64_t *live);
/* Have the VM collect all garbage, which takes as long as that does; false: it did not. */
bool alloc_collect(void);
void alloc_off(void);
/*
 * The VM is up. Where each object is a sample, a collection takes the buffers away that threads have already,
 * and would fill without a word.
 */
void alloc_live(void);
/* A sample that was chosen with one mean distance is one with the other, too. */
bool alloc_is_chosen(double size, double before, double now);
/* vmevents.c: exceptions that are thrown. NULL, or why not. */
const char *throws_turn_on(uint64_t interval);
void throws_turn_off(void);
/* memory.c: native memory, as the library that was preloaded tells. */
bool memory_on(void);
void memory_off(void);
/* The same of waits for native locks, which come with lock.c's, or by the library itself. */
void memory_waits_on(void);
void memory_waits_off(void);
/* lock.c: waits for locks. env as in sources_on(). */
bool lock_on(JavaVM *jvm, JNIEnv *env, uint64_t interval);
void lock_off(JNIEnv *env);
/*
 * virtual.c: virtual threads while they are on no carrier. False: this VM has none. virtual_live(): the VM is
 * up already, and all else begins; virtual_death(): it ends, and with it what waits.
 */
bool virtual_on(JavaVM *jvm, JNIEnv *env, uint64_t interval);
void virtual_live(JNIEnv *env);
void virtual_off(JNIEnv *env);
void virtual_death(JNIEnv *env);
/* The VM ends: tells of waits that do not. */
void lock_death(JNIEnv *env);
/* What lock_on() finds out from now on is for another recorder. */
void lock_forget(void);

#endif
