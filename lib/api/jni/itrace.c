// SPDX-License-Identifier: MIT
/* itrace.c - the native half of arcprof.InstructionTrace. */
#include <jni.h>

#include "api/arcprof.h"

JNIEXPORT jint JNICALL Java_arcprof_InstructionTrace_on(JNIEnv *env, jclass type)
{
	return arcprof_itrace_on();
}

JNIEXPORT jint JNICALL Java_arcprof_InstructionTrace_off(JNIEnv *env, jclass type)
{
	return arcprof_itrace_off();
}
