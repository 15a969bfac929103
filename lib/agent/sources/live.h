/* SPDX-License-Identifier: MIT */
/* live.h - which of the sampled objects are still there; alloc.c reports the samples. */
#ifndef AGENT_LIVE_H
#define AGENT_LIVE_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

#include "jvm/roster.h"

struct tracked {			/* a sampled object */
	jweak ref;
	uint32_t number;
	float size;
};

/*
 * Must be called before the first sample. Returns false without memory, or if the previous session has not
 * ended.
 */
bool live_on(uint64_t bytes);
/* Start looking for dead objects after collections, if live objects are on; the VM must be up. */
void live_watch(JNIEnv *env);
/* Look for dead objects a last time, at the end of the VM. */
void live_death(JNIEnv *env);
/*
 * Must be called when no sample begins any more. Returns false if our thread still runs. env NULL: weak
 * references are not deleted.
 */
bool live_off(JNIEnv *env);

/* Return the current interval in bytes, 0 for all objects. It may grow. */
uint64_t live_interval(void);
/* Add an object that this interval chose; called by the allocating thread. */
void live_sample(JNIEnv *env, jobject object, uint64_t size, uint32_t leaf, uint64_t chosen_at);
/*
 * Have our thread make, or release, the roster with that cookie for a heap dump (jvm/roster.h), and wait for
 * that. For any thread but ours.
 */
enum jvm_roster_answer live_roster(uint64_t cookie, bool on);
/* Handle JVMTI's GarbageCollectionFinish, during which no Java thread runs. */
void JNICALL live_collected(jvmtiEnv *ti);

/* ---- roster.c: makes the objects that tell a heap dump which objects are samples (jvm/roster.h) ---- */

/* Make a roster; a roster from before is released. Called by our thread in live.c, which owns the objects. */
enum jvm_roster_answer roster_make(JNIEnv *env, const struct tracked *objects, uint32_t nr, uint64_t cookie);
/* Release that roster, 0 for any. roster_expire() releases one that was not released for ROSTER_S. */
void roster_let_go(JNIEnv *env, uint64_t cookie);
void roster_expire(JNIEnv *env);
/* Return whether the calling thread makes a roster, whose objects are not samples. */
bool roster_is_being_made_here(void);

#endif
