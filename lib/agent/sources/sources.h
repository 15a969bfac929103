/* SPDX-License-Identifier: MIT */
/*
 * sources.h - sources of samples that are no perf events (jvm/proto.h, enum jvm_source): each is a file of
 * its own with a row of functions (part.h). Documentation/contributing/add-an-event.adoc.
 */
#ifndef AGENT_SOURCES_H
#define AGENT_SOURCES_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm/proto.h"

/* Begin those that the recorder asks for; env NULL: the VM is not up yet. sample_on() comes before. */
void sources_on(JavaVM *jvm, JNIEnv *env);
/* The same later on, while the VM is up: those that the recorder asks for now, and no others. */
void sources_change(JavaVM *jvm, JNIEnv *env);
/* The VM was up before the session, and the recorder listens now. */
void sources_go(JNIEnv *env);
/* The VM comes up, in a session that began before; and it ends in one. */
void sources_up(JNIEnv *env);
void sources_death(JNIEnv *env);
/*
 * Afterwards none begins a sample; sample_off() waits for those that have begun. Return false if a thread
 * of a source still runs.
 */
bool sources_off(JNIEnv *env);

/*
 * A sample of the calling thread: from its last Java frame outwards, with the leaf as the innermost frame.
 * value: what was hit, in the source's unit, not scaled up. The thread is in a JNI function, or in a callback
 * of JVMTI; also for signal handlers. id: as struct jvm_rec_sample has it. False: it was not taken, or was
 * lost.
 */
bool sources_sample(enum jvm_source source, uint64_t value, uint32_t leaf, uint32_t id);

/*
 * A sample of what the calling thread does at these registers, native frames included; value, leaf and id as
 * struct jvm_rec_sample has them. False: not now. For any place that may call malloc().
 */
struct memory_regs;
bool sources_sample_native(const struct memory_regs *at, enum jvm_source source, uint64_t value,
			   uint32_t leaf, uint32_t id);

/* alloc.c: have the VM collect all garbage, which takes as long as that does; false: it did not. */
bool alloc_collect(void);
/* memory.c: waits for native locks, which come with lock.c's, or by the library itself. */
void memory_waits_on(void);
void memory_waits_off(void);

#endif
