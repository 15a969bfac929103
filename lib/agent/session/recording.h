/* SPDX-License-Identifier: MIT */
/* recording.h - the class arcprof.Recording: a program records itself. */
#ifndef AGENT_RECORDING_H
#define AGENT_RECORDING_H

#include <jni.h>

/*
 * Makes the class known to all class loaders: when the VM is up, if env is NULL. Only where the user has put
 * the agent into the JVM, never where a recorder has.
 */
void recording_offer(JavaVM *jvm, JNIEnv *env);

#endif
