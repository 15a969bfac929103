// SPDX-License-Identifier: MIT
/* mark.c - the native half of arcprof.Mark. */
#include <jni.h>
#include <stdlib.h>
#include <string.h>

#include "api/arcprof.h"
#include "api/native.h"
#include "api/recorder.h"

JNIEXPORT jobject JNICALL Java_arcprof_Mark_recorder(JNIEnv *env, jclass type)
{
	return (*env)->NewDirectByteBuffer(env, &arcprof_recorder, sizeof(arcprof_recorder));
}

/* Should the pointer become another one meanwhile, the caller asks again. */
JNIEXPORT jlong JNICALL Java_arcprof_Mark_find(JNIEnv *env, jclass type)
{
	const struct arcprof_recorder *m;

	arcprof_recorder_find();
	m = load_acquire(&arcprof_recorder);
	if (!m || load_acquire(&m->state) == RECORDER_UNKNOWN)
		return 0;
	return m->state == RECORDER_ON && m->tell & JVM_TELL_MARK ? (jlong)(intptr_t)m : -(jlong)(intptr_t)m;
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
