/* SPDX-License-Identifier: MIT */
/* roster.h - makes the objects that tell a heap dump which objects are samples (jvm/roster.h). */
#ifndef AGENT_ROSTER_H
#define AGENT_ROSTER_H

#include <jvmti.h>
#include <stdbool.h>

#include "agent/sources/live.h"
#include "jvm/roster.h"

/* Make a roster; a roster from before is released. Called by our thread in live.c, which owns the objects. */
enum jvm_roster_answer roster_make(JNIEnv *env, const struct tracked *objects, uint32_t nr, uint64_t cookie);
/* Release that roster, 0 for any. roster_expire() releases one that was not released for ROSTER_S. */
void roster_let_go(JNIEnv *env, uint64_t cookie);
void roster_expire(JNIEnv *env);
/* What the calling thread allocates now is the roster's, and no sample. */
bool roster_is_being_made_here(void);

#endif
