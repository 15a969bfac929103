/* SPDX-License-Identifier: MIT */
/* label.h - arcprof.Label for programs without arcprof on their class path. */
#ifndef AGENT_LABEL_H
#define AGENT_LABEL_H

#include <jni.h>
#include <stdbool.h>

/* Defines the class and lets it write, if labels are wanted: when the VM is up, or at once in one that is. */
void label_on(JNIEnv *env);
/* Afterwards no thread writes any more; false: one still does, or may, so that the rings must stay. */
bool label_off(void);

#endif
