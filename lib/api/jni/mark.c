// SPDX-License-Identifier: MIT
/* mark.c - the native half of arcprof.Mark. */
#include <jni.h>
#include <stdlib.h>
#include <string.h>

#include "api/arcprof.h"
#include "api/mark.h"

JNIEXPORT jboolean JNICALL Java_arcprof_Mark_isOn(JNIEnv *env, jclass type)
{
	return arcprof_phase_begin() != 0;
}

/* 0, with an exception pending: out of memory. */
JNIEXPORT jlong JNICALL Java_arcprof_Mark_keep(JNIEnv *env, jclass type, jstring name)
{
	const char *text = name ? (*env)->GetStringUTFChars(env, name, NULL) : NULL;
	char *copy = strdup(text ? text : "null");

	if (text)
		(*env)->ReleaseStringUTFChars(env, name, text);
	return (jlong)(intptr_t)copy;
}

JNIEXPORT void JNICALL Java_arcprof_Mark_mark(JNIEnv *env, jclass type, jlong vthread, jlong name,
						  jlong value)
{
	if (name)
		arcprof_mark_of((uint64_t)vthread, (const char *)(intptr_t)name, (uint64_t)value);
}

JNIEXPORT jlong JNICALL Java_arcprof_Mark_phaseBegin(JNIEnv *env, jclass type)
{
	return (jlong)arcprof_phase_begin();
}

JNIEXPORT void JNICALL Java_arcprof_Mark_phaseEnd(JNIEnv *env, jclass type, jlong vthread, jlong begun,
						      jlong name)
{
	if (name)
		arcprof_phase_of((uint64_t)vthread, (uint64_t)begun, (const char *)(intptr_t)name);
}
