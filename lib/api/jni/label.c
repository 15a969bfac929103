// SPDX-License-Identifier: MIT
/* label.c - the native half of arcprof.Label. */
#include <jni.h>

#include "api/arcprof.h"
#include "api/native.h"
#include "api/recorder.h"

JNIEXPORT jboolean JNICALL Java_arcprof_Label_isOn(JNIEnv *env, jclass type)
{
	return arcprof_recorder_of(JVM_TELL_LABEL) != NULL;
}

JNIEXPORT jint JNICALL Java_arcprof_Label_tid(JNIEnv *env, jclass type)
{
	return (jint)arcprof_recorder_tid();
}

JNIEXPORT void JNICALL Java_arcprof_Label_put(JNIEnv *env, jclass type, jint tid, jlong vthread, jint nr,
					      jbyteArray text)
{
	const struct arcprof_recorder *m = arcprof_recorder_of(JVM_TELL_LABEL);
	jsize len = (*env)->GetArrayLength(env, text);
	jbyte copy[ARCPROF_LABELS_BYTES];

	if (!m || len > (jsize)sizeof(copy))
		return;
	(*env)->GetByteArrayRegion(env, text, 0, len, copy);
	arcprof_label_put(m, (uint32_t)nr, (uint64_t)vthread, (const char *)copy, (size_t)len);
}
