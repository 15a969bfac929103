/* SPDX-License-Identifier: MIT */
/* recording.h - classes that the agent gives to a program: arcprof.Recording, to record itself. */
#ifndef AGENT_RECORDING_H
#define AGENT_RECORDING_H

#include <jni.h>
#include <stdbool.h>

/*
 * Makes the class known to all class loaders: when the VM is up, if env is NULL. Only where the user has put
 * the agent into the JVM, never where a recorder has.
 */
void recording_offer(JavaVM *jvm, JNIEnv *env);

/* ---- arcprof.Label for programs without arcprof on their class path ---- */

/* Defines the class and lets it write, if labels are wanted: when the VM is up, or at once in one that is. */
void label_on(JNIEnv *env);
/* Stop writing; return false if a thread still writes, or may, so that the rings must stay. */
bool label_off(void);

#endif
