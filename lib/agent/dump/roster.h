/* SPDX-License-Identifier: MIT */
/* roster.h - makes the objects that tell a heap dump which objects are samples (jvm/roster.h). */
#ifndef AGENT_ROSTER_H
#define AGENT_ROSTER_H

#include <jvmti.h>
#include <stdbool.h>

#include "agent/sources/live.h"
#include "jvm/roster.h"

/* Of our thread in live.c, which owns the objects; a roster of before is let go. */
enum jvm_roster_answer roster_make(JNIEnv *env, const struct tracked *objects, uint32_t nr, uint64_t cookie);
/* Lets that one go, 0 any; and what nobody has asked to let go for ROSTER_S. */
void roster_let_go(JNIEnv *env, uint64_t cookie);
void roster_expire(JNIEnv *env);
/* What the calling thread allocates now is the roster's, and no sample. */
bool roster_is_being_made_here(void);

#endif
