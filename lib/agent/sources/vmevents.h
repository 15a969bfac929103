/* SPDX-License-Identifier: MIT */
/*
 * vmevents.h - events of the VM in time, those of enum jvm_tell that the recorder asked for. Nothing is
 * enabled, and no capability taken, of what it did not.
 *
 * Collections, safepoints, compilations and unloading are in the VM's own log (vmlog.c), which it writes
 * to a file of the recorder's; what else there is comes from JVMTI (vmevents.c).
 */
#ifndef AGENT_VMEVENTS_H
#define AGENT_VMEVENTS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/* Take what this JVM can give only when it starts: in Agent_OnLoad. */
void vmevents_load(JavaVM *jvm);
/* Begin; the VM must be up. */
void vmevents_on(JavaVM *jvm, JNIEnv *env);
/* Change to what jvm_ctl asks for now; log_fd: for the VM's log, if that changes, else -1. */
void vmevents_change(JavaVM *jvm, JNIEnv *env, int log_fd);
/* End; env may be NULL. Returns false if a callback does not end, and may still write to a ring. */
bool vmevents_off(JNIEnv *env);
/* Report the start or the end of a Java thread; called by it. */
void vmevents_thread(jvmtiEnv *env, JNIEnv *jni, jthread thread, bool ends);

/* Take over the recorder's file for the VM's log; -1: none. */
void vmlog_take(int fd);
/*
 * Makes the VM write these kinds (enum jvm_tell) to the file. Returns those that it cannot; *why is then
 * a text. *deopts: deoptimisations will be there, if they were asked for.
 */
uint32_t vmlog_on(JNIEnv *env, uint32_t tell, const char **why, bool *deopts);
void vmlog_off(JNIEnv *env);

/* searches.c: what class loaders in Java do before they ask the VM for a class, as lines in its log. */
/* log: the file that the VM's log is written to. Lines are in order with those of the same thread. */
void searches_on(const char *log);
void searches_off(void);

#endif
