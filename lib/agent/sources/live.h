/* SPDX-License-Identifier: MIT */
/* live.h - which of the sampled objects are still there; alloc.c tells of the samples. */
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

/* Called before the first sample; returns false without memory, or if the session before has not ended. */
bool live_on(uint64_t bytes);
/* The VM is up: from now on objects are looked at after collections. Nothing if it is not on. */
void live_watch(JNIEnv *env);
/* The VM ends: a last look. */
void live_death(JNIEnv *env);
/* No sample begins any more. False: our thread still runs. env NULL: weak references stay behind. */
bool live_off(JNIEnv *env);

/* What objects are to be chosen by now: bytes, 0 all. It may grow. */
uint64_t live_interval(void);
/* Called by the allocating thread for an object that this interval chose. */
void live_sample(JNIEnv *env, jobject object, uint64_t size, uint32_t leaf, uint64_t chosen_at);
/*
 * For a heap dump that is to be made now: our thread makes the roster with that cookie (jvm/roster.h), or
 * lets it go. Returns when that is done. Of any thread but ours.
 */
enum jvm_roster_answer live_roster(uint64_t cookie, bool on);
/* JVMTI's GarbageCollectionFinish: no Java thread runs. */
void JNICALL live_collected(jvmtiEnv *ti);

/* ---- roster.c: makes the objects that tell a heap dump which objects are samples (jvm/roster.h) ---- */

/* Make a roster; a roster from before is released. Called by our thread in live.c, which owns the objects. */
enum jvm_roster_answer roster_make(JNIEnv *env, const struct tracked *objects, uint32_t nr, uint64_t cookie);
/* Release that roster, 0 for any. roster_expire() releases one that was not released for ROSTER_S. */
void roster_let_go(JNIEnv *env, uint64_t cookie);
void roster_expire(JNIEnv *env);
/* What the calling thread allocates now is the roster's, and no sample. */
bool roster_is_being_made_here(void);

#endif
