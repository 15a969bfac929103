/* SPDX-License-Identifier: MIT */
/*
 * ownthread.h - the agent's own threads in a JVM.
 */
#ifndef AGENT_OWNTHREAD_H
#define AGENT_OWNTHREAD_H

#include <jvmti.h>
#include <stdbool.h>

/* Start a Java thread "arcprof" that calls run(); false: the VM refused. The VM must be up. */
bool ownthread_run(JNIEnv *env, jvmtiStartFunction run);
/* Check whether ownthread_run() made the thread. Either may be NULL. */
bool ownthread_is(JNIEnv *env, jthread thread);

#endif
