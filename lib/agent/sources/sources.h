/* SPDX-License-Identifier: MIT */
/*
 * sources.h - sources of samples that are not perf events (jvm/proto.h, enum jvm_source): each is a file of
 * its own with a row of functions (part.h). Documentation/contributing/add-an-event.adoc.
 */
#ifndef AGENT_SOURCES_H
#define AGENT_SOURCES_H

#include <asm/siginfo.h>
#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm/proto.h"

/* Begin the sources that the recorder asks for; env NULL: the VM is not up yet. sample_on() comes before. */
void sources_on(JavaVM *jvm, JNIEnv *env);
/* Begin and end sources, so that those are on that the recorder asks for now. The VM must be up. */
void sources_change(JavaVM *jvm, JNIEnv *env);
/* Start sources in a VM that was up before the session; the recorder listens now. */
void sources_go(JNIEnv *env);
/* Tell sources that the VM is up, in a session that began before; and that it ends. */
void sources_up(JNIEnv *env);
void sources_death(JNIEnv *env);
/*
 * End the sources: none begins a sample any more; sample_off() waits for open ones. Returns false if a thread
 * of a source still runs.
 */
bool sources_off(JNIEnv *env);

/*
 * Take a sample of the calling thread: from its last Java frame outwards, with the leaf as the innermost
 * frame. value: the amount, in the source's unit, not scaled up; id: as in struct jvm_rec_sample. The thread
 * must be in a JNI function or a callback of JVMTI; signal handlers may call this. Returns false if the
 * sample was not taken, or lost.
 */
bool sources_sample(enum jvm_source source, uint64_t value, uint32_t leaf, uint32_t id);

/*
 * Take a sample of the calling thread at these registers, native frames included; value, leaf and id as in
 * struct jvm_rec_sample. Returns false if that is not possible now. For any place that may call malloc().
 */
struct memory_regs;
bool sources_sample_native(const struct memory_regs *at, enum jvm_source source, uint64_t value,
			   uint32_t leaf, uint32_t id);

/* alloc.c: have the VM collect all garbage, and wait for it; return false if it did not. */
bool alloc_collect(void);
/* memory.c: begin and end samples of waits for native locks, which arcprof's preloaded library reports. */
void memory_waits_on(void);
void memory_waits_off(void);

/* ---- allocated.c: the VM's own count of the bytes that each thread has allocated ---- */

void allocated_on(void);
void allocated_off(void);
/* Report all threads, if that is on and the VM counts. */
void allocated_tell(void);
void allocated_vm_ends(void);
/* Report the calling thread, which ends, if it is a JavaThread: vm.h must still know it. */
void allocated_thread_ends(uintptr_t thread);

/* ---- tallies.c: what the VM counts of itself, in its performance data ---- */

/* Report the counts that the recorder asks for now. The VM must be up. */
void tallies_tell(void);

/* ---- timers.c: samples by timers on threads' CPU time, where perf events are forbidden ---- */

/* Give every thread a timer. Call timers_live() as soon as the VM is up, for threads that start later. */
void timers_on(uint64_t period_ns);
void timers_off(void);
void timers_live(JNIEnv *env);
void timers_add_this_thread(void);

/* Called in the signal handler: return whether the signal is one of ours, and of how many periods. */
bool timers_raised(const siginfo_t *si);
uint32_t timers_nr_periods(const siginfo_t *si);

/* ---- wall.c: a thread of ours walks threads that wait, from outside, so that none is disturbed ---- */

struct link_go;

/* Begin with the descriptors of go->wall, which are closed. Returns false if they cannot be used. */
bool wall_on(const struct link_go *go);
/* Begin to walk threads, if that is on. The VM must be up. */
void wall_live(JNIEnv *env);
/* Stop, and wait until no thread is being walked; return false if one still is after a long time. */
bool wall_off(void);

#endif
