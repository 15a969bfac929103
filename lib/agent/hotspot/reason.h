/* SPDX-License-Identifier: MIT */
/* reason.h - why a thread that is blocked waits, as far as the VM knows more than the kernel. */
#ifndef AGENT_REASON_H
#define AGENT_REASON_H

#include <jni.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/hotspot/blocked.h"
#include "agent/hotspot/walk.h"
#include "jvm/wall.h"

/* Learns where fields are. */
void reason_init(JNIEnv *env);
/* Forget the classes, for another recorder. */
void reason_forget(void);

/*
 * Write the name of a class as JNI spells it, Ljava/lang/String; or [B, to text, which has room for
 * JVM_MAX_STRING and two more. Return its length, or 0 if it cannot be read.
 */
size_t reason_signature(uintptr_t klass, char *text);

/* Read what changes when the thread goes on; called before it is known to be still blocked. */
void reason_look(struct blocked *b);
/*
 * Return the reason for which a thread that was walked waits. WALL_UNKNOWN: the system call decides.
 * *leaf is the number of the blocker's class when it is parked, 0 if not known. It is valid only if
 * blocked_holds() is true afterwards.
 */
enum wall_reason reason_of(const struct walk *w, uint32_t *leaf);

#endif
